"""HTTP as bytes: what is no request gets the error envelope too, and headers have a limit."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from remanence_server.api.transcoding import REQUEST_ID_HEADER, ErrorResponses
from remanence_server.runtime.errors import ErrorCode
from remanence_server.runtime.ids import new_request_id

# Request line and headers together, before a body is looked at.
MAXIMUM_HEAD_BYTES = 64 * 1024
_LONGEST_SHOWN_PATH = 200

_NOT_HTTP = "The request is not valid HTTP"
_TOO_LARGE = f"The request line and headers are larger than {MAXIMUM_HEAD_BYTES} bytes"


def http_protocol(responses: ErrorResponses) -> type[HttpToolsProtocol]:
    """The protocol of one connection, for uvicorn. `responses` makes the envelopes."""

    class EnvelopeProtocol(HttpToolsProtocol):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self._head_is_open = False
            self._head_bytes = 0

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self._head_is_open or self.transport.is_closing():
                return
            # A head that never ends would be kept in memory for as long as its client likes.
            self._head_bytes += len(data)
            if self._head_bytes > MAXIMUM_HEAD_BYTES:
                self._refuse(_TOO_LARGE)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._head_is_open = True
            self._head_bytes = 0

        def on_headers_complete(self) -> None:
            self._head_is_open = False
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            is_long = len(getattr(self, "url", b"")) > MAXIMUM_HEAD_BYTES
            self._refuse(_TOO_LARGE if is_long else _NOT_HTTP)

        def _refuse(self, message: str) -> None:
            """Answers, and ends the connection: where the next request begins is not known."""
            request_id = new_request_id()
            path = getattr(self, "url", b"").partition(b"?")[0].decode("latin-1")
            body = responses.error_body(
                ErrorCode.BAD_REQUEST, message, request_id, path[:_LONGEST_SHOWN_PATH]
            )
            head = (
                "HTTP/1.1 400 Bad Request\r\n"
                "content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n"
                f"{REQUEST_ID_HEADER.lower()}: {request_id}\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + body)
            self.transport.close()

    return EnvelopeProtocol
