"""Writing a csv file, of the slices of the window or of a table: what, where to, and how it went."""

from __future__ import annotations

import errno
import io
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from shutil import SameFileError
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from tracetui.analysis.analyse import Analysis
from tracetui.background import finishing
from tracetui.export.atomic import write_atomically
from tracetui.export.trace.events_csv import matching_tracks, rows_touching, write_events
from tracetui.language import counted, in_english, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Track
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import compose_sentence
from tracetui.ui.messages import TraceChanged
from tracetui.ui.screens.panel import Panel
from tracetui.ui.session import Session
from tracetui.ui.trace_names import name_for_file
from tracetui.ui.viewer import FIRST
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_bytes, format_duration, format_time

if TYPE_CHECKING:
    import pandas as pd

FILE_EXISTS = "It exists: enter overwrites it."
PROGRESS_S = 0.1
_SENTENCES = {
    errno.ENOSPC: "There is no space left on the device",
    errno.EDQUOT: "The disk quota is used up",
    errno.EROFS: "The file system is read-only",
    errno.EACCES: "No permission to write there",
    errno.EPERM: "No permission to write there",
    errno.ENOENT: "The directory does not exist",
    errno.ENOTDIR: "The directory does not exist",
    errno.EISDIR: "This is a directory",
    errno.ENAMETOOLONG: "The name is too long",
}


class FilePanel(Panel[str]):
    """Writes a file of the name that is typed, one that is there when asked twice; closes with its path."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._overwrites = ""  # the name of a file that is there, and that enter overwrites
        self._writing: Worker[None] | None = None

    @on(Input.Changed, "#file")
    def _file_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._overwrites = ""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._writing is None:
            self.write()

    @abstractmethod
    def write(self) -> None:
        """Write the file of the name in `#file`; nothing where there is none."""

    def write_file(self, name: str, fill: Callable[[BinaryIO], None], success: Callable[[str], str]) -> None:
        """Have a thread fill a file; `success` says of its path what was written."""
        force = self._overwrites == name

        def write() -> None:
            path, refusal = name, ""
            try:
                path = absolute(name)
                with finishing():  # or stopping, which leaves no part of a file behind
                    write_atomically(path, fill, force, self.session.path)
            except FileExistsError:
                refusal = FILE_EXISTS
            except ExportStopped:
                refusal = "Stopped: nothing is written."
            except (OSError, ValueError) as error:
                refusal = sentence_of(error)
            self.call_later(end, path, refusal)

        def end(path: str, refusal: str) -> None:
            self._writing = None
            if refusal == FILE_EXISTS:
                self._overwrites = name
            if refusal:
                self.set_title(refusal, Role.WARNING if refusal == FILE_EXISTS else Role.ERROR)
            else:
                self.dismiss(path)
                self.viewer.show_status(success(printable(path)))

        self._writing = self.run_worker(write, thread=True, group="write")


class ExportDialog(FilePanel):
    """Asks for a file and the tracks."""

    TITLE_OF = "Export"
    KEYS = (("enter", "write"), ("tab", "field"), ("esc", "close"))
    DEFAULT_CSS = """
    ExportDialog Horizontal { height: 1; }
    ExportDialog Horizontal > Lines { width: 8; }
    """

    # ------------------------------------------------------------------ what

    def body(self) -> Iterable[Widget]:
        yield Lines(id="what")
        with Horizontal():
            yield Lines(id="file-label")
            yield Input(id="file", compact=True)
        with Horizontal():
            yield Lines(id="tracks-label")
            yield Input(
                id="tracks", placeholder=wording("all, or a part of their process/thread"), compact=True
            )

    def on_mount(self) -> None:
        label = self.style_of(Role.DIM)
        self.query_one("#file-label", Lines).show([[("file", label)]])
        self.query_one("#tracks-label", Lines).show([[("tracks", label)]])
        self._propose()

    def on_trace_changed(self, message: TraceChanged) -> None:
        self._propose()

    def _propose(self) -> None:
        """Propose a name for the file, and say what will be in it."""
        trace = self.session.trace
        if self.session.analysis is None or trace is None:
            self.set_title(self.session.unanswered, Role.WARNING)
            return
        self.set_title("")
        field = self.query_one("#file", Input)
        field.value = default_name(
            self.session.path, *(moment - trace.start_ns for moment in self.session.state.shown_window)
        )
        field.cursor_position = len(field.value)
        self._count(self.query_one("#tracks", Input).value)

    @on(Input.Changed, "#tracks")
    def _tracks_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._count(event.value)

    def _count(self, tracks: str) -> None:
        analysis, window = self.session.analysis, self.session.state.shown_window
        if analysis is None:
            return

        def count() -> None:
            rows = rows_touching(analysis.trace, chosen(analysis, tracks), *window)
            self.call_later(self._show_count, tracks, len(rows))

        self.run_worker(count, thread=True, exclusive=True, group="count")

    def _show_count(self, typed: str, count: int) -> None:
        """Say how many slices would be written of the tracks that were typed."""
        analysis, trace = self.session.analysis, self.session.trace
        if typed != self.query_one("#tracks", Input).value or analysis is None or trace is None:
            return
        start, end = (moment - trace.start_ns for moment in self.session.state.shown_window)
        step = max((end - start) // 1000, 1)
        shown = "on screen" if self.viewer.shown == FIRST else "in the timeline"
        what = translate("the window" if self.session.state.window else shown)
        tracks = sum(len(track.rows) > 0 for track in chosen(analysis, typed))
        number = self.style_of(Role.NUMBER)
        moments = (format_time(moment, step) for moment in (start, end))
        line = compose_sentence(
            "{slices} on {tracks}, from {span} ({time}: {what})",
            self.style_of(Role.TEXT),
            slices=(counted(count, "1 slice", "{count} slices"), number),
            tracks=counted(tracks, "1 track", "{count} tracks"),
            span=(translate("{low} to {high}", **dict(zip(("low", "high"), moments))), number),
            time=format_duration(end - start),
            what=what,
        )
        self.query_one("#what", Lines).show([line])

    # --------------------------------------------------------------- writing

    def write(self) -> None:
        analysis, window = self.session.analysis, self.session.state.shown_window
        name = self.query_one("#file", Input).value.strip()
        if analysis is None or not name:
            return
        tracks = chosen(analysis, self.query_one("#tracks", Input).value)
        rows: int
        size: int

        def fill(stream: BinaryIO) -> None:
            nonlocal rows, size
            worker = get_current_worker()
            watched = Watched(lambda: worker.is_cancelled, partial(self.call_later, self._show_written))
            watched.stream = stream
            rows = write_events(cast(BinaryIO, watched), analysis, *window, tracks)
            size = watched.size

        def success(path: str) -> str:
            count = counted(rows, "1 row", "{count} rows")
            return translate(
                "{rows}, {size}, written to {path}", rows=count, size=format_bytes(size), path=path
            )

        self.set_title("writing; esc stops it")
        self.write_file(name, fill, success)

    def _show_written(self, size: int) -> None:
        """Say how many bytes are written so far."""
        if self._writing is not None:
            written = format_bytes(size)
            self.set_title(translate("writing, {size} so far; esc stops it", size=written))

    def action_close(self) -> None:
        """Stop writing; else close."""
        if self._writing is not None:
            self._writing.cancel()
        else:
            self.dismiss(None)


class ExportStopped(Exception):  # noqa: N818 - nothing went wrong
    """The user stopped the export."""


class Watched(io.RawIOBase):
    """A stream in front of another: counts what is written, says so at times, and stops where it should."""

    def __init__(self, should_stop: Callable[[], bool], on_progress: Callable[[int], object]) -> None:
        super().__init__()
        self.stream: BinaryIO | None = None
        self.size = 0
        self._should_stop, self._on_progress = should_stop, on_progress
        self._reported_s = time.monotonic()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        """Write, unless it should stop: raises Stopped then."""
        if self._should_stop():
            raise ExportStopped
        assert self.stream is not None
        count = self.stream.write(content)
        self.size += count
        if time.monotonic() - self._reported_s > PROGRESS_S:
            self._reported_s = time.monotonic()
            self._on_progress(self.size)
        return count


def chosen(analysis: Analysis, tracks: str) -> Sequence[Track]:
    """Return the tracks that an empty or a typed text stands for."""
    return matching_tracks(analysis.trace, tracks) if tracks.strip() else analysis.trace.tracks


def absolute(name: str) -> str:
    """Return the path that was typed. Raises ValueError for an unknown "~user", else OSError."""
    try:
        return str(Path(name).expanduser().absolute())
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def default_name(trace: Path, start_ns: int, end_ns: int) -> str:
    """Return "run_rank0_1.200s-1.350s.csv": from the name of the trace and the window, ns from its start."""
    step = max((end_ns - start_ns) // 100, 1)
    start, end = (format_time(moment, step).replace(" ", "") for moment in (start_ns, end_ns))
    return f"{name_for_file(trace)}_{start}-{end}.csv"


def sentence_of(error: OSError | ValueError) -> str:
    """Return what went wrong with a file, in one sentence."""
    if isinstance(error, SameFileError):
        return "This is the trace itself: nothing is written."
    if isinstance(error, OSError) and error.errno is not None:
        reason = _SENTENCES.get(error.errno) or os.strerror(error.errno)
        return translate("{reason}: nothing is written.", reason=wording(reason))
    return "This is not a name for a file."


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
