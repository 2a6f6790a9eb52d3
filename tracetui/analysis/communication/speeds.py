"""How fast links are beside what they are built for, and beside others that carry alike messages.

The nominal speeds are those of the chips' makers (RDMA, HCCS and PCIe of each generation), which the types of
a trace's tasks tell apart. Of generations that no table knows nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tracetui.analysis.communication.links import Link
from tracetui.analysis.search import distinct
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Trace

SLOW = 0.8  #: of the median of alike links
LEAST_MESSAGE = 1_000_000  #: bytes of the mean message: the speed of smaller ones says little of a link


def nominal_speeds(trace: Trace, links: Sequence[Link]) -> list[float | None]:
    """Return the GB/s that each link is built for; None where no table tells."""
    chip = _chip(trace, links)
    return [KNOWN.link_speeds.get(f"{chip} {link.transport}") for link in links]


def slow_links(links: Sequence[Link]) -> list[bool]:
    """Return which links are slower than `SLOW` of the median of those alike.

    Alike are links of the same transport with a mean message of the same power of ten; those with a mean
    message below `LEAST_MESSAGE` are not judged.
    """
    classes: dict[tuple[str, int], list[float]] = {}
    keys = []
    for link in links:
        messages = sum(count for count, _ in link.sizes.values())
        mean = link.bytes // messages if messages else 0
        judged = link.gb_per_s is not None and mean >= LEAST_MESSAGE
        keys.append((link.transport, len(str(mean))) if judged else None)
        if keys[-1] is not None:
            classes.setdefault(keys[-1], []).append(link.gb_per_s or 0.0)
    least = {key: SLOW * median(speeds) for key, speeds in classes.items()}
    return [key is not None and (link.gb_per_s or 0.0) < least[key] for key, link in zip(keys, links)]


def _chip(trace: Trace, links: Sequence[Link]) -> str:
    """The generation of the devices of a trace, "" where that is not certain."""
    if any(link.link_type in KNOWN.links_of_other_chips for link in links):
        return ""
    types = distinct(trace.slices.task_type[trace.slices.task_type >= 0])
    chips = {KNOWN.chips.get(trace.strings[code], "") for code in types.tolist()} - {""}
    return chips.pop() if len(chips) == 1 else ""
