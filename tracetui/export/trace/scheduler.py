"""What the scheduler did as JSON, text and Markdown: what `tracetui scheduler` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.scheduler import SCHEDULED, Scheduler
from tracetui.analysis.scheduler.summary import SchedulerSummary, ThreadTime
from tracetui.export.json_document import SCHEMA
from tracetui.export.language import cause_facts
from tracetui.export.markdown import escaped
from tracetui.export.sentences.scheduler import clock_words, scheduler_notes, thread_name
from tracetui.export.tables.column import records
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.tables.shown import TableSection
from tracetui.export.text import wrap_sentence
from tracetui.language import clauses, names, semicolon_list, translate
from tracetui.units import format_count, format_duration, format_percent

TOP_CULPRITS, TOP_CORES = 10, 16


def scheduler_document(analysis: Analysis, scheduler: Scheduler, summary: SchedulerSummary) -> dict[str, Any]:
    """Return what the scheduler did as one JSON object; `idle_ns` are of the causes that it explains."""
    clock, events = scheduler.clock, scheduler.events
    by_cause = analysis.causes.by_cause()
    return {
        "schema": SCHEMA,
        "clock": {
            "source": clock.source,
            "offset_ns": clock.offset_ns,
            "drift_ppm": clock.drift_ppm,
            "error_ns": clock.error_ns,
        },
        "start_ns": scheduler.window[0],
        "end_ns": scheduler.window[1],
        "inferred_threads": scheduler.matching.inferred,
        "lost_events": events.lost,
        "skipped_lines": events.skipped,
        "warnings": scheduler_notes(analysis),
        "causes": {cause.label: by_cause.get(cause, 0) for cause in SCHEDULED},
        "threads": records(THREADS, ThreadTimeRows(summary)),
        "culprits": records(CULPRITS, CulpritRows(summary)),
        "cpus": records(CORES, CoreRows(summary)),
    }


def scheduler_text(analysis: Analysis, scheduler: Scheduler, summary: SchedulerSummary, width: int) -> str:
    """Return what the scheduler did as plain text."""
    facts = (explained_sentence(analysis), clock_words(scheduler.clock))
    lines = [line for fact in facts for line in wrap_sentence(fact, width)]
    for section in _sections(summary, TOP_CULPRITS, TOP_CORES):
        lines += ["", *section.text(width)]
    return "\n".join(lines) + "\n"


def scheduler_markdown(analysis: Analysis, scheduler: Scheduler, summary: SchedulerSummary) -> str:
    """Return what the scheduler did as Markdown."""
    facts = (explained_sentence(analysis), clock_words(scheduler.clock), *scheduler_notes(analysis))
    lines = ["\n\n".join(map(escaped, facts))]
    for section in _sections(summary):
        lines += ["", *section.markdown()]
    return "\n".join(lines) + "\n"


def _sections(summary: SchedulerSummary, culprits: int = 0, cores: int = 0) -> Iterator[TableSection]:
    """Yield the tables of threads, of who had their cores, and of cores; at most so many rows, 0 for all."""
    title = translate("Threads, those to blame for the most idle time first")
    threads = ThreadTimeRows(summary)
    yield TableSection(title, THREADS, threads, notes=lambda rows: [*map(_thread_note, rows.rows)])
    if summary.culprits:
        title = translate("Who had the core that a thread waited for, most idle time first")
        yield TableSection(title, CULPRITS, CulpritRows(summary, culprits))
    yield TableSection(translate("Cores, those of these threads first"), CORES, CoreRows(summary, cores))


def explained_sentence(analysis: Analysis) -> str:
    """Return how much of the idle time the scheduler explains, a sentence."""
    by_cause, idle_ns = analysis.causes.by_cause(), analysis.idle_ns
    known = {cause: by_cause[cause] for cause in SCHEDULED if by_cause.get(cause)}
    if not known:
        return translate(
            "The scheduler explains none of the idle time: where it was recorded, threads had their cores."
        )
    parts = clauses(_part(cause, ns) for cause, ns in sorted(known.items(), key=lambda item: -item[1]))
    total = sum(known.values())
    return translate(
        "The scheduler explains {ns} of idle time ({share}): {parts}.",
        ns=format_duration(total),
        share=format_percent(total, idle_ns),
        parts=parts,
    )


def _part(cause: Cause, ns: int) -> str:
    return translate("{cause} {ns}", cause=cause_facts(cause).name, ns=format_duration(ns))


def _thread_note(thread: ThreadTime) -> str:
    """Return how often a thread came to other nodes, and who had its core in idle time; "" of neither."""
    moves = ""
    if thread.node_migrations:
        count = format_count(thread.node_migrations)
        moves = translate("came to another NUMA node: {count}", count=count)
    return semicolon_list(filter(None, (moves, _preempted_by(thread))))


def _preempted_by(thread: ThreadTime) -> str:
    tasks = names(
        f"{thread_name(culprit.task)} {format_duration(culprit.idle_ns)}" for culprit in thread.preemptors
    )
    return translate("had its core: {tasks}", tasks=tasks) if tasks else ""
