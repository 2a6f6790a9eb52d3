"""Damage events at random and have the scanner read them: what it takes has to be what decoding gives."""

from __future__ import annotations

import random
import time
from pathlib import Path

import orjson

from tests.reader.test_scanned import EVENT, decoded, rows_of_part
from tracetui.compiled import COMPILED
from tracetui.reader.extract import PartReader
from tracetui.reader.split import BOUNDARY

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
_PIECES = [
    *(bytes([byte]) for byte in b'{}[]",:\\\0\x1f\x7f\x80\xc3\xff0-.eE+9 \n'),
    *(b"\\ud800", b"\\u0041", b'"ph":"X",', b'"ts":', b'"args":{', b"null", b"true", b"1e999", b"9" * 45),
    *(b"[" * 40, b'"a":{' * 40, b'""', "漢".encode(), b'"x":0,' * 70, b"}, {", EVENT.encode()),
]
_PARTS = 500  # blocks that are compared at a time


def fuzz_scanner(chooser: random.Random, seconds: float) -> None:
    """Scan damaged blocks for so long; whatever comes out otherwise than decoded ends the program."""
    assert COMPILED, "there is no compiled scanner"
    whole = blocks()
    until = time.monotonic() + seconds
    scanned = taken = 0
    while time.monotonic() < until:
        taken += compare([damaged(chooser, whole) for _ in range(_PARTS)], chooser)
        scanned += _PARTS
    print(f"{scanned:,} blocks scanned, {taken:,} taken, none of them otherwise than decoded")


def blocks() -> list[bytes]:
    """Cut blocks of one to 30 events from the samples."""
    found = []
    for trace in sorted(SAMPLES.glob("*/trace_view.json")):
        text = trace.read_bytes()
        bounds = [(between.start() + 1, between.end()) for between in BOUNDARY.finditer(text)]
        bounds = bounds[:: max(len(bounds) // 2000, 1)]
        for events in (1, 3, 30):
            for (_, start), (end, _) in zip(bounds, bounds[events:]):
                if end - start < 20_000:
                    found.append(text[start:end])
    return found


def damaged(chooser: random.Random, whole: list[bytes]) -> bytes:
    """Return a block, most often with some places cut out, repeated, or replaced by others."""
    block = bytearray(chooser.choice(whole))
    for _ in range(chooser.choice((0, 1, 1, 2, 5))):
        at = chooser.randrange(len(block) + 1)
        end = at + chooser.choice((0, 0, 1, 2, 9, 200))
        other = chooser.choice(whole)
        place = chooser.randrange(len(other))
        block[at:end] = chooser.choice(
            (b"", block[at:end] * 2, chooser.choice(_PIECES), chooser.randbytes(3), other[place : place + 50])
        )
    return bytes(block)


def compare(texts: list[bytes], chooser: random.Random) -> int:
    """Scan blocks one after the other and compare what is taken with decoding; return how many were taken."""
    reader, taken = PartReader(), []
    for text in texts:
        length = chooser.choice((len(text), len(text), chooser.randrange(len(text) + 1)))
        count = reader.scan(text, length)
        if count:
            taken.append(text[:length])
            assert len(orjson.loads(b"[" + text[:length] + b"]")) == count, text[:length]
    part, expected = reader.finish(), decoded(taken)
    assert rows_of_part(part) == rows_of_part(expected), taken
    return len(taken)
