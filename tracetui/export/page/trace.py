"""The page of one trace: what its devices did, why they were idle, where, and what could be done about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.health.finding import Health
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.heat.cells import share_columns
from tracetui.analysis.raster import even_edges
from tracetui.export.language import cause_facts
from tracetui.export.memory.document import memory_document
from tracetui.export.memory.text import WITH_JSON, growth_sentences, memory_facts, memory_sections
from tracetui.export.page import charts
from tracetui.export.page.html import Section, as_markup, bullets, html_table, paragraph, subtitle, table_part
from tracetui.export.page.source import source_excerpts
from tracetui.export.sentences.advice import advice_words
from tracetui.export.sentences.causes import line_name, micro
from tracetui.export.sentences.health import headline, mark, marks_legend
from tracetui.export.sentences.memory import alive_sentence
from tracetui.export.sentences.trace import NO_DEVICE, WHY_IDLE, WHY_PREPARING, hidden_steps, window_words
from tracetui.export.tables.causes import CAUSES, CauseRows
from tracetui.export.tables.health import FINDINGS, FindingRows
from tracetui.export.tables.hotspots import LineRows
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.trace.advice_text import TITLE, cost_words
from tracetui.export.trace.communication_text import communication_sections, split_rows
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.health import verdict_line
from tracetui.export.trace.idle_text import gap_section, line_notes, line_section
from tracetui.export.trace.operators import list_operators
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import in_all, no_work, run_facts, task_facts, trace_facts
from tracetui.export.trace.sync_text import sync_sections
from tracetui.language import clauses, restate, sentences, translate
from tracetui.trace.clean import printable
from tracetui.trace.source_files import SourceFiles
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration, format_ms, format_percent, format_time

TOP_GAPS, TOP_LINES, TOP_SYNCS, TOP_STEPS, TOP_OPERATORS, TOP_MEMORY = 20, 20, 8, 60, 25, 15
MAP_COLUMNS = 120


def trace_sections(analysis: Analysis, source: SourceFiles | None = None) -> Iterator[Section]:
    """Yield the parts of the page of a trace, its head first; without `source` no source is quoted."""
    whole = Selection()
    document = summary_document(analysis, whole)
    yield _head(analysis, document)
    splits = analysis.communication.splits
    for device, activity, split in zip(document["devices"], analysis.devices, splits):
        yield _device(analysis, device, activity, split)
    if len(analysis.gaps):
        yield gaps_part(analysis)
    yield from _lines(analysis, source)
    yield from map(table_part, communication_sections(analysis, whole))
    if find_advice(analysis):
        yield _advice(analysis)
    if analysis.devices:
        operators = list_operators(analysis, whole, "name", top=TOP_OPERATORS)
        title = translate("Operators of the devices, most time first")
        yield table_part(replace(operators, title=title))
    yield from _memory(analysis)
    if analysis.health.findings:
        yield Section(verdict_line(analysis), [html_table(FINDINGS, FindingRows(analysis))])


def _head(analysis: Analysis, document: dict[str, Any]) -> Section:
    """Return the head of the page: the file, its verdict, and what its run and its warnings tell."""
    trace = document["trace"]
    blocks = [paragraph(clauses(trace_facts(trace)), "dim")]
    doubt = headline(analysis.health, analysis.steps)
    blocks += [paragraph(doubt, "lead doubt"), paragraph(marks_legend(), "dim")] if doubt else []
    lead = _lead(analysis, document["devices"])
    blocks += [paragraph(lead, "lead")] if lead else []
    blocks += [] if analysis.health.findings else [paragraph(verdict_line(analysis), "dim")]
    blocks += [paragraph(fact) for fact in run_facts(analysis)]
    warnings = [*map(restate, (*analysis.trace.report.warnings, *analysis.trace.notes))]
    blocks += [bullets(warnings)] if warnings else []
    if not document["devices"]:
        blocks.append(paragraph(translate(NO_DEVICE)))
    return Section(trace["path"], blocks)


def _lead(analysis: Analysis, devices: Sequence[Mapping[str, Any]]) -> str:
    """Return the page in short: how long the device with most idle time was idle, why, and the worst line."""
    busy = [device for device in devices if device["end_ns"] > device["start_ns"]]
    if not busy:
        return ""
    device = max(busy, key=lambda device: int(device["idle_ns"]))
    window = device["end_ns"] - device["start_ns"]
    parts = [
        translate(
            "{device} was idle {share} of {time}.",
            device=printable(device["device"]),
            share=format_percent(device["idle_ns"], window) + mark(analysis.health, "idle"),
            time=format_duration(window),
        )
    ]
    causes = device["causes"] or {}
    cause = max(causes, key=lambda name: int(causes[name]), default=None)
    if cause is not None and causes[cause]:
        share = format_percent(causes[cause], device["idle_ns"])
        parts.append(translate("The largest cause is {cause}, {share} of it.", cause=cause, share=share))
    line = next((line for line in analysis.lines if line.file), None)
    if line is not None and len(busy) == 1:
        place = printable(line_name(path_end(line.file or ""), line.line, line.function))
        parts.append(
            translate("The worst line is {place}: {time}.", place=place, time=format_duration(line.idle_ns))
        )
    return sentences(parts)


def _device(
    analysis: Analysis, device: dict[str, Any], activity: DeviceActivity, split: WindowSplit
) -> Section:
    """Return the part of a device, a member of `devices` of the summary's document, with its activity."""
    start, end, origin = device["start_ns"], device["end_ns"], analysis.trace.start_ns
    if end <= start:
        return Section(device["device"], [paragraph(no_work(device))])
    span = window_words(device, origin)
    facts = (span, in_all(device), *task_facts(analysis, device, activity))
    blocks = [
        charts.time_strip(activity, origin),
        paragraph(sentences(translate("{fact}.", fact=fact) for fact in facts)),
        _split_table(split, end - start, analysis.health),
    ]
    for title, causes, ns in (
        (WHY_IDLE, device["causes"], device["idle_ns"]),
        (WHY_PREPARING, device["preparing_causes"], device["preparing_ns"]),
    ):
        if causes:
            blocks.append(subtitle(translate(title, time=format_duration(ns))))
            blocks.append(html_table(CAUSES, CauseRows(causes, ns)))
    if len(analysis.devices) == 1:
        blocks += _cause_map(analysis, activity)
    places = Selection().steps(analysis, activity.device)
    if places:
        rows = StepRows(analysis, places, TOP_STEPS)
        blocks += [
            subtitle(translate("Steps, in ms") + mark(analysis.health, "steps")),
            html_table(STEPS, rows),
        ]
        blocks += [paragraph(hidden_steps(rows.hidden), "dim")] if rows.hidden else []
    return Section(device["device"], blocks)


def _split_table(split: WindowSplit, window_ns: int, health: Health) -> str:
    """Return markup of a table of what the window of a device went into, with shares of it."""
    rows = "".join(
        f'<tr><td class="text">{"&emsp;" * name.startswith("  ")}{as_markup(name.strip())}</td>'
        f"<td>{as_markup(format_ms(ns))} ms</td><td>{as_markup(format_percent(ns, window_ns))}</td></tr>"
        for name, ns in split_rows(split, health)
    )
    return f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'


def _cause_map(analysis: Analysis, activity: DeviceActivity) -> list[str]:
    """Return a heading and a map of idle time by cause: by step where there are several, else by time."""
    causes = CauseMap(analysis)
    names = [(cause_facts(cause).name, cause.facts.family) for cause in causes.causes]
    if not names:
        return []
    if len(analysis.steps) > 1:
        cells = causes.by_step()
        shown, _ = share_columns(cells.ns.shape[1], MAP_COLUMNS).columns(cells)
        numbers = [step.number for step in analysis.steps]
        title = translate("Idle time by cause and step")
        bounds = charts.step_scale([*numbers, -1] if causes.stepless_ns else numbers)
    else:
        origin = analysis.trace.start_ns
        shown = causes.by_time(even_edges(activity.start_ns, activity.end_ns, MAP_COLUMNS))
        title = translate("Idle time by cause and time")
        bounds = [format_time(activity.start_ns - origin), format_time(activity.end_ns - origin)]
    return [subtitle(title), charts.map_of_cells(shown, names, bounds)]


def gaps_part(analysis: Analysis, run: str = "") -> Section:
    """Return the worst gaps of a trace with their stories. `run` names the trace on a page of several."""
    part = table_part(gap_section(analysis, Selection(), TOP_GAPS))
    return part._replace(title=translate("{name}: {what}", name=run, what=part.title)) if run else part


def _lines(analysis: Analysis, source: SourceFiles | None) -> Iterator[Section]:
    """Yield the lines with most idle time, with their text where `source` has it, and synchronisations."""
    rows = LineRows(analysis, Selection(), TOP_LINES)
    if rows:
        part = table_part(line_section(rows))
        blocks = [*part.blocks, *map(paragraph, line_notes(rows))]
        if source is not None:
            blocks += source_excerpts(source, [row for row in rows.rows if row.file])
        yield part._replace(blocks=blocks)
    for syncs in sync_sections(analysis, Selection(), TOP_SYNCS):
        yield table_part(syncs)


def _advice(analysis: Analysis) -> Section:
    """Return the part with all advice, numbered, each with the line that it is about."""
    pieces = []
    for advice in find_advice(analysis):
        words, place = advice_words(advice), ""
        if advice.file is not None:
            place = f"<br><code>{as_markup(line_name(advice.file, advice.line, advice.function))}</code>"
        pieces.append(
            f"<li><strong>{as_markup(words.title)}</strong> ({as_markup(cost_words(advice))})<br>"
            f"{as_markup(micro(words.text), 4000)}{place}</li>"
        )
    return Section(translate(TITLE), [f"<ol>{''.join(pieces)}</ol>"])


def _memory(analysis: Analysis) -> Iterator[Section]:
    """Yield the part on memory where any is recorded: its facts, and tables of who holds it."""
    memory = analysis.memory
    if memory is None:
        return
    origin, part = analysis.trace.start_ns, memory.all
    document = memory_document(memory, part)
    head, *facts = memory_facts(document, origin, memory)
    blocks = [bullets([*facts, *growth_sentences(document, memory, None), alive_sentence(document)])]
    for section in memory_sections(memory, part, "line", TOP_MEMORY, origin):
        blocks += [subtitle(section.title), html_table(section.table, section.rows)]
        if section.more:
            blocks.append(paragraph(translate(WITH_JSON, count=format_count(section.rows.hidden)), "dim"))
    yield Section(head, blocks)
