"""Places: short texts that open the same picture of the viewer elsewhere.

`gaps@52:1.234s..1.24s#gap=NPU+0:1.236211,filter=matmul` is a screen, the rank it shows, the time on screen,
and what is selected and chosen there. Times count from the start of the trace. A place is made of characters
that no shell changes; a text in it, such as a filter, has its other characters as "%2C", and "+" for a blank.

A row is named by its kind and what tells it from others of its kind: `gap=NPU+0:1.236211`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Callable, NamedTuple

from tracetui.language import state
from tracetui.units import NS_PER_S

LONGEST_PLACE = 4000  #: characters
LONGEST_NAME = 160  #: characters of a text in a row's id: of a longer one the start and a hash
_HASH_BYTES = 6
_EDGE_BYTES = 1 << 16  #: of a file at either end that its fingerprint is made of
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/@")

Span = tuple[int, int]  #: [start, end) in ns from the start of the trace

_WORD = re.compile(r"[a-z][a-z_-]{0,39}", re.ASCII)
_TEXT = re.compile(r"(?:[A-Za-z0-9._/@:~+-]|%[0-9A-F]{2})*", re.ASCII)
_SECONDS = re.compile(r"(-?)([0-9]{1,10})(?:\.([0-9]{1,9}))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_TRACE = re.compile(r"[0-9a-f]{12}", re.ASCII)
SIDES = ("base", "other")  #: of a comparison, in the order of opening


class NotAPlace(ValueError):  # noqa: N818 - no error of the program
    """A text is not a place; `str()` is a sentence."""


@dataclass(frozen=True)
class SharedPlace:
    """What the viewer shows; all but the screen may be missing."""

    screen: str
    rank: int | None = None  #: of a job, by its number
    span: Span | None = None  #: on screen
    rows: tuple[str, ...] = ()  #: ids: what is selected, then the row under the cursor of the table
    view: str = ""  #: which of the tables or maps of the screen
    window: Span | None = None  #: what tables and exports are limited to
    filter: str = ""
    step: int | None = None  #: its number
    device: str = ""  #: as written in the trace
    moment: int | None = None  #: ns from the start of the trace, where the cursor is beside the selection
    cursor: tuple[str, ...] = ()  #: the row of the timeline that the cursor is on
    folds: tuple[tuple[str, ...], ...] = ()  #: tracks folded or unfolded against their default
    pins: tuple[tuple[str, ...], ...] = ()  #: tracks kept on top
    side: str = ""  #: of a comparison: "base" or "other"
    trace: str = ""  #: the fingerprint of the trace that it is of

    def __str__(self) -> str:
        """Return the place as text."""
        at = ""
        if self.rank is not None or self.span is not None:
            rank = "" if self.rank is None else f"{self.rank}:"
            at = f"@{rank}{'' if self.span is None else _format_span(self.span)}"
        parts = [*self.rows]
        for name, part in _PARTS.items():
            value = getattr(self, part.field)
            if value != _DEFAULTS[part.field]:
                parts.append(f"{name}={part.write(value)}")
        return f"{self.screen}{at}{'#' if parts else ''}{','.join(parts)}"


def parse_place(text: str) -> SharedPlace:
    """Return the place of a text. Raises NotAPlace."""
    text = text.strip()
    if len(text) > LONGEST_PLACE:
        raise NotAPlace(state("a place has at most {count} characters", count=f"{LONGEST_PLACE:,}"))
    head, _, tail = text.partition("#")
    screen, at, where = head.partition("@")
    if not _WORD.fullmatch(screen):
        raise NotAPlace(state("a place begins with a screen, like gaps@1.2s..1.35s#gap=NPU:1.236211"))
    rank, span = _parse_at(where) if at else (None, None)
    rows: list[str] = []
    chosen: dict[str, object] = {}
    for part in tail.split(",") if tail else ():
        name, equals, value = part.partition("=")
        if not (equals and _WORD.fullmatch(name) and _TEXT.fullmatch(value)):
            raise NotAPlace(state("the parts of a place after # are NAME=VALUE, with commas between them"))
        kind = _PARTS.get(name)
        if kind is None:
            rows.append(part)
        elif kind.field in chosen:
            raise NotAPlace(state("{name} stands twice in this place", name=name))
        else:
            chosen[kind.field] = kind.read(value)
    return SharedPlace(screen, rank, span, tuple(rows), **chosen)  # type: ignore[arg-type]


def _parse_at(where: str) -> tuple[int | None, Span | None]:
    rank, colon, span = where.rpartition(":")
    if colon and not _NUMBER.fullmatch(rank):
        raise NotAPlace(state("before the : of a place stands the number of a rank"))
    return int(rank) if colon else None, _parse_span(span) if span or not colon else None


def moment_of(place: SharedPlace) -> int | None:
    """Return when what a place is about begins, ns from the start of the trace; None where it has no time.

    That is the selected gap or slice, else the window.
    """
    for row in place.rows:
        if row.startswith(("gap=", "slice=")):
            try:
                return parse_seconds(row.rpartition(":")[2])
            except NotAPlace:
                return None
    return place.window[0] if place.window is not None else place.moment


def row_id(kind: str, *parts: str) -> str:
    """Return the id of a row: its kind, and texts that tell it from others; the last one may have colons."""
    *first, last = (shorten(part) for part in parts)
    return f"{kind}={':'.join([*map(quote, first), quote(last).replace('%3A', ':')])}"


def is_row_id(text: str) -> bool:
    """Return whether a text has the form of a row's id."""
    kind, equals, value = text.partition("=")
    return bool(equals and _WORD.fullmatch(kind) and kind not in _PARTS and _TEXT.fullmatch(value))


def row_of_kind(kind: str, name: str) -> str:
    """Return the id of a row as a place has it: one that is a mere name stands after its kind."""
    return name if is_row_id(name) else row_id(kind, name)


def shorten(text: str) -> str:
    """Return a text, of a long one its start and a hash of all of it."""
    if len(text) <= LONGEST_NAME:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).hexdigest()
    return f"{text[: LONGEST_NAME - 2 * _HASH_BYTES - 2]}..{digest}"


def quote(text: str) -> str:
    """Return a text as letters that mean the same to every shell."""
    pieces = (
        chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass")
    )
    return "".join(pieces).replace("%20", "+")


def unquote(text: str) -> str:
    """Return the text that was quoted. Raises NotAPlace."""
    halves = text.replace("+", "%20").split("%")
    try:
        raw = halves[0].encode("ascii") + b"".join(
            bytes.fromhex(half[:2]) + half[2:].encode("ascii") for half in halves[1:]
        )
        return raw.decode("utf-8", "surrogatepass")
    except ValueError:
        raise NotAPlace(
            state("a % in a place is followed by the two hexadecimal digits of a byte of UTF-8")
        ) from None


def format_seconds(ns: int) -> str:
    """Return ns as seconds, with the digits that it has: "1.236211"."""
    whole, rest = divmod(abs(ns), NS_PER_S)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if ns < 0 else ''}{whole}{fraction}"


def parse_seconds(text: str) -> int:
    """Return the ns of seconds as `format_seconds` writes them. Raises NotAPlace."""
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise NotAPlace(state("times in a place are seconds from the start of the trace, like 1.236211"))
    ns = int(match[2]) * NS_PER_S + int((match[3] or "").ljust(9, "0"))
    return -ns if match[1] else ns


def _format_span(span: Span) -> str:
    return f"{format_seconds(span[0])}s..{format_seconds(span[1])}s"


def _parse_span(text: str) -> Span:
    start, dots, end = text.partition("..")
    if not dots or not start.endswith("s") or not end.endswith("s"):
        raise NotAPlace(state("the time of a place is START..END, like 1.2s..1.35s"))
    first, last = parse_seconds(start[:-1]), parse_seconds(end[:-1])
    if last <= first:
        raise NotAPlace(state("the time of a place ends after it starts"))
    return first, last


def _format_key(key: Sequence[str]) -> str:
    return ":".join(map(quote, key))


def _parse_key(text: str) -> tuple[str, ...]:
    return tuple(map(unquote, text.split(":")))


def _format_keys(keys: Sequence[Sequence[str]]) -> str:
    return "~".join(map(_format_key, keys))


def _parse_keys(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_parse_key, text.split("~")))


def _parse_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise NotAPlace(state("the step of a place is a whole number"))
    return int(text)


def _parse_side(text: str) -> str:
    if text not in SIDES:
        raise NotAPlace(state("the side of a place is base or other"))
    return text


def _parse_trace(text: str) -> str:
    if not _TRACE.fullmatch(text):
        raise NotAPlace(state("the trace of a place is a fingerprint of 12 hexadecimal digits"))
    return text


class _Part(NamedTuple):
    """One thing that a place may say after its rows."""

    field: str
    write: Callable[..., str]
    read: Callable[[str], object]


#: by the name that stands before the = in the text: no kind of row is called so
_PARTS = {
    "view": _Part("view", quote, unquote),
    "window": _Part("window", _format_span, _parse_span),
    "filter": _Part("filter", quote, unquote),
    "in-step": _Part("step", str, _parse_number),
    "on-device": _Part("device", quote, unquote),
    "moment": _Part("moment", format_seconds, parse_seconds),
    "cursor": _Part("cursor", _format_key, _parse_key),
    "folds": _Part("folds", _format_keys, _parse_keys),
    "pins": _Part("pins", _format_keys, _parse_keys),
    "side": _Part("side", str, _parse_side),
    "trace": _Part("trace", str, _parse_trace),
}
_DEFAULTS = {field.name: field.default for field in fields(SharedPlace)}


def trace_fingerprint(paths: Sequence[Path]) -> str:
    """Return what tells a trace from others wherever it lies: 12 hexadecimal digits; "" where it is gone.

    It is made of the size of the first file, of 64 kB at either end of it, and of the sizes of the others.
    """
    digest = blake2b(digest_size=_HASH_BYTES)
    try:
        with paths[0].open("rb") as file:
            size = file.seek(0, 2)
            digest.update(b"%d" % size)
            for start in (0, max(size - _EDGE_BYTES, 0)):
                file.seek(start)
                digest.update(file.read(_EDGE_BYTES))
        for path in paths[1:]:
            digest.update(b" %d" % path.stat().st_size)
    except (OSError, IndexError):
        return ""
    return digest.hexdigest()
