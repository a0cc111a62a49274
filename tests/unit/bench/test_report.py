"""How results are kept and shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.bench.report import (
    Results,
    markdown_report,
    read_results,
    text_report,
    write_results,
)

RESULTS = Results(
    machine={
        "cores": 2,
        "memory_gb": 8.3,
        "processor": "Some CPU",
        "system": "Linux x86_64",
        "python": "3.12.1",
        "load_before": 0.1,
    },
    dataset={"name": "d", "owners": 1, "sessions": 2, "messages": 3, "questions": 4},
    figures={"search.keyword.http.p50_ms": 5.0, "hybrid.recall@1": 0.71234, "rate": 1234.5},
)
EARLIER = Results(RESULTS.machine, RESULTS.dataset, {"search.keyword.http.p50_ms": 10.0})


def line_of(report: str, name: str) -> list[str]:
    [line] = [line for line in report.splitlines() if name in line]
    return line.split()


def test_a_file_says_what_was_measured_to_four_digits(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    write_results(RESULTS, path)
    read = read_results(path)
    assert read.machine == RESULTS.machine
    assert read.dataset == RESULTS.dataset
    assert read.figures["hybrid.recall@1"] == 0.7123


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"format": 2}), encoding="utf-8")
    with pytest.raises(ValueError, match="not a result of this benchmark"):
        read_results(path)


def test_a_table_shows_earlier_figures_ratios_and_goals() -> None:
    report = text_report(RESULTS, EARLIER)
    keyword = line_of(report, "search.keyword.http.p50_ms")
    assert keyword[1:] == ["5.000", "10.0", "0.50", "≤", "4", "missed"]
    assert line_of(report, "hybrid.recall@1")[1:] == ["0.712", "≥", "0.66"]
    assert line_of(report, "rate")[1:] == ["1234"]
    assert "2 cores (Some CPU)" in report


def test_a_page_has_a_row_for_each_figure() -> None:
    page = markdown_report(RESULTS, None)
    assert "| what | now | goal |\n| --- | ---: | ---: |\n" in page
    assert "| hybrid.recall@1 | 0.712 | ≥ 0.66 |" in page
