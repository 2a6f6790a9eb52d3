"""What a benchmark has found, as lines of one table."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple


class Row(NamedTuple):
    """One line: what was measured, how much it was, and what that is beside something else."""

    what: str
    value: str
    ratio: str = ""
    spread: str = ""
    told: str = ""  #: what docs/large-traces.md says of it: what hardly depends on the machine


def seconds(what: str, runs: list[float], beside: list[float] | None = None, of: str = "") -> Row:
    """The median of runs, and of their ratios to runs that were made in turns with them."""
    ratio = f"{median(one / other for one, other in zip(runs, beside)):.2f} x {of}" if beside else ""
    return Row(what, f"{median(runs):.3f} s", ratio, f"{min(runs):.3f} to {max(runs):.3f}", ratio)


def show(title: str, rows: list[Row]) -> None:
    """Print a table."""
    print(f"\n{title}")
    for what, value, ratio, spread, _ in rows:
        print(f"  {what:<42} {value:>9}  {ratio:<34} {spread}".rstrip(), flush=True)


def show_markdown(rows: list[Row]) -> None:
    """Print what docs/large-traces.md tells."""
    print("\n| | |\n|---|---|")
    for row in rows:
        if row.told:
            print(f"| {row.what} | {row.told.replace(' x ', ' × ')} |")
