"""The soak: writers and readers for minutes, a kill at random every so often, and sums at the end.

    python -m tests.crash.soak [--minutes 10] [--writers 16] [--readers 16] [--kill-every 20]

Writers send again what was not answered; readers must get answers, or a broken connection while the
server is down, and nothing else. In the end every acknowledged message must be remembered once. The
figures are printed; the exit code is 1 when something does not add up.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.blackbox.surfaces import HttpSurface, Surface
from tests.crash.clients import GONE, Client, close, write_until_gone
from tests.crash.evidence import look_after_a_kill, look_when_settled, settle
from tests.crash.ledger import Ledger
from tests.crash.rounds import HASHING
from tests.support.server_process import ServerProcess, start_server

# Between two calls of a client: the soak is about kills, not about load.
_PAUSE_SECONDS = 0.25
_DOWN_SECONDS = 0.1
_SETTLING_SECONDS = 600.0


@dataclass(slots=True)
class Soak:
    """What the threads of a soak share."""

    root: Path
    ledger: Ledger = field(default_factory=Ledger)
    over: threading.Event = field(default_factory=threading.Event)
    server: ServerProcess | None = None
    starts: int = 0
    ready_seconds: list[float] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Puts the next server in place."""
        server = start_server(self.root, **HASHING)
        self.ready_seconds.append(server.ready_after_seconds)
        self.starts += 1
        self.server = server

    def kill(self) -> None:
        """Takes the server away."""
        server, self.server = self.server, None
        assert server is not None
        server.stop(signal.SIGKILL)

    def count(self, what: str) -> None:
        """One more of something."""
        with self._lock:
            self.calls[what] += 1


def write(soak: Soak, client: Client) -> None:
    """One writer: goes on with every server there is."""
    while not soak.over.is_set():
        server = soak.server
        if server is not None:
            write_until_gone(client, server, soak.ledger, soak.starts, soak.over, _PAUSE_SECONDS)
        soak.over.wait(_DOWN_SECONDS)


def read(soak: Soak, client: Client) -> None:
    """One reader: searches and lists what is acknowledged by then."""
    chance = random.Random(client.name)
    while not soak.over.is_set():
        server = soak.server
        if server is None:
            soak.over.wait(_DOWN_SECONDS)
            continue
        surface = client.connect(server)
        try:
            while not soak.over.wait(_PAUSE_SECONDS):
                _look(soak, surface, chance)
        except GONE:
            soak.count("connections lost by readers")
        finally:
            close(surface)


def _look(soak: Soak, surface: Surface, chance: random.Random) -> None:
    known = list(soak.ledger.acknowledged.values())
    if not known:
        return
    message = chance.choice(known)
    if chance.random() < 0.5:
        body = {"user_id": message.user, "memory_type": "episode"}
        answer, what = surface.call("get", body), "get"
    else:
        method = chance.choice(("keyword", "vector", "hybrid"))
        body = {"user_id": message.user, "query": message.body()["content"], "method": method}
        answer, what = surface.call("search", body), f"search {method}"
    soak.count(what)
    if answer.data is None:
        soak.ledger.fail(f"{what}: {answer.status} {answer.code} {answer.error}")


def run(options: argparse.Namespace, root: Path) -> None:
    """The soak. Raises AssertionError when something does not add up."""
    soak = Soak(root)
    soak.start()
    clients = [
        Client(f"writer{n:02d}", ("http", "grpc")[n % 2], asynchronous=n % 4 >= 2)
        for n in range(options.writers)
    ]
    readers = [Client(f"reader{n:02d}", ("http", "grpc")[n % 2]) for n in range(options.readers)]
    began_seconds = time.monotonic()
    until_seconds = began_seconds + options.minutes * 60
    with ThreadPoolExecutor(len(clients) + len(readers)) as pool:
        work: list[tuple[Callable[[Soak, Client], None], Client]] = [
            *((write, client) for client in clients),
            *((read, client) for client in readers),
        ]
        running = [pool.submit(act, soak, client) for act, client in work]
        kills = 0
        while time.monotonic() < until_seconds:
            pause = options.kill_every * random.uniform(0.5, 1.5)
            time.sleep(min(pause, max(0.0, until_seconds - time.monotonic())))
            soak.kill()
            kills += 1
            look_after_a_kill(root, soak.ledger)
            soak.start()
            print(f"kill {kills}: {len(soak.ledger.acknowledged)} acknowledged", flush=True)
        soak.over.set()
        for each in running:
            each.result()
    seconds = time.monotonic() - began_seconds
    assert soak.server is not None
    surface = HttpSurface(soak.server.http)
    settling_seconds = time.monotonic()
    settle(surface, soak.ledger, _SETTLING_SECONDS)
    look_when_settled(root, surface, soak.ledger)
    settling_seconds = time.monotonic() - settling_seconds
    assert soak.server.stop() == 0
    _report(soak, kills, seconds, settling_seconds)


def _report(soak: Soak, kills: int, seconds: float, settling_seconds: float) -> None:
    starts = soak.ready_seconds
    size = sum(path.stat().st_size for path in soak.root.rglob("*.md"))
    print(f"\n{seconds / 60:.1f} min, {kills} kills, settled in {settling_seconds:.1f} s")
    print(f"messages acknowledged: {len(soak.ledger.acknowledged)}, lost 0, doubled 0")
    for what, count in sorted(soak.calls.items()):
        print(f"{what}: {count}")
    print(f"starts: first {starts[0]:.2f} s, median {statistics.median(starts):.2f} s,")
    print(f"  last {starts[-1]:.2f} s; Markdown at the end: {size / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--kill-every", type=float, default=20, metavar="SECONDS")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="remanence-soak-"))
    print(f"root: {folder / 'root'}", flush=True)
    run(options, folder / "root")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
