"""What a trace lacks, said in sentences: what was not recorded cannot be shown."""

from __future__ import annotations

from tracetui.language import state
from tracetui.trace.activities import unknown_task_types
from tracetui.trace.clean import printable
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import distinct_strings
from tracetui.trace.model import MOST_DEVICES, Family, Layer, Trace, TraceKind, Track
from tracetui.units import format_count


def trace_notes(trace: Trace, inferred: list[str], surplus_devices: int) -> tuple[str, ...]:
    """Return one sentence for each thing that is missing or read with doubt, free of control characters.

    `inferred` are the processes that were told from slices, `surplus_devices` counts the devices that are not
    analysed. Where the reading was stopped, what seems to be missing may be in what was not read.
    """
    notes = [] if trace.report.stopped else _absences(trace)
    if inferred:
        processes = ", ".join(inferred)
        notes.append(
            state(
                "Process names are missing or not known, and were told from what is in them: {processes}.",
                processes=processes,
            )
        )
    unknown = unknown_task_types(trace.strings, trace.slices)
    if unknown:
        examples = ", ".join(printable(text, 40) for text in unknown[:5])
        if len(unknown) > 5:
            examples = state("{names} and {count} more", names=examples, count=len(unknown) - 5)
        notes.append(state("Task types unknown to this program count as no work: {names}.", names=examples))
    if trace.unclosed:
        template = (
            "{count} calls of Python were never closed: they end where their caller ends or calls the next."
        )
        if trace.unclosed == 1:
            template = "1 call of Python was never closed: it ends where its caller ends or calls the next."
        notes.append(state(template, count=format_count(trace.unclosed)))
    if surplus_devices:
        device_count = format_count(surplus_devices + MOST_DEVICES)
        analysed = format_count(MOST_DEVICES)
        notes.append(
            state("Of its {count} devices the first {most} are analysed.", count=device_count, most=analysed)
        )
    return tuple(notes)


def is_recognised(trace: Trace) -> bool:
    """Return whether anything of a trace is known to be of a device, a runtime or a framework."""
    unknown = (Layer.OTHER, Layer.COUNTER)
    return any(track.device is not None or track.layer not in unknown for track in trace.tracks)


def _absences(trace: Trace) -> list[str]:
    """Return one sentence for each kind of tracks that was not recorded."""
    layers = {track.layer for track in trace.tracks}
    families = {track.family for track in trace.tracks}
    has_framework = any(_holds_more_than_steps(trace, track) for track in trace.tracks)
    has_tasks = bool(layers & {Layer.DEVICE, Layer.COMMUNICATION})
    notes: list[str] = []
    if not layers:
        notes.append(state("The trace has no slices and no counters."))
    elif not has_tasks and any(track.device is not None for track in trace.tracks):
        notes.append(
            state(
                "No device tasks: only counters or sums of a device are there, so there are no gaps to show."
            )
        )
    elif not has_tasks and trace.report.truncated:
        notes.append(state("No device layer up to where the file is cut off, so there are no gaps to show."))
    elif not has_tasks and not is_recognised(trace):
        notes.append(
            state(
                "Nothing of a device or a framework is recognised: events are shown as they are, and nothing "
                "is analysed."
            )
        )
    elif not has_tasks:
        notes.append(state("No device layer: this trace has host events only, so there are no gaps to show."))
    elif not has_framework:
        notes.append(
            state(
                "No framework layer: this trace has no operators, so device tasks cannot be linked to them."
            )
        )
    if trace.kind == TraceKind.ASCEND and has_tasks and Layer.RUNTIME not in layers:
        launching = KNOWN.flows.launch | KNOWN.flows.operator
        if launching.isdisjoint(distinct_strings(trace.strings, trace.flows.category)):
            notes.append(state("No CANN slices and no flows to tasks: their launches are not recorded."))
        else:
            notes.append(state("Level 0: no CANN slices; launches are found through flows."))
    if has_framework and Family.FRAMES not in families and not trace.slices.have_stacks:
        notes.append(state("No Python stacks: collect with with_stack=True to see lines of code."))
    return notes


def _holds_more_than_steps(trace: Trace, track: Track) -> bool:
    """Return whether a track is one of the framework with slices that are no steps of the profiler."""
    if track.layer != Layer.PYTHON:
        return False
    names = (trace.name(row) for row in track.rows)
    return any(not name.startswith(KNOWN.operators.step_beginnings) for name in names)
