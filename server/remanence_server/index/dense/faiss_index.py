"""Partitions on FAISS: loaded on first use, dropped when memory is short."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from remanence_server.domain.owners import Owner
from remanence_server.index.catalogue.interface import Ids, VectorBlock
from remanence_server.index.dense.interface import DenseHit, PartitionLoader, Vector
from remanence_server.index.dense.partition import FlatPartition, Partition

# Up to this many passages a search takes well under 1 ms, less than a thread's round trip under
# load costs: it runs on the event loop.
_LARGEST_QUICK_PARTITION = 5_000
_THREADS = 2

_Key = tuple[Owner, str]


class _Loading:
    """A partition on its way, and the changes it will not have seen."""

    def __init__(self) -> None:
        self.done: asyncio.Future[Partition] = asyncio.get_running_loop().create_future()
        self.missed: list[tuple[VectorBlock | None, Sequence[int]]] = []


class FaissDenseIndex:
    """Implements `DenseIndex`; see there for what the methods promise. For one event loop."""

    def __init__(
        self,
        load: PartitionLoader,
        *,
        memory_budget_bytes: int,
        make_partition: Callable[[VectorBlock], Partition] = FlatPartition,
    ) -> None:
        """Begins empty.

        Args:
            load: Reads a partition's vectors from the catalogue.
            memory_budget_bytes: When partitions take more, those not used for longest leave. One
                that is larger by itself stays until another is used.
            make_partition: How passages are kept.
        """
        self._load = load
        self._memory_budget_bytes = memory_budget_bytes
        self._make_partition = make_partition
        # In the order of use, the latest last.
        self._partitions: OrderedDict[_Key, Partition] = OrderedDict()
        self._loadings: dict[_Key, _Loading] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._apply_lock = asyncio.Lock()
        self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="dense")

    async def search(
        self,
        owner: Owner,
        channels: Sequence[str],
        vector: Vector,
        limit: int,
        *,
        allowed_record_ids: Ids | None = None,
        radius: float | None = None,
    ) -> Mapping[str, list[DenseHit]]:
        """The nearest passages of an owner, for each channel apart."""
        hits: dict[str, list[DenseHit]] = {}
        running: dict[str, asyncio.Future[list[DenseHit]]] = {}
        for channel in channels:
            partition = self._known((owner, channel)) or await self._loaded((owner, channel))
            work = partial(partition.search, vector, limit, allowed_record_ids, radius)
            if partition.size <= _LARGEST_QUICK_PARTITION:
                hits[channel] = work()
            else:
                # Large ones beside each other.
                running[channel] = asyncio.get_running_loop().run_in_executor(self._executor, work)
        for channel, answer in running.items():
            hits[channel] = await answer
        return hits

    async def apply(
        self,
        owner: Owner,
        channel: str,
        added: VectorBlock | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Follows a change that the catalogue has committed."""
        key = (owner, channel)
        # One at a time: of two changes of one passage, the later must come last.
        async with self._apply_lock:
            loading = self._loadings.get(key)
            if loading is not None:
                # What is being read may be older or newer than this change; applied afterwards,
                # it leaves the same either way.
                loading.missed.append((added, removed))
                return
            partition = self._partitions.get(key)
            # One that is not here will be read with the change.
            if partition is not None:
                await self._change(partition, added, removed)
                self._make_room(key)

    async def clear(self) -> None:
        """Forgets every partition."""
        self._partitions.clear()
        self._loadings.clear()

    async def close(self) -> None:
        """Ends the threads and frees the memory."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._executor.shutdown)
        await self.clear()

    @property
    def memory_bytes(self) -> int:
        """About how much memory the partitions take."""
        return sum(partition.memory_bytes for partition in self._partitions.values())

    @property
    def partition_count(self) -> int:
        """How many partitions are in memory."""
        return len(self._partitions)

    def _known(self, key: _Key) -> Partition | None:
        partition = self._partitions.get(key)
        if partition is not None:
            self._partitions.move_to_end(key)
        return partition

    async def _loaded(self, key: _Key) -> Partition:
        loading = self._loadings.get(key)
        if loading is None:
            loading = self._loadings[key] = _Loading()
            # A task of its own: a client that leaves must not take the partition from the others.
            task = asyncio.create_task(self._read(key, loading))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(loading.done)

    async def _read(self, key: _Key, loading: _Loading) -> None:
        try:
            block = await self._load(*key)
            partition = await asyncio.get_running_loop().run_in_executor(
                self._executor, self._make_partition, block
            )
            while loading.missed:
                await self._change(partition, *loading.missed.pop(0))
        except BaseException as error:
            if self._loadings.get(key) is loading:
                del self._loadings[key]
            if isinstance(error, asyncio.CancelledError):
                loading.done.cancel()
                raise
            loading.done.set_exception(error)
            loading.done.exception()  # whoever asked may be gone: do not report it as never read
            return
        # After `clear` this is a partition of the past: good for those who asked before, no more.
        if self._loadings.get(key) is loading:
            del self._loadings[key]
            self._partitions[key] = partition
            self._make_room(key)
        loading.done.set_result(partition)

    def _make_room(self, key: _Key) -> None:
        total = self.memory_bytes
        for other in [other for other in self._partitions if other != key]:
            if total <= self._memory_budget_bytes:
                return
            total -= self._partitions.pop(other).memory_bytes

    async def _change(
        self, partition: Partition, added: VectorBlock | None, removed: Sequence[int]
    ) -> None:
        size = partition.size + (len(added.passage_ids) if added is not None else 0)
        if size <= _LARGEST_QUICK_PARTITION:
            partition.apply(added, removed)
        else:
            await asyncio.get_running_loop().run_in_executor(
                self._executor, partition.apply, added, removed
            )
