"""Times, sizes and shares as people read and write them. Knows integers only, no trace and no terminal."""

from __future__ import annotations

import re
from typing import NamedTuple

from tracetui.language import state

NS_PER_S = 1_000_000_000

HOUR = 3_600 * NS_PER_S  #: ns
DAY = 24 * HOUR
YEAR = 366 * DAY  #: ns: nothing takes longer, and no clock jumps by more without being another one

#: A time no trace reaches: the end of a window that was left open. Added to an epoch time it fits int64.
OPEN_END = 1 << 62

#: A length of time no trace has, 31 years: what is later is a time since 1970.
_LONGEST_TRACE = 10**18
#: What clocks show 17 minutes after they began, in ns: a smaller number without a unit lacks its unit.
_LEAST_CLOCK = 10**12

#: ns: a length of time from which on hours say more than seconds.
_LEAST_IN_HOURS = 10_000 * NS_PER_S

_SCALES = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": NS_PER_S}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(ns|us|µs|μs|ms|s)?", re.ASCII)
_NO_UNIT = "a time needs a unit: s, ms, us or ns"


def format_duration(ns: int) -> str:
    """Return a length of time with three significant digits: "812 ns", "1.24 µs", "96.0 ms", "1234 s".

    What lasts 10,000 s or longer is in hours, from 100 h on in days: "2.78 h", "638 d".
    """
    if abs(ns) < _LEAST_IN_HOURS:
        return _signed(ns, ("ns", "µs", "ms", "s"))
    unit, scale = ("h", HOUR) if abs(ns) < 100 * HOUR else ("d", DAY)
    return f"{'-' if ns < 0 else ''}{_three_digits(abs(ns), scale)} {unit}"


def format_exact(ns: int) -> str:
    """Return a length of time with all its digits, in the unit of `format_duration` or s: "1.240385 ms"."""
    sign, length = ("-", -ns) if ns < 0 else ("", ns)
    for unit in ("s", "ms", "µs"):
        scale = _SCALES[unit]
        if length >= scale:
            whole, remainder = divmod(length, scale)
            return f"{sign}{whole}.{remainder:0{len(str(scale)) - 1}d}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{sign}{length} ns"


def format_time(ns: int, step_ns: int = 1000) -> str:
    """Return a moment, in s from the start of the trace: "0.129863 s", with the decimals `step_ns` needs.

    Cut, not rounded, so that moments keep their order, and those a step apart differ.
    """
    decimals = 0
    while decimals < 9 and 10 ** (9 - decimals) > step_ns:
        decimals += 1
    sign, length = ("-", -ns) if ns < 0 else ("", ns)
    whole, remainder = divmod(length, NS_PER_S)
    fraction = f".{remainder:09d}"[: decimals + 1] if decimals else ""
    return f"{sign}{whole}{fraction} s"


def format_clock(ns: int) -> str:
    """Return a moment on the clock of the trace, as in kernel_details.csv: "1736412474714258.990 µs"."""
    sign, length = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{length // 1000}.{length % 1000:03d} µs"


def format_ms(ns: int, decimals: int = 3) -> str:
    """Return milliseconds with up to three decimals, rounded: "1,234.568"; a rounded 0 has no sign."""
    unit = 10 ** (6 - decimals)
    units = (abs(ns) + unit // 2) // unit
    sign = "-" if ns < 0 and units else ""
    whole, remainder = divmod(units, 10**decimals)
    return f"{sign}{whole:,}.{remainder:0{decimals}d}" if decimals else f"{sign}{whole:,}"


def format_bytes(count: int) -> str:
    """Return a size in powers of 1000 with three significant digits: "812 B", "1.24 GB"."""
    return _signed(count, ("B", "kB", "MB", "GB", "TB"))


def format_count(count: int) -> str:
    """Return a number of things: "1,234,567"."""
    return f"{count:,}"


def format_percent(part: int, whole: int) -> str:
    """Return a share as "31.2 %": only nothing is "0.0 %", only all is "100.0 %"; "-" of nothing."""
    if whole <= 0:
        return "-"
    permille = (2000 * part + whole) // (2 * whole)
    if permille == 0 and part > 0:
        return "<0.1 %"
    if permille == 1000 and part < whole:
        return ">99.9 %"
    return f"{permille // 10}.{permille % 10} %"


def format_error(share: float) -> str:
    """Return how far off something is, a share of it, as "3.3 %"."""
    return f"{share * 100:.1f} %"


def parse_duration(text: str) -> int:
    """Return the ns of a length of time: "1.2s", "350 ms", "17µs", "17us" or "900ns".

    Raises ValueError with a sentence.
    """
    number, unit = _split(text)
    if unit is None:
        raise ValueError(state(_NO_UNIT))
    return _scaled(number, unit)


class Moment(NamedTuple):
    """A time as it is written, before it is known when the trace starts."""

    ns: int
    absolute: bool = False  #: on the clock of the trace, not from its start

    def on_clock(self, trace_start_ns: int, base_ns: int = 0) -> int:
        """Return the moment in ns on the clock of a trace that starts then.

        `base_ns` was added to the times of its file: a time below it is one of the file.
        """
        if self.absolute:
            return self.ns + base_ns if self.ns < base_ns else self.ns
        return trace_start_ns + self.ns


class Window(NamedTuple):
    """A window of time as it is written, before it is known when the trace starts."""

    start: Moment
    end: Moment

    def on_clock(self, trace_start_ns: int, base_ns: int = 0) -> tuple[int, int]:
        """Return (start, end) in ns on the clock of a trace, as `Moment` does; the end may be the earlier."""
        return self.start.on_clock(trace_start_ns, base_ns), self.end.on_clock(trace_start_ns, base_ns)


def parse_time(text: str, trace_start_ns: int, base_ns: int = 0) -> int:
    """Return the ns, on the clock of the trace, of a moment.

    A number with a unit counts from the start of the trace: "1.35s", "350 ms". A number without one is the
    time in µs on the clock of the trace, as in its `ts` and in kernel_details.csv: "1736412474714258.990"; so
    is a time with a unit that is too long for a trace: "1736412474714258.990us", "1736412474.7s". `base_ns`
    is as of `Moment.on_clock`. Raises ValueError with a sentence.
    """
    return _moment(*_split(text)).on_clock(trace_start_ns, base_ns)


def parse_window(text: str) -> Window:
    """Return the window of "1.2s..1.35s", or of other moments that `parse_time` reads.

    Either end may be missing: the start of the trace and `OPEN_END` then. A unit written once holds for
    both: "1.2..1.35s". Raises ValueError with a sentence.
    """
    start_text, dots, end_text = text.partition("..")
    start_text, end_text = start_text.strip(), end_text.strip()
    if not dots or not (start_text or end_text):
        raise ValueError(state("a window is START..END, like 1.2s..1.35s, 350ms.. or ..900us"))
    start, start_unit = _split(start_text) if start_text else ("0", "s")
    end, end_unit = _split(end_text) if end_text else ("", None)
    first = _moment(start, start_unit or end_unit)
    last = _moment(end, end_unit or (start_unit if start_text else None)) if end_text else Moment(OPEN_END)
    if first.absolute == last.absolute and last.ns <= first.ns:
        raise ValueError(state("a window ends after it starts"))
    return Window(first, last)


def _split(text: str) -> tuple[str, str | None]:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(state("a time is a number with a unit (s, ms, us or ns), like 1.35s"))
    return match[1], match[2]


def _moment(number: str, unit: str | None) -> Moment:
    ns = _scaled(number, unit or "us")
    if unit is None and ns < _LEAST_CLOCK:
        raise ValueError(state(_NO_UNIT))
    return Moment(ns, unit is None or ns >= _LONGEST_TRACE)


def _scaled(number: str, unit: str) -> int:
    whole, _, fraction = number.partition(".")
    if len(whole) > 19:
        raise ValueError(state("a time this large is in no trace"))
    # Integers throughout; what is finer than a nanosecond is cut.
    ns = (int(whole or "0") * 10**9 + int(fraction[:9].ljust(9, "0"))) * _SCALES[unit] // 10**9
    if ns >= OPEN_END:
        raise ValueError(state("a time this large is in no trace"))
    return ns


def _signed(count: int, units: tuple[str, ...]) -> str:
    """Return three significant digits of `count` (half up) in the first unit that shows it below 1000."""
    sign, length = ("-", -count) if count < 0 else ("", count)
    if length < 1000:
        return f"{sign}{length} {units[0]}"
    place, scale = 1, 1000
    while place < len(units) - 1 and (length + scale // 2) // scale >= 1000:
        place, scale = place + 1, scale * 1000
    return f"{sign}{_three_digits(length, scale)} {units[place]}"


def _three_digits(length: int, scale: int) -> str:
    """Return three significant digits of `length` / `scale` (half up), all of its whole number."""
    for decimals in (2, 1):
        digits = (length * 10**decimals + scale // 2) // scale
        if digits < 1000:
            whole, remainder = divmod(digits, 10**decimals)
            return f"{whole}.{remainder:0{decimals}d}"
    return str((length + scale // 2) // scale)
