"""The reports as Markdown, to be pasted into a ticket: the values of the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.notes import overlap_note
from tracetui.export.markdown import code, escaped, table
from tracetui.export.sentences.advice import NOTHING, advice_words
from tracetui.export.sentences.causes import line_name, micro
from tracetui.export.sentences.health import headline, mark, marks_legend
from tracetui.export.sentences.late_ranks import capped_savings
from tracetui.export.sentences.trace import NO_DEVICE, WHY_IDLE, WHY_PREPARING, hidden_steps, window_words
from tracetui.export.tables.causes import CAUSES, CauseRows
from tracetui.export.tables.communication import PEERS
from tracetui.export.tables.hotspots import LineRows
from tracetui.export.tables.shown import markdown_table
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.trace.advice_text import SUBJECTS, TITLE, cost_words
from tracetui.export.trace.communication_text import communication_sections, split_rows
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.idle_text import TOP_LINES, TOP_SYNCS, gap_section, line_notes, line_section
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import (
    TOP_GAPS,
    TOP_STEPS,
    export_words,
    in_all,
    no_work,
    range_section,
    run_facts,
    task_facts,
    trace_facts,
)
from tracetui.export.trace.sync_text import sync_sections
from tracetui.language import clauses, heading, names, restate, sentences, translate
from tracetui.units import format_duration, format_ms, format_percent


def summary_markdown(analysis: Analysis, selection: Selection, top: int | None) -> str:
    """Return the summary of a trace; `top` rows of gaps and of steps, 0 for all, None for 5 and 20."""
    document = summary_document(analysis, selection)
    trace = document["trace"]
    words = export_words(analysis)
    title = f"# {code(trace['path'])}" + (f" ({escaped(words)})" if words else "")
    worst = headline(analysis.health, analysis.steps)
    first = [f"**{escaped(worst)}** {escaped(marks_legend())}", ""] if worst else []
    lines = [*first, title, "", escaped(clauses(trace_facts(trace)))]
    lines += [line for fact in run_facts(analysis) for line in ("", escaped(fact))]
    if not document["devices"]:
        lines += ["", translate(NO_DEVICE)]
    splits = analysis.communication.splits
    limit = TOP_STEPS if top is None else top
    for device, activity, split, ranges in zip(
        document["devices"], analysis.devices, splits, analysis.range_times
    ):
        lines += ["", *_device(analysis, device, activity, split)]
        places = selection.steps(analysis, activity.device)
        lines += _steps(analysis, places, limit)
        if ranges:
            lines += ["", *range_section(ranges, limit).markdown(3)]
    for section in communication_sections(analysis, selection):
        lines += ["", *section.markdown()]
        if section.table is PEERS:
            lines += ["", escaped(capped_savings(analysis))]
    if len(analysis.gaps):
        lines += ["", *gap_section(analysis, selection, TOP_GAPS if top is None else top).markdown()]
    if find_advice(analysis):
        lines += ["", *_advice(analysis)]
    return "\n".join(lines) + "\n"


def gaps_markdown(analysis: Analysis, selection: Selection, top: int) -> str:
    """Return the table of gaps; at most `top`, 0 for all."""
    return "\n".join(gap_section(analysis, selection, top).markdown()) + "\n"


def hotspots_markdown(analysis: Analysis, selection: Selection, top: int | None) -> str:
    """Return the tables of lines of Python by idle time and of synchronisations, where there are any.

    `top` rows of each, 0 for all, None for 20 and 5.
    """
    rows = LineRows(analysis, selection, TOP_LINES if top is None else top)
    lines = line_section(rows).markdown()
    for note in line_notes(rows):
        lines += ["", escaped(note)]
    for section in sync_sections(analysis, selection, TOP_SYNCS if top is None else top):
        lines += ["", *section.markdown()]
    return "\n".join(lines) + "\n"


def advice_markdown(analysis: Analysis) -> str:
    """Return all advice, numbered."""
    return "\n".join(_advice(analysis) if find_advice(analysis) else [translate(NOTHING)]) + "\n"


def _device(
    analysis: Analysis, device: dict[str, Any], activity: DeviceActivity, split: WindowSplit
) -> list[str]:
    window, idle = device["end_ns"] - device["start_ns"], device["idle_ns"]
    title = f"## {code(device['device'])}"
    if window <= 0:
        return [title, "", no_work(device)]
    rows = [
        [_indented(name), f"{format_ms(ns)} ms", format_percent(ns, window)]
        for name, ns in split_rows(split, analysis.health)
    ]
    span = window_words(device, analysis.trace.start_ns)
    facts = sentences(
        translate("{fact}.", fact=fact)
        for fact in (span, in_all(device), *task_facts(analysis, device, activity))
    )
    lines = [title, "", facts, "", *table(["", heading("time"), heading("share")], rows, [""])]
    note = overlap_note(activity)
    lines += [] if note is None else ["", f"{code(device['device'])}: {escaped(restate(note))}."]
    lines += _why(WHY_IDLE, idle, device["causes"], mark(analysis.health, "idle", "causes"))
    lines += _why(WHY_PREPARING, device["preparing_ns"], device["preparing_causes"])
    return lines


def _indented(name: str) -> str:
    """Return a name whose leading blanks Markdown keeps."""
    return "&nbsp;" * (len(name) - len(name.lstrip())) + name.lstrip()


def _why(title: str, total_ns: int, causes: Mapping[str, int] | None, doubt: str = "") -> list[str]:
    if not causes:
        return []
    heading = f"### {translate(title, time=format_duration(total_ns))}{doubt}"
    return ["", heading, "", *markdown_table(CAUSES, CauseRows(causes, total_ns))]


def _steps(analysis: Analysis, places: Sequence[int], top: int) -> list[str]:
    if not places:
        return []
    rows = StepRows(analysis, places, top)
    lines = [
        "",
        f"### {translate('Steps, in ms')}{mark(analysis.health, 'steps')}",
        "",
        *markdown_table(STEPS, rows),
    ]
    if rows.hidden:
        lines += ["", hidden_steps(rows.hidden)]
    return lines


def _advice(analysis: Analysis) -> list[str]:
    lines = [f"## {escaped(translate(TITLE))}", ""]
    for number, advice in enumerate(find_advice(analysis), 1):
        words = advice_words(advice)
        title = f"**{escaped(words.title)}** ({cost_words(advice)})"
        lines.append(
            f"{number}. {sentences([translate('{title}.', title=title), escaped(micro(words.text))])}"
        )
        line = line_name(advice.file, advice.line, advice.function)
        about = [translate("At {place}.", place=code(line))] if advice.file is not None else []
        if advice.subjects:
            about.append(translate("Of {names}.", names=names(map(code, advice.subjects[:SUBJECTS]))))
        about.append(translate("Rule: {rule}", rule=escaped(micro(words.rule))))
        lines.append(f"   {sentences(about)}")
    return lines
