"""Five heat maps, each the answer to a question: digits or tab choose, enter opens a cell on the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from textual import events, on
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.language import sentences, wording
from tracetui.places import SharedPlace
from tracetui.ui.actions import bindings
from tracetui.ui.heat.cause_view import CauseView
from tracetui.ui.heat.cell_table import CELLS, CellRows
from tracetui.ui.heat.fold_view import FoldView
from tracetui.ui.heat.lead_view import LeadView
from tracetui.ui.heat.length_view import LengthView
from tracetui.ui.heat.sheet import AnalysisMap, Sheet
from tracetui.ui.heat.step_view import StepView
from tracetui.ui.heat.work_view import WorkView
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.screens.map_screen import MapScreen
from tracetui.ui.screens.table_screen import NO_ROWS
from tracetui.ui.session import Session
from tracetui.ui.widgets.heat import HeatMap, Marks
from tracetui.ui.widgets.lines import Lines

#: slices from which a thread makes a map
MANY_SLICES = 200_000
#: the size of a terminal from which there is a legend, from which words have one line only
LEGEND_FROM, ONE_LINE_FROM = 14, 160


def _steps(analysis: Analysis, all_steps: bool = False) -> AnalysisMap:
    return StepView(analysis, all_steps) if len(analysis.steps) > 1 else FoldView(analysis)


#: the maps: what each is called, and how it is made
MAPS: tuple[tuple[str, Callable[[Analysis], AnalysisMap]], ...] = (
    ("who works", WorkView),
    ("steps", _steps),
    ("gap lengths", LengthView),
    ("causes", CauseView),
    ("host lead", LeadView),
)


class HeatmapScreen(MapScreen):
    """One heat map at a time."""

    AUTO_FOCUS = "HeatMap"
    BINDINGS = bindings("heatmap")
    TITLE_OF = "Heat maps"
    NUMBERS = ("idle", "causes")
    KEYS = (
        ("enter", "open"),
        ("x", "next worst"),
        ("1-5 tab", "map"),
        ("arrows", "cell"),
        ("y", "copy"),
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._index = 0
        self._views: dict[int, AnalysisMap] = {}  # those made of the analysis
        self._views_of: Analysis | None = None  # the analysis
        self._request: object = None  # what the next map is of

    def body(self) -> Iterable[Widget]:
        yield HeatMap()
        yield Lines(id="legend")
        yield Lines(id="readout")

    @property
    def map_names(self) -> Sequence[str]:
        return [name for name, _ in MAPS]

    @property
    def map_shown(self) -> int:
        return self._index

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        analysis = self.session.analysis
        maps = (("1-5 tab", "map"),) if analysis is not None and analysis.devices else ()
        return (*maps, *super().ways_out)

    @property
    def heading(self) -> str:
        return self.TITLE_OF if self._view is None else self._view.question

    def on_resize(self, event: events.Resize) -> None:
        self._set_heights()
        self.call_after_refresh(self.refresh_answer)

    def _set_heights(self) -> None:
        self.query_one("#legend").display = self.size.height >= LEGEND_FROM
        roomy = self.size.height >= LEGEND_FROM and self.size.width < ONE_LINE_FROM
        self.query_one("#readout").styles.height = 2 if roomy else 1

    def on_view_changed(self, message: ViewChanged) -> None:
        self._mark()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._mark()

    def _mark(self) -> None:
        state = self.session.state
        everything = state.viewport == state.bounds
        viewport = None if everything else (state.viewport.start_ns, state.viewport.end_ns)
        self.map.mark(Marks(viewport, state.window))

    def action_next_view(self, by: int = 1) -> None:
        self.action_show_map((self._index + by) % len(MAPS) + 1)

    def action_show_map(self, number: int) -> None:
        if number - 1 != self._index:
            self._index, self._moved = number - 1, False
            self.refresh_answer()

    def place_with(self, place: SharedPlace) -> SharedPlace:
        return replace(place, view=str(self._index + 1))

    def take_place(self, place: SharedPlace) -> None:
        numbers = [str(number + 1) for number in range(len(MAPS))]
        self._index = numbers.index(place.view) if place.view in numbers else self._index

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if not analysis.devices:
            self.show_nothing("No known device in this trace: there is nothing that could be idle.")
            return
        if analysis is not self._views_of:
            self._views_of, self._views, self._moved = analysis, {}, False
        self._request = request = object()
        number, views = self._index, self._views
        if len(analysis.trace.slices) < MANY_SLICES:
            self._show_made(request, *self._make(analysis, views, number))
        else:
            if number not in self._views:
                self.show_answer("making the map")
            self.in_background(
                "heat",
                lambda: self._make(analysis, views, number),
                lambda made: self._show_made(request, *made),
            )

    def _make(
        self, analysis: Analysis, views: dict[int, AnalysisMap], number: int
    ) -> tuple[AnalysisMap, Sheet | None]:
        """Return a map of an analysis, made unless it is among its `views`, and what is drawn of it."""
        view = views.get(number)
        if view is None:
            make = MAPS[number][1]
            view = _steps(analysis, self.session.options.all_steps) if make is _steps else make(analysis)
            views[number] = view
        heat_map = self.map
        room = heat_map.room(view.label_cells, view.total_cells)
        return view, view.sheet(*room, heat_map.halves)

    def _show_made(self, request: object, view: AnalysisMap, sheet: Sheet | None) -> None:
        analysis = self.session.analysis
        if request is not self._request or analysis is None:
            return
        if sheet is None or not sheet.cells.ns.size:
            self.show_nothing(sentences((wording(view.question), wording(view.nothing()))))
            return
        self._mark()
        self.show_map(view, sheet, analysis.trace.start_ns)

    def action_export_table(self) -> None:
        """Write the cells of the map, as it is drawn, to a csv file."""
        sheet = self.map.sheet
        if sheet is None or self._view is None:
            self.viewer.show_status(NO_ROWS)
        else:
            self.export_rows(CELLS, CellRows(sheet), MAPS[self._index][0].replace(" ", "_"))

    @on(HeatMap.Activated)
    def action_open_cell(self) -> None:
        """Show the time of the cell in the timeline, and select its gap or slice."""
        sheet, viewer = self.map.sheet, self.viewer
        target, view = None, self._views.get(self._index)
        if sheet is not None and view is not None and view is self._view:
            target = view.target(sheet, self.map.row, self.map.column)
        if target is None:
            viewer.show_status("There is nothing to open here.")
            return
        if target.gap >= 0 or target.row < 0:
            state = self.session.state
            state.show(target.start_ns, target.end_ns)
            line = target.line or state.place.cursor
            place = replace(state.place, gap=target.gap, row=-1, cursor=line, time_ns=target.start_ns)
            state.go(place, state.burst)
            viewer.selection_changed()
            viewer.action_go("timeline")
        else:
            viewer.show_interval(target.start_ns, target.end_ns, target.row)
