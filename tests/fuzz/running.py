"""Fuzzing of a running server with requests made from our own OpenAPI document, by Schemathesis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
DOCUMENT = _ROOT / "gen" / "openapi" / "remanence.v2.json"


# Ends the following of Markdown until a restart, so it comes last.
_LAST = "/api/v2/cascade/quiesce"


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run did: answers by status, the operations reached, and whether all was well."""

    failed: bool
    # What Schemathesis printed: each failure with the request that shows it.
    output: str
    statuses: Counter[int] = field(default_factory=Counter)
    operations: frozenset[str] = frozenset()

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        return self.statuses.total()

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.failed or other.failed,
            self.output + other.output,
            self.statuses + other.statuses,
            self.operations | other.operations,
        )


def fuzz(address: str, folder: Path, *, examples: int, seed: int) -> Findings:
    """Sends valid and invalid requests to every operation.

    `examples` are random requests for each operation and kind, beside those at the edges of every
    rule. The same seed makes the same requests. The report in `folder` has them all.
    """
    ways = (("--exclude-path", _LAST), ("--include-path", _LAST))
    runs = [run(address, folder / "fuzz.ndjson", examples, seed, *way) for way in ways]
    return runs[0] + runs[1]


def run(address: str, report: Path, examples: int, seed: int, *arguments: str) -> Findings:
    """One run of Schemathesis, with further arguments of its command line."""
    done = subprocess.run(
        [*_command(address, report, examples, seed), *arguments],
        # What it keeps to replay failures stays beside the report.
        cwd=report.parent,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.fuzz.checks", "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    statuses, operations = _read(report)
    return Findings(done.returncode != 0, done.stdout + done.stderr, statuses, operations)


def _command(address: str, report: Path, examples: int, seed: int) -> list[str]:
    return [
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", str(_HERE / "schemathesis.toml")),
        *("run", str(DOCUMENT), "--url", f"http://{address}"),
        *("--phases", "examples,coverage,fuzzing"),
        *("--mode", "all", "--max-examples", str(examples), "--seed", str(seed)),
        *("--generation-database", "none"),
        *("--continue-on-failure", "--no-color", "--output-truncate", "false"),
        *("--report", "ndjson", "--report-ndjson-path", str(report)),
    ]


def _read(report: Path) -> tuple[Counter[int], frozenset[str]]:
    """Statuses of all answers, and the operations that were asked."""
    statuses: Counter[int] = Counter()
    operations: set[str] = set()
    for line in report.read_text(encoding="utf-8").splitlines() if report.exists() else ():
        scenario = json.loads(line).get("ScenarioFinished", {})
        for interaction in scenario.get("recorder", {}).get("interactions", {}).values():
            operations.add(scenario["recorder"]["label"])
            statuses[interaction["response"]["status_code"]] += 1
    return statuses, frozenset(operations)
