"""Snapshots of PyTorch's allocator (`torch.npu.memory._dump_snapshot`): what was allocated where.

They are pickles, which can run anything. Here nothing of a pickle is ever called: every class it asks for is
refused, so that only numbers, texts, lists, tuples and dicts come out, and what it may take of the memory is
bounded.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.language import state
from tracetui.siblings.beside import Refusal, refuse_large, unreadable

LARGEST = 2_000_000_000  #: bytes
_MAGIC = b"\x80"  #: how pickles begin since 2003
_ALLOCATED = ("alloc",)
#: "free_requested" is the tensor's, "free_completed" the stream's; older ones only "free".
_FREED = ("free_requested", "free")
_RESERVED = ("segment_alloc", "segment_map")
_GIVEN_BACK = ("segment_free", "segment_unmap")
_ACTIONS = (*_ALLOCATED, *_FREED, *_RESERVED, *_GIVEN_BACK)
_ROOM = 1 << 29  #: bytes more than a multiple of the file's size
_TIMES = 24  # objects take up to so many times their bytes in the file
_LIMIT = 1 << 62
_MOST_DEVICES = 1 << 16


@dataclass(frozen=True, eq=False)
class SnapshotEvents:
    """What the allocators of all devices did, in order; columns of equal length."""

    device: Int32s  #: number of the device
    address: Int64s
    bytes: Int64s
    freed: Int64s  #: 1 where a block was given back, 0 where one was allocated
    stack: Int32s  #: place in `stacks`
    reserved: Int64s  #: bytes that the device has reserved until then, more than before all events
    stacks: list[tuple[tuple[str, int, str], ...]]  #: (file, line, function), leaf first, as written
    allocated_at_end: Mapping[int, int]  #: bytes allocated at the end, by number of the device
    reserved_before: Mapping[int, int]  #: bytes reserved before all events, by number of the device
    skipped: int  #: events that cannot be read
    #: How many at the beginning are no events: blocks alive at the end that were allocated before all others.
    allocated_before: int = 0
    settings: tuple[str, ...] = ()  #: the names of the allocator's settings
    blocks_have_history: bool = False  #: only PyTorch's own, on a GPU, wrote this, in 2022 and 2023


def is_pickle(path: Path) -> bool:
    """Return whether a file begins like a pickle, as no trace does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return stream.read(1) == _MAGIC
    except OSError:
        return False


def read_snapshot(path: Path) -> SnapshotEvents:
    """Return the events of a snapshot. Raises Refusal with a sentence for anything else."""
    refuse_large(path, LARGEST)
    document = _load(path)
    if not isinstance(document, dict) or not isinstance(document.get("device_traces"), list):
        raise Refusal(state("is no snapshot of PyTorch's allocator"))
    traces = document["device_traces"]
    segments = document.get("segments")
    reserved_before = _reserved_at_end(segments)
    stacks = _StackNumbers()
    rows: list[_Row] = []
    skipped = 0
    for device, events in enumerate(traces):
        reserved = 0
        for event in events if isinstance(events, list) else []:
            action = event.get("action") if isinstance(event, dict) else None
            if action not in _ACTIONS:
                skipped += not isinstance(action, str)
                continue
            address, size = event.get("addr", event.get("address")), event.get("size")
            if type(address) is not int or type(size) is not int or not (0 <= size < _LIMIT):
                skipped += 1
                continue
            if action in _RESERVED or action in _GIVEN_BACK:
                reserved += size if action in _RESERVED else -size
                continue
            stack = stacks.number(event.get("frames"))
            rows.append(_Row(device, address % _LIMIT, size, int(action in _FREED), stack, reserved))
        if device in reserved_before:
            reserved_before[device] -= reserved
    alive = list(_allocated_before(segments, rows, stacks))
    rows[:0] = alive
    settings = document.get("allocator_settings")
    columns = np.array(rows, np.int64).reshape(-1, len(_Row._fields)).T
    return SnapshotEvents(
        device=columns[0].astype(np.int32),
        address=columns[1].copy(),
        bytes=columns[2].copy(),
        freed=columns[3].copy(),
        stack=columns[4].astype(np.int32),
        reserved=columns[5].copy(),
        stacks=stacks.distinct,
        allocated_at_end=_allocated_at_end(segments),
        reserved_before=reserved_before,
        skipped=skipped,
        allocated_before=len(alive),
        settings=tuple(name for name in settings if isinstance(name, str))
        if isinstance(settings, dict)
        else (),
        blocks_have_history=any("history" in block for _, _, block in _blocks(segments)),
    )


class _Row(NamedTuple):
    """One event: the columns of SnapshotEvents."""

    device: int
    address: int
    bytes: int
    freed: int
    stack: int
    reserved: int


class _Unpickler(pickle.Unpickler):
    """Reads plain data, and refuses whatever would need a class or a function."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise Refusal(state("is refused: it asks for code to be run, which no snapshot does"))

    def persistent_load(self, pid: Any, /) -> NoReturn:
        raise Refusal(state("is refused: it asks for objects from elsewhere, which no snapshot does"))


class _StackNumbers:
    """The different stacks; the events of one place often share one list."""

    def __init__(self) -> None:
        self.distinct: list[tuple[tuple[str, int, str], ...]] = []
        self._numbers: dict[tuple[tuple[str, int, str], ...], int] = {}
        self._of_list: dict[int, int] = {}  # lists live as long as the document

    def number(self, frames: Any) -> int:
        """Return the number of the stack that some frames make, a new one for a new stack."""
        if id(frames) in self._of_list:
            return self._of_list[id(frames)]
        stack = tuple(filter(None, map(_frame, frames))) if isinstance(frames, list) else ()
        number = self._numbers.setdefault(stack, len(self._numbers))
        if number == len(self.distinct):
            self.distinct.append(stack)
        self._of_list[id(frames)] = number
        return number


def _frame(frame: Any) -> tuple[str, int, str] | None:
    if not isinstance(frame, dict):
        return None
    file, line, function = frame.get("filename"), frame.get("line"), frame.get("name")
    if not isinstance(file, str) or type(line) is not int or not isinstance(function, str):
        return None
    return (file, line, function) if 0 <= line < 1 << 31 else None


def _blocks(segments: Any) -> Iterator[tuple[int, int | None, dict[Any, Any]]]:
    """Yield device, address and fields of each block; older segments tell of the size of each only."""
    for segment in segments if isinstance(segments, list) else []:
        if not isinstance(segment, dict) or type(segment.get("device")) is not int:
            continue
        address, blocks = segment.get("address"), segment.get("blocks")
        position = address if type(address) is int else None
        for block in blocks if isinstance(blocks, list) else []:
            if not isinstance(block, dict):
                continue
            block_address, size = block.get("address", position), block.get("size")
            yield segment["device"], block_address if type(block_address) is int else None, block
            position = position + size if position is not None and type(size) is int else None


def _allocated_before(segments: Any, rows: list[_Row], stacks: _StackNumbers) -> Iterator[_Row]:
    """Yield the allocations of blocks with a stack that are alive at the end, and that no event made.

    The events may have been more than are kept, or were never kept at all.
    """
    recorded = {(row.device, row.address) for row in rows}
    for device, address, block in _blocks(segments):
        size = _allocated_size(block)
        if address is None or size is None or not (0 <= device < _MOST_DEVICES):
            continue
        if (device, address % _LIMIT) in recorded:
            continue
        history = block.get("history")
        newest = history[0] if isinstance(history, list) and history else block
        frames = newest.get("frames") if isinstance(newest, dict) else None
        if isinstance(frames, list) and frames:
            yield _Row(device, address % _LIMIT, size, 0, stacks.number(frames), 0)


def _allocated_size(block: dict[Any, Any]) -> int | None:
    """Return the bytes that were asked for, as events count them, of a block in use; None for any other."""
    size = block.get("requested_size", block.get("size"))
    is_allocated = block.get("state") == "active_allocated"
    return size if is_allocated and type(size) is int and 0 <= size < _LIMIT else None


def _allocated_at_end(segments: Any) -> dict[int, int]:
    """Return the bytes that are allocated at the end, by device."""
    allocated: dict[int, int] = {}
    for device, _, block in _blocks(segments):
        allocated[device] = allocated.get(device, 0) + (_allocated_size(block) or 0)
    return allocated


def _reserved_at_end(segments: Any) -> dict[int, int]:
    """Return the bytes that are reserved at the end, by device."""
    reserved: dict[int, int] = {}
    for segment in segments if isinstance(segments, list) else []:
        if isinstance(segment, dict) and type(segment.get("device")) is int:
            size = segment.get("total_size")
            if type(size) is int and 0 <= size < _LIMIT:
                reserved[segment["device"]] = reserved.get(segment["device"], 0) + size
    return reserved


def _load(path: Path) -> Any:
    collecting = gc.isenabled()
    gc.disable()  # nothing that is read has cycles, but the collector would look at all of it
    try:
        with path.open("rb") as stream, _limited_memory(_TIMES * path.stat().st_size + _ROOM):
            return _Unpickler(stream).load()
    except Refusal:
        raise
    except MemoryError:
        raise Refusal(state("is not read: it asks for more memory than its size accounts for")) from None
    except OSError as error:
        raise unreadable(error) from None
    except Exception:  # a damaged pickle raises whatever its opcodes run into
        raise Refusal(state("is damaged: it is no whole pickle")) from None
    finally:
        if collecting:
            gc.enable()


@contextlib.contextmanager
def _limited_memory(bytes_more: int) -> Iterator[None]:
    """Limit the memory that the process may still take: 10 bytes of a pickle can ask for 32 GB."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        yield  # no such system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = pages * resource.getpagesize() + bytes_more
    for limit in (soft, hard):
        bound = bound if limit == resource.RLIM_INFINITY else min(bound, limit)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
