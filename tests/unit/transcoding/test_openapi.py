"""The OpenAPI document says what the server does."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.unit.transcoding.test_acceptance import FULL_ADD
from tests.unit.transcoding.test_filters import ROUND_TRIPS
from tests.unit.transcoding.test_refusals import ON_BOTH_SURFACES, ONLY_IN_JSON

from remanence.v2 import memory_pb2
from remanence_http import memory
from remanence_server.api.transcoding import openapi
from remanence_server.api.transcoding.values import struct_to_proto
from remanence_server.runtime.errors import CATALOGUE, ErrorCode

DOCUMENT: dict[str, Any] = json.loads(openapi.load())
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
# Requests that arrive as a query or a form have parameters instead of a schema.
WITHOUT_SCHEMA = ("ListTasksRequest", "DocumentMetadata")


def is_valid(name: str, instance: object) -> bool:
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(instance))


def references(part: object) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if "$ref" in part else []
        return own + [ref for child in part.values() for ref in references(child)]
    if isinstance(part, list):
        return [ref for child in part for ref in references(child)]
    return []


def test_every_schema_is_a_schema_and_every_reference_leads_somewhere() -> None:
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in references(DOCUMENT):
        place: Any = DOCUMENT
        for key in reference.removeprefix("#/").split("/"):
            place = place[key]


def refused_bodies() -> list[tuple[str, dict[str, Any]]]:
    cases = [(name, body) for name, body, _, _ in ON_BOTH_SURFACES]
    cases += [(name, body) for name, body, _ in ONLY_IN_JSON]
    return [
        (name, body)
        for name, body in cases
        if name not in WITHOUT_SCHEMA
        and "NaN" not in json.dumps(body)
        # `$` of Python's re, unlike that of JSON Schema, lets a newline pass.
        and body.get("app_id") != "a\n"
    ]


@pytest.mark.parametrize(("name", "body"), refused_bodies())
def test_what_the_models_refuse_the_document_forbids(name: str, body: dict[str, Any]) -> None:
    assert not is_valid(name, body)


def test_what_the_models_accept_the_document_allows() -> None:
    assert is_valid("AddRequest", FULL_ADD)
    for filters in (*ROUND_TRIPS[:5], *ROUND_TRIPS[7:9]):
        assert is_valid("SearchRequest", {"user_id": "u", "query": "x", "filters": filters})
    # Models look at the shape of a filter; the document tells what fields and values there are.
    for filters in (*ROUND_TRIPS[5:7], {"sender_id": {"gt": "a"}}, {"session_id": {"in": "s"}}):
        assert not is_valid("SearchRequest", {"user_id": "u", "query": "x", "filters": filters})
    both = {"user_id": "u", "agent_id": None, "query": "x", "top_k": -1, "filters": None}
    assert is_valid("SearchRequest", both)


def test_responses_are_as_the_document_says() -> None:
    response = memory_pb2.SearchResponse()
    response.episodes.add(id="e", score=1).timestamp.FromMilliseconds(0)
    response.episodes[0].atomic_facts.add(id="f")
    response.profiles.add(id="p").profile_data.CopyFrom(struct_to_proto({"a": 1}))
    response.agent_cases.add(id="c").timestamp.FromMilliseconds(0)
    message = response.unprocessed_messages.add(id="m", role=memory_pb2.ROLE_TOOL, text="x")
    message.timestamp.FromMilliseconds(0)
    data = memory.search_response_json(response, UTC)
    assert is_valid("SearchResponse", data)
    del data["episodes"][0]["summary"]
    assert not is_valid("SearchResponse", data)


def test_every_failure_is_described_with_its_codes() -> None:
    described = {
        (int(name.removeprefix("Error")), code)
        for name, response in DOCUMENT["components"]["responses"].items()
        for code in ErrorCode
        if code.value in response["description"]
    }
    assert described == {(spec.http_status, code) for code, spec in CATALOGUE.items()}
    error = SCHEMAS["ErrorEnvelope"]["properties"]["error"]
    assert sorted(error["properties"]["code"]["enum"]) == sorted(ErrorCode)


def test_statuses_of_success_and_failure_are_told() -> None:
    add = DOCUMENT["paths"]["/api/v2/memory/add"]["post"]
    failures = ["400", "409", "413", "415", "422", "429", "500", "503"]
    assert list(add["responses"]) == ["200", "202", *failures]
    delete = DOCUMENT["paths"]["/api/v2/knowledge/documents/{doc_id}"]["delete"]
    assert "content" not in delete["responses"]["204"]
    upload = DOCUMENT["paths"]["/api/v2/knowledge/documents"]["post"]
    form = upload["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["file", "title"]
    assert "doc_id" not in form["properties"]
    health = DOCUMENT["paths"]["/health"]["get"]["responses"]["200"]["content"]
    assert health["application/json"]["schema"] == {
        "$ref": "#/components/schemas/GetHealthResponse"
    }


def test_the_idempotency_key_is_a_header_of_the_writes_alone() -> None:
    told = {
        path.rpartition("/")[2]: operation.get("parameters")
        for path, methods in DOCUMENT["paths"].items()
        for operation in methods.values()
        if path.startswith("/api/v2/memory/")
    }
    key = [{"$ref": "#/components/parameters/Idempotency-Key"}]
    assert told == {"add": key, "flush": key, "delete": key, "search": None, "get": None}
    parameter = DOCUMENT["components"]["parameters"]["Idempotency-Key"]
    assert (parameter["in"], parameter["required"]) == ("header", False)


def test_parameters_are_told_with_their_place() -> None:
    listed = DOCUMENT["paths"]["/api/v2/tasks"]["get"]["parameters"]
    page = next(parameter for parameter in listed if parameter["name"] == "page")
    assert (page["in"], page["required"], page["schema"]["minimum"]) == ("query", False, 1)
    (task_id,) = DOCUMENT["paths"]["/api/v2/tasks/{task_id}"]["get"]["parameters"]
    assert (task_id["in"], task_id["required"]) == ("path", True)
