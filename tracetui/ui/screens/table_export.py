"""Writing the rows of a table to a csv file: asks for the name, says how it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, BinaryIO

from textual.widget import Widget
from textual.widgets import Input

from tracetui.language import counted, in_english, translate
from tracetui.ui.screens.export_dialog import FilePanel
from tracetui.ui.session import Session

if TYPE_CHECKING:
    import pandas as pd


class TableExport(FilePanel):
    """Writes the rows shown, in the order shown, with exact values.

    The columns are those that the command line writes; `frame` makes them, in a thread.
    """

    TITLE_OF = "Export the table"
    KEYS = (("enter", "write"), ("esc", "close"))

    def __init__(self, session: Session, frame: Callable[[], pd.DataFrame], rows: int, name: str) -> None:
        super().__init__(session)
        self._frame, self._rows, self._called = frame, rows, name

    def body(self) -> Iterable[Widget]:
        yield Input(f"{self._called}.csv", id="file", compact=True)

    def on_mount(self) -> None:
        # The panel's own on_mount comes after this one.
        self.call_after_refresh(lambda: self.set_title(counted(self._rows, "1 row", "{count} rows")))

    def write(self) -> None:
        name = self.query_one("#file", Input).value.strip()
        if name:
            self.set_title("writing")
            rows = counted(self._rows, "1 row", "{count} rows")
            self.write_file(
                name, self._fill, lambda path: translate("{rows} written to {path}", rows=rows, path=path)
            )

    def _fill(self, stream: BinaryIO) -> None:
        from tracetui.export.data_frame import write_frames  # pandas: half a second, paid by whoever exports

        with in_english():
            write_frames(stream, [self._frame()])
