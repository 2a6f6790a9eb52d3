"""How fast links are beside what they are built for, and beside others that carry alike messages.

The nominal speeds are those of the chips' makers (RDMA, HCCS and PCIe of each generation), which the types of
a trace's tasks tell apart. Of generations that no table knows nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from tracetui.analysis.communication.links import Link
from tracetui.analysis.search import distinct
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Trace

SLOW = 80  #: percent of the median of alike links
LEAST_MESSAGE = 1_000_000  #: bytes of the mean message: the speed of smaller ones says little of a link


class Traffic(NamedTuple):
    """What went over a link in messages of one size class."""

    transfers: int
    bytes: int
    ns: int


#: What went over a link, by transport and size class of its messages.
Parts = Mapping[tuple[str, int], Traffic]


def nominal_speeds(trace: Trace, links: Sequence[Link]) -> list[float | None]:
    """Return the GB/s that each link is built for; None where no table tells."""
    chip = chip_of(trace, links)
    return [nominal_speed(chip, link.transport) for link in links]


def nominal_speed(chip: str, transport: str) -> float | None:
    """Return the GB/s that links of a generation of devices are built for; None where no table tells."""
    return KNOWN.links.speeds.get(f"{chip} {transport}")


def chip_of(trace: Trace, links: Sequence[Link]) -> str:
    """Return the generation of the devices of a trace, "" where that is not certain."""
    if any(link.link_type in KNOWN.links.types_of_other_chips for link in links):
        return ""
    types = distinct(trace.slices.task_type[trace.slices.task_type >= 0])
    chips = {KNOWN.links.chips.get(trace.strings[code], "") for code in types.tolist()} - {""}
    return chips.pop() if len(chips) == 1 else ""


class Slowness(NamedTuple):
    """How much longer a link took than others of its kind would have taken for the same messages."""

    slow: bool  #: for more than half of its time
    ns: int  #: of the messages that were slow
    usual_ns: int  #: that they take at the median speed of their kind

    @property
    def excess_ns(self) -> int:
        """The time beyond the usual, ns."""
        return self.ns - self.usual_ns


def slow_links(links: Sequence[Parts]) -> list[bool]:
    """Return which links are slow for more than half of their time."""
    return [slowness.slow for slowness in slownesses(links)]


def slownesses(links: Sequence[Parts]) -> list[Slowness]:
    """Return how slow each link is beside the others.

    Slow is what is below `SLOW` of the median of all links with the same transport and size class of
    messages; those with a mean message below `LEAST_MESSAGE` are not judged.
    """
    speeds: dict[tuple[str, int], list[float]] = {}
    for link in links:
        for kind, amount in link.items():
            if amount.ns:
                speeds.setdefault(kind, []).append(amount.bytes / amount.ns)
    usual = {kind: median(rates) for kind, rates in speeds.items()}
    results = []
    for link in links:
        slow = {kind: amount for kind, amount in link.items() if _is_slow(amount, usual.get(kind, 0.0))}
        ns = sum(amount.ns for amount in slow.values())
        usual_ns = sum(round(amount.bytes / usual[kind]) for kind, amount in slow.items())
        results.append(Slowness(2 * ns > sum(amount.ns for amount in link.values()), ns, usual_ns))
    return results


def size_class(size: int) -> int:
    """Return the class of a message of some bytes: their bits, 21 of 1 to 2 MiB; 0 where not told."""
    return size.bit_length()


def link_parts(link: Link) -> Parts:
    """Return what went over a link of a trace."""
    parts: dict[tuple[str, int], Traffic] = {}
    for size, (transfers, ns) in link.sizes.items():
        kind = link.transport, size_class(size)
        previous = parts.get(kind, Traffic(0, 0, 0))
        parts[kind] = Traffic(
            previous.transfers + transfers, previous.bytes + size * transfers, previous.ns + ns
        )
    return parts


def _is_slow(amount: Traffic, usual: float) -> bool:
    large = amount.bytes >= amount.transfers * LEAST_MESSAGE
    return large and amount.ns > 0 and amount.bytes / amount.ns * 100 < usual * SLOW
