"""The health report over real stores: it never fails, and says what it could not read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.workshop import Workshop, WorkshopPlan, open_workshop

from remanence_server.api import health
from remanence_server.api.health import HealthSources, health_report
from remanence_server.api.health_watch import watch_health
from remanence_server.api.sampled_metrics import SAMPLED_METRICS, SampledSources
from remanence_server.api.serving import ServingState
from remanence_server.memory.queue import MemorizeQueue, QueuePolicy
from remanence_server.projection.activities import Activity
from remanence_server.projection.keeper import IndexKeeper
from remanence_server.runtime.metrics import Metrics, create_metrics, render
from remanence_server.state.inbox import InboxStore
from remanence_server.state.inbox_model import InboxCaps
from remanence_server.state.waiting_note import WaitingNote


class IdleKeeper:
    """Stands for the keeper of an index that is whole: the workshop has one that stays as it is."""

    def reasons(self) -> list[str]:
        return []

    def activities(self) -> list[Activity]:
        return []


@dataclass
class Ward:
    """A workshop with what health looks at."""

    workshop: Workshop
    sources: HealthSources
    serving: ServingState

    async def report(self) -> Any:
        return await health_report(self.sources)

    def metrics(self) -> Metrics:
        metrics = create_metrics("1")
        workshop = self.workshop
        SampledSources(self.sources, workshop.lexical, workshop.dense).declare(metrics.sampler)
        return metrics


@pytest.fixture
async def ward(tmp_path: Path) -> AsyncIterator[Ward]:
    async with open_workshop(tmp_path, WorkshopPlan(work=False)) as workshop:

        async def nothing(_: object) -> None:
            return

        policy = QueuePolicy(True, InboxCaps(50, 200), 1000, 4, 60.0, 1, 0.0, 3, 3_600_000)
        queue = MemorizeQueue(
            InboxStore(workshop.state), nothing, workshop.path.clock, policy, workshop.supervisor
        )
        await queue.start()
        serving = ServingState(workshop.state, ready=True)
        follower = workshop.follower()
        sources = HealthSources(
            serving=serving,
            supervisor=workshop.supervisor,
            job_store=workshop.jobs,
            queue=queue,
            projector=workshop.projector,
            follower=follower,
            catalogue=workshop.catalogue,
            keeper=cast("IndexKeeper", IdleKeeper()),
            note=WaitingNote(tmp_path / "waiting.json", tmp_path / "system.db"),
        )
        yield Ward(workshop, sources, serving)
        await queue.stop(5)


async def test_a_service_that_is_well_says_so(ward: Ward) -> None:
    report = await ward.report()
    assert (report.status, list(report.reasons)) == ("ok", [])
    assert report.memorize_queue.healthy
    assert report.jobs.healthy


@pytest.mark.parametrize(
    ("ready", "draining", "reason"),
    [(False, False, "the server is starting"), (True, True, "the server is stopping")],
)
async def test_before_and_after_its_time_the_service_is_unavailable(
    ward: Ward, ready: bool, draining: bool, reason: str
) -> None:
    ward.serving.ready, ward.serving.draining = ready, draining
    report = await ward.report()
    assert (report.status, list(report.reasons)) == ("unavailable", [reason])


async def test_a_read_that_fails_is_a_reason_not_a_failure(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("words of a user")

    monkeypatch.setattr(type(ward.workshop.jobs), "counts", fails)
    report = await ward.report()
    assert report.status == "degraded"
    assert list(report.reasons) == ["the state of jobs cannot be read"]
    assert not report.jobs.healthy
    # The others are read all the same.
    assert report.memorize_queue.healthy
    assert report.cascade.index_rows
    monkeypatch.setattr(type(ward.workshop.catalogue), "counts", fails)
    monkeypatch.setattr(InboxStore, "counts", fails)
    report = await ward.report()
    assert len(report.reasons) == 3
    assert not report.memorize_queue.healthy


async def test_a_disk_that_hangs_does_not_hang_the_report(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(*_: object) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(health, "_LONGEST_READ_SECONDS", 0.05)
    monkeypatch.setattr(type(ward.workshop.jobs), "counts", hangs)
    report = await asyncio.wait_for(ward.report(), 5)
    assert list(report.reasons) == ["the state of jobs cannot be read"]


async def test_a_scrape_reads_every_source_and_shows_every_metric_it_declares(ward: Ward) -> None:
    metrics = ward.metrics()
    await metrics.sampler.sample()
    page = render(metrics.registry, "").body.decode()
    assert [metric.name for metric in SAMPLED_METRICS if f"# TYPE {metric.name}" not in page] == []
    assert 'remanence_scrape_failures_total{source="jobs"} 0.0' in page


async def test_a_scrape_does_without_a_store_that_cannot_be_read(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("words of a user")

    metrics = ward.metrics()
    await metrics.sampler.sample()
    monkeypatch.setattr(type(ward.workshop.jobs), "counts", fails)
    await metrics.sampler.sample()
    page = render(metrics.registry, "").body.decode()
    assert "remanence_jobs{" not in page
    assert "remanence_queue_pending 0.0" in page
    assert 'remanence_scrape_failures_total{source="jobs"} 1.0' in page


async def test_the_watch_tells_changes_only_and_asks_a_disk_that_refused(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remanence_server.api.health_watch._INTERVAL_SECONDS", 0.01)
    told: list[bool] = []

    async def tell(serving: bool) -> None:
        told.append(serving)

    async def until(length: int) -> None:
        async with asyncio.timeout(10):
            while len(told) < length:
                await asyncio.sleep(0.005)

    # The disk refuses as long as the probe says so.
    refuses = True

    async def probe() -> None:
        ward.workshop.state.refusal = "storage is full" if refuses else None

    monkeypatch.setattr(ward.workshop.state, "probe", probe)
    watch = asyncio.create_task(watch_health(ward.serving, tell))
    await until(1)
    ward.workshop.state.refusal = "storage is full"
    await until(2)
    await asyncio.sleep(0.1)
    assert told == [True, False]
    refuses = False
    await until(3)
    assert told == [True, False, True]
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
