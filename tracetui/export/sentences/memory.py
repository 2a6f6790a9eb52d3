"""The memory of a run in sentences, of the values of its document.

Names are as written in the trace: never print them unescaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracetui.analysis.memory.growth import Verdict
from tracetui.export.sentences.causes import line_name
from tracetui.language import clauses, counted, names, semicolon_list, speaks_english, translate
from tracetui.trace.stack import Frame, distinct_ends, path_end
from tracetui.units import format_bytes, format_count, format_time

NOTHING = (
    "Nothing is known of the memory: profile with profile_memory=True (before PyTorch 1.11 it leaves no "
    "addresses of blocks, which are needed), and on an NPU keep the tables of this rank, and of no other, "
    "beside the trace."
)
NO_TIMES = "Events are told by their numbers, not by times."
LONGEST_SOURCE = 120  #: characters of a line of source
_MOST_GROWTH = 8  #: steps whose growth is told, the last ones
_GROWING = {"grows": "grows {size} a step", "may grow": "may grow {size} a step"}  #: by verdict
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def peak_sentence(document: Mapping[str, Any], origin_ns: int) -> str:
    """Return "NPU 0: peak 57.3 GB at 1.204 s in step 12: 31.0 GB of it allocated at model.py(88) forward"."""
    peak = document["peak"]
    if peak is None:
        return translate("No curve tells how much is held.")
    words = translate("{device}: peak {size}", device=peak["device"], size=format_bytes(peak["bytes"]))
    if peak["at_ns"] is not None:
        words = translate("{peak} at {time}", peak=words, time=format_time(peak["at_ns"] - origin_ns))
    if peak["step"] is not None:
        words = translate("{peak} in step {step}", peak=words, step=peak["step"])
    largest = most_at_peak(document["lines"])
    if largest is None:
        return words
    template = "{peak}: {size} of it allocated at {line}"
    return translate(template, peak=words, size=format_bytes(largest[1]), line=largest[0])


def most_at_peak(lines: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """Return the line of Python that holds most at the peak, all its operators together.

    None where there is none, or an operator that no line leads to holds more.
    """
    bytes_by_line: Counter[tuple[str, int, str]] = Counter()
    bytes_by_operator: Counter[str] = Counter()
    for line in lines:
        if line["file"]:
            bytes_by_line[line["file"], line["line"] or 0, line["function"] or ""] += line["bytes_at_peak"]
        else:
            bytes_by_operator[line["operator"]] += line["bytes_at_peak"]
    (((file, number, function), size),) = bytes_by_line.most_common(1) or ((("", 0, ""), 0),)
    if size <= 0 or size < max(bytes_by_operator.values(), default=0):
        return None
    ends = distinct_ends({file for file, _, _ in bytes_by_line})
    return line_name(ends[file], number, function), size


def peak_parts(peak: Mapping[str, Any]) -> Iterator[str]:
    """Yield what else is to say of a peak: "736 MB of it is in no recorded block: allocated before, ..."."""
    if peak["before_bytes"]:
        before = format_bytes(peak["before_bytes"])
        template = "{size} of it is in no recorded block: allocated before, or left out"
        yield translate(template, size=before)
    if peak["cached_bytes"]:
        cached = format_bytes(peak["cached_bytes"])
        yield translate("{size} more was reserved: cached, or lost between blocks", size=cached)
    if peak["outside_bytes"]:
        outside = format_bytes(peak["outside_bytes"])
        template = "{size} of the process lay outside: workspace, communication, others"
        yield translate(template, size=outside)


def growth_sentence(document: Mapping[str, Any], steps: int) -> str:
    """Return "From step to step: ..., +312 MB in 3, +312 MB in 4"; the dots stand for earlier steps."""
    if steps < 2:
        sentence = "Of one step nothing can be said about growth."
        return translate(sentence) if steps else translate("There are no steps to compare.")
    devices = dict.fromkeys(entry["device"] for entry in document["growth"])
    parts = []
    for device in devices:
        growth = [step for step in document["growth"] if step["device"] == device]
        steps_words = (
            translate("{size} in {step}", size=signed_bytes(step["bytes"]), step=step["step"])
            for step in growth[-_MOST_GROWTH:]
        )
        last_steps = clauses([*(["..."] if len(growth) > _MOST_GROWTH else []), *steps_words])
        parts.append(
            translate("{device}: {what}", device=device, what=last_steps) if len(devices) > 1 else last_steps
        )
    if not parts:
        return translate("No curve tells of growth.")
    return translate("From step to step: {parts}", parts=semicolon_list(parts))


def growing_sentence(group: Mapping[str, Any], source: str | None = None) -> str:
    """Return "grows 312 MB a step: Cast, the 28th of 28 calls at actor.py(41) f, after MatMul, ...".

    `source` is the text of that line, shown after its place.
    """
    steps = [str(step) for step in group["steps"]]
    listed = names(steps if len(steps) <= 6 else [*steps[:2], "...", *steps[-3:]])
    operator = group["operator"] + (f" ({group['task']})" if group["task"] else "")
    template = _GROWING[group["verdict"]]
    calls = translate("{calls} at {line}", calls=calls_words(group), line=row_line_name(group))
    parts = [
        *([operator] if operator else []),
        calls + (f" `{source[:LONGEST_SOURCE]}`" if source else ""),
        *([translate("after {name}", name=group["before"])] if group["before"] else []),
        *([translate("before {name}", name=group["after"])] if group["after"] else []),
        translate("alive since steps {steps}", steps=listed),
    ]
    size = format_bytes(group["bytes_per_step"])
    return translate("{grows}: {parts}", grows=translate(template, size=size), parts=clauses(parts))


def growth_word(verdict: Verdict) -> str:
    """Return how sure it is that a group grows."""
    return translate("grows") if verdict is Verdict.GROWS else translate("may grow")


def calls_words(group: Mapping[str, Any]) -> str:
    """Return "the 28th of 28 calls", "2 of 28 calls", "the only call"."""
    count = group["of"]
    if count == 1 or (group["nth"] is not None and group["leaving"] == 1):
        return call_words(group["nth"], count)
    return translate(
        "{some} of {count} calls", some=format_count(group["leaving"]), count=format_count(count)
    )


def call_words(nth: int, count: int) -> str:
    """Return "the 28th of 28 calls", "the only call"; `nth` counts from 1."""
    if count == 1:
        return translate("the only call")
    return translate("the {nth} of {count} calls", nth=ordinal(nth), count=format_count(count))


def alive_sentence(document: Mapping[str, Any]) -> str:
    """Return what of the allocations of the part is left at the end, which is not a leak for that."""
    alive = document["alive_at_end"]
    if alive["blocks"] is None:
        return translate("Which blocks are held is not recorded.")
    if not any(line["allocations"] for line in document["lines"]):
        return translate("Nothing was allocated in this time.")
    if not alive["blocks"]:
        return translate("All that was allocated in this time was released before the recording ended.")
    blocks = counted(alive["blocks"], "1 block", "{count} blocks")
    template = (
        "Of what was allocated in this time, {size} in {blocks} is alive at the end, which by itself is no "
        "leak."
    )
    return translate(template, size=format_bytes(alive["bytes"]), blocks=blocks)


def row_line_name(row: Mapping[str, Any]) -> str:
    """Return "train.py(88) forward" with the last part of the path; "(no stack)"."""
    file = row["file"]
    return line_name(path_end(file) if file else file, row["line"] or 0, row["function"] or "")


def frame_line_name(frame: Frame | None) -> str:
    """Return "train.py(88) forward" with the last part of the path; never print it unescaped."""
    return line_name(None, 0, "") if frame is None else line_name(path_end(frame.file), *frame[1:])


def signed_bytes(count: int | None) -> str:
    """Return "+312 MB", "-1.20 kB", "0 B", "?" where it is not known."""
    if count is None:
        return "?"
    return f"+{format_bytes(count)}" if count > 0 else format_bytes(count)


def ordinal(number: int) -> str:
    """Return "1st", "12th", "23rd"; the number alone where its ending is said otherwise."""
    if not speaks_english():
        return format_count(number)
    ending = "th" if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, "th")
    return f"{format_count(number)}{ending}"
