"""The memory of a run in sentences, of the values of its document.

Names are as written in the trace: never print them unescaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracetui.export.words import line_name
from tracetui.trace.stack import Frame, path_end
from tracetui.units import format_bytes, format_count, format_time

NOTHING = (
    "Nothing is recorded of the memory: profile with profile_memory=True, "
    "and keep the tables beside the trace."
)
NO_TIMES = "Events are told by their numbers, not by times."
LONGEST_SOURCE = 120  #: characters of a line of source
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def peak_sentence(document: Mapping[str, Any], origin_ns: int) -> str:
    """ "NPU 0: peak 57.3 GB at 1.204 s in step 12: 31.0 GB of it allocated at model.py(88) forward" """
    peak = document["peak"]
    if peak is None:
        return "No curve tells how much is held."
    words = f"{peak['device']}: peak {format_bytes(peak['bytes'])}"
    if peak["at_ns"] is not None:
        words += f" at {format_time(peak['at_ns'] - origin_ns)}"
    if peak["step"] is not None:
        words += f" in step {peak['step']}"
    most = most_at_peak(document["lines"])
    return words if most is None else f"{words}: {format_bytes(most[1])} of it allocated at {most[0]}"


def most_at_peak(lines: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """Return the line of Python that holds most at the peak, all its operators together; None without any."""
    held: dict[str, int] = {}
    for line in lines:
        if line["file"] and line["bytes_at_peak"]:
            name = place_words(line)
            held[name] = held.get(name, 0) + line["bytes_at_peak"]
    return max(held.items(), key=lambda each: each[1], default=None)


def peak_parts(peak: Mapping[str, Any]) -> Iterator[str]:
    """Yield what else is to say of a peak: "736 MB of it was allocated before the recording began"."""
    if peak["before_bytes"]:
        yield f"{format_bytes(peak['before_bytes'])} of it was allocated before the recording began"
    if peak["cached_bytes"]:
        yield f"{format_bytes(peak['cached_bytes'])} more was reserved: cached, or lost between blocks"
    if peak["outside_bytes"]:
        outside = format_bytes(peak["outside_bytes"])
        yield f"{outside} of the process lay outside: workspace, communication, others"


def growth_sentence(document: Mapping[str, Any], steps: int) -> str:
    """ "From step to step: +312 MB in 3, +312 MB in 4" """
    if steps < 2:
        return "Of one step nothing can be said about growth." if steps else "There are no steps to compare."
    devices = dict.fromkeys(each["device"] for each in document["growth"])
    parts = []
    for device in devices:
        own = [each for each in document["growth"] if each["device"] == device]
        told = ", ".join(f"{signed_bytes(each['bytes'])} in {each['step']}" for each in own[-8:])
        parts.append(f"{device}: {told}" if len(devices) > 1 else told)
    return f"From step to step: {'; '.join(parts)}" if parts else "No curve tells of growth."


def growing_sentence(group: Mapping[str, Any], source: str | None = None) -> str:
    """ "grows 312 MB a step: Cast, the 28th of 28 calls at actor.py(41) f, after MatMul, before Add, ..."

    source : the text of that line, told behind its place.
    """
    steps = [str(step) for step in group["steps"]]
    listed = ", ".join(steps if len(steps) <= 6 else [*steps[:2], "...", *steps[-3:]])
    operator = group["operator"] + (f" ({group['task']})" if group["task"] else "")
    between = (("after", group["before"]), ("before", group["after"]))
    parts = [
        f"{group['verdict']} {format_bytes(group['bytes_per_step'])} a step"
        + (f": {operator}, " if operator else ": ")
        + f"{calls_words(group)} at {place_words(group)}"
        + (f" `{source[:LONGEST_SOURCE]}`" if source else ""),
        *(f"{where} {neighbour}" for where, neighbour in between if neighbour),
        f"alive since steps {listed}",
    ]
    return ", ".join(parts)


def calls_words(group: Mapping[str, Any]) -> str:
    """ "the 28th of 28 calls", "2 of 28 calls", "the only call" """
    count = group["of"]
    if count == 1:
        return "the only call"
    if group["nth"] is not None and group["leaving"] == 1:
        return f"the {ordinal(group['nth'])} of {format_count(count)} calls"
    return f"{format_count(group['leaving'])} of {format_count(count)} calls"


def alive_sentence(document: Mapping[str, Any]) -> str:
    """What is left at the end, which is not a leak for that."""
    alive = document["alive_at_end"]
    if not alive["blocks"]:
        return "All that was allocated was released before the recording ended."
    blocks = f"{format_count(alive['blocks'])} {'block' if alive['blocks'] == 1 else 'blocks'}"
    return f"Alive at the end, which by itself is no leak: {format_bytes(alive['bytes'])} in {blocks}."


def place_words(row: Mapping[str, Any]) -> str:
    """ "train.py(88) forward" with the last part of the path; "(no stack)" """
    file = row["file"]
    return line_name(path_end(file) if file else file, row["line"] or 0, row["function"] or "")


def place_name(frame: Frame | None) -> str:
    """Return "train.py(88) forward" with the last part of the path; never print it unescaped."""
    return line_name(None, 0, "") if frame is None else line_name(path_end(frame.file), *frame[1:])


def signed_bytes(count: int | None) -> str:
    """ "+312 MB", "-1.20 kB", "0 B", "?" where it is not known."""
    if count is None:
        return "?"
    return f"+{format_bytes(count)}" if count > 0 else format_bytes(count)


def ordinal(number: int) -> str:
    """ "1st", "12th", "23rd" """
    ending = "th" if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, "th")
    return f"{format_count(number)}{ending}"
