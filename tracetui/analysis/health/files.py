"""Findings about the file itself: cut, damaged, or of several runs."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.health.finding import EVERYTHING, Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.host_steps import host_steps
from tracetui.analysis.intervals import time_in_spans
from tracetui.analysis.search import span_of
from tracetui.trace.model import Family, Layer, Track

#: Operators from which on a process counts as one that was recorded.
_LEAST_OPERATORS = 20


def damaged_file(recording: HealthEvidence, steps: tuple[int, ...]) -> Iterator[Finding]:
    """Yield findings where the file ends early, or holds what could not be read.

    `steps`: places of the steps whose tasks are lost with the end of the file.
    """
    report = recording.trace.report
    if report.truncated:
        yield Finding(
            id="file.cut",
            severity=Severity.DOUBTFUL,
            affects=EVERYTHING,
            sentence="the file is cut off: it ends in the middle of its events",
            remedy="Copy or export it again; what is missing may be of any time and any track.",
            count=1,
            steps=steps,
        )
    unread = report.skipped - sum(report.unknown_phases.values()) + report.without_duration
    tables, events = report.partial_tables, report.events + report.places
    if tables or unread > 0:
        yield Finding(
            id="file.damaged",
            severity=Severity.DOUBTFUL,
            affects=EVERYTHING,
            sentence=(
                "1 table is read in part or not at all"
                if tables == 1
                else "{count} tables are read in part or not at all"
                if tables
                else "1 event of {events} could not be read"
                if unread == 1
                else "{count} events of {events} could not be read"
            ),
            remedy="Copy or export it again; what is missing may be of any time and any track.",
            figures={"events": events},
            count=tables or unread,
            share=None if tables else unread / max(events, 1),
        )


def mixed_runs(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where one file holds processes of several runs.

    Two of them have steps, or they were recorded at different times.
    """
    trace = recording.trace
    spans: dict[str, tuple[int, int]] = {}
    by_owner: dict[str, list[Track]] = {}
    for track in trace.tracks:
        if track.layer == Layer.PYTHON and track.family == Family.OPERATORS and len(track.rows):
            by_owner.setdefault(trace.owners.get(track.pid, track.pid), []).append(track)
    for owner, tracks in by_owner.items():
        if sum(len(track.rows) for track in tracks) >= _LEAST_OPERATORS:
            starts, ends = zip(*(span_of(trace, track) for track in tracks))
            spans[owner] = min(starts), max(ends)
    if len(spans) < 2:
        return
    training = {trace.owners.get(step.pid, step.pid) for step in host_steps(trace)} & set(spans)
    parts = len(time_in_spans(spans.values()))
    if len(training) < 2 and parts == 1:
        return
    yield Finding(
        id="run.mixed",
        severity=Severity.DOUBTFUL,
        affects=EVERYTHING,
        sentence=(
            "the file holds {count} processes that were recorded one after the other"
            if parts == len(spans)
            else "the file holds {count} processes in {parts} parts that were recorded one after the other"
            if parts > 1
            else "the file holds {count} processes with steps of their own"
        ),
        remedy="Numbers of all of them are added up: open the recording of one process at a time.",
        figures={"parts": parts},
        count=len(spans) if parts > 1 else len(training),
    )
