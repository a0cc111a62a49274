"""A model on loopback that speaks the provider's protocol and says what a test tells it to.

It answers the real SDK over real HTTP, streams, fills in tools, and has the faults of the real one.
By hand: `python -m tests.support.scripted_model --help`.
"""

from tests.support.scripted_model.replies import (
    Cut,
    Fault,
    Hang,
    Http,
    Raw,
    Reply,
    SseError,
    Stop,
    Text,
    Tool,
)
from tests.support.scripted_model.server import Call, Rule, ScriptedModel

__all__ = [
    "Call",
    "Cut",
    "Fault",
    "Hang",
    "Http",
    "Raw",
    "Reply",
    "Rule",
    "ScriptedModel",
    "SseError",
    "Stop",
    "Text",
    "Tool",
]
