"""The table of metrics in docs/operations.md is the registry."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator

from prometheus_client.metrics import MetricWrapperBase
from ruamel.yaml import YAML

from remanence_server.api.sampled_metrics import SAMPLED_METRICS
from remanence_server.runtime.metrics import create_metrics
from remanence_server.runtime.settings_loader import known_keys, variable_of
from tests.docs.pages import REPOSITORY, blocks, table

OPERATIONS = REPOSITORY / "docs" / "operations.md"


def _rows() -> Iterator[list[str]]:
    metrics = create_metrics("1")
    described: list[tuple[str, str, tuple[str, ...], str]] = [
        ("remanence_build", "info", ("version",), "The release that runs")
    ]
    groups = [getattr(metrics, field.name) for field in dataclasses.fields(metrics)]
    for group in groups:
        if dataclasses.is_dataclass(group):
            for field in dataclasses.fields(group):
                instrument = getattr(group, field.name)
                assert isinstance(instrument, MetricWrapperBase)
                described.append(
                    (
                        instrument._name,
                        str(instrument._type),
                        instrument._labelnames,
                        instrument._documentation,
                    )
                )
    failures = metrics.sampler._failures
    described.append(
        (failures._name, str(failures._type), failures._labelnames, failures._documentation)
    )
    described += [(m.name, m.kind, m.labels, m.description) for m in SAMPLED_METRICS]
    suffix = {"counter": "_total", "info": "_info"}
    for name, kind, labels, text in described:
        shown = ", ".join(f"`{label}`" for label in labels)
        yield [f"`{name}{suffix.get(kind, '')}`", kind, shown, text]


def test_the_metrics_table_is_the_registry() -> None:
    rows = list(_rows())
    printed = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    assert table(OPERATIONS, "metric") == rows, f"docs/operations.md should have\n{printed}"


def test_every_metric_of_the_registry_is_in_the_table() -> None:
    registered = {
        family.name
        for family in create_metrics("1").registry.collect()
        if family.name.startswith("remanence_")
    }
    listed = {row[0].strip("`").removesuffix("_total").removesuffix("_info") for row in _rows()}
    assert registered <= listed


def test_the_yaml_is_yaml_and_its_alerts_are_about_metrics_that_there_are() -> None:
    parsed = [
        YAML(typ="safe").load(block.text)
        for block in blocks(OPERATIONS)
        if block.language == "yaml"
    ]
    rules = [rule for page in parsed for group in page.get("groups", ()) for rule in group["rules"]]
    listed = {row[0].strip("`") for row in _rows()}
    used = {name for rule in rules for name in re.findall(r"remanence_\w+", rule["expr"])}
    assert used
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in used} <= listed


def test_the_probes_of_the_example_are_served_and_its_variables_are_settings() -> None:
    text = "".join(block.text for block in blocks(OPERATIONS) if block.language == "yaml")
    paths = set(re.findall(r"path: (\S+?),", text))
    document = (REPOSITORY / "gen" / "openapi" / "remanence.v2.json").read_text(encoding="utf-8")
    assert paths == {"/health/live", "/health/ready"}
    assert paths <= json.loads(document)["paths"].keys()
    variables = set(re.findall(r"REMANENCE_\w+", text))
    assert variables
    assert variables <= {variable_of(key) for key in known_keys()}
