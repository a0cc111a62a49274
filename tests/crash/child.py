"""A server that is armed while it runs: by a line NAME:ACTION[:COUNT] on its standard input."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack

from remanence_server.cli.main import main
from remanence_server.runtime.fault_points import hooked, parse_fault


def _listen() -> None:
    with ExitStack() as armed:
        for line in sys.stdin:
            armed.close()
            armed.enter_context(hooked(parse_fault(line.strip())))
            sys.stdout.write("armed\n")
            sys.stdout.flush()


if __name__ == "__main__":
    threading.Thread(target=_listen, daemon=True).start()
    sys.exit(main())
