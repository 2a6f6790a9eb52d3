"""What causes of idle time mean, in a few words, and their shares; the names of lines. Knows no terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tracetui.analysis.activity import TaskCounts
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.preparing import COPY
from tracetui.export.language import cause_facts
from tracetui.language import clauses, counted, names, translate
from tracetui.trace.stack import Frame
from tracetui.units import format_count, format_percent

#: What gaps are ranked by.
MEASURES = {
    Measure.LOST: "lost time",
    Measure.IDLE: "idle time",
    Measure.COMMUNICATION: "exposed communication",
}

NO_STACK = "(no stack)"
NO_MODULE = "(outside any module)"
NO_SCOPE = "(outside any scope)"
NO_OPERATOR = "(between operators)"
_ASCII_MICRO = re.compile(r"(?<=[0-9] )us\b")


def cause_meanings() -> dict[str, str]:
    """Return what causes mean in a few words, by their names."""
    return {
        **{cause.label: cause_facts(cause).brief for cause in Cause},
        COPY: translate("copies on the device"),
    }


def module_name(module: str | None, path: Sequence[str]) -> str:
    """Return "ResNet_0 > Sequential_2 > Bottleneck_2 > Conv2d_7", "(outside any module)"

    As written in the trace: never print it unescaped.
    """
    return translate(NO_MODULE) if module is None else " > ".join([*path, module])


def scope_name(scope: Sequence[str]) -> str:
    """Return "Default/network-WithLossCell/_backbone-AlexNet", "(outside any scope)"

    As written in the trace: never print it unescaped.
    """
    return "/".join(scope) or translate(NO_SCOPE)


def line_name(file: str | None, line: int, function: str) -> str:
    """Return "train.py(88) forward", the function alone where it is in no file, "(no stack)".

    As written in the trace: never print it unescaped.
    """
    if file is None:
        return translate(NO_STACK)
    return f"{file}({line}) {function}" if file else function


def task_words(counts: TaskCounts) -> str:
    """Return "12 tasks: 8 compute, 1 communication, 3 waits and the like"."""
    tasks = counted(counts.total, "1 task", "{count} tasks")
    return translate("{tasks}: {kinds}", tasks=tasks, kinds=clauses(task_kinds(counts)))


def task_kinds(counts: TaskCounts) -> list[str]:
    """Return the kinds of tasks that there are: "8 compute", "1 communication"."""
    templates = ("{count} compute", "{count} communication", "{count} copies", "{count} waits and the like")
    return [
        translate(template, count=format_count(count)) for count, template in zip(counts, templates) if count
    ]


def file_line(frame: Frame | None) -> str | None:
    """Return "train.py(88)" with the path as written, as tables write a line; None where it is not known."""
    return f"{frame.file}({frame.line})" if frame is not None and frame.file else None


def largest_shares(parts: Mapping[str, int], limit: int) -> str:
    """Return the largest parts with their shares: "host.python 70 %, queue.busy 20 %", "host.sync"."""
    total = sum(parts.values())
    largest_first = sorted(parts.items(), key=lambda part: -part[1])
    if len(largest_first) == 1:
        return largest_first[0][0]
    return names(f"{name} {_percent(ns, total)}" for name, ns in largest_first[:limit])


def leading_shares(parts: Mapping[str, int]) -> str:
    """Return the first three parts with exact shares: "host.python 70.1 %, queue.busy 20.0 %", "-"."""
    total = sum(parts.values())
    return names(f"{name} {format_percent(ns, total)}" for name, ns in list(parts.items())[:3]) or "-"


def micro(text: str) -> str:
    """Return the sentences of a piece of advice, which are ASCII, with times as all others: "20.0 µs"."""
    return _ASCII_MICRO.sub("µs", text)


def _percent(part: int, whole: int) -> str:
    """Return a share without decimals: "70 %"; "<1 %" for less than half of that, ">99 %" for nearly all."""
    percent = (200 * part + whole) // (2 * whole)
    if percent == 0 and part:
        return "<1 %"
    return ">99 %" if percent == 100 and part < whole else f"{percent} %"
