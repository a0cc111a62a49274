"""Results as a file, as a table, and beside earlier ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.goals import goal_text, is_met

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Results:
    """A run: what on, what with, and what came out. Units are the ends of the figures' names."""

    machine: Mapping[str, str | int | float]
    dataset: Mapping[str, str | int]
    figures: Mapping[str, float]


def write_results(results: Results, path: Path) -> None:
    """Writes a run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figures = {name: _rounded(value) for name, value in results.figures.items()}
    content = {"format": _FORMAT, **asdict(results), "figures": figures}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_results(path: Path) -> Results:
    """Reads a run. ValueError when the file is of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a result of this benchmark")
    return Results(content["machine"], content["dataset"], content["figures"])


def text_report(results: Results, earlier: Results | None) -> str:
    """A table for the terminal."""
    rows = [_header(earlier), *_rows(results, earlier)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([_described(results), "", lines[0], "-" * len(lines[0]), *lines[1:]])


def markdown_report(results: Results, earlier: Results | None) -> str:
    """The same table as a page."""
    header, *rows = [_header(earlier), *_rows(results, earlier)]
    marks = ["---", *("---:" for _ in header[1:])]
    table = "\n".join(f"| {' | '.join(row)} |" for row in (header, marks, *rows))
    return f"# Benchmark\n\n`make bench` on this machine: {_described(results)}\n\n{table}\n"


def _described(results: Results) -> str:
    machine, dataset = results.machine, results.dataset
    return (
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}, load {machine['load_before']} before. "
        f"Data: {dataset['name']}, {dataset['owners']} owners, {dataset['sessions']} sessions, "
        f"{dataset['messages']} messages, {dataset['questions']} questions."
    )


def _header(earlier: Results | None) -> list[str]:
    return ["what", "now", *(["earlier", "ratio"] if earlier else []), "goal"]


def _rows(results: Results, earlier: Results | None) -> Iterator[list[str]]:
    for name, value in results.figures.items():
        row = [name, _shown(value)]
        if earlier is not None:
            before = earlier.figures.get(name)
            row += [_shown(before), _ratio(value, before)]
        goal = goal_text(name)
        yield [*row, goal if is_met(name, value) else f"{goal} missed"]


def _ratio(value: float, before: float | None) -> str:
    return f"{value / before:.2f}" if before else ""


def _shown(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
