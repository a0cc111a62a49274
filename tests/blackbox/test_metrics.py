"""/metrics: what is counted, and that no label says too much."""

from __future__ import annotations

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus_text

from tests.blackbox.conftest import eventually, said, tell_story
from tests.blackbox.surfaces import HttpSurface, Surface
from tests.support.scraping import value, values

OPEN_METRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def test_metrics_are_prometheus_text_and_open_metrics_for_who_asks(http: HttpSurface) -> None:
    page = http.client.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    names = {family.name for family in prometheus_text(page.text)}
    page = http.client.get("/metrics", headers=OPEN_METRICS)
    assert page.headers["content-type"].startswith("application/openmetrics-text")
    assert page.text.endswith("# EOF\n")
    families = {family.name for family in open_metrics(page.text)}
    assert {"remanence_requests", "remanence_jobs", "process_cpu_seconds"} <= families & names
    for nonsense in ("application/openmetrics-text; version=x", "\xff", "a" * 4000):
        headers = {b"Accept": nonsense.encode("latin-1")}
        page = http.client.get("/metrics", headers=headers)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/plain")


def test_metrics_follow_the_rules_of_every_route(http: HttpSurface) -> None:
    assert len(http.client.get("/metrics").headers["x-request-id"]) == 32
    head = http.client.head("/metrics")
    assert (head.status_code, head.content) == (200, b"")
    refused = http.client.post("/metrics")
    assert refused.status_code == 405
    assert refused.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert refused.headers["allow"] == "GET, HEAD"


CALLS = {
    "http": {"method": "POST", "route": "/api/v2/memory/search", "surface": "http"},
    "grpc": {"method": "POST", "route": "/remanence.v2.MemoryService/Search", "surface": "grpc"},
}


def test_requests_are_counted_by_route_status_and_code(surface: Surface, http: HttpSurface) -> None:
    labels = CALLS[surface.name]
    answered, refused = (
        ({"status": "200", "code": "OK"}, {"status": "422", "code": "INVALID_INPUT"})
        if surface.name == "http"
        else (
            {"status": "OK", "code": "OK"},
            {"status": "INVALID_ARGUMENT", "code": "INVALID_INPUT"},
        )
    )
    name, seconds = "remanence_requests_total", "remanence_request_duration_seconds_count"
    before = [
        value(http.client, name, **labels, **answered),
        value(http.client, name, **labels, **refused),
        value(http.client, seconds, **labels),
    ]
    surface.call("search", {"user_id": "m", "query": "x", "method": "keyword"})
    surface.call("search", {"user_id": "m", "query": "x", "top_k": 0})
    after = [
        value(http.client, name, **labels, **answered),
        value(http.client, name, **labels, **refused),
        value(http.client, seconds, **labels),
    ]
    assert [new - old for new, old in zip(after, before, strict=True)] == [1, 1, 2]
    assert value(http.client, "remanence_requests_in_flight", surface=surface.name) == (
        1 if surface.name == "http" else 0  # the scrape itself
    )


def test_labels_hold_templates_never_paths(http: HttpSurface, tag: str) -> None:
    for path in (f"/api/v2/tasks/secret-{tag}", f"/nowhere/secret-{tag}"):
        http.client.get(path)
    http.client.get("/api/v2/memory/add")
    http.client.request("PROPFIND", f"/api/v2/secret-{tag}")
    counted = {key for key in values(http.client) if key[0] == "remanence_requests_total"}
    labels = [dict(key[1]) for key in counted]
    assert {"GET", "other"} <= {of["method"] for of in labels}
    by_route = {(of["route"], of["status"]) for of in labels}
    assert {
        ("/api/v2/tasks/{task_id}", "404"),
        ("{unmatched}", "404"),
        ("/api/v2/memory/add", "405"),
    } <= by_route
    assert tag not in http.client.get("/metrics").text


def test_what_a_story_causes_is_measured(http: HttpSurface, tag: str) -> None:
    before = values(http.client)

    def grown(name: str, **labels: str) -> float:
        key = (name, frozenset(labels.items()))
        return values(http.client)[key] - before.get(key, 0.0)

    tell_story(http, f"measured{tag}", f"measured-{tag}")
    # Words that no other test has had embedded.
    own = {"session_id": f"own-{tag}", "defer_extraction": True}
    new = said(f"My locker {tag} stands behind the stairs.", f"measured{tag}")
    assert http.call("add", {**own, "messages": [new]}).ok
    assert http.call("flush", {"session_id": f"own-{tag}"}).ok
    http.call("search", {"user_id": f"measured{tag}", "query": "coffee", "method": "hybrid"})
    body = {"session_id": f"q-{tag}", "messages": [said("Hi.", f"q{tag}")], "async_mode": True}
    assert http.call("add", body).status == 202
    stages = ("episode", "facts", "profile")
    done = {"outcome": "succeeded"}
    eventually(
        lambda: all(grown("remanence_job_attempts_total", stage=each, **done) for each in stages)
    )
    for stage in stages:
        assert grown("remanence_job_stage_duration_seconds_count", stage=stage) >= 1
    assert eventually(lambda: grown("remanence_queue_deliveries_total", outcome="succeeded"))
    for phase in ("lexical", "embed_query", "dense", "rank"):
        name = "remanence_search_phase_duration_seconds_count"
        assert grown(name, phase=phase, method="hybrid") >= 1
    calls = {"provider": "onnx", "operation": "embed_passages", "outcome": "succeeded"}
    assert eventually(lambda: grown("remanence_provider_calls_total", **calls))
    assert grown("remanence_provider_passages_total", provider="onnx") >= 1
    assert grown("remanence_database_transactions_total", outcome="committed") >= 2
    assert grown("remanence_database_works_per_commit_sum") >= 2
    assert grown("remanence_index_records", kind="episode") >= 1
    assert grown("remanence_index_passages") >= 1
    assert value(http.client, "remanence_accepting") == 1
    assert value(http.client, "remanence_loop_alive", loop="memorize-queue") == 1
    key = next(key for key in before if key[0] == "remanence_build_info")
    assert dict(key[1])["version"] == http.client.get("/health").json()["version"]
