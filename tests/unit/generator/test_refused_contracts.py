"""What a contract must not say, the plugin refuses with a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

RPC = "rpc A(Q) returns (P)"
POSTED = 'option (google.api.http) = { post: "/a" body: "*" };'


def service(*methods: str) -> str:
    return "service S {\n" + "\n".join(methods) + "\n}\nmessage P { int32 n = 1; }\n"


def http(name: str, rule: str) -> str:
    return f"rpc {name}(Q) returns (P) {{ option (google.api.http) = {{ {rule} }}; }}"


@pytest.mark.parametrize(
    ("first", "second", "collides"),
    [
        ('get: "/a"', 'get: "/a"', True),
        ('get: "/a/{id}"', 'get: "/a/b"', True),
        ('get: "/a/{id}"', 'get: "/{id}/b"', True),
        ('get: "/z" additional_bindings { get: "/a" }', 'get: "/a"', True),
        ('get: "/a"', 'post: "/a"', False),
        ('get: "/a"', 'get: "/a/{id}"', False),
        ('get: "/a/{id}/x"', 'get: "/a/{id}/y"', False),
    ],
)
def test_two_bindings_that_one_request_could_mean_are_refused(
    refusal: Callable[[str], str], first: str, second: str, collides: bool
) -> None:
    text = service(http("A", first), http("B", second)) + "message Q { string id = 1; }"
    assert ("collides with" in refusal(text)) is collides


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            service(http("A", 'get: "/a/{x=b/*}"')) + "message Q { string x = 1; }",
            "path template",
        ),
        (service(http("A", 'post: "/a" body: "x"')) + "message Q { string x = 1; }", "the body"),
        (service(f"{RPC};") + "message Q { float x = 1; }", "Q.x: this scalar type"),
        (service(f"{RPC};") + "message Q { map<string, int32> x = 1; }", "x: maps"),
        (service(f"{RPC};") + "message Q { bytes x = 1; }", "bytes have no request form"),
        (service(f"{RPC};") + "message Q { string model_x = 1; }", "is not free in Python"),
        (service(f"{RPC};") + "message Q { string class = 1; }", "is not free in Python"),
        (service(f"{RPC};") + "message Q { Q q = 1; }", "holds itself"),
        (
            service(f"{RPC};") + "message Q { message R { int32 n = 1; } R r = 1; }",
            "at the top level",
        ),
        (
            service(http("A", 'get: "/a"')) + "message Q { repeated string x = 1; }",
            "one scalar",
        ),
        (
            service(
                'rpc A(Q) returns (P) { option (google.api.http) = { get: "/a/{x}" '
                'additional_bindings { get: "/b" } }; }'
            )
            + "message Q { string x = 1; }",
            "the same way",
        ),
        (
            service("rpc A(stream Q) returns (P);") + "message Q { string x = 1; }",
            "bytes `chunk`",
        ),
        (
            service(f"rpc A(stream Q) returns (P) {{ {POSTED} }}")
            + "message M { string x = 1; } message Q { M m = 1; bytes chunk = 2; }",
            "only multipart",
        ),
        (
            service(f"rpc A(Q) returns (stream P) {{ {POSTED} }}") + "message Q { string x = 1; }",
            "not streamed",
        ),
        (
            service(f"{RPC};") + "message Q { int32 x = 1 [(remanence.v2.field).exception = -1]; }",
            "an exception stands beside",
        ),
        (
            service(f"{RPC};")
            + "message Q { oneof c { option (remanence.v2.oneof).union = true; "
            + "string a = 1; string b = 2; } }",
            "a union is a text, then a list",
        ),
        (
            service(f"{RPC};")
            + 'message Q { option (remanence.v2.message) = { requirements { field: "zzz" '
            + 'when_field: "x" when_values: "y" message: "m" } }; string x = 1; }',
            "no field 'zzz'",
        ),
    ],
)
def test_what_has_no_form_in_the_api_is_refused(
    refusal: Callable[[str], str], text: str, reason: str
) -> None:
    assert reason in refusal(text)
