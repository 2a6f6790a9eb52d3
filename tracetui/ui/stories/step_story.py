"""The story of one step: what it adds up to, its phases, how it differs, and what its time hangs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.notes import clocks_apart
from tracetui.comparison.step_parts import StepParts
from tracetui.export.tables.steps import longest_phases
from tracetui.language import clauses, heading, translate, wording
from tracetui.trace.clean import printable
from tracetui.ui.drawing.causes import cause_legend
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line, compose_sentence
from tracetui.ui.stories.gap_story import exact_us
from tracetui.units import format_duration, format_ms, format_percent

COLON = ": "
_PHASES = (("iteration gap", "iteration_gap"), ("fwd+bwd", "forward_backward"), ("tail", "tail"))


def step_story(
    analysis: Analysis, index: int, parts: Sequence[StepParts], places: Sequence[int]
) -> list[str]:
    """Return three lines on one step: what it adds up to, its phases, how it differs from the median step.

    A step that ends with the work of the device, with all that this was behind the host, is compared with
    none, and none with it.

    Args:
        analysis: the analysis of the step.
        index: that of the step.
        parts: those of all steps of the analysis.
        places: the indices of the steps of its device that tell what is usual.
    """
    step, step_parts = analysis.steps[index], parts[index]
    starts = {analysis.steps[place].host_start_ns for place in analysis.steps_by_device[step.device]}

    def reaches_next(place: int) -> bool:
        wall = parts[place].wall
        return wall > 0 and analysis.steps[place].host_start_ns + wall in starts

    template = "From its start until its work on the device ends: {sums} µs"
    differences = translate("No step starts where it ends: it is not compared with the median step.")
    if reaches_next(index):
        template = "Until the next step's start: {sums} µs"
        differences = _differences(step_parts, [parts[place] for place in places if reaches_next(place)])
    host = longest_phases(analysis.annotated_phases[index])
    sums = " + ".join(f"{wording(name)} {exact_us(ns)}" for name, ns in step_parts._asdict().items())
    phases = [
        f"{heading(title)} {format_ms(span[1] - span[0])} ms"
        for title, key in _PHASES
        for span in (getattr(step, key),)
        if span is not None
    ]
    phase_words = clauses(phases) if phases else translate("the trace does not tell them apart")
    own = step.computing_ns, step.communication_not_overlapped_ns
    same = own == (step_parts.computing, step_parts.exposed)
    columns = "" if same else translate("; the columns count its own work, whenever that runs")
    on_host = translate("; on the host {phases}", phases=printable(host)) if host else ""
    return [
        translate(template, sums=f"{sums} = {exact_us(step_parts.wall)}") + columns,
        translate("Phases of its tasks: {phases}", phases=phase_words) + on_host,
        differences,
    ]


def step_causes(analysis: Analysis, index: int, palette: Palette, glyphs: Glyphs, width: int) -> list[Line]:
    """Return the causes of the idle and of the preparing time of a step, and what its wall time hangs on."""
    text, dim, bold = (palette.style_of(role) for role in (Role.TEXT, Role.DIM, Role.NUMBER))

    apart = clocks_apart(analysis.steps[index])
    disagree = (
        translate("; host and device clocks disagree by {time}", time=format_duration(apart)) if apart else ""
    )

    def causes(name: str, by_cause: Mapping[Cause, int], copy_ns: int = 0) -> Line:
        total = format_duration(sum(by_cause.values()) + copy_ns)
        line: Line = [(f"{name} ", text), (total, bold), (translate(COLON), text)]
        copied = translate("of which copies {time}", time=format_duration(copy_ns)) if copy_ns else ""
        lead = f"{translate('{copied}, the rest', copied=copied)} " if copied else ""
        room = width - sum(cell_len(piece) for piece, _ in line) - cell_len(lead)
        legend = cause_legend(by_cause.items(), palette, glyphs, room)
        return [*line, (lead if legend else copied, text), *legend]

    by_kind = analysis.critical_in_step(index)
    wall = sum(by_kind.values())
    shares = "  ".join(
        f"{wording(kind.label, f'critical.{kind.label}')} {format_percent(ns, wall)}"
        for kind, ns in sorted(by_kind.items(), key=lambda item: -item[1])
    )
    preparing = analysis.preparing
    is_first = analysis.steps_by_device[analysis.steps[index].device][0] == index
    since = "from its start on the host" if is_first else "since the step before ended"
    return [
        causes(translate("Idle"), analysis.causes.by_step(index)),
        [
            *causes(translate("Preparing"), preparing.causes.by_step(index), int(preparing.copy_ns[index])),
            (disagree, dim),
        ],
        compose_sentence(
            "Critical path {time} {since}: {shares}",
            text,
            time=(format_duration(wall), bold),
            since=translate(since),
            shares=shares,
        ),
    ]


def _differences(parts: StepParts, usual: Sequence[StepParts]) -> str:
    if len(usual) < 3:
        return translate("Too few steps to say what is usual.")
    median = sorted(usual, key=attrgetter("wall"))[(len(usual) - 1) // 2]
    if parts == median:
        return translate("It is the median step.")
    by = {name: ns - usual_ns for name, ns, usual_ns in zip(StepParts._fields, parts, median)}
    words = [f"{wording(name)} {_signed(by[name])}" for name in sorted(by, key=lambda name: -abs(by[name]))]
    change = _signed(parts.wall - median.wall)
    return translate("Against the median step: {change}; {parts}", change=change, parts=clauses(words))


def _signed(ns: int) -> str:
    return ("+" if ns >= 0 else "") + format_duration(ns)
