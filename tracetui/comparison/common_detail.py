"""What one of two runs cannot tell apart, as at profiler level 0, stands together on both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.comparison.classes import IN_CUBE
from tracetui.comparison.compared_run import Run
from tracetui.comparison.matched_lines import ChargedLine
from tracetui.comparison.tally import Sum, sum_together
from tracetui.comparison.waterfall import PREPARING, TERMS
from tracetui.language import state
from tracetui.trace.model import TraceKind

_UNSPLIT = CommunicationCause.UNSPLIT.label
_SPLIT = tuple(cause.label for cause in CommunicationCause if cause is not CommunicationCause.UNSPLIT)
#: Without calls of the runtime, compiling is not seen, nor when the host is done with a launch, from which
#: the device needs the usual time to start: what they stand as.
_UNSEEN = {
    Cause.COMPILE: Cause.OPERATOR,
    Cause.LAUNCH_COMPILE: Cause.LAUNCH_DISPATCH,
    Cause.LATENCY: Cause.LAUNCH_DISPATCH,
}
#: Kinds of advice that one side cannot have: on waiting, in place of that on moving, and on compiling.
_ADVICE_ON_WAITING, _ADVICE_ON_COMPILING = "late_ranks", "operators_compiled_at_run_time"
_ADVICE_ON_MOVING = "exposed_communication"


def merge_unsplit(base: Run, other: Run) -> tuple[Run, Run, tuple[str, ...]]:
    """Return both runs with only what both tell apart, and sentences (without full stop) that say so."""
    notes = []
    sides = [base, other]
    for place, name in enumerate(("BASE", "OTHER")):
        run, opposite = sides[place], sides[1 - place]
        tells_in_part = _has_terms(run, _SPLIT)
        if (
            _has_terms(run, (_UNSPLIT,))
            and _has_terms(opposite, _SPLIT)
            and not (tells_in_part and (len(run.members) < 2 or _has_terms(opposite, (_UNSPLIT,))))
        ):
            sides = [_join_communication(side) for side in sides]
            if any(_ADVICE_ON_WAITING in side.advice for side in sides):
                sides = [_drop_advice(side, _ADVICE_ON_WAITING, _ADVICE_ON_MOVING) for side in sides]
            template = "{run} does not tell waiting from moving: both stand together as {cause} on both sides"
            if tells_in_part:
                template = (
                    "some ranks of {run} do not tell waiting from moving: both stand together as {cause} on "
                    "both sides"
                )
            notes.append(state(template, run=name, cause=_UNSPLIT))
        are_ascend = run.kind is opposite.kind is TraceKind.ASCEND
        if are_ascend and not run.has_runtime and opposite.has_runtime:
            sides = [_drop_advice(side, _ADVICE_ON_COMPILING) for side in sides]
            if any(cause.label in side.causes for cause in _UNSEEN for side in sides):
                sides = [_hide_unseen(side) for side in sides]
                notes.append(
                    state(
                        "{run} has no calls of the runtime (profiler level 0): compiling and the latency of "
                        "the device stand as {launch} and {operator} on both sides",
                        run=name,
                        launch=Cause.LAUNCH_DISPATCH.label,
                        operator=Cause.OPERATOR.label,
                    )
                )
        if are_ascend and run.tells_cube < opposite.tells_cube:
            sides = [_hide_cube(side) for side in sides]
            notes.append(
                state("{run} does not tell what ran on the cube units: classes are not cut by that", run=name)
            )
    return sides[0], sides[1], tuple(notes)


def _has_terms(run: Run, terms: tuple[str, ...]) -> bool:
    return any(bool(run.terms_ns[:, TERMS.index(term)].any()) for term in terms)


def _join_communication(run: Run) -> Run:
    """Return the run without what tells waiting from moving."""
    whole = replace(run.communication, wait={}, transfer={})
    return replace(_add_terms(run, dict.fromkeys(_SPLIT, _UNSPLIT)), communication=whole)


def _add_terms(run: Run, target_of: Mapping[str, str]) -> Run:
    """Return the run with terms added to other terms."""

    def merged(ns: Int64s) -> Int64s:
        merged_ns: Int64s = ns.copy()
        for term, target in target_of.items():
            merged_ns[:, TERMS.index(target)] += merged_ns[:, TERMS.index(term)]
            merged_ns[:, TERMS.index(term)] = 0
        return merged_ns

    return replace(run, terms_ns=merged(run.terms_ns), device_terms_ns=merged(run.device_terms_ns))


def _hide_unseen(run: Run) -> Run:
    """Return the run with what no side without calls of the runtime sees, among dispatches and operators."""
    labels = {cause.label: target.label for cause, target in _UNSEEN.items()}
    causes: dict[str, list[Sum]] = {}
    for label, total in run.causes.items():
        causes.setdefault(labels.get(label, label), []).append(total)
    by_cause: dict[tuple[Cause, ChargedLine], int] = {}
    for (cause, key), ns in run.lines.by_cause.items():
        target = _UNSEEN.get(cause, cause), key
        by_cause[target] = by_cause.get(target, 0) + ns
    terms = {
        f"{part}.{part_label}": f"{part}.{target_label}"
        for part in (PREPARING, "idle")
        for part_label, target_label in labels.items()
    }
    return replace(
        _add_terms(run, terms),
        causes={label: sum_together(total) for label, total in causes.items()},
        lines=replace(run.lines, by_cause=by_cause),
    )


def _hide_cube(run: Run) -> Run:
    classes = {name: total for name, total in run.classes.items() if not name.endswith(IN_CUBE)}
    return replace(run, classes=classes)


def _drop_advice(run: Run, *kinds: str) -> Run:
    return replace(run, advice={kind: cost for kind, cost in run.advice.items() if kind not in kinds})
