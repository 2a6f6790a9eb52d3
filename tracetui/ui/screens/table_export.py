"""Writing the rows of a table to a csv file: asks for the name, says how it went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from textual import on
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tracetui.arrays import Int64s
from tracetui.export.atomic import write_atomically
from tracetui.export.cells import text_cell, write_rows
from tracetui.ui.columns import Column
from tracetui.ui.palette import Role
from tracetui.ui.screens.export_dialog import sentence_of
from tracetui.ui.screens.panel import Panel


class TableExport(Panel[str]):
    """Writes all columns of the rows shown, in the order shown, with exact values; closes with the path."""

    TITLE_OF = "Export the table"
    KEYS = (("enter", "write"), ("esc", "close"))

    class Ended(Message):
        """The file is written, or why it is not."""

        def __init__(self, path: str, refusal: str, exists: bool) -> None:
            super().__init__()
            self.path, self.refusal, self.exists = path, refusal, exists

    def __init__(self, columns: Sequence[Column], view: Int64s, name: str) -> None:
        super().__init__()
        self._columns = [column for column in columns if column.key]
        self._view, self._name = view, name
        self._overwrites = ""  # the file that is there, and that enter overwrites
        self._writing = False

    def body(self) -> Iterable[Widget]:
        stem = self.viewer.path.name.split(".")[0].lstrip("-") or "trace"
        yield Input(f"{stem}_{self._name}.csv", compact=True)

    def on_mount(self) -> None:
        # The panel's own on_mount comes after this one.
        self.call_after_refresh(lambda: self.entitle(f"{len(self._view):,} rows"))

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
            path, force = str(Path(name).expanduser().absolute()), self._overwrites == name
            self.entitle("writing")
            self.run_worker(lambda: self._write(path, force), thread=True, group="write")

    def _write(self, path: str, force: bool) -> None:
        refusal, exists = "", False
        try:
            write_atomically(path, lambda stream: write_table(stream, self._columns, self._view), force)
        except FileExistsError:
            exists = True
        except (OSError, ValueError, RuntimeError) as error:
            refusal = sentence_of(error) if not isinstance(error, RuntimeError) else "There is no such home."
        self.post_message(self.Ended(path, refusal, exists))

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        message.stop()
        self._writing = False
        if message.exists:
            self._overwrites = self.query_one(Input).value.strip()
            self.entitle("This file is there already: enter again overwrites it.", Role.WARNING)
        elif message.refusal:
            self.entitle(message.refusal, Role.ERROR)
        else:
            self.dismiss(message.path)
            self.viewer.say(f"{len(self._view):,} rows written to {message.path}")


def write_table(stream: BinaryIO, columns: Sequence[Column], view: Int64s) -> None:
    """The rows of `view` as csv, in its order; times in ns, unknown values empty."""

    def cells() -> Iterator[list[object]]:
        for row in view.tolist():
            values = (column.exported(row) for column in columns)
            yield [text_cell(value) if isinstance(value, str) else value for value in values]

    write_rows(stream, [column.key for column in columns], cells())
