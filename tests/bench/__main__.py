"""Starts a server on a root of its own, measures, reports."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench.dataset import Dataset, load_examples, load_locomo
from tests.bench.machine import describe_machine, folder_bytes
from tests.bench.measure import (
    FULL,
    QUICK,
    Effort,
    measure_import,
    measure_reads,
    measure_recall,
    measure_writes,
)
from tests.bench.report import (
    Results,
    markdown_report,
    read_results,
    text_report,
    write_results,
)
from tests.bench.throughput import measure_throughput
from tests.support.server_process import ServerProcess, start_server

_REPOSITORY = Path(__file__).parents[2]
# Not ours to pass on: it lies beside the repository, or the examples are used.
_LOCOMO = _REPOSITORY.parent / "shared" / "data" / "locomo-dev.json"
_COMMITTED = _REPOSITORY / "docs" / "benchmarks" / "latest.json"
_DEFAULT_OUTPUT = _REPOSITORY / ".build" / "bench" / "latest.json"
_QUICK_OWNERS = 1


def main() -> int:
    """Runs the benchmark of the command line."""
    options = _options()
    dataset = load_locomo(options.data) if options.data else load_examples(_REPOSITORY / "examples")
    if options.quick:
        dataset = dataset.first(_QUICK_OWNERS)
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="remanence-bench-") as folder:
        figures = _measure(Path(folder) / "root", dataset, QUICK if options.quick else FULL)
    results = Results(machine, _described(dataset), figures)
    earlier = read_results(options.compare) if options.compare else None
    print(text_report(results, earlier))
    write_results(results, options.output)
    if options.publish:
        write_results(results, _COMMITTED)
        page = markdown_report(results, None)
        _COMMITTED.with_suffix(".md").write_text(page, encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one owner, few samples")
    parser.add_argument(
        "--data",
        type=Path,
        default=_LOCOMO if _LOCOMO.is_file() else None,
        help="a file in the format of LoCoMo; the examples, without recall, where there is none",
    )
    parser.add_argument("--output", type=Path, default=_DEFAULT_OUTPUT, help="where the JSON goes")
    parser.add_argument(
        "--compare",
        type=Path,
        default=_COMMITTED if _COMMITTED.is_file() else None,
        help="an earlier JSON to show ratios to; default: the committed one",
    )
    parser.add_argument(
        "--publish", action="store_true", help="write docs/benchmarks/latest.{json,md} too"
    )
    return parser.parse_args()


def _measure(root: Path, dataset: Dataset, effort: Effort) -> dict[str, float]:
    figures: dict[str, float] = {}
    server = _start(root)
    try:
        figures["start.empty_seconds"] = server.ready_after_seconds
        _say("import")
        figures |= measure_import(server.grpc, dataset)
        _say("search and get")
        figures |= measure_reads(server, dataset, effort)
        figures["memory.resident_mb"] = server.resident_bytes() / 1e6
        figures["disk.markdown_mb"] = folder_bytes(root / "default_app") / 1e6
        figures["disk.index_mb"] = folder_bytes(root / ".index") / 1e6
        if dataset.has_evidence:
            _say("recall")
            figures |= measure_recall(server.http, dataset)
        _say("add and flush")
        figures |= measure_writes(server.http, dataset, effort)
        _say("throughput")
        figures |= measure_throughput(server.grpc, dataset, effort.throughput_seconds)
    finally:
        server.stop()
    server = _start(root)
    figures["start.loaded_seconds"] = server.ready_after_seconds
    server.stop()
    return figures


def _start(root: Path) -> ServerProcess:
    # As a user runs it, with all cores for the model; tests take one.
    return start_server(root, REMANENCE_EMBEDDINGS__THREADS="0")


def _described(dataset: Dataset) -> dict[str, str | int]:
    return {
        "name": dataset.name,
        "owners": len({session.owner_id for session in dataset.sessions}),
        "sessions": len(dataset.sessions),
        "messages": dataset.message_count,
        "questions": len(dataset.questions),
    }


def _say(step: str) -> None:
    print(f"… {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
