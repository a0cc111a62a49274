"""Python client of Remanence, the memory service for AI agents.

from remanence_client import Client, Message

with Client("127.0.0.1:50051") as client:
    client.add("session-1", [Message("alice", "I love climbing in Yosemite every spring.")])
    client.flush("session-1")
    for episode in client.search("Where does she climb?", user_id="alice").episodes:
        print(episode.score, episode.summary)
"""

from __future__ import annotations

from remanence.v2.memory_pb2 import FilterNode
from remanence_client.async_client import AsyncClient
from remanence_client.client import Client
from remanence_client.errors import (
    AccessDeniedError,
    CapabilityUnavailableError,
    ConflictError,
    DeadlineExceededError,
    InvalidInputError,
    NotFoundError,
    PayloadTooLargeError,
    QueueSaturatedError,
    RemanenceError,
    ServerFaultError,
    ServerUnreachableError,
    ServiceUnavailableError,
)
from remanence_client.filters import Filters
from remanence_client.health import (
    Activity,
    CascadeHealth,
    Health,
    HealthCapabilities,
    JobsHealth,
    MarkdownProblem,
    MemorizeQueueHealth,
)
from remanence_client.inputs import ContentItem, Message, ToolCall, ToolFunction
from remanence_client.jsonform import to_json
from remanence_client.results import (
    AddResult,
    AgentCase,
    AgentSkill,
    AtomicFact,
    DeleteResult,
    Episode,
    FlushResult,
    FoundAgentCase,
    FoundAgentSkill,
    FoundEpisode,
    FoundProfile,
    ImportResult,
    Job,
    JobPage,
    Page,
    Profile,
    QuiesceResult,
    RebuildResult,
    ReceivedFiles,
    Run,
    SearchResult,
    Task,
    TaskPage,
    TriggerResult,
    UnprocessedMessage,
)

__all__ = [
    "AccessDeniedError",
    "Activity",
    "AddResult",
    "AgentCase",
    "AgentSkill",
    "AsyncClient",
    "AtomicFact",
    "CapabilityUnavailableError",
    "CascadeHealth",
    "Client",
    "ConflictError",
    "ContentItem",
    "DeadlineExceededError",
    "DeleteResult",
    "Episode",
    "FilterNode",
    "Filters",
    "FlushResult",
    "FoundAgentCase",
    "FoundAgentSkill",
    "FoundEpisode",
    "FoundProfile",
    "Health",
    "HealthCapabilities",
    "ImportResult",
    "InvalidInputError",
    "Job",
    "JobPage",
    "JobsHealth",
    "MarkdownProblem",
    "MemorizeQueueHealth",
    "Message",
    "NotFoundError",
    "Page",
    "PayloadTooLargeError",
    "Profile",
    "QueueSaturatedError",
    "QuiesceResult",
    "RebuildResult",
    "ReceivedFiles",
    "RemanenceError",
    "Run",
    "SearchResult",
    "ServerFaultError",
    "ServerUnreachableError",
    "ServiceUnavailableError",
    "Task",
    "TaskPage",
    "ToolCall",
    "ToolFunction",
    "TriggerResult",
    "UnprocessedMessage",
    "to_json",
]
