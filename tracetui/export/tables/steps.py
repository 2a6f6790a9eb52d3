"""The table of steps: what the time of each on a device was spent on, by the names of step_trace_time.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.annotated import AnnotatedPhase
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.steps import DeviceSpan
from tracetui.arrays import Int64s
from tracetui.export.cells import encodable
from tracetui.export.sentences.causes import leading_shares
from tracetui.export.sentences.health import verdict_word
from tracetui.export.tables.column import Column, Form, Table, data, json_only, listed, worded
from tracetui.export.tables.common import (
    FirstRows,
    cause_columns,
    causes_document,
    optional_numbers,
    texts_of,
    values_of,
)
from tracetui.units import format_duration, format_ms

LONGEST_PHASES = 3  #: of a step that are named


class StepRows(FirstRows):
    """Some steps, by their indices, by default all; at most `top`, 0 for all."""

    def __init__(
        self, analysis: Analysis, places: Sequence[int] | None = None, top: int = 0, decimals: int = 3
    ) -> None:
        every = range(len(analysis.steps)) if places is None else places
        super().__init__([analysis.steps[place] for place in every], top)
        self.analysis, self.decimals = analysis, decimals  #: of the ms that people read
        self.places = every[: len(self.rows)]

    @cached_property
    def causes(self) -> list[dict[Cause, int]]:
        """Of each ns of idle time by cause, most first."""
        return [self.analysis.causes.by_step(place) for place in self.places]

    @cached_property
    def phases(self) -> list[tuple[AnnotatedPhase, ...]]:
        """Of each the phases that the program annotates."""
        return [self.analysis.annotated_phases[place] for place in self.places]

    @cached_property
    def communication_causes(self) -> list[dict[CommunicationCause, int]]:
        """Of each ns of exposed communication by cause, most first."""
        return [self.analysis.communication.exposed.by_step(place) for place in self.places]

    @cached_property
    def receives(self) -> bool:
        """Whether any step waits for a receive."""
        return any(step.bubble_ns for step in self.all_rows)


def _ms(key: str, title: str, stacked: str = "") -> Column[StepRows]:
    return Column(key, title, values_of(key), lambda ns, rows: format_ms(ns, rows.decimals), stacked=stacked)


def _of_receives(column: Column[StepRows]) -> Column[StepRows]:
    """Return a column that says nothing more in text where no step waits for a receive."""
    return replace(column, when=lambda rows, form: form is not Form.TEXT or rows.receives)


#: The sums of a step, by the names of step_trace_time.csv, and its idle time.
SUMS: tuple[Column[StepRows], ...] = (
    _ms("computing_ns", "computing"),
    _ms("communication_ns", "communication", "communi-\ncation"),
    _ms("communication_not_overlapped_ns", "communication not overlapped", "not over-\nlapped"),
    _ms("overlapped_ns", "overlapped", "over-\nlapped"),
    _ms("free_ns", "free"),
    _ms("stage_ns", "stage"),
    _of_receives(_ms("bubble_ns", "bubble")),
    _of_receives(
        _ms(
            "communication_not_overlapped_exclude_receive_ns",
            "communication not overlapped exclude receive",
            "not ov.,\nno recv.",
        )
    ),
    _ms("preparing_ns", "preparing", "prepar-\ning"),
    _ms("idle_ns", "idle"),
)


def _phase(name: str, title: str) -> Column[StepRows]:
    """Return a stretch of a step; unknown where the trace does not tell it from others."""

    def lengths(rows: StepRows) -> Int64s:
        spans: list[DeviceSpan] = [getattr(step, name) for step in rows.rows]
        return optional_numbers([None if span is None else span[1] - span[0] for span in spans])

    return Column(
        f"{name}_ns",
        title,
        lengths,
        lambda ns, rows: format_ms(ns, rows.decimals),
        forms=Form.VIEWER,
        optional=True,
        when=lambda rows, _: any(getattr(step, name) is not None for step in rows.rows),
    )


#: What a step consists of, by what happens in it.
PHASES: tuple[Column[StepRows], ...] = (
    _phase("iteration_gap", "iteration gap"),
    _phase("forward_backward", "fwd+bwd"),
    _phase("tail", "tail"),
)


def _phases_document(phases: Sequence[AnnotatedPhase]) -> list[dict[str, Any]]:
    return [{"name": encodable(phase.name), "host_ns": phase.ns} for phase in phases]


def longest_phases(phases: Sequence[AnnotatedPhase]) -> str | None:
    """Return "backward 235 ms, optimizer 205 ms", those with the most time first; None without any.

    As written in the trace: never print it unescaped.
    """
    longest = sorted(phases, key=lambda phase: -phase.ns)[:LONGEST_PHASES]
    return ", ".join(f"{phase.name} {format_duration(phase.ns)}" for phase in longest) or None


def mean_phases(steps: Sequence[Sequence[AnnotatedPhase]]) -> list[AnnotatedPhase]:
    """Return the mean phases of the steps that have any, in ns rounded down."""
    sums: dict[str, int] = {}
    for phase in (phase for phases in steps for phase in phases):
        sums[phase.name] = sums.get(phase.name, 0) + phase.ns
    counted = sum(bool(phases) for phases in steps)
    return [AnnotatedPhase(name, ns // counted) for name, ns in sums.items()]


def _trust(rows: StepRows) -> list[str]:
    return [rows.analysis.health.trust_of_step(place) for place in rows.places]


STEPS: Table[StepRows] = Table(
    columns=(
        Column(
            "device",
            "device",
            texts_of("device"),
            forms=Form.FRAME | Form.VIEWER,
            when=lambda rows, _: len({step.device for step in rows.all_rows}) > 1,
        ),
        Column("step", "step", values_of("number")),
        data("start_ns", values_of("start_ns")),
        data("end_ns", values_of("end_ns")),
        *SUMS,
        *PHASES,
        json_only("trust", _trust),
        worded(
            "trust",
            "trust",
            lambda rows: [*map(verdict_word, _trust(rows))],
            when=lambda rows, _: bool(rows.analysis.health.doubted_steps),
        ),
        json_only("phases", lambda rows: [_phases_document(phases) for phases in rows.phases]),
        Column(
            "phases",
            "phases on the host",
            lambda rows: listed([longest_phases(phases) for phases in rows.phases]),
            forms=Form.MARKDOWN | Form.VIEWER,
            when=lambda rows, _: any(rows.phases),
        ),
        json_only("causes", lambda rows: [*map(causes_document, rows.causes)]),
        *cause_columns(Cause, lambda rows: rows.causes),
        json_only("communication_causes", lambda rows: [*map(causes_document, rows.communication_causes)]),
        *cause_columns(CommunicationCause, lambda rows: rows.communication_causes),
        worded(
            "why",
            "why idle",
            lambda rows: [leading_shares(causes_document(causes)) for causes in rows.causes],
            forms=Form.MARKDOWN,
        ),
    ),
    order=(
        *("step", "computing_ns", "communication_not_overlapped_ns", "overlapped_ns", "communication_ns"),
        *("free_ns", "stage_ns", "bubble_ns", "communication_not_overlapped_exclude_receive_ns"),
        *("preparing_ns", "idle_ns", ..., "why"),
    ),
    kind="step",
    identity=("device", "step"),
)
