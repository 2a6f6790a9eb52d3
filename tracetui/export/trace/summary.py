"""The summary of a trace as plain text for people: what `tracetui summary` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.analysis.activity import DeviceActivity, task_counts
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.idle.preparing import COPY
from tracetui.analysis.marked_ranges import RangeTimes
from tracetui.analysis.run_facts import facts_of_run
from tracetui.databases.exports import export_of
from tracetui.export.sentences.causes import cause_meanings, largest_shares, task_words
from tracetui.export.sentences.health import headline, left_out_words, mark, marks_legend
from tracetui.export.sentences.late_ranks import capped_savings
from tracetui.export.sentences.trace import NO_DEVICE, window_words
from tracetui.export.tables.causes import CAUSES, CauseRows
from tracetui.export.tables.column import Form
from tracetui.export.tables.common import FirstRows
from tracetui.export.tables.communication import PEERS
from tracetui.export.tables.ranges import RANGES
from tracetui.export.tables.shown import TableSection, text_table
from tracetui.export.tables.steps import STEPS, StepRows, longest_phases, mean_phases
from tracetui.export.text import MARGIN, bar, cell_width, cut, padded, wrap_sentence
from tracetui.export.trace.advice_text import first_advice
from tracetui.export.trace.communication_text import communication_sections, split_rows
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.idle_text import gap_section
from tracetui.export.trace.selection import Selection
from tracetui.language import clauses, counted, names, restate, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_duration, format_ms, format_percent

TOP_GAPS, TOP_STEPS, TOP_ADVICE = 5, 20, 3
LONGEST_RUN = 400  #: characters of what is known of the run
LEAST_PATH = 20  #: cells
BAR_CELLS, CAUSE_CELLS, LEAST_CELLS = 24, 10, 4
CAUSE_SPACE = 17  #: cells of a cause's line for its share and the blanks in between


def summary_text(analysis: Analysis, selection: Selection, top: int | None, width: int) -> str:
    """Return the summary of a trace; `top` rows of gaps and of steps, 0 for all, None for 5 and 20."""
    document = summary_document(analysis, selection)
    trace = document["trace"]
    lines = [*health_lines(analysis, width), *_file_lines(analysis, width), clauses(trace_facts(trace))]
    for fact in run_facts(analysis):
        lines += wrap_sentence(fact, width, later=MARGIN)
    if not document["devices"]:
        lines += ["", translate(NO_DEVICE)]
    communication = analysis.communication
    limit = TOP_STEPS if top is None else top
    for device, activity, split, ranges in zip(
        document["devices"], analysis.devices, communication.splits, analysis.range_times
    ):
        lines += ["", *_device(analysis, device, activity, split, width)]
        lines += _why(device, width, mark(analysis.health, "idle", "causes"))
        places = selection.steps(analysis, activity.device)
        lines += _steps(analysis, selection, places, limit, width)
        lines += ["", *range_section(ranges, limit).text(width)] if ranges else []
    for section in communication_sections(analysis, selection):
        lines += ["", *section.text(width)]
        if section.table is PEERS:
            lines += ["", *wrap_sentence(capped_savings(analysis), width, MARGIN, MARGIN)]
    if len(analysis.gaps):
        gaps = gap_section(analysis, selection, TOP_GAPS if top is None else top)
        lines += ["", *gaps.text(width)]
    advice = first_advice(find_advice(analysis), TOP_ADVICE, width)
    lines += ["", *advice] if advice else []
    return "\n".join(lines) + "\n"


def health_lines(analysis: Analysis, width: int) -> list[str]:
    """Return what is wrong or doubtful about the recording, and what marks mean; none where all is good."""
    health = analysis.health
    parts = (headline(health, analysis.steps), marks_legend()) if health.doubts else ()
    return [line for part in parts for line in wrap_sentence(part, width, later=MARGIN)]


def _file_lines(analysis: Analysis, width: int) -> list[str]:
    """Return the file that is read, and of a run that was exported both ways why it is this one."""
    path, words = printable(analysis.trace.path), export_words(analysis)
    room = width - cell_width(words) - 3
    if words and room >= LEAST_PATH:
        return [f"{cut(path, room, keep_end=True)} ({words})"]
    return [cut(path, width, keep_end=True), *([words] if words else [])]


def export_words(analysis: Analysis) -> str:
    """Return which export of a run is read, of one that was exported both ways; else ""."""
    other = analysis.other_export
    if other is None:
        return ""
    if export_of(other.path) == "db":
        return translate("JSON; --from db reads the database beside it")
    if other.is_whole:
        return translate("database; --from json reads the JSON beside it")
    return translate("database; the JSON beside it is cut off")


def trace_facts(trace: dict[str, Any]) -> list[str]:
    """Return what kind of trace it is and how large, each in a few words."""
    span = format_duration(trace["end_ns"] - trace["start_ns"])
    facts = [
        translate("{kind} trace of {time}", kind=trace["kind"], time=span),
        counted(trace["events"], "1 event", "{count} events")
        if trace["files"] < 2
        else translate("{events} events in {files} files", **_counts(trace, "events", "files")),
        format_bytes(trace["bytes"]),
    ]
    if trace["skipped_events"]:
        facts.append(counted(trace["skipped_events"], "1 skipped", "{count} skipped"))
    if trace["truncated"]:
        facts.append(translate("cut off at its end"))
    return facts


def _counts(trace: dict[str, Any], *keys: str) -> dict[str, str]:
    return {key: format_count(trace[key]) for key in keys}


def run_facts(analysis: Analysis) -> list[str]:
    """Return what the files beside a trace tell: the run, its versions, whether the producer's sums agree."""
    by_label = dict(facts_of_run(analysis.run))
    known = [names(by_label[label]) for label in ("run", "versions", "environ") if label in by_label]
    facts = [translate("Run: {facts}", facts=printable(semicolon_list(known), LONGEST_RUN))] if known else []
    agreeing = [
        translate("{table} ({words})", table=check.table, words=restate(check.words))
        for check in analysis.checks
        if check.agrees
    ]
    if agreeing:
        facts.append(translate("The tables beside it agree: {tables}", tables=names(agreeing)))
    return facts + [restate(check.sentence) for check in analysis.checks if not check.agrees]


def in_all(device: dict[str, Any]) -> str:
    """Return "In all: communication 99.973 ms (77.0 %), free 25.033 ms (19.3 %)"."""
    window = device["end_ns"] - device["start_ns"]
    kinds = [("free {time} ms ({share})", device["free_ns"])]
    if device["communication_ns"]:
        kinds.insert(0, ("communication {time} ms ({share})", device["communication_ns"]))
    shares = (translate(kind, time=format_ms(ns), share=format_percent(ns, window)) for kind, ns in kinds)
    return translate("In all: {parts}", parts=clauses(shares))


def no_work(device: dict[str, Any]) -> str:
    """Return the sentence about a device without a window."""
    return counted(
        device["tasks"],
        "1 task, which neither computes nor communicates",
        "{count} tasks, none of which computes or communicates",
    )


def task_facts(analysis: Analysis, device: dict[str, Any], activity: DeviceActivity) -> list[str]:
    """Return how many tasks a device has, how many are linked, and what is to be known of its steps."""
    linked = format_percent(device["linked_tasks"], device["tasks"])
    tasks = task_words(task_counts(analysis.trace, activity))
    linked_words = translate("{tasks}; {share} lead back to an operator", tasks=tasks, share=linked)
    return [linked_words, *map(restate, analysis.step_notes.get(activity.device, ()))]


def _device(
    analysis: Analysis,
    device: dict[str, Any],
    activity: DeviceActivity,
    shares_of_window: WindowSplit,
    width: int,
) -> list[str]:
    window = device["end_ns"] - device["start_ns"]
    name = printable(device["device"])
    if window <= 0:
        return [translate("{device}: {what}", device=name, what=no_work(device))]
    span = window_words(device, analysis.trace.start_ns)
    lines = [translate("{device}: {what}", device=name, what=span)]
    for label, ns in split_rows(shares_of_window, analysis.health):
        share = format_percent(ns, window)
        drawn = bar(ns, window, BAR_CELLS)
        lines.append(f"{MARGIN}{padded(label, 22)}{format_ms(ns):>12} ms{share:>9}  {drawn}".rstrip())
    lines.append(MARGIN + in_all(device))
    for fact in task_facts(analysis, device, activity):
        lines += wrap_sentence(fact, width, MARGIN, MARGIN)
    if activity.differs and activity.producer is not None:
        lines += _producer(device, activity.producer, activity.left_out_ns)
    return lines


def _why(device: dict[str, Any], width: int, doubt: str) -> list[str]:
    """Return the causes of the idle time, marked where in doubt, and of the time before the first work."""
    causes, idle = device["causes"], device["idle_ns"]
    lines = []
    if causes:
        why = translate(
            "Why {device} was idle for {time}", device=printable(device["device"]), time=format_duration(idle)
        )
        lines += ["", why + doubt]
        rows = CauseRows(causes, idle)
        columns = [column.cells(rows, printable).texts for column in CAUSES.of(Form.TEXT)]
        label, time = (max(map(len, texts)) for texts in columns[:2])
        width_left = width - label - time - max(map(cell_width, cause_meanings().values())) - CAUSE_SPACE
        cells = min(max(width_left, LEAST_CELLS), CAUSE_CELLS)
        for ns, cause, time_words, share, meaning in zip(causes.values(), *columns):
            line = f"{MARGIN}{cause:<{label}}{time_words:>{time + 2}}{share:>9}"
            lines.append(cut(f"{line}{MARGIN}{bar(ns, idle, cells):<{cells}}{MARGIN}{meaning}", width))
    if device["preparing_ns"]:
        preparing = _preparing(device["preparing_ns"], device["preparing_causes"])
        lines += ["", *(cut(line, width) for line in preparing)]
    return lines


def _preparing(whole_ns: int, causes: dict[str, int]) -> list[str]:
    """Return "Preparing steps took 17.9 ms, of which copies 0.80 ms", and "the rest: host.sync 70 %, …"."""
    copies = causes.get(COPY, 0)
    rest = largest_shares({cause: ns for cause, ns in causes.items() if cause != COPY}, 3)
    total = format_duration(whole_ns)
    if not copies:
        return [translate("Preparing steps took {time}: {causes}", time=total, causes=rest)]
    copied = translate(
        "Preparing steps took {time}, of which copies {copies}", time=total, copies=format_duration(copies)
    )
    return [copied, MARGIN + translate("the rest: {causes}", causes=rest)] if rest else [copied]


def _producer(device: dict[str, Any], producer: dict[str, int], left_out_ns: int = 0) -> list[str]:
    """Return where the trace's own rows say otherwise."""
    lines = [MARGIN + translate("the trace's own Overlap Analysis says otherwise:")]
    for key, producers_ns in producer.items():
        if producers_ns != device.get(key):
            label = key[: -len("_ns")].replace("_", " ")
            lines.append(f"{MARGIN * 2}{label:<28}{format_ms(producers_ns):>14} ms")
    if left_out_ns:
        between = translate("it leaves out {time} between iterations", time=format_duration(left_out_ns))
        lines.append(MARGIN * 2 + between)
    return lines


def range_section(ranges: Sequence[RangeTimes], top: int) -> TableSection:
    """Return the ranges that the program marks; at most `top` names, 0 for all."""
    rows = FirstRows(ranges, top)
    title = translate("Phases: marked ranges, and all that the device does meanwhile")
    return TableSection(title, RANGES, rows, rows.more, rows.more)


def _steps(
    analysis: Analysis, selection: Selection, places: Sequence[int], top: int, width: int
) -> list[str]:
    if not places:
        return []
    # Three decimals are the producer's own; a table of long steps gives them up before it gives up the width.
    for decimals in (3, 2, 1, 0):
        rows = StepRows(analysis, places, top, decimals)
        lines = text_table(STEPS, rows, width)
        if max(map(len, lines)) <= width:
            break
    left = rows.hidden
    more = [MARGIN + counted(left, "1 more step: --top 0", "{count} more steps: --top 0")] if left else []
    believed = selection.believed(analysis, places)
    phases = longest_phases(mean_phases(StepRows(analysis, believed).phases))
    if phases:
        numbers = [analysis.steps[place].number for place in places if place not in believed]
        more += wrap_sentence(left_out_words(numbers), width, MARGIN, MARGIN) if numbers else []
        words = translate("of a mean step on the host: {phases}", phases=printable(phases))
        more.append(cut(MARGIN + words, width))
    return ["", translate("Steps, in ms") + mark(analysis.health, "steps"), *lines, *more]
