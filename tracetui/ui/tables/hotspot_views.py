"""The tables of the hotspots: lines, signatures, synchronisations, modules, frames, scopes, and their words.

Knows no widget: the screen shows one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Optional, Union

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.idle.idle_lines import LineIdle, LineKey
from tracetui.analysis.idle.signatures import Signature
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.analysis.modules import ModuleIdle
from tracetui.analysis.nested_idle import FrameIdle, NestedIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.sentences.causes import NO_MODULE, scope_name
from tracetui.export.trace.nested_text import NO_SCOPES
from tracetui.language import translate
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.tables.columns import ViewColumn
from tracetui.ui.tables.hotspot_columns import (
    hotspot_line_columns,
    hotspots_answer,
    line_label,
    line_of,
    signature_columns,
    signatures_answer,
    sync_columns,
    syncs_answer,
)
from tracetui.ui.tables.nested_columns import (
    frame_columns,
    frame_name,
    frames_answer,
    module_columns,
    modules_answer,
    operator_frames_answer,
    scope_columns,
    scopes_answer,
)

HotspotRow = Union[LineIdle, Signature, SyncCall, ModuleIdle, FrameIdle, ScopeTime]
Savings = Optional[Mapping[LineKey, LineSaving]]  # None: not known yet


@dataclass(frozen=True)
class HotspotView:
    """One of the tables."""

    name: str  #: what the key that leads to it is said to show
    title: str
    note: str  #: what its rows are
    empty: str  #: where it has none
    export: str  #: the end of the name of its file
    rows: Callable[[Analysis], Sequence[HotspotRow]]
    columns: Callable[[Analysis, Savings, Palette, Glyphs], list[ViewColumn]]
    answer: Callable[[Analysis], str]


def hotspot_name(analysis: Analysis, row: HotspotRow) -> str:
    """Return what a row is of: a line, a module, a frame."""
    if isinstance(row, ModuleIdle):
        return row.module or translate(NO_MODULE)
    if isinstance(row, ScopeTime):
        return scope_name(row.scope)
    return frame_name(analysis, row) if isinstance(row, FrameIdle) else line_label(row)


def line_of_row(analysis: Analysis, row: HotspotRow | None) -> LineIdle | None:
    """Return the idle time of the line of a row, of its forward pass where both have one; else None."""
    if row is None or isinstance(row, LineIdle):
        return row
    if isinstance(row, NestedIdle):
        return None
    file, line, function, backward = line_of(row)
    for wanted in ((file, line, function, backward), (file, line, function, True)):
        for found in analysis.lines:
            if line_of(found) == wanted:
                return found
    return None


LINES = HotspotView(
    name="lines",
    title="Hotspots",
    note="Charged to the line that ran, or that enqueued what the device waited for.",
    empty="No line has idle time.",
    export="hotspots",
    rows=lambda analysis: analysis.lines,
    columns=hotspot_line_columns,
    answer=hotspots_answer,
)
MODULES = HotspotView(
    name="modules",
    title="Modules",
    note="Idle is with the modules inside, own without: own times add up to the idle time.",
    empty="No module has idle time.",
    export="modules",
    rows=lambda analysis: analysis.modules,
    columns=lambda analysis, _, palette, glyphs: module_columns(analysis, palette, glyphs),
    answer=modules_answer,
)
FRAMES = HotspotView(
    name="frames",
    title="Frames",
    note="Idle is with all that the frame calls, own without; f shows what is below it, and its callers.",
    empty="No frame has idle time.",
    export="frames",
    rows=lambda analysis: analysis.frames,
    columns=lambda analysis, _, palette, glyphs: frame_columns(analysis, "frame", palette, glyphs),
    answer=frames_answer,
)
OPERATORS = replace(
    FRAMES,
    name="operators",
    title="Operators",
    note="No Python stack is recorded (with_stack=True): by operator of the host. Own times add up.",
    empty="No operator has idle time.",
    columns=lambda analysis, _, palette, glyphs: frame_columns(analysis, "operator", palette, glyphs),
    answer=operator_frames_answer,
)
SCOPES = HotspotView(
    name="scopes",
    title="Scopes",
    note="With the scopes inside; own is without. Idle before is the idle time right before their tasks.",
    empty=NO_SCOPES,
    export="scopes",
    rows=lambda analysis: analysis.scopes,
    columns=lambda analysis, _, palette, glyphs: scope_columns(analysis, palette, glyphs),
    answer=scopes_answer,
)
SIGNATURES = HotspotView(
    name="signatures",
    title="Signatures",
    note="Gaps that are alike: mostly of one cause, one line and one operator.",
    empty="No gap has idle time.",
    export="signatures",
    rows=lambda analysis: analysis.signatures,
    columns=lambda analysis, _, palette, glyphs: signature_columns(analysis, palette, glyphs),
    answer=signatures_answer,
)
SYNCS = HotspotView(
    name="syncs",
    title="Synchronisations",
    note="Exposed is idle time that began while the host waited for the device.",
    empty="The host waited for no device: no .item(), copy or synchronize() that took time is recorded.",
    export="synchronisations",
    rows=lambda analysis: analysis.syncs,
    columns=lambda analysis, _, palette, glyphs: sync_columns(analysis, palette, glyphs),
    answer=syncs_answer,
)
VIEWS = (LINES, SIGNATURES, SYNCS, MODULES, FRAMES)


#: those whose rows are of one line each
OF_LINES = (LINES, SIGNATURES, SYNCS)


def views_of(analysis: Analysis | None) -> tuple[HotspotView, ...]:
    """Return the views of a trace: scopes where it has some.

    Where no Python is recorded, they come first, or else operators in place of frames.
    """
    if analysis is None:
        return VIEWS
    if analysis.has_python:
        return (*VIEWS, SCOPES) if analysis.has_scopes else VIEWS
    if analysis.has_scopes:
        return (SCOPES, *VIEWS)
    return (OPERATORS, *(view for view in VIEWS if view is not FRAMES))


def hotspot_view_after(view: HotspotView, views: tuple[HotspotView, ...]) -> HotspotView:
    """Return the view that follows, and the first after the last."""
    return views[(views.index(view) + 1) % len(views)]
