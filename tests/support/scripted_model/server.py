"""The HTTP side: POST /v1/messages, streamed or whole, as the provider does it."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.support.scripted_model.echo import echo
from tests.support.scripted_model.replies import (
    Cut,
    Hang,
    Http,
    Raw,
    Reply,
    SseError,
    Stop,
    Text,
    Tool,
)

_TOOL_PREFIX = "record_"
_DELTA_CHARACTERS = 40
_ERROR_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@dataclass
class Rule:
    """What to do with the next `times` calls of a stage whose prompt contains a text."""

    stage: str
    reply: Reply
    contains: str = ""
    times: int = 1


@dataclass(frozen=True)
class Call:
    """One call as it arrived."""

    stage: str
    prompt: str
    instructions: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    at_seconds: float


class ScriptedModel:
    """A model on loopback; use it as a context manager."""

    def __init__(self, rules: Sequence[Rule] = (), port: int = 0) -> None:
        self._rules = list(rules)
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """What to give the SDK as base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def calls(self) -> list[Call]:
        """All calls so far."""
        with self._lock:
            return list(self._calls)

    def count(self, stage: str) -> int:
        """How many calls of a stage there were."""
        return sum(call.stage == stage for call in self.calls)

    def add(self, *rules: Rule) -> None:
        """Adds rules behind those that are left."""
        with self._lock:
            self._rules.extend(rules)

    def clear_rules(self) -> None:
        """From now on it echoes."""
        with self._lock:
            self._rules.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def wait_for_close(self, seconds: float) -> None:
        """Sleeps, unless the server is closed meanwhile."""
        self._closing.wait(seconds)

    def reply_to(self, call: Call) -> Reply:
        """Notes the call and finds what to do with it."""
        with self._lock:
            self._calls.append(call)
            for rule in self._rules:
                if rule.stage in ("*", call.stage) and rule.contains in call.prompt:
                    rule.times -= 1
                    if not rule.times:
                        self._rules.remove(rule)
                    return rule.reply
        return Tool(echo(call.stage, call.prompt))


@dataclass
class _Output:
    """A message of the model in the making."""

    blocks: list[tuple[str, str]] = field(default_factory=list)
    stop_reason: str = "tool_use"


def _output_of(reply: Reply) -> _Output:
    match reply:
        case Tool(value):
            return _Output([("tool_use", json.dumps(value))])
        case Raw(text):
            return _Output([("tool_use", text)] if text else [], "tool_use" if text else "end_turn")
        case Text(text):
            return _Output([("text", text)], "end_turn")
        case Stop(reason, raw, text):
            blocks = [(kind, part) for kind, part in (("text", text), ("tool_use", raw)) if part]
            return _Output(blocks, reason)
        case _:
            return _Output([("text", "half an answer")], "end_turn")


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length))
            if self.path.split("?")[0] != "/v1/messages":
                self._error(Http(404))
                return
            call = _call_of(body, dict(self.headers.items()))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._answer(call, model.reply_to(call))

        def _answer(self, call: Call, reply: Reply) -> None:
            if isinstance(reply, Http):
                self._error(reply)
                return
            if isinstance(reply, Hang):
                model.wait_for_close(reply.seconds)
                self.close_connection = True
                return
            output = _output_of(reply)
            if not call.body.get("stream"):
                self._send(200, {}, json.dumps(_whole(call, output)).encode())
                return
            events = b"".join(_events(call, output))
            if isinstance(reply, SseError):
                first = next(_events(call, output))
                error = {"type": "error", "error": {"type": reply.kind, "message": "scripted"}}
                events = first + _event("error", error)
            if isinstance(reply, Cut):
                events = events[: reply.after_bytes]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            # Without a length, so that a cut is a cut and not a short body.
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(events), events))
            if isinstance(reply, Cut):
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def _error(self, reply: Http) -> None:
            kind = reply.kind or _ERROR_KINDS.get(reply.status, "api_error")
            body = {"type": "error", "error": {"type": kind, "message": "scripted"}}
            self._send(reply.status, reply.headers, json.dumps(body).encode())

        def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _call_of(body: Mapping[str, Any], headers: Mapping[str, str]) -> Call:
    tools = body.get("tools") or [{"name": "unknown"}]
    return Call(
        stage=str(tools[0]["name"]).removeprefix(_TOOL_PREFIX),
        prompt="\n".join(_texts(message["content"]) for message in body["messages"]),
        instructions=_texts(body.get("system", "")),
        body=body,
        headers=headers,
        at_seconds=time.monotonic(),
    )


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def _usage(call: Call, output: _Output) -> dict[str, int]:
    return {
        "input_tokens": len(call.prompt) // 4,
        "cache_read_input_tokens": len(call.instructions) // 4,
        "cache_creation_input_tokens": 0,
        "output_tokens": sum(len(text) for _, text in output.blocks) // 4,
    }


def _message(call: Call, content: list[Any], stop_reason: str | None) -> dict[str, Any]:
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": call.body["model"],
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": _usage(call, _Output()),
    }


def _whole(call: Call, output: _Output) -> dict[str, Any]:
    content = [
        {"type": "text", "text": text}
        if kind == "text"
        else {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": _TOOL_PREFIX + call.stage,
            "input": json.loads(text),
        }
        for number, (kind, text) in enumerate(output.blocks)
    ]
    return {**_message(call, content, output.stop_reason), "usage": _usage(call, output)}


def _events(call: Call, output: _Output) -> Iterator[bytes]:
    yield _event("message_start", {"message": _message(call, [], None)})
    for index, (kind, text) in enumerate(output.blocks):
        block: dict[str, Any] = {"type": "text", "text": ""}
        if kind == "tool_use":
            name = _TOOL_PREFIX + call.stage
            block = {"type": kind, "id": f"toolu_{index}", "name": name, "input": {}}
        yield _event("content_block_start", {"index": index, "content_block": block})
        for start in range(0, len(text), _DELTA_CHARACTERS):
            piece = text[start : start + _DELTA_CHARACTERS]
            delta = (
                {"type": "text_delta", "text": piece}
                if kind == "text"
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    yield _event(
        "message_delta",
        {
            "delta": {"stop_reason": output.stop_reason, "stop_sequence": None},
            "usage": {"output_tokens": _usage(call, output)["output_tokens"]},
        },
    )
    yield _event("message_stop", {})


def _event(kind: str, data: Mapping[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
