"""What the compiled scanner takes is what decoding gives; what it refuses leaves no trace."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reader.rows import Rows, rows_of
from tracetui.compiled import COMPILED
from tracetui.reader import extract
from tracetui.reader.columns import TableBuilder
from tracetui.reader.events import ReadReport
from tracetui.reader.extract import ExtractedPart, PartReader
from tracetui.reader.pieces import PieceOptions, read_pieces
from tracetui.reader.source import BLOCK, PART
from tracetui.reader.text import open_text

pytestmark = pytest.mark.skipif(not COMPILED, reason="the scanner is not compiled")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

NUMBERS = re.findall(
    r"\S+",
    """0 -0 -0.0 1 -1 17 -3 0.5 1.5 2.5 0.0005 0.0015 5e-05 1e3 1E-5 828.33653125 1.00049999999999994
    2.0015000000000001 0.30000000000000004 1e99 1e400 999999999999.9995 123456789.123456789 1736412482864716
    1736412482864716.747 4611686018427386.999 4611686018427387 99999999999999999 2147483647 2147483648
    4294967294 4294967295 9007199254740993 9007199254740993.0 123456789012345678 1234567890123456789
    9223372036854775807 9223372036854775808 18446744073709551615 40006882869110636543
    1111111111111111111111111111111111111111111 01 .5 1. +1 1_0 0x1 NaN Infinity null""",
)
TEXTS = re.findall(
    r"\S+",
    r"""X aten::mm 5 007 -5 1.5 5. 1e3 12345678901234567890 1736412482864716.747 1736412482864716.7479
    a;\r\nb \u00e9 é 漢😀 \ud83d\ude00 \ud800 \/ \q \u12 " abcdefg\ ٣ seven77 eighty88""",
)
TEXTS += ["", " 5", "}, {", "a\tb", "v" * 500]
space = st.sampled_from(["", "", "", " ", "\n", "\r\n\t "])
scalar = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(TEXTS).map('"{}"'.format))


def _list(items: list[str]) -> str:
    return "[" + ",".join(items) + "]"


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{key}:{value}" for key, value in members) + "}"


keys = st.sampled_from(TEXTS).map('"{}"'.format)
value = st.recursive(
    scalar,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(_list), st.lists(st.tuples(keys, inner), max_size=3).map(_object)
    ),
    max_leaves=6,
)
ODD = 0.04  # of all values
HCCL = ("src rank", "dst rank", "size(Byte)", "count", "transport type", "link type", "data_type", "alg_type")
LINKS = ("connection_id", "correlation_id", "correlation", "Python id", "Python parent id")
TASK = ("Task Type", "Task Type", "type", "type", "Task Id", "Task Id", "Model Id", "Batch Id")
ARGS = {
    "C": (("value", "b c", "acc_id"), ("0", "1", "-3", "2.5")),
    "X": (
        (
            *LINKS,
            *HCCL,
            *TASK,
            "Call stack",
            "memcpy direction",
            "operation",
            "fullname",
            *["event_type"] * 2,
        ),
        (
            '"AI_CORE"',
            '"KERNEL_AICPU"',
            '"KERNEL_"',
            '"KERNEL\\u005f"',
            '"b/a"',
            '"/a"',
            '"ba"',
            '"b\\/a"',
            '"push/pop"',
            '"marker_ex"',
            '"push\\/pop"',
            "17",
            '"17"',
            "4294967295",
            "null",
        ),
    ),
    "i": (
        ("Addr", "Bytes", "Addr", "Bytes", "Total Allocated", "Total Reserved", "Device Id"),
        ("139926520725504", "-5242880", "-0", "-1", "2.0", "null", "9" * 19, "-" + "9" * 18),
    ),
}


@st.composite
def events(draw: st.DrawFn) -> str:
    """The JSON of an event, nearly as it should be."""

    def member(key: str, *usual: str) -> tuple[str, str]:
        chosen = draw(value if draw(st.floats(0, 1)) < ODD else st.sampled_from(usual))
        return f'{draw(space)}"{key}"{draw(space)}', chosen + draw(space)

    phase = draw(st.sampled_from("XXXBECCstfiI"))
    times = ('"1736412482864716.747"', '"17364.5"', "1736412482864716.747", "5")
    found = [
        member("ph", f'"{phase}"'),
        member("ts", *times),
        *[member(key, '"a"', "1", "3254508960", '"\\u00e9"', '"é"') for key in ("pid", "tid", "name")],
    ]
    if draw(st.booleans()):
        found.append(member("cat", '"cpu_op"', '""', "null"))
    if phase == "X":
        found.append(
            member("dur", "0", "1.5", "828.33653125", '"3.25"', "0.30000000000000004", "2.0015000000000001")
        )
    if phase in "stf":
        found.append(
            member("id", "5", '"5"', '"40006882869110636543"', "40006882869110636543", '"aclrtMemcpy"')
        )
    names, common = ARGS[phase if phase in "Ci" else "X"]
    chosen = draw(st.lists(st.sampled_from(names), max_size=8, unique=draw(st.floats(0, 1)) > ODD))
    found.append((f'"args"{draw(space)}', _object([member(key, *common) for key in chosen]) + draw(space)))
    if draw(st.floats(0, 1)) < ODD:
        found.append((draw(keys), draw(value)))
    return _object(draw(st.permutations(found)))


@st.composite
def blocks(draw: st.DrawFn) -> bytes:
    """The text of some events, often damaged."""
    text = draw(space) + ("," + draw(space)).join(draw(st.lists(events(), min_size=1, max_size=4)))
    block = bytearray(text.encode() + draw(space).encode())
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(block) - 1))
        damage = draw(
            st.sampled_from([b"", b"{", b"}", b'"', b"\\", b",", b":", b"\0", b"\x1f", b"\x80", b"9", b"-"])
        )
        block[at : at + draw(st.integers(0, 3))] = damage
    return bytes(block)


def decoded(texts: list[bytes]) -> ExtractedPart:
    """The part of some blocks without the scanner."""
    reader = PartReader()
    reader._scanner = None
    for text in texts:
        reader.add(orjson.loads(b"[" + text + b"]"), reader.events, lambda text=text: text)  # type: ignore[misc]
    return reader.finish()


def rows_of_part(part: ExtractedPart) -> Rows:
    builder = TableBuilder()
    builder.add(part)
    return rows_of(builder.build("", {}, ReadReport(0, 0, part.events, part.skipped), last=True))


@given(
    st.lists(blocks(), min_size=1, max_size=3), st.sampled_from([b"", b",", b' , {"ph": "X"}', b"}]", b'1"'])
)
def test_scanned_is_decoded(texts: list[bytes], behind: bytes) -> None:
    reader, taken = PartReader(), []
    for text in texts:
        before = reader.events
        count = reader.scan(text + behind, len(text))
        assert reader.events == before + count
        if count:
            taken.append(text)
            assert len(orjson.loads(b"[" + text + b"]")) == count
    part, expected = reader.finish(), decoded(taken)
    assert rows_of_part(part) == rows_of_part(expected)
    assert (part.events, part.skipped, set(part.threads)) == (
        expected.events,
        expected.skipped,
        set(expected.threads),
    )


EVENT = '{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": "5.000", "dur": 1.5, "args": {}}'


@pytest.mark.parametrize(
    "event",
    [
        EVENT.replace("1.5", "0.1234567890123456"),
        EVENT.replace("1.5", "1e-05"),
        EVENT.replace("1.5", "-1.5"),
        EVENT.replace("1.5", '"1.5"'),
        EVENT.replace('"5.000"', "1736412482864716.747"),
        EVENT.replace('"pid": 1, "tid": 2, ', ""),
        EVENT.replace("{}", '{"shapes": [[1, 2], {"a": []}], "Call stack": "é;\\r\\n"}'),
        EVENT.replace("X", "i").replace('"dur": 1.5', '"s": "g"'),
        EVENT.replace("X", "i").replace("{}", '{"Addr": 139926520725504, "Bytes": -512, "Device Id": -1}'),
        EVENT.replace("X", "C").replace("{}", '{"value": 1e3, "other": 0.30000000000000004}'),
        EVENT.replace("X", "f").replace('"dur"', '"bp": "e", "id": "40006882869110636543", "dur"'),
    ],
)
def test_what_producers_write_is_taken(event: str) -> None:
    """Else nobody would notice but by the time it takes."""
    text = event.encode()
    reader = PartReader()
    assert reader.scan(text + b" , {", len(text)) == 1
    assert rows_of_part(reader.finish()) == rows_of_part(decoded([text]))


def _with_args(args: str) -> str:
    return EVENT.replace("{}", args)


@pytest.mark.parametrize(
    "found",
    [
        # A key of args and one behind them have the same text before.
        ['{"args": {"value": 1, "name": "b"}, ' + EVENT[1:-13] + "}", EVENT],
        ['{"args": {"value": 1}, ' + EVENT[1:-13] + "}", EVENT, '{"args": {}, ' + EVENT[1:-13] + "}"],
        # More spaces than before, and fewer.
        [EVENT, EVENT.replace(": ", ":  "), EVENT.replace(" ", ""), EVENT.replace("{", "{ "), EVENT],
        # More that follow the same than are remembered, and more in all.
        [_with_args(f'{{"{number}": 1, "correlation": {number}}}') for number in range(20)] * 2,
        [
            _with_args("{" + f'"{kind}": 0, ' + ", ".join(f'"{key}": 0' for key in range(60)) + "}")
            for kind in range(30)
        ]
        * 2,
        # A key too long to be remembered, and one that is not ASCII.
        [_with_args(f'{{"{"k" * 60}": 1, "correlation": 7}}'), _with_args('{"é": 1, "correlation": 8}')] * 2,
    ],
)
def test_keys_count_wherever_they_stand(found: list[str]) -> None:
    """The keys of earlier events are compared first: they are only those that there are."""
    text = ", ".join([EVENT, *found, *found]).encode()
    reader = PartReader()
    assert reader.scan(text, len(text)) == 2 * len(found) + 1
    assert rows_of_part(reader.finish()) == rows_of_part(decoded([text]))


@pytest.mark.parametrize("digits", range(1, 20))
def test_numbers_of_all_lengths_are_exact(digits: int) -> None:
    number = "9182736455463728190"[:digits]
    ids = [f'{{"Python id": {number}, "Python parent id": "{number}", "correlation": {number}}}']
    times = [f"{number[:place]}.{number[place:]}" for place in range(1, min(digits, 16))]
    text = ",".join([_with_args(args) for args in ids] + [EVENT.replace("5.000", time) for time in times])
    reader = PartReader()
    assert reader.scan(text.encode(), len(text)) == 1 + len(times)
    assert rows_of_part(reader.finish()) == rows_of_part(decoded([text.encode()]))


@pytest.mark.parametrize(
    "event",
    [
        EVENT.replace('"ph": "X"', '"ph": "M"'),
        EVENT.replace('"dur"', '"ts": "6.000", "dur"'),
        EVENT.replace('"name"', '"n\\u0061me"'),
        EVENT.replace('"a"', '"\\ud800"'),
        EVENT.replace('"a"', "[]"),
        EVENT.replace("{}", '{"x": ' + "[" * 40 + "]" * 40 + "}"),
        EVENT.replace("{}", "{" + ",".join(f'"{key}": 0' for key in range(65)) + "}"),
        EVENT.replace("{}", '{"x": 1' + "0" * 400 + "}"),
        EVENT.replace('"5.000"', '"-5.000"'),
        EVENT[:-1],
        EVENT + ",",
    ],
)
def test_what_is_unusual_is_left_to_the_decoder(event: str) -> None:
    text = f"{EVENT}, {event}".encode()
    reader = PartReader()
    assert reader.scan(text, len(text)) == 0
    assert reader.scan(text, len(text)) == 0
    part = reader.finish()
    assert (part.events, part.threads, part.columns) == (0, [], {})


def test_other_threads_run_while_one_scans() -> None:
    """A frame of the viewer, for one; but none that uses the same scanner."""
    reader = PartReader()
    assert reader._scanner is not None
    text = ",".join([EVENT] * 300_000).encode()
    counts: list[int] = []
    thread = threading.Thread(target=lambda: counts.append(reader.scan(text, len(text))))
    thread.start()
    with pytest.raises(RuntimeError, match="another thread"):
        while thread.is_alive():
            reader._scanner.take(0)
    thread.join()
    assert counts == [300_000]


def test_a_length_is_within_the_text() -> None:
    for length in (-1, len(EVENT) + 1):
        with pytest.raises(ValueError, match="length"):
            PartReader().scan(EVENT.encode(), length)


def test_a_usual_trace_is_scanned_but_for_its_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = 0

    def add(self: PartReader, elements: list[object], *_: object) -> None:
        nonlocal decoded
        decoded += len(elements)

    monkeypatch.setattr(extract.PartReader, "add", add)
    text = open_text(SAMPLES / "moba" / "trace_view.json")
    try:
        scanned = sum(
            piece.part.events for piece in read_pieces(text, 1, PART, PieceOptions(False, BLOCK // 8))
        )
    finally:
        text.close()
    assert scanned > 9 * decoded


def test_blocks_behind_a_long_event_are_as_short_as_others(tmp_path: Path) -> None:
    """An argument of an event is read again with all of its block."""
    path = tmp_path / "t.json"
    long = EVENT.replace('"a"', '"' + "x" * 20_000 + '"')
    path.write_text("[" + ", ".join([*[EVENT] * 20, long, *[EVENT] * 2000]) + "]")
    text = open_text(path)
    try:
        (piece,) = read_pieces(text, 1, PART, PieceOptions(False, 1000))
    finally:
        text.close()
    assert piece.part.events == 2021
    assert sorted(piece.blocks.length)[-2] <= 1000
