"""Writing the rows of a table to a csv file: asks for the name, says how it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, BinaryIO

from textual import on
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tracetui.background import finishing
from tracetui.export.atomic import write_atomically
from tracetui.language import counted, in_english, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.export_dialog import absolute, sentence_of
from tracetui.ui.screens.panel import FILE_EXISTS, Panel
from tracetui.ui.session import Session
from tracetui.ui.trace_names import name_for_file

if TYPE_CHECKING:
    import pandas as pd


class TableExport(Panel[str]):
    """Writes the rows shown, in the order shown, with exact values; closes with the path.

    The columns are those that the command line writes; `frame` makes them, in a thread.
    """

    TITLE_OF = "Export the table"
    KEYS = (("enter", "write"), ("esc", "close"))

    class Ended(Message):
        """The file is written, or why it is not."""

        def __init__(self, path: str, refusal: str, exists: bool) -> None:
            super().__init__()
            self.path, self.refusal, self.exists = path, refusal, exists

    def __init__(self, session: Session, frame: Callable[[], pd.DataFrame], rows: int, name: str) -> None:
        super().__init__(session)
        self._frame, self._rows, self._called = frame, rows, name
        self._overwrites = ""  # the file that is there, and that enter overwrites
        self._writing = False

    def body(self) -> Iterable[Widget]:
        yield Input(f"{name_for_file(self.session.path)}_{self._called}.csv", compact=True)

    def on_mount(self) -> None:
        # The panel's own on_mount comes after this one.
        self.call_after_refresh(lambda: self.set_title(counted(self._rows, "1 row", "{count} rows")))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._overwrites = ""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        if name and not self._writing:
            self._writing = True
            force = self._overwrites == name
            self.set_title("writing")
            self.run_worker(lambda: self._write(name, force), thread=True, group="write")

    def _write(self, name: str, force: bool) -> None:
        from tracetui.export.data_frame import write_frames  # pandas: half a second, paid by whoever exports

        path, refusal, exists = name, "", False

        def fill(stream: BinaryIO) -> None:
            with in_english():
                write_frames(stream, [self._frame()])

        try:
            path = absolute(name)
            with finishing():
                write_atomically(path, fill, force, self.session.path)
        except FileExistsError:
            exists = True
        except (OSError, ValueError) as error:
            refusal = sentence_of(error)
        self.post_message(self.Ended(path, refusal, exists))

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        message.stop()
        self._writing = False
        if message.exists:
            self._overwrites = self.query_one(Input).value.strip()
            self.set_title(FILE_EXISTS, Role.WARNING)
        elif message.refusal:
            self.set_title(message.refusal, Role.ERROR)
        else:
            self.dismiss(message.path)
            rows = counted(self._rows, "1 row", "{count} rows")
            self.viewer.show_status(
                translate("{rows} written to {path}", rows=rows, path=printable(message.path))
            )
