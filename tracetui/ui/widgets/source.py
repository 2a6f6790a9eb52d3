"""The source around one line, with the line marked. Draws text; finding the file is `SourceFiles`' affair."""

from __future__ import annotations

from collections.abc import Collection

from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from tracetui.language import translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity
from tracetui.trace.source_files import NotFound, SourceFile, SourceFiles
from tracetui.trace.stack import Frame
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.python_tokens import Token, TokenSpan, python_spans
from tracetui.ui.drawing.strips import fitted, ruled, tail, wrapped
from tracetui.ui.editor import open_in_editor
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.scrolling import Scrolling

WIDE = 120  #: cells of a screen from which the source stands beside its table or story
LINE_AT_START = "where it was as the recording began"  #: of the line of a frame
DEBOUNCE_S = 0.08  # a held cursor key asks for files faster than a slow file system has them
_PYTHON = (".py", ".pyi", ".pyx")
_TOKENS: dict[Token, Role | Activity] = {
    Token.KEYWORD: Activity.COMPUTE,
    Token.NAME: Role.TITLE,
    Token.STRING: Role.GOOD,
    Token.COMMENT: Role.DIM,
}


class SourcePane(InViewer, Scrolling, can_focus=True):
    """A title line and the lines around `line` of the file of one frame."""

    DEFAULT_CSS = "SourcePane { width: 1fr; height: 1fr; }"

    nothing = reactive("No Python frame here.")  #: what to say where there is no file

    def __init__(self) -> None:
        super().__init__()
        self.files: SourceFiles | None = None  #: where to look; set when the trace is known
        self.frames_at_start: Collection[Frame] = ()  #: whose lines are where they were then
        self.file = ""  #: the recorded path; "" for none
        self.line = 0
        self.function = ""
        self._found: SourceFile | NotFound | None = None  # of _found_file
        self._found_file = ""
        self._spans: list[list[TokenSpan]] = []
        self._timer: Timer | None = None

    @property
    def source(self) -> SourceFile | None:
        """The file on screen, once it is found."""
        return self._found if isinstance(self._found, SourceFile) and self._found_file == self.file else None

    def show(self, file: str = "", line: int = 0, function: str = "") -> None:
        """Show a frame, as the trace recorded it; without a file that there is none."""
        if (file, line, function) == (self.file, self.line, self.function):
            return
        self.file, self.line, self.function = file, line, function
        if self._timer is not None:
            self._timer.stop()
        if file == self._found_file:
            self.action_activate()
        else:
            self._timer = self.set_timer(DEBOUNCE_S, self._ask)
        self.refresh()

    def reread(self) -> None:
        """Read the file again: it may have been edited."""
        if self.files is not None:
            self.files.forget()
        self._ask()

    def edit(self) -> str:
        """Open the file in the user's editor at the line; a sentence where that did not work, or ""."""
        if self.source is None:
            looked_for = self.file and self._found_file != self.file
            return "Still looking for the source file." if looked_for else "There is no source file to open."
        problem = open_in_editor(self.app, self.source, self.line)
        self.reread()
        return problem

    def _ask(self) -> None:
        files, file = self.files, self.file
        if files is None or not file:
            return

        def read() -> None:
            found = files.find(file)
            python = isinstance(found, SourceFile) and found.path.suffix in _PYTHON
            spans = python_spans(found.lines) if python and isinstance(found, SourceFile) else []
            self.call_later(self._take, file, found, spans)

        self.run_worker(read, thread=True, exclusive=True, group="source")

    def _take(self, file: str, found: SourceFile | NotFound, spans: list[list[TokenSpan]]) -> None:
        """Show what a thread found for a recorded path."""
        if file == self.file:
            self._found_file, self._found, self._spans = file, found, spans
            self.action_activate()

    # ------------------------------------------------------------- scrolling

    @property
    def rows(self) -> int:
        source = self.source
        return len(source.lines) + len(self._marked(source)) - 1 if source else 0

    @property
    def shown_rows(self) -> int:
        return max(self.size.height - len(self._head()), 1)

    def action_activate(self) -> None:
        """Put the line at a third of the height: what it does matters more than what led there."""
        self.scroll_rows(self.line - 1 - self.shown_rows // 3)
        self.refresh()

    def on_resize(self) -> None:
        self.action_activate()

    # --------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        head = self._head()
        if y < len(head):
            return fitted([head[y]], width, self.glyphs.ellipsis)
        source = self.source
        if source is None:
            missing = self._missing(width)
            text = missing[y - len(head)] if y - len(head) < len(missing) else ""
            return fitted([(text, self.style_of(Role.DIM))], width, self.glyphs.ellipsis)
        row = self.top + y - len(head)
        marked = self._marked(source) if row >= self.line - 1 else [""]
        part = min(max(row - (self.line - 1), 0), len(marked) - 1)
        index = row - part
        if index >= len(source.lines):
            return Strip.blank(width)
        here = index == self.line - 1
        pieces = self._marked_line(source, marked, part) if here else self._source_line(source, index)
        return fitted(pieces, width, self.glyphs.ellipsis)

    def _head(self) -> list[tuple[str, Style]]:
        """Return the title, and below it what should make one doubt the source."""
        rule, width = self.glyphs.rule, self.size.width
        place = f"{self.file}({self.line})" if self.file else translate("source")
        where = tail(printable(place), max(width - 6 - len(self.function[:40]), 12), self.glyphs.ellipsis)
        title = ruled(f"{where} {printable(self.function, 40)}".rstrip(), rule, width)
        head = [(title, self.style_of(Role.TITLE if self.has_focus else Role.RULE))]
        doubts = self.doubts()
        is_at_start = Frame(self.file, self.line, self.function) in self.frames_at_start
        notes = [translate(LINE_AT_START) if is_at_start else "", self.where(), *doubts]
        remarks = f" {self.glyphs.dot} ".join(filter(None, notes))
        if remarks:
            head.append((f"   {remarks}", self.style_of(Role.WARNING if doubts else Role.DIM)))
        return head

    def where(self) -> str:
        """Say where the file was found, "" for the recorded path."""
        source = self.source
        if source is None or source.root is None:
            return ""
        beside = self.files is not None and source.path.parent == self.files.beside
        if beside:
            return translate("source found beside the trace")
        return translate("source found below {directory}", directory=printable(str(source.root)))

    def doubts(self) -> list[str]:
        """Say why the text shown may not be the text that ran."""
        source = self.source
        if source is None:
            return []
        doubts = []
        if source.newer:
            doubts.append(translate("file changed after the profile"))
        if self.line > len(source.lines):
            doubts.append(
                translate("it has only {count} lines: not the version that ran", count=len(source.lines))
            )
        return doubts

    def _missing(self, width: int) -> list[str]:
        """Say why there is no source, and what to do about it."""
        if not self.file:
            return wrapped(wording(self.nothing), width)
        if not isinstance(self._found, NotFound) or self._found_file != self.file:
            return []
        lines = [wording(self._found.reason)]
        if self._found.looked:
            lines += [
                translate("Looked for {file} and for its end below", file=printable(self.file)),
                *(printable(str(root)) for root in self._found.looked),
            ]
            lines += [translate("Start tracetui with --source DIR to look in another directory.")]
        return [piece for line in lines for piece in wrapped(line, width)]

    def _marked(self, source: SourceFile) -> list[str]:
        """Wrap the text of the line to rows: it is shown to its end as far as half of the pane holds it.

        The one row is empty where the file has no such line.
        """
        if not 0 < self.line <= len(source.lines):
            return [""]
        text, limit = source.lines[self.line - 1].rstrip(), max(self.shown_rows // 2, 1)
        room = max(self.size.width - _gutter(source), 1)
        indent = min(len(text) - len(text.lstrip(" ")), room // 2)
        room -= indent
        rows = wrapped(text.lstrip(" ")[: room * limit + 1], room)
        if len(rows) > limit:
            rows[limit - 1 :] = [" ".join(rows[limit - 1 :])]  # does not fit: it will end in an ellipsis
        return [" " * indent + row for row in rows]

    def _marked_line(self, source: SourceFile, marked: list[str], part: int) -> list[tuple[str, Style]]:
        gutter, style = _gutter(source), self.style_of(Role.USER_LINE)
        number = "" if part else f"{self.glyphs.arrow} {self.line:>{gutter - 4}}"
        return [(f"{number:<{gutter}}", style), (marked[part], style)]

    def _source_line(self, source: SourceFile, index: int) -> list[tuple[str, Style]]:
        number, text = f"  {index + 1:>{_gutter(source) - 4}}  ", source.lines[index]
        pieces = [(number, self.style_of(Role.DIM))]
        spans = self._spans[index] if index < len(self._spans) else ()
        at = 0
        plain = self.style_of(Role.TEXT)
        for start, end, token in spans:
            pieces += [(text[at:start], plain), (text[start:end], self.style_of(_TOKENS[token]))]
            at = end
        return [*pieces, (text[at:], plain)]

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()


def _gutter(source: SourceFile) -> int:
    """Return the cells of the mark and the number before a line, and of the blanks around them."""
    return len(str(len(source.lines))) + 4
