"""Words of the API, as types."""

from __future__ import annotations

from typing import Literal

SearchMethod = Literal["keyword", "vector", "hybrid", "agentic", "llm_multiround"]
MemoryType = Literal["episode", "profile", "agent_case", "agent_skill"]
SortBy = Literal["timestamp", "updated_at"]
SortOrder = Literal["asc", "desc"]
JobStatus = Literal["queued", "waiting_retry", "running", "succeeded", "dead_letter", "cancelled"]
TaskStatus = Literal["queued", "processing", "success", "failed"]
