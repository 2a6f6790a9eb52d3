"""The wheel moves rows: lines and tables roll, in a tree and a heat map the cursor goes."""

from __future__ import annotations

import numpy as np
import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp

from tests.ui.test_branches import node, root
from tracetui.analysis.heat.cells import HeatCells
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.heat.sheet import Sheet, SheetRow
from tracetui.ui.tables.columns import number_column
from tracetui.ui.widgets.heat import HeatMap
from tracetui.ui.widgets.lines import Pager
from tracetui.ui.widgets.scrolling import WHEEL_ROWS, WheelScrolled
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import TableWidget

ROWS = 40


class WheelApp(App[None]):
    """One widget that has rows."""

    palette, glyphs = Palette("none"), BLOCKS

    def __init__(self, kind: type[WheelScrolled]) -> None:
        super().__init__()
        self.kind = kind

    def compose(self) -> ComposeResult:
        yield self.kind()

    def on_mount(self) -> None:
        self.widget = self.query_one(self.kind)
        if isinstance(self.widget, Pager):
            self.widget.show([[(str(row), Style.null())] for row in range(ROWS)])
        elif isinstance(self.widget, TableWidget):
            self.widget.show([number_column("ns", "ns", np.arange(ROWS), str)], ROWS)
        elif isinstance(self.widget, StackTree):
            self.widget.show(root(*(node(f"f{row}", 10) for row in range(ROWS))))
        elif isinstance(self.widget, HeatMap):
            ns = np.zeros((ROWS, 1), np.int64)
            rows = tuple(SheetRow(str(row)) for row in range(ROWS))
            self.widget.show(
                Sheet(rows, HeatCells(ns, ns + 1, ns - 1, np.zeros(ns.shape)), columns=("a",)), (2, 0)
            )


@pytest.mark.parametrize(
    ("kind", "place"), [(Pager, "top"), (TableWidget, "top"), (StackTree, "cursor"), (HeatMap, "row")]
)
async def test_a_turn_moves_some_rows_on_or_back(kind: type[WheelScrolled], place: str) -> None:
    app = WheelApp(kind)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot._post_mouse_events([MouseScrollDown, MouseScrollDown], app.widget)
        assert getattr(app.widget, place) == 2 * WHEEL_ROWS
        await pilot._post_mouse_events([MouseScrollUp], app.widget)
        assert getattr(app.widget, place) == WHEEL_ROWS
