"""Memory for the fuzzed requests to find: owners of the names that Schemathesis tries first."""

from __future__ import annotations

import httpx

_NAMES = ("0", "default", "u")
_T0 = 1_779_967_836_000


def seed_memory(address: str) -> None:
    """Tells the server a little about some users, and lets a tool run become a case."""
    with httpx.Client(base_url=f"http://{address}/api/v2/memory", timeout=30) as client:
        for name in _NAMES:
            messages = [
                _said(name, 0, "user", "I keep bees and sell the honey on Saturdays."),
                _said("helper", 1, "assistant", "Noted."),
            ]
            body = {"session_id": name, "messages": messages, "defer_extraction": True}
            client.post("/add", json=body).raise_for_status()
            client.post("/flush", json={"session_id": name}).raise_for_status()
            # One more, which stays in the buffer.
            body["messages"] = [_said(name, 2, "user", "Mind the smoker.")]
            client.post("/add", json=body).raise_for_status()


def _said(sender: str, offset: int, role: str, content: str) -> dict[str, object]:
    return {"sender_id": sender, "role": role, "timestamp": _T0 + offset, "content": content}
