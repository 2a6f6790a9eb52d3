"""The text of a file by offset: plain and gzip, cut, grown, shrunk, and not a file at all."""

from __future__ import annotations

import gzip
import os
import random
import zlib
from pathlib import Path

import pytest

from tests.reader.rows import rows_of
from tracetui.reader import inflating as inflating_module
from tracetui.reader import text as text_module
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.source import BLOCK, Progress, TraceFile
from tracetui.reader.text import LentText, Loan, Stamp, open_text

EVENT = b'{"ph": "X", "name": "e%d", "pid": 1, "tid": 2, "ts": "%d.000", "dur": 1.5}'


def _trace(count: int) -> bytes:
    return b"[" + b", ".join(EVENT % (index, index) for index in range(count)) + b"]"


@pytest.fixture(autouse=True, params=["zlib", "zlib_ng.zlib_ng"])
def inflating(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test with what Python has, and with what is used in its place where it is installed."""
    monkeypatch.setattr(inflating_module, "ZLIB", pytest.importorskip(request.param))


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_INFLATE_STEP", 50)
    monkeypatch.setattr(text_module, "_CHECKPOINT", 3000)
    monkeypatch.setattr(text_module, "_KEPT", 100)


@pytest.mark.usefixtures("small_steps")
def test_inflated_text_can_be_read_anywhere(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + _trace(400)
    path = tmp_path / "t.json"
    halves = gzip.compress(content[:9000]) + b"" + gzip.compress(content[9000:]) + b"\0" * 20
    path.write_bytes(halves)
    text = open_text(path)
    chooser = random.Random(2)
    places = [0, len(content), 8990, *[chooser.randrange(len(content)) for _ in range(60)]]
    for at in places:
        assert text.read(at, 700) == content[3 + at : 3 + at + 700]
    assert text.problem() is None
    text.close()
    assert text.read(0, 10) in (b"", content[3:13])


def test_progress_is_told_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"\xef\xbb\xbf" + b"x" * 100)
    plain = open_text(path)
    assert [plain.disk_offset(offset) for offset in (0, 40, 100, 999)] == [3, 43, 103, 103]
    plain.close()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_is_read_by_any_number_of_bytes(tmp_path: Path, mark: bytes, packed: bool) -> None:
    path, content = tmp_path / "t.json", b"0123456789"
    path.write_bytes(gzip.compress(mark + content) if packed else mark + content)
    text = open_text(path)
    for offset in range(12):
        for length in range(12):
            assert text.read(offset, length) == content[offset : offset + length]
    assert text.problem() is None
    if packed:
        assert text.loan is None
    else:
        assert text.loan is not None
        loan = text.loan
        assert (loan.shift, loan.end, loan.last) == (len(mark), len(content), True)
        lent = LentText(text.loan)
        assert [lent.read(0, 10), lent.read(9, 1), lent.problem] == [content, b"9", None]
        os.truncate(path, len(mark) + 4)
        assert [lent.read(0, 10), lent.read(0, 1)] == [b"0123", b"0"]
        assert lent.problem == "the file has become shorter while it was read"
    text.close()
    text.close()
    assert text.changed()


def test_a_file_that_grows_is_the_same_and_another_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"[{}]")
    os.utime(path, ns=(7, 7))
    text = open_text(path)
    changed = [text.changed()]
    for content, modified in ((b"[{} ", 7), (b"[{}, {}", 7), (b"[{}, {}", 9), (b"[{}]", 9), (b"[{", 7)):
        path.write_bytes(content)
        os.utime(path, ns=(modified, modified))
        changed.append(text.changed())
    assert changed == [False, False, False, False, True, True]

    def refuse(_: int) -> os.stat_result:
        raise OSError

    path.write_bytes(b"[{}]")
    os.utime(path, ns=(7, 7))
    assert not text.changed()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", refuse)
        assert text.changed(), "for all that can be told"
    text.close()


def test_a_stamp_tells_files_their_order_and_their_last_change() -> None:
    files = [Stamp(size, size + 5, size + 9, 70 + size) for size in range(40)]
    assert Stamp.joined(files[3:4]) == files[3]
    joined = [Stamp.joined(pair) for pair in zip(files, files[1:])]
    assert [stamp[:3] for stamp in joined] == [(2 * n + 1, n + 6, n + 10) for n in range(39)]
    assert len({stamp.inode for stamp in joined}) == 39
    assert all(0 <= stamp.inode < 1 << 63 for stamp in joined), "as those of a file system"
    assert Stamp.joined(files[1::-1]).inode != joined[0].inode


def test_no_more_is_inflated_than_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by the bytes of the file: as long as the text, where nothing can be made shorter."""
    monkeypatch.setattr(text_module, "_INFLATE_STEP", 1000)
    monkeypatch.setattr(text_module, "_FED", 100)
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(random.Random(1).randbytes(50_000)))
    text = open_text(path)
    for offset in (0, 9_000, 30_000):
        assert len(text.read(offset, 500)) == 500
        assert offset + 500 <= text.disk_offset(offset) <= offset + 500 + 2 * 1000
    assert len(text.read(49_000, 5_000)) == 1_000
    assert text.disk_offset(50_000) == path.stat().st_size
    text.close()


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_cut_gzip_gives_what_can_be_inflated(tmp_path: Path, kept: float) -> None:
    content = _trace(2000)
    packed = gzip.compress(content)
    path = tmp_path / "t.json.gz"
    path.write_bytes(packed[: int(len(packed) * kept)])
    inflated = zlib.decompressobj(wbits=31).decompress(path.read_bytes())
    with TraceFile(path) as trace:
        table = trace.read()
        last = trace.event(table.report.events - 1)
    assert table.report.events == inflated.count(b"}")
    assert last["name"] == f"e{table.report.events - 1}"
    assert table.report.truncated
    assert table.report.warnings[0] == "the gzip stream is cut off"


def _altered(packed: bytes, at: int) -> bytes:
    """With one byte changed; -8 is of the check sum, -4 of the length."""
    altered = bytearray(packed)
    altered[at] ^= 0x55
    return bytes(altered)


CONTENT = _trace(3000)
THIRDS = [CONTENT[:70_000], CONTENT[70_000:140_000], CONTENT[140_000:]]
MEMBERS = [gzip.compress(third, mtime=0) for third in THIRDS]


@pytest.mark.parametrize(
    ("packed", "warning"),
    [
        (_altered(gzip.compress(CONTENT), -8), "the gzip stream has a wrong check sum"),
        (_altered(gzip.compress(CONTENT), -4), "the gzip stream has a wrong check sum"),
        (_altered(gzip.compress(CONTENT, 0), -8), "the gzip stream has a wrong check sum"),
        (gzip.compress(CONTENT)[:-5], "the gzip stream is cut off"),
        (gzip.compress(CONTENT) + b"garbage" * 9, "bytes behind the gzip stream are left out"),
        (gzip.compress(CONTENT) + b"!", "bytes behind the gzip stream are left out"),
        (MEMBERS[0] + _altered(MEMBERS[1], -7) + MEMBERS[2], "the gzip stream has a wrong check sum"),
        (MEMBERS[0] + _altered(MEMBERS[1], -3) + MEMBERS[2], "the gzip stream has a wrong check sum"),
        (b"\x1f\x8b\0\0" + gzip.compress(CONTENT), "the gzip stream is damaged"),
        (MEMBERS[0] + b"?" + MEMBERS[1] + MEMBERS[2], "bytes behind the gzip stream are left out"),
        (b"".join(member + b"\0" * 512 for member in MEMBERS), None),
    ],
    ids=[
        "check sum",
        "length",
        "check sum of what is not compressed",
        "half a check sum",
        "garbage",
        "a byte of garbage",
        "check sum of a member",
        "length of a member",
        "a head of no member",
        "garbage between members",
        "padded members",
    ],
)
@pytest.mark.parametrize("fetched", [29, 1 << 18])
def test_all_that_is_inflated_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bytes, warning: str | None, fetched: int
) -> None:
    monkeypatch.setattr(text_module, "_INFLATE_STEP", fetched)
    path = tmp_path / "t.json.gz"
    path.write_bytes(packed)
    with TraceFile(path) as trace:
        report = trace.read().report
        assert (report.events, report.skipped, report.truncated) == (3000, 0, False)
        assert report.warnings == (() if warning is None else (warning,))
        assert trace.event(2999)["name"] == "e2999"
        assert trace.event(0)["name"] == "e0"


def _flushed(text: bytes) -> bytes:
    """The begin of a member, to the end of a block."""
    stream = zlib.compressobj(wbits=31)
    return stream.compress(text) + stream.flush(zlib.Z_FULL_FLUSH)


@pytest.mark.parametrize(
    ("before", "behind", "warning"),
    [
        (MEMBERS[1][:2000], b"\xff" * 40 + MEMBERS[1][2040:], "the gzip stream has a wrong check sum"),
        (_flushed(THIRDS[1][:20_000]), b"\x07" + b"?" * 40, "the gzip stream is damaged"),
        (MEMBERS[1][:10], b"\x07" + MEMBERS[1][11:], "the gzip stream is damaged"),
    ],
    ids=["in its middle", "behind a flush", "at its begin"],
)
def test_a_damaged_member_costs_only_what_is_behind_the_damage(
    tmp_path: Path, before: bytes, behind: bytes, warning: str
) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(MEMBERS[0] + before + behind + MEMBERS[2])
    with TraceFile(path) as trace:
        table = trace.read()
    names = {table.strings[name] for name in table.slices.name.tolist()}
    first = (THIRDS[0] + zlib.decompressobj(wbits=31).decompress(before)).count(b"}")
    last = THIRDS[2].count(b"{")
    assert names >= {f"e{number}" for number in [*range(first), *range(3000 - last, 3000)]}
    assert table.report.warnings[0] == warning
    assert not table.report.truncated


def test_a_member_is_found_wherever_what_is_fetched_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.json.gz"
    for fetched in range(3, 30):
        monkeypatch.setattr(text_module, "_INFLATE_STEP", fetched)
        for garbage in (b"", b"?", b"\x1f", b"\x1f\x8b\x1f", b"\0" * 9):
            path.write_bytes(gzip.compress(b"first") + garbage + gzip.compress(b", second") + garbage)
            text = open_text(path)
            assert text.read(0, 99) == b"first, second"
            problem = "bytes behind the gzip stream are left out" if garbage.strip(b"\0") else None
            assert text.problem() == problem
            text.close()


def test_what_zlib_refuses_at_once_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(b"\x1f\x8b\x09" + b"x" * 100)
    with pytest.raises(UnreadableTrace, match="nothing can be inflated"):
        TraceFile(path)


def test_text_far_beyond_what_is_inflated_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several of zlib's outputs, of the windows that are dropped, and of reads that span them."""
    monkeypatch.setattr(text_module, "_INFLATED", 1 << 20)
    monkeypatch.setattr(text_module, "_INFLATE_STEP", 1 << 16)
    content = _trace(50_000)
    assert len(content) > 3 * text_module._INFLATED
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(content, 1))
    text = open_text(path)
    for length in (BLOCK, 1_750_003):
        at = 0
        while at < len(content):
            assert text.read(at, length) == content[at : at + length]
            at += length
        assert text.read(at, length) == b""
    text.close()
    with TraceFile(path) as trace:
        assert trace.read().report.events == 50_000


def test_what_is_lent_can_be_read_to_its_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"0123456789")
    with path.open("rb") as file:
        part = LentText(Loan(file.fileno(), 2, 6, last=False))
        assert part.read(1, 5) == b"34567"
        with pytest.raises(EOFError):
            part.read(1, 6)
        assert LentText(Loan(file.fileno(), 2, 6, last=True)).read(1, 60) == b"34567"


def test_a_file_that_grows_is_read_to_its_first_size(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    content = _trace(100)
    path.write_bytes(content[:3000])
    with TraceFile(path) as trace:
        with path.open("ab") as file:
            file.write(content[3000:])
        table = trace.read()
        assert table.report.events == content[:3000].count(b"}")
        assert table.report.truncated
        assert trace.args(0) == {}
        assert trace.event(3)["name"] == "e3"


def test_a_file_that_shrinks_or_changes_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(_trace(100))
    with TraceFile(path, block_bytes=200) as trace:
        trace.read()
        os.truncate(path, 500)
        assert trace.event(50) == {}
        path.write_bytes(b"x" * len(_trace(100)))
        os.utime(path, ns=(1, 1))
        assert trace.event(60) == {}
    with pytest.raises(UnreadableTrace), TraceFile(path) as trace:
        trace.read()


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(_trace(3000))
    with TraceFile(path, block_bytes=1000, part_bytes=1000) as trace:
        table = trace.read(on_progress=lambda _: os.truncate(path, 5000))
    assert 0 < table.report.events < 100
    assert table.report.warnings[0] == "the file has become shorter while it was read"


def test_a_removed_file_is_still_open(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(_trace(10))
    with TraceFile(path) as trace:
        path.unlink()
        assert trace.read().report.events == 10
        assert trace.event(1)["name"] == "e1"
    assert trace.event(9) in ({}, {"ph": "X", "name": "e9", "pid": 1, "tid": 2, "ts": "9.000", "dur": 1.5})


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, reason in (
        (pipe, Reason.NOT_A_TRACE),
        (Path("/dev/zero"), Reason.NOT_A_TRACE),
        (tmp_path, Reason.DIRECTORY),
        (tmp_path / "none", Reason.MISSING),
        (pipe / "below", Reason.MISSING),
        (tmp_path / ("x" * 300), Reason.MISSING),
    ):
        with pytest.raises(UnreadableTrace) as caught:
            TraceFile(path)
        assert caught.value.reason is reason


def test_why_a_file_cannot_be_opened_is_said_in_the_words_of_the_system(tmp_path: Path) -> None:
    for name, words in (
        ("x" * 300, ": cannot be opened: File name too long"),
        ("a\0", ": cannot be opened: .*embedded null .*"),
    ):
        with pytest.raises(UnreadableTrace, match=f"{words}$"):
            open_text(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *[(b"", "the file is empty"), (b"[", "the end of its first event")],
        *[(b" " * count, "nothing but white space") for count in (1, 99)],
    ],
)
def test_what_a_file_of_hardly_anything_holds_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableTrace, match=f"{words}$"), TraceFile(path) as trace:
        trace.read()


def test_progress_snapshot_and_stop(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    content = _trace(1000)
    path.write_bytes(content)
    seen: list[tuple[int, int]] = []
    with TraceFile(path, block_bytes=500, part_bytes=5000) as trace:
        whole = rows_of(trace.read())

        def look(progress: Progress) -> None:
            seen.append((progress.done_bytes, progress.events))
            if len(seen) % 5 == 0:
                table = progress.snapshot()
                assert rows_of(table).slices == whole.slices[: progress.events]
                assert not table.report.warnings
                assert trace.event(progress.events - 1)["name"] == f"e{progress.events - 1}"

        assert rows_of(trace.read(on_progress=look)) == whole
        assert seen == sorted(seen)
        assert len(seen) >= len(content) // 6000
        assert seen[-1] == (len(content), 1000)
        stopped = trace.read(should_stop=lambda: True)
        assert stopped.report.stopped
        assert not stopped.report.truncated
        assert rows_of(stopped).slices == whole.slices[: stopped.report.events]
        assert 0 < stopped.report.events < 200
        assert "reading stopped" in stopped.report.warnings[0]
