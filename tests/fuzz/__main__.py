"""`make fuzz`: the long run. ARGS="--examples N --seed N" changes it."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.fuzz.running import fuzz
from tests.fuzz.seeding import seed_memory
from tests.support.server_process import start_server

_FEWEST_REQUESTS = 5000


def main() -> int:
    """Fuzzes a server of its own and says what came of it; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=150, help="for each operation and kind")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "root", **FUZZED)
        try:
            seed_memory(server.http)
            found = fuzz(server.http, Path(folder), examples=chosen.examples, seed=chosen.seed)
        finally:
            exit_code = server.stop()
    print(found.output)
    statuses = ", ".join(f"{n} × {status}" for status, n in sorted(found.statuses.items()))
    print(f"{found.requests} requests to {len(found.operations)} operations: {statuses}")
    print(f"seed {chosen.seed}, exit code of the server {exit_code}")
    if found.requests < _FEWEST_REQUESTS:
        print(f"fewer than {_FEWEST_REQUESTS} requests: raise --examples")
        return 1
    return int(found.failed or exit_code != 0)


# A flush waits for the index, and embedding takes its time: neither is what is looked at here.
FUZZED = {
    "REMANENCE_EMBEDDINGS__PROVIDER": "hashing",
    "REMANENCE_FLUSH__VISIBILITY_TIMEOUT_SECONDS": "0.1",
}

if __name__ == "__main__":
    sys.exit(main())
