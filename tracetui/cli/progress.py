"""One line on stderr that says how far the reading is, and is gone at the end."""

from __future__ import annotations

import time
from typing import TextIO

from tracetui.export.text import cell_width, padded
from tracetui.language import translate
from tracetui.reader.source import Progress
from tracetui.units import format_bytes, format_count

#: Seconds: nothing is shown of a reading that ends before, and a line is not redrawn sooner.
FIRST, EVERY = 0.3, 0.1


class ProgressLine:
    """Draws on `stream`; on None it draws nothing. A context manager."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._next = time.monotonic() + FIRST
        self._width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_error: object) -> None:
        self.erase()

    def show(self, progress: Progress) -> None:
        """Draw the line, if it is time to."""
        if self._stream is None or (time.monotonic() < self._next and not progress.silent_s):
            return
        self._next = 0.0 if progress.silent_s else time.monotonic() + EVERY
        done, total = progress.done_bytes, progress.total_bytes
        share = f"{min(100, 100 * done // total)} %  " if total > 0 else ""
        template = "reading {share}{done} of {total}  {events} events"
        if progress.silent_s:
            template = "reading {share}{done} of {total}  {events} events, nothing for {seconds} s"
        words = translate(
            template,
            share=share,
            done=format_bytes(done),
            total=format_bytes(total),
            events=format_count(progress.events),
            seconds=progress.silent_s,
        )
        self.draw(words)

    def show_bytes(self, done: int, total: int) -> None:
        """Draw how far the recording of the scheduler is read, if it is time to."""
        if self._stream is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        share = f"{min(100, 100 * done // total)} %  " if total > 0 else ""
        self.draw(translate("reading the scheduler {share}{done}", share=share, done=format_bytes(done)))

    def erase(self) -> None:
        """Leave the line as empty as it was found."""
        if self._stream is not None and self._width:
            self.draw("")
            self._stream.write("\r")
            self._stream.flush()
            self._width = 0

    def draw(self, text: str) -> None:
        """Draw a line in the place of the one before."""
        assert self._stream is not None
        self._stream.write("\r" + padded(text, self._width))
        self._stream.flush()
        self._width = cell_width(text)
