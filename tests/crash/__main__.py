"""`make crash`: hundreds of kills over all fault points, on a few roots.

    python -m tests.crash [--kills 200] [--roots 4] [--point NAME] [--skip 0]

Prints a line for each kill and the figures at the end; ends with 1 at the first thing that must not
be, and keeps that root.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from remanence_server.runtime.fault_points import FaultPoint
from tests.crash.rounds import Crashes, plan


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--roots", type=int, default=4, help="the kills are shared among them")
    parser.add_argument("--point", type=FaultPoint, action="append", help="only this point")
    parser.add_argument("--skip", type=int, default=0, help="begin so far on in the plan")
    options = parser.parse_args()
    points = options.point or list(FaultPoint)
    folder = Path(tempfile.mkdtemp(prefix="remanence-crash-"))
    began_seconds = time.monotonic()
    crashes: list[Crashes] = []
    for number in range(options.kills):
        if number * options.roots >= len(crashes) * options.kills:
            if crashes:
                crashes[-1].finish()
            crashes.append(Crashes(folder / str(len(crashes))))
        turn, place = divmod(number + options.skip, len(points))
        point, action, count = plan(points[place], turn)
        try:
            crashes[-1].kill_at(point, action, count)
        except BaseException:
            print(f"{number + 1:4d} {point}:{action}:{count} FAILED; root: {crashes[-1].root}")
            raise
        kept = len(crashes[-1].ledger.acknowledged)
        seconds = crashes[-1].ready_seconds[-1] if crashes[-1].ready_seconds else 0.0
        print(
            f"{number + 1:4d} {point}:{action}:{count}"
            f"  {kept} acknowledged, last start {seconds:.1f} s",
            flush=True,
        )
    crashes[-1].finish()
    _report(crashes, time.monotonic() - began_seconds)
    shutil.rmtree(folder)
    return 0


def _report(crashes: list[Crashes], seconds: float) -> None:
    kills = sum(each.kills for each in crashes)
    messages = sum(len(each.ledger.acknowledged) for each in crashes)
    print(f"\n{kills} kills in {seconds / 60:.1f} min: {messages} messages acknowledged, 0 lost,")
    print("0 doubled, every database sound, no stray file.")
    for each in crashes:
        starts = each.ready_seconds
        third = max(1, len(starts) // 3)
        first, last = statistics.median(starts[:third]), statistics.median(starts[-third:])
        print(
            f"starts of a root: median {first:.2f} s in its first third, {last:.2f} s in its last"
        )


if __name__ == "__main__":
    sys.exit(main())
