"""A small contract of its own: what is generated from it does what its options say."""

from __future__ import annotations

from datetime import UTC
from types import ModuleType
from typing import Any

import pytest
from google.protobuf.message import Message
from tests.unit.generator.conftest import Contracts

from remanence_generator.plugin import generate
from remanence_server.api.transcoding.validation import validate, validate_with
from remanence_server.runtime.errors import ServiceError

SHOP = """
// Sells things.
service ShopService {
  // Orders.
  rpc Order(OrderRequest) returns (OrderResponse) {
    option (google.api.http) = { post: "/v1/shops/{shop_id}/orders" body: "*" };
    option (remanence.v2.method) = {
      status: 201
      status_rules { field: "count" equals: "0" status: 204 }
    };
  }
}

enum Colour {
  COLOUR_UNSPECIFIED = 0;
  COLOUR_DARK_RED = 1;
  COLOUR_BLUE = 2;
}

message OrderRequest {
  option (remanence.v2.message) = {
    refuse_unknown_fields: true
    at_most_one_of { fields: "note" fields: "lines" message: "note or lines, not both" }
    requirements { field: "note" when_field: "colour" when_values: "blue" message: "blue: why?" }
  };
  string shop_id = 1 [(remanence.v2.field).required = true];
  repeated Line lines = 2 [(remanence.v2.field) = { min_items: 1 max_items: 2 }];
  optional Colour colour = 3 [(remanence.v2.field).default_json = "\\"dark_red\\""];
  // Why.
  optional string note = 4 [(remanence.v2.field) = { refused: "no" }];
  int64 at = 5 [(remanence.v2.field).epoch = true];
  bool gift = 6;
  optional google.protobuf.Struct extras = 7;
  optional double weight = 8 [(remanence.v2.field) = { exclusive_minimum: 0 default_json: "1.5" }];
  repeated string tags = 9;
}

message Line {
  string name = 1 [(remanence.v2.field) = {
    required: true
    max_length: 3
    pattern: "^[a-z\\"\\\\\\\\]+$"
  }];
  int32 amount = 2 [(remanence.v2.field) = { minimum: 1 maximum: 9 exception: -1 }];
}

message OrderResponse {
  int32 count = 1;
  map<string, int64> stock = 2;
  repeated Colour colours = 3 [(remanence.v2.field).null_when_empty = true];
  optional string note = 4;
  optional string hint = 5 [(remanence.v2.field).omit_absent = true];
  google.protobuf.Timestamp at = 6;
  repeated string tags = 7 [(remanence.v2.field).omit_absent = true];
}
"""


@pytest.fixture
def shop(contracts: Contracts) -> ModuleType:
    return contracts.module("shop", SHOP)


def order(shop: ModuleType, **fields: Any) -> Message:
    body = {"shop_id": "s", **fields}
    result: Message = shop.order_request_to_proto(validate(shop.OrderRequest, body))
    return result


def test_defaults_presence_and_kinds_follow_the_options(shop: ModuleType) -> None:
    seen: Any = order(
        shop, lines=[{"name": "a", "amount": -1}], at="1779967836", gift=True, tags=["x"]
    )
    assert (seen.colour, seen.weight, seen.at) == (1, 1.5, 1_779_967_836_000)
    assert seen.lines[0].amount == -1
    assert seen.gift
    assert list(seen.tags) == ["x"]
    assert not seen.HasField("note")
    assert not seen.HasField("extras")


def test_a_message_goes_through_the_model_and_back(shop: ModuleType) -> None:
    seen = order(shop, note="why", colour="blue", extras={"a": [1]}, at=1_779_967_836_000)
    assert validate_with(shop.MESSAGES, seen) == seen


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"lines": []}, "List should have at least 1 item after validation, not 0: lines"),
        (
            {"lines": [{"name": "abcd"}]},
            "String should have at most 3 characters: lines.0.name",
        ),
        (
            {"lines": [{"name": "A"}]},
            "String should match pattern '^[a-z\"\\\\]+$': lines.0.name",
        ),
        (
            {"lines": [{"name": "a", "amount": 0}]},
            "Input should be -1 or between 1 and 9: lines.0.amount",
        ),
        ({"colour": "green"}, "Input should be 'dark_red' or 'blue': colour"),
        ({"colour": "blue"}, "Value error, blue: why?"),
        ({"note": "n", "lines": [{"name": "a"}]}, "Value error, note or lines, not both"),
        ({"note": "no"}, "Input should not be 'no': note"),
        ({"weight": 0}, "Input should be greater than 0: weight"),
        ({"extras": 5}, "Input should be a valid dictionary: extras"),
        ({"zzz": 5}, "Extra inputs are not permitted: zzz"),
    ],
)
def test_every_option_is_a_check(shop: ModuleType, fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        order(shop, **fields)
    assert caught.value.message == text


def test_a_response_is_written_as_its_options_say(shop: ModuleType) -> None:
    response = shop.shop_pb2.OrderResponse()
    assert shop.order_response_json(response, UTC) == {
        "count": 0,
        "stock": {},
        "colours": None,
        "note": None,
        "at": None,
    }
    response.stock["a"] = 2**60
    response.colours.append(1)
    response.hint = ""
    response.tags.append("t")
    response.at.FromMilliseconds(0)
    assert shop.order_response_json(response, UTC) == {
        "count": 0,
        "stock": {"a": 2**60},
        "colours": ["dark_red"],
        "note": None,
        "at": "1970-01-01T00:00:00Z",
        "hint": "",
        "tags": ["t"],
    }


def test_generating_twice_writes_the_same(contracts: Contracts) -> None:
    request = contracts.request("shop", SHOP)
    assert generate(request) == generate(request)


def test_the_files_have_their_places_and_say_that_they_are_generated(
    contracts: Contracts,
) -> None:
    response = generate(contracts.request("shop", SHOP))
    contents = {file.name: file.content for file in response.file}
    assert sorted(contents) == [
        "http/remanence_http/__init__.py",
        "http/remanence_http/py.typed",
        "http/remanence_http/shop.py",
        "openapi/remanence.v2.json",
    ]
    for name, content in contents.items():
        if name.endswith(".py"):
            assert "Do not edit" in content.splitlines()[0]
    assert max(map(len, contents["http/remanence_http/shop.py"].splitlines())) <= 100


def test_comments_of_the_contract_reach_the_generated_code(contracts: Contracts) -> None:
    response = generate(contracts.request("shop", SHOP))
    module = next(file.content for file in response.file if file.name.endswith("/shop.py"))
    assert "    # Why.\n    note: " in module
    assert '    """Sells things."""' in module
