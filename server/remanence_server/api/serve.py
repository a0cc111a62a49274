"""Runs the service as a process: root, engines, exit codes."""

from __future__ import annotations

import os
import sys

from remanence_server.api.engines import start_engines
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.fault_points import arm_from
from remanence_server.runtime.logging import configure_logging
from remanence_server.runtime.root import MemoryRoot, RootInUseError
from remanence_server.runtime.settings import Settings
from remanence_server.runtime.storage import is_storage_trouble

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_ROOT_IN_USE = 3


def run_server(settings: Settings) -> int:
    """Serves until SIGTERM or SIGINT; returns the exit code of the process.

    0 after a clean stop, 1 when the service cannot start, 3 when another server holds the root.
    """
    configure_logging(settings.log.level, settings.log.format)
    try:
        arm_from(os.environ)
    except ServiceError as error:
        return _refuse(error.message, EXIT_FAILED)
    try:
        root = MemoryRoot(settings.root)
    except RootInUseError:
        return _refuse(f"another server is running on {settings.root}", EXIT_ROOT_IN_USE)
    except OSError as error:
        return _refuse(f"the root {settings.root} cannot be used: {error.strerror}", EXIT_FAILED)
    try:
        engines = start_engines(settings)
        # Only now, while the engines start: FastAPI and gRPC take a second to import.
        import uvloop

        from remanence_server.api.surfaces import serve_surfaces

        uvloop.run(serve_surfaces(settings, root, engines))
    except ServiceError as error:
        where = f": the root {settings.root}" if is_storage_trouble(error) else ""
        return _refuse(error.message + where, EXIT_FAILED)
    finally:
        root.release()
    return EXIT_OK


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"remanence: {reason}\n")
    return code
