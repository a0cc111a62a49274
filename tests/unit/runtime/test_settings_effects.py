"""Every setting has an effect, and a test that shows it: this table says which."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import remanence_server
from remanence_server.runtime.settings_loader import known_keys

TESTS = Path(__file__).parents[2]
SERVER = Path(remanence_server.__file__).parent

# The test that fails when the key is read and then forgotten: file (below tests/), and name.
SHOWN_BY: dict[str, tuple[str, str]] = {
    "server.http": ("blackbox/test_process", "the_ready_line_and_the_note_say_where_it_answers"),
    "server.grpc": ("blackbox/test_process", "the_ready_line_and_the_note_say_where_it_answers"),
    "server.max_body_bytes": ("blackbox/test_settings", "a_request_over_the_limit_is_refused"),
    "server.shutdown_grace_seconds": (
        "blackbox/test_settings",
        "a_stop_does_not_wait_longer_than_it_may",
    ),
    "server.http_keepalive_seconds": (
        "blackbox/test_settings",
        "a_connection_that_says_nothing_is_closed",
    ),
    "server.grpc_keepalive_seconds": (
        "unit/api/test_grpc_options",
        "the_settings_reach_the_library",
    ),
    "server.grpc_keepalive_timeout_seconds": (
        "unit/api/test_grpc_options",
        "the_settings_reach_the_library",
    ),
    "server.grpc_max_connection_age_seconds": (
        "unit/api/test_grpc_options",
        "the_settings_reach_the_library",
    ),
    "server.grpc_max_concurrent_calls": (
        "unit/api/test_grpc_options",
        "the_settings_reach_the_library",
    ),
    "server.shutdown_delay_seconds": (
        "blackbox/test_probes",
        "a_full_disk_its_recovery_and_the_stop_are_seen_by_every_probe",
    ),
    "memory.timezone": ("blackbox/test_zones", "every_instant_is_shown_in_the_zone"),
    "boundary.maximum_messages": (
        "blackbox/test_settings",
        "a_segment_ends_where_the_settings_say",
    ),
    "boundary.maximum_tokens": ("blackbox/test_settings", "a_segment_ends_where_the_settings_say"),
    "boundary.idle_gap_seconds": (
        "blackbox/test_settings",
        "a_segment_ends_where_the_settings_say",
    ),
    "extraction.provider": (
        "unit/extraction/test_factory",
        "claude_extracts_when_there_is_a_key_or_an_address",
    ),
    **dict.fromkeys(
        (
            "claude.api_key",
            "claude.base_url",
            "claude.model",
            "claude.temperature",
            "claude.max_output_tokens",
            "claude.timeout_seconds",
        ),
        ("unit/extraction/test_factory", "each_setting_of_claude_reaches_the_call"),
    ),
    "claude.max_input_characters": (
        "unit/extraction/test_model_extractor",
        "what_is_too_long_for_one_call_is_asked_about_in_parts",
    ),
    "claude.max_concurrency": (
        "unit/providers/test_claude_model",
        "no_more_calls_run_at_once_than_are_allowed",
    ),
    "claude.prompts_directory": (
        "unit/extraction/test_model_extractor",
        "prompts_can_be_replaced_one_by_one",
    ),
    "embeddings.provider": ("unit/providers/test_embeddings", "the_settings_choose_the_embedder"),
    "embeddings.model_directory": (
        "unit/providers/test_embeddings",
        "a_folder_with_the_same_files_is_the_same_space",
    ),
    "embeddings.batch_size": (
        "unit/providers/test_embeddings",
        "the_order_is_that_of_the_texts",
    ),
    "embeddings.threads": ("unit/providers/test_embeddings", "the_settings_choose_the_embedder"),
    "lexical.heap_megabytes": ("unit/index/test_jvm", "the_heap_limit_reaches_the_vm"),
    "lexical.k1": ("unit/index/test_lexical_lucene", "the_saturation_of_counts_is_a_parameter"),
    "lexical.b": ("unit/index/test_lexical_lucene", "the_weight_of_length_is_a_parameter"),
    "dense.memory_budget_megabytes": (
        "unit/index/test_dense_index",
        "the_least_recently_used_leave_when_memory_is_short",
    ),
    "search.default_radius": (
        "blackbox/test_settings",
        "the_default_radius_holds_when_neither_radius_nor_top_k_is_sent",
    ),
    "search.default_top_k": (
        "blackbox/test_settings",
        "a_search_without_top_k_brings_as_many_as_set",
    ),
    "search.agent_default_top_k": (
        "blackbox/test_settings",
        "an_agent_has_a_default_top_k_of_its_own",
    ),
    "jobs.workers": (
        "unit/state/test_runner",
        "as_many_jobs_run_at_once_as_there_are_workers",
    ),
    "jobs.lease_seconds": (
        "unit/state/test_jobs",
        "a_lease_that_ran_out_is_given_to_somebody_else_and_its_holder_cannot_finish",
    ),
    "jobs.maximum_attempts": (
        "blackbox/test_jobs",
        "a_job_that_killed_the_server_too_often_is_a_dead_letter_and_the_rest_goes_on",
    ),
    "jobs.retry_backoff_seconds": (
        "unit/state/test_runner",
        "a_failed_attempt_is_told_and_tried_again",
    ),
    "flush.visibility_timeout_seconds": (
        "unit/memory/test_flush_waits",
        "a_flush_whose_entries_cannot_be_found_answers_when_its_time_is_up",
    ),
    **dict.fromkeys(
        ("memorize.message_id_retention_hours", "memorize.receipt_retention_hours"),
        (
            "unit/state/test_housekeeping",
            "message_ids_and_receipts_are_kept_as_long_as_each_is_to_be",
        ),
    ),
    **{
        f"memorize.async_queue.{name}": ("unit/memory/test_queue", shown)
        for name, shown in {
            "enabled": "switched_off_it_takes_nothing_new_and_delivers_what_it_has",
            "max_concurrency": "no_more_run_at_once_than_the_policy_allows",
            "max_pending_per_session": "a_full_queue_refuses",
            "max_pending_total": "a_full_queue_refuses",
            "max_payload_bytes": "an_asynchronous_batch_that_is_too_large_is_refused",
            "scan_interval_seconds": "a_row_that_nobody_announced_is_found_by_the_scan",
            "max_attempts": "a_delivery_is_tried_as_often_as_the_policy_says",
            "retry_backoff_seconds": "between_two_tries_it_waits",
            "max_replays": "a_row_that_outlives_too_many_processes_is_given_up",
            "row_retention_hours": (
                "rows_are_deleted_at_their_age_with_a_warning_for_undelivered_ones"
            ),
        }.items()
    },
    "projection.watch": (
        "blackbox/test_settings",
        "without_a_watcher_the_scan_finds_a_hand_edit",
    ),
    "projection.scan_interval_seconds": (
        "blackbox/test_settings",
        "without_a_watcher_the_scan_finds_a_hand_edit",
    ),
    "log.level": ("blackbox/test_process", "no_memory_text_reaches_the_log"),
    "log.format": (
        "blackbox/test_operations",
        "a_json_log_is_json_throughout_and_holds_no_text_of_anybody",
    ),
    **dict.fromkeys(
        ("tracing.enabled", "tracing.endpoint"),
        ("blackbox/test_tracing", "all_that_a_flush_causes_is_in_the_trace_of_its_caller"),
    ),
    "tracing.service_name": (
        "blackbox/test_tracing",
        "the_collector_gets_the_name_of_the_service_and_the_configured_headers",
    ),
    "tracing.sample_ratio": (
        "unit/runtime/test_tracing",
        "a_ratio_of_zero_sends_only_what_the_caller_samples",
    ),
}


def test_every_key_says_which_test_shows_its_effect() -> None:
    assert SHOWN_BY.keys() == known_keys().keys()


@pytest.mark.parametrize("key", SHOWN_BY)
def test_the_test_that_shows_it_is_there(key: str) -> None:
    file, name = SHOWN_BY[key]
    assert f"test_{name}" in _tests(file)


@pytest.mark.parametrize("key", SHOWN_BY)
def test_the_service_reads_it(key: str) -> None:
    # Some are read through a property that gives them a type.
    name = {"memory.timezone": "zone"}.get(key, key.rpartition(".")[2])
    assert re.search(rf"\b(settings|policy)?\.{name}(_address)?\b", _source())


@cache
def _tests(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / f"{file}.py").read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


@cache
def _source() -> str:
    """All of the server but the settings themselves."""
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in SERVER.rglob("*.py")
        if not path.name.startswith("settings")
    )
