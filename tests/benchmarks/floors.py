"""What opening a trace cannot be faster than: reading the file, and decoding its events with orjson alone.

orjson decodes blocks of the size that is fastest, in as many processes as there are cores, each a part of the
file, and throws the events away. The processes are there and warm before the clock starts.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import time
from multiprocessing import get_context
from pathlib import Path

import orjson

BLOCK = 192 << 10
_REACH = 1 << 12  #: how far before the end of a block the last event is looked for
_BOUNDARY = re.compile(rb"\}\s*,\s*\{")


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bare_reading(trace: Path) -> float:
    """Seconds to read the file in blocks, by one process."""
    started = time.perf_counter()
    with trace.open("rb", buffering=0) as file:
        into = bytearray(1 << 20)
        while file.readinto(into):
            pass
    return time.perf_counter() - started


class BareOrjson:
    """Processes that decode a trace; a context manager."""

    def __init__(self, trace: Path, processes: int) -> None:
        self._parts = [(str(trace), *part) for part in _parts(trace, processes)]
        self._pool = get_context("spawn").Pool(processes)

    def __enter__(self) -> BareOrjson:
        for _ in range(2):  # the first one starts them, and fills the cache of files
            self.run()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.terminate()
        self._pool.join()

    def run(self) -> float:
        """Seconds to decode all events."""
        started = time.perf_counter()
        events = sum(self._pool.map(_decode, self._parts, chunksize=1))
        assert events, "no events were decoded"
        return time.perf_counter() - started


def _parts(trace: Path, count: int) -> list[tuple[int, int]]:
    """Parts of about equal size, each from the start of an event to the start of another."""
    size = trace.stat().st_size
    with trace.open("rb") as file:
        text = file.read(1 << 16)
        cuts = [text.index(b"{", text.index(b"["))]
        for part in range(1, count):
            at = size * part // count
            file.seek(at)
            found = _BOUNDARY.search(file.read(1 << 20))
            assert found is not None
            cuts.append(at + found.end() - 1)
    return list(zip(cuts, [*cuts[1:], size]))


def _decode(part: tuple[str, int, int]) -> int:
    """Decode all events of a part; how many they are."""
    path, start, stop = part
    gc.disable()
    events, rest = 0, b""
    with Path(path).open("rb", buffering=0) as file:
        while start < stop:
            text = os.pread(file.fileno(), min(BLOCK, stop - start), start)
            start += len(text)
            text = rest + text
            ends = list(_BOUNDARY.finditer(text, max(len(text) - _REACH, 0)))
            if not ends:
                rest = text
                continue
            events += len(orjson.loads(b"".join((b"[", text[: ends[-1].start() + 1], b"]"))))
            rest = text[ends[-1].end() - 1 :]
    with contextlib.suppress(orjson.JSONDecodeError):  # behind the last event of the file
        events += len(orjson.loads(b"[" + rest.rstrip(b", \r\n\t") + b"]"))
    return events
