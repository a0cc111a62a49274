"""Instruments and the page: a registry for each service, sources that fail are left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from remanence_server.runtime.errors import ErrorCode, ServiceError
from remanence_server.runtime.metrics import (
    DatabaseMetrics,
    Metrics,
    Reading,
    SampledMetric,
    create_metrics,
    render,
)

DEPTH = SampledMetric("remanence_test_depth", "How deep", ("lake",))
AGE = SampledMetric("remanence_test_age_seconds", "How old")
FAILURES = "remanence_scrape_failures_total"


def shown(metrics: Metrics) -> dict[str, float]:
    text = render(metrics.registry, "").body.decode()
    return {
        sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_two_services_in_one_process_count_apart() -> None:
    first, second = create_metrics("1"), create_metrics("1")
    first.requests.answered.labels("http", "GET", "/health", "200", "OK").inc()
    assert shown(first)["remanence_requests_total OK GET /health 200 http"] == 1
    assert not any(key.startswith("remanence_requests_total ") for key in shown(second))


def test_a_group_without_a_registry_counts_for_nobody() -> None:
    metrics = create_metrics("1")
    DatabaseMetrics.of().transactions.labels("committed").inc()
    assert shown(metrics)["remanence_database_transactions_total committed"] == 0


async def test_a_source_that_fails_is_left_out_counted_and_told_once() -> None:
    metrics, broken = create_metrics("1"), True

    async def lakes() -> Iterable[Reading]:
        return (Reading(DEPTH, 3.0, ("Como",)), Reading(DEPTH, 2.0, ("Garda",)))

    async def age() -> Iterable[Reading]:
        if broken:
            raise ServiceError(ErrorCode.EXTERNAL_SERVICE_UNAVAILABLE, "storage is full")
        return (Reading(AGE, 7.0),)

    metrics.sampler.declare({"lakes": lakes, "age": age}, (DEPTH, AGE))
    assert shown(metrics)[f"{FAILURES} age"] == 0
    with capture_logs() as lines:
        for _ in range(3):
            await metrics.sampler.sample()
    page = shown(metrics)
    assert (page["remanence_test_depth Como"], page["remanence_test_depth Garda"]) == (3, 2)
    assert "remanence_test_age_seconds" not in page
    assert (page[f"{FAILURES} age"], page[f"{FAILURES} lakes"]) == (3, 0)
    assert [(line["event"], line["source"]) for line in lines] == [("metrics_not_read", "age")]
    broken = False
    await metrics.sampler.sample()
    assert shown(metrics)["remanence_test_age_seconds"] == 7
    # Well in between: the next failure is news again.
    broken = True
    with capture_logs() as lines:
        await metrics.sampler.sample()
    assert len(lines) == 1
    assert "remanence_test_age_seconds" not in shown(metrics)


async def test_a_source_that_hangs_does_not_hang_the_scrape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("remanence_server.runtime.metrics.sampling._LONGEST_READ_SECONDS", 0.05)
    metrics = create_metrics("1")

    async def hangs() -> Iterable[Reading]:
        await asyncio.sleep(3600)
        return ()

    async def lakes() -> Iterable[Reading]:
        return (Reading(DEPTH, 3.0, ("Como",)),)

    metrics.sampler.declare({"hangs": hangs, "lakes": lakes}, (DEPTH,))
    await asyncio.wait_for(metrics.sampler.sample(), 5)
    assert shown(metrics)[f"{FAILURES} hangs"] == 1
    assert shown(metrics)["remanence_test_depth Como"] == 3


def test_what_has_not_happened_yet_is_there_as_zero() -> None:
    page = shown(create_metrics("1"))
    for step in ("index", "embedding", "commit", "file"):
        assert page[f"remanence_projection_failures_total {step}"] == 0
    assert page["remanence_database_transactions_total refused"] == 0


def test_names_follow_the_conventions_of_prometheus() -> None:
    units = ("_seconds", "_bytes", "_info")
    for family in create_metrics("1").registry.collect():
        if not family.name.startswith("remanence_"):
            continue
        assert family.documentation
        if family.type == "histogram" and "works_per" not in family.name:
            assert family.name.endswith("_duration_seconds")
        if family.type == "counter":
            assert not family.name.endswith(units)


def test_the_page_tells_no_series_when_it_began() -> None:
    metrics = create_metrics("1")
    metrics.queue.deliveries.labels("succeeded").inc()
    assert b"_created" not in render(metrics.registry, "").body
    open_metrics = render(metrics.registry, "application/openmetrics-text; version=1.0.0")
    assert b"_created" not in open_metrics.body
    assert open_metrics.body.endswith(b"# EOF\n")


def test_a_registry_of_ours_takes_no_name_twice() -> None:
    registry = CollectorRegistry()
    DatabaseMetrics.of(registry)
    with pytest.raises(ValueError, match="Duplicated"):
        DatabaseMetrics.of(registry)
