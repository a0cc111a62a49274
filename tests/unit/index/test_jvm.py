"""Finding and starting the Java virtual machine, and the thread it is used from."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from remanence_server.index.jvm import (
    JavaThread,
    JvmOptions,
    find_java_home,
    find_lucene_jar,
    java_thread,
    vm_arguments,
)
from remanence_server.runtime.errors import ErrorCode, ServiceError


def runtime(folder: Path, version: str, modules: str = "java.base") -> Path:
    folder.mkdir()
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


def test_the_bundled_runtime_is_used_without_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert (find_java_home(JvmOptions()) / "release").exists()


@pytest.mark.parametrize(("version", "taken"), [("17.0.15", False), ("21", True), ("25.0.2", True)])
def test_java_home_is_used_when_it_is_new_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, taken: bool
) -> None:
    home = runtime(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert (find_java_home(JvmOptions()) == home) is taken


def test_java_home_that_is_no_runtime_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert find_java_home(JvmOptions()) != tmp_path / "nowhere"


def test_the_vector_module_is_asked_for_only_where_it_is(tmp_path: Path) -> None:
    with_module = runtime(tmp_path / "full", "21.0.1", "java.base jdk.incubator.vector")
    without = runtime(tmp_path / "small", "21.0.1")
    module = "--add-modules=jdk.incubator.vector"
    assert module in vm_arguments(JvmOptions(), with_module)
    assert module not in vm_arguments(JvmOptions(), without)


def test_the_heap_limit_reaches_the_vm(tmp_path: Path) -> None:
    assert "-Xmx77m" in vm_arguments(JvmOptions(heap_megabytes=77), tmp_path)


def test_a_missing_jar_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANSERINI_CLASSPATH", str(tmp_path))
    with pytest.raises(ServiceError) as failure:
        find_lucene_jar()
    assert failure.value.code is ErrorCode.CAPABILITY_UNAVAILABLE
    assert "pyserini" in failure.value.message


async def test_a_vm_that_cannot_start_is_an_unavailable_capability_each_time(
    tmp_path: Path,
) -> None:
    thread = JavaThread(JvmOptions(java_home=runtime(tmp_path / "old", "17.0.1")))
    for _ in range(2):
        with pytest.raises(ServiceError) as failure:
            await thread.run(lambda: None)
        assert failure.value.code is ErrorCode.CAPABILITY_UNAVAILABLE
        assert str(tmp_path) not in failure.value.message


async def test_calls_run_in_order_on_one_thread_of_the_process(java: JavaThread) -> None:
    assert java_thread() is java
    order: list[int] = []
    threads: set[int] = set()

    def call(number: int) -> None:
        order.append(number)
        threads.add(threading.get_ident())

    await asyncio.gather(*(java.run(call, number) for number in range(20)))
    assert order == list(range(20))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_an_exception_reaches_the_caller_and_the_thread_goes_on(java: JavaThread) -> None:
    with pytest.raises(ZeroDivisionError):
        await java.run(lambda: 1 // 0)
    assert java.submit(lambda: 7).result(timeout=60) == 7


async def test_a_caller_that_gives_up_does_not_stop_the_thread(java: JavaThread) -> None:
    release = threading.Event()
    waiting = asyncio.create_task(java.run(release.wait, 60))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()
    assert await java.run(lambda: 7) == 7


_SCRIPT = """
import asyncio, os, signal, sys
from pathlib import Path
from remanence_server.index.jvm import java_thread
from remanence_server.index.lexical.interface import LexicalDocument
from remanence_server.index.lexical.lucene_index import LuceneIndex

async def main() -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    index = await LuceneIndex.open(Path(sys.argv[1]), java_thread())
    await index.apply(1, [LexicalDocument(1, "ann", "turn", "a cat")], [])
    matches = await index.search("ann", ["turn"], "cats", 5)
    os.kill(os.getpid(), signal.SIGTERM)
    await stopped.wait()
    await index.close()
    heavy = {"torch", "transformers", "datasets"}.intersection(sys.modules)
    print(matches.hits["turn"][0].passage_id, sorted(heavy), "JAVA_HOME" in os.environ)

asyncio.run(main())
"""


def test_a_fresh_process_is_quiet_light_keeps_its_signals_and_takes_any_path(
    tmp_path: Path,
) -> None:
    # A path beyond ASCII under a locale of ASCII only.
    environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "LANG", "LC_ALL")}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "mémoire 記憶")],
        env={**environment, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 [] False\n", "")
