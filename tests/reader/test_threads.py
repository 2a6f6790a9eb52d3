"""A reading by several threads is the serial one, whatever order they end in and whatever befalls them."""

from __future__ import annotations

import gzip
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reader.test_jobs import NESTED, damages, events, everything, training, write_damaged
from tracetui.compiled import COMPILED
from tracetui.reader import source, threads
from tracetui.reader.piece_order import PieceOrder
from tracetui.reader.pieces import EventsPiece, PieceOptions, PieceReader
from tracetui.reader.source import TraceFile
from tracetui.reader.text import Text
from tracetui.reader.threads import Excerpt, PieceThreads

pytestmark = pytest.mark.skipif(not COMPILED, reason="the scanner is not compiled")


class SerialPool(PieceThreads):
    """Stands for the worker processes: reads the pieces one after the other, without any thread."""

    starts: list[int]

    def __init__(self, text: Text, order: PieceOrder, options: PieceOptions, _jobs: int) -> None:
        self.starts.append(order.next_start)
        super().__init__(text, order, options)

    def troubles(self) -> tuple[str, ...]:
        return ()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Read files of any size by threads; return where worker processes would go on in place of them."""
    starts: list[int] = []
    monkeypatch.setattr(source, "SMALLEST", 0)
    monkeypatch.setattr(SerialPool, "starts", starts, raising=False)
    monkeypatch.setattr("tracetui.reader.worker_pool.WorkerPool", SerialPool)
    return starts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    array=st.lists(events, min_size=1, max_size=60),
    damages=damages,
    wrapped=st.booleans(),
    packed=st.booleans(),
    jobs=st.integers(2, 5),
    part=st.sampled_from([40, 300, 1000, 5000]),
    block=st.sampled_from([30, 200, 1000, 10**6]),
    behind=st.sampled_from([500, 10**6]),
    first=st.one_of(st.just(0), st.integers(0, 8000)),
)
def test_any_threads_give_what_one_gives(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: list[int],
    array: list[dict[str, Any]],
    damages: list[tuple[float, int, bytes]],
    wrapped: bool,
    packed: bool,
    jobs: int,
    part: int,
    block: int,
    behind: int,
    first: int,
) -> None:
    text = json.dumps({"traceEvents": array, "distributedInfo": NESTED} if wrapped else array)
    path = write_damaged(tmp_path / "trace.json", text, damages, packed)
    sizes = {"part_bytes": part, "block_bytes": block}
    with monkeypatch.context() as patch:
        patch.setattr(threads, "AFTER", behind)  # bytes of an inflated text: too few for some events
        result = everything(path, jobs=jobs, first=first, **sizes)
    assert result == everything(path, jobs=1, first=first, **sizes)


SIZES = {"part_bytes": 4000, "block_bytes": 1000}


@pytest.fixture
def path(tmp_path: Path, processes: list[int]) -> Path:
    """A trace whose events have lists of what looks like events."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(training(200)))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_lists_within_events_mislead_no_thread(path: Path, packed: bool) -> None:
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert everything(path, jobs=3, **SIZES) == everything(path, jobs=1, **SIZES)


def test_processes_go_on_where_events_have_to_be_decoded(tmp_path: Path, processes: list[int]) -> None:
    path = tmp_path / "trace.json"
    strange = [{**event, "ts": f"{event['ts']}e0"} for event in training(100)]
    text = json.dumps(training(100) + strange)
    path.write_text(text)
    assert everything(path, jobs=3, **SIZES) == everything(path, jobs=1, **SIZES)
    (start,) = processes
    assert 0 < start - text.index("e0") < 3 * SIZES["part_bytes"]
    assert text[start] == "{"


@pytest.mark.parametrize("few", [1, 0])
def test_one_thread_is_better_than_none(path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    serial = everything(path, jobs=1, **SIZES)
    start, started = threading.Thread.start, []

    def start_few(thread: threading.Thread) -> None:
        started.append(thread)
        if len(started) > few:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_few)
    assert everything(path, jobs=3, **SIZES) == serial


@pytest.mark.parametrize("packed", [False, True])
def test_what_a_thread_cannot_read_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    serial = everything(path, jobs=1, **SIZES)
    read, refused = PieceReader.read, []

    def refuse(reader: PieceReader, text: Any, start: int, stop: int, in_damage: bool) -> EventsPiece:
        if isinstance(text, (threads._WantedText, Excerpt)) and start % 2:
            refused.append(start)
            raise MemoryError
        return read(reader, text, start, stop, in_damage)

    monkeypatch.setattr(PieceReader, "read", refuse)
    assert everything(path, jobs=3, **SIZES) == serial
    assert refused


@pytest.mark.parametrize("last", [False, True])
def test_an_excerpt_is_the_text_where_it_is_read(last: bool) -> None:
    """What is after it is not there, unless the text ends with it."""
    excerpt = Excerpt(b"0123456789", 100, last)
    assert excerpt.read(103, 4) == b"3456"
    assert excerpt.read(108, 2) == b"89"
    if last:
        assert excerpt.read(108, 3) == b"89"
    else:
        with pytest.raises(EOFError):
            excerpt.read(108, 3)


def test_threads_end_with_the_reading(path: Path) -> None:
    before = threading.active_count()
    with TraceFile(path, jobs=3, **SIZES) as trace:
        assert trace.read(should_stop=lambda: True).report.stopped
    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_pieces_that_were_read_when_others_go_on_are_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(json.dumps(training(20)).encode())
    order, options = PieceOrder(1, 300), PieceOptions(False, 100)
    with TraceFile(path) as file:
        piece = PieceReader(options).read(file._text, 1, order.next_stop, False)
        with PieceThreads(file._text, order, options) as reading:
            assert order.assign(1) is not None
            reading._results.put((0, piece))
    assert order.take_next() is piece
