"""Records as the contract shows them."""

from __future__ import annotations

from typing import Any

from google.protobuf import struct_pb2

from remanence.v2 import memory_pb2 as pb
from remanence_server.api.messages import timestamp
from remanence_server.domain.records import (
    AgentCase,
    AgentSkill,
    Episode,
    Profile,
    Record,
    public_id,
)
from remanence_server.retrieval.results import CaseHit, EpisodeHit, SkillHit

_EPISODE_TYPE = "Conversation"


def get_episode(episode: Episode) -> pb.GetEpisodeItem:
    """An episode of a listing."""
    return pb.GetEpisodeItem(**_episode_fields(episode))


def search_episode(hit: EpisodeHit) -> pb.SearchEpisodeItem:
    """An episode that was found, with its matching facts."""
    return pb.SearchEpisodeItem(
        **_episode_fields(hit.episode),
        score=hit.score,
        atomic_facts=[
            pb.SearchAtomicFactItem(
                id=public_id(found.fact), content=found.fact.content, score=found.score
            )
            for found in hit.facts
        ],
    )


def get_profile(profile: Profile) -> pb.GetProfileItem:
    """The profile of a listing."""
    return pb.GetProfileItem(**_profile_fields(profile))


def search_profile(profile: Profile) -> pb.SearchProfileItem:
    """The profile beside a search; it is not ranked, so it has no score."""
    return pb.SearchProfileItem(**_profile_fields(profile))


def get_case(case: AgentCase) -> pb.GetAgentCaseItem:
    """A case of a listing."""
    return pb.GetAgentCaseItem(**_case_fields(case))


def search_case(hit: CaseHit) -> pb.SearchAgentCaseItem:
    """A case that was found."""
    return pb.SearchAgentCaseItem(**_case_fields(hit.case), score=hit.score)


def get_skill(skill: AgentSkill) -> pb.GetAgentSkillItem:
    """A skill of a listing."""
    return pb.GetAgentSkillItem(**_skill_fields(skill))


def search_skill(hit: SkillHit) -> pb.SearchAgentSkillItem:
    """A skill that was found."""
    return pb.SearchAgentSkillItem(**_skill_fields(hit.skill), score=hit.score)


def _scope_fields(record: Record) -> dict[str, Any]:
    scope = record.owner.scope
    return {
        "id": public_id(record),
        "app_id": scope.app_id,
        "project_id": scope.project_id,
    }


def _episode_fields(episode: Episode) -> dict[str, Any]:
    return {
        **_scope_fields(episode),
        "user_id": episode.owner.owner_id,
        "session_id": episode.session_id,
        "timestamp": timestamp(episode.timestamp_ms),
        "sender_ids": episode.sender_ids,
        "summary": episode.summary,
        "subject": episode.subject,
        "episode": episode.content,
        "type": _EPISODE_TYPE,
    }


def _profile_fields(profile: Profile) -> dict[str, Any]:
    data = struct_pb2.Struct()
    data.update(dict(profile.data))
    return {
        **_scope_fields(profile),
        "user_id": profile.owner.owner_id,
        "profile_data": data,
    }


def _case_fields(case: AgentCase) -> dict[str, Any]:
    return {
        **_scope_fields(case),
        "agent_id": case.owner.owner_id,
        "session_id": case.session_id,
        "task_intent": case.task_intent,
        "approach": case.approach,
        "quality_score": case.quality_score,
        "key_insight": case.key_insight,
        "timestamp": timestamp(case.timestamp_ms),
    }


def _skill_fields(skill: AgentSkill) -> dict[str, Any]:
    return {
        **_scope_fields(skill),
        "agent_id": skill.owner.owner_id,
        "name": skill.name,
        "description": skill.description,
        "content": skill.content,
        "confidence": skill.confidence,
        "maturity_score": skill.maturity_score,
        "source_case_ids": skill.source_case_ids,
    }
