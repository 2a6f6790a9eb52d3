"""Times shown beside their sum: rounded so that what is shown adds up, and each by less than one unit."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.units import format_exact

DIGITS = 4  #: of the whole


def unit_of(whole_ns: int) -> int:
    """Return the power of ten of ns that leaves `whole_ns` with at most DIGITS digits."""
    return int(10 ** max(len(str(whole_ns)) - DIGITS, 0))


def apportion(parts: Sequence[int], whole: int) -> list[int]:
    """Return integers in proportion to `parts` that sum to `whole`: each is its share rounded down or up.

    The largest remainders round up, the first of equals.
    """
    total = sum(parts)
    if total <= 0:
        return [0] * len(parts)
    shares = [part * whole // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda place: -(parts[place] * whole % total))
    for place in by_remainder[: whole - sum(shares)]:
        shares[place] += 1
    return shares


def format_share(units: int, unit_ns: int) -> str:
    """Return "93.2 µs"; what rounds to nothing is "<0.1 µs"."""
    return format_exact(units * unit_ns) if units else f"<{format_exact(unit_ns)}"
