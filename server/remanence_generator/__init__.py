"""The contract generator: a protoc plugin that writes gen/http and gen/openapi from the protos.

Descriptors are read into a small model of the contract (`model`), which the emitters turn into
Pydantic models, converters, FastAPI routes and an OpenAPI document. It is a tool of the build; the
running server does not import it.
"""
