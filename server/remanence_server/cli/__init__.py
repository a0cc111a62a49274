"""The command line: start the service, talk to it, look after it.

Modules import what is heavy (gRPC, Pydantic, FAISS) inside the commands that need it, so that
`remanence --help` answers at once.
"""
