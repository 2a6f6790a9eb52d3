"""A panel to choose one of many things by some letters of its name: tracks, commands.

Textual's palette, with a `Provider` of the same commands, took 80 to 130 ms and 3.3 kB to open (this: 35 ms,
1.6 kB) and 17 to 29 ms and 4 to 5 kB for a letter (7 ms, 0.2 to 1.3 kB).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from tracetui.language import translate, wording
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import fitted
from tracetui.ui.screens.panel import Panel
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import clipped
from tracetui.ui.viewer_screen import InViewer

Value = TypeVar("Value")


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """One thing to choose. The texts are printable."""

    name: str  #: what is matched
    note: str
    value: Value
    key: str = ""  #: the key that does the same
    english: str = ""  #: matched as well, where the name is in another language


class ChoiceList(InViewer, Widget):
    """The choices that match, one of them under the cursor."""

    DEFAULT_CSS = "ChoiceList { width: 1fr; height: 12; }"

    def __init__(self) -> None:
        super().__init__()
        self.shown: Sequence[Choice[Any]] = ()
        self.cursor = 0
        self._top = 0
        self._widths = (0, 0, 0)  # of the keys, the names and the notes

    def lay_out(self, choices: Sequence[Choice[Any]]) -> None:
        """Make room for the longest of all choices, so that nothing moves while one types."""
        texts = ([choice.key, choice.name, choice.note] for choice in choices)
        widths = [max(map(cell_len, column)) for column in zip(*texts)] or [0, 0, 0]
        self._widths = (widths[0], widths[1], widths[2])

    def show(self, shown: Sequence[Choice[Any]]) -> None:
        """Show other choices, the first under the cursor."""
        self.shown, self.cursor, self._top = shown, 0, 0
        self.refresh()

    def move(self, rows: int) -> None:
        """Move the cursor, and what is shown with it."""
        self.cursor = max(0, min(self.cursor + rows, len(self.shown) - 1))
        self._scroll()

    def on_resize(self) -> None:
        self._scroll()

    def _scroll(self) -> None:
        """Scroll no further than the cursor asks for, and no lines free that a choice could take."""
        last_top = max(len(self.shown) - self.size.height, 0)
        self._top = min(max(self._top, self.cursor - self.size.height + 1), self.cursor, last_top)
        self.refresh()

    def place_at(self, y: int) -> int:
        """Return the place of the choice in a line, or -1."""
        place = self._top + y
        return place if place < len(self.shown) else -1

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        place = self.place_at(y)
        if place < 0:
            notice = translate("Nothing matches.") if y == 0 and not self.shown else ""
            return fitted([(notice, self.style_of(Role.DIM))], width)
        choice = self.shown[place]
        keys, names, notes = self._widths
        names = min(names, max(width - keys - notes - 4, width // 2))
        name = clipped(choice.name, names, self.glyphs.ellipsis)
        pieces = [
            (" " * (keys - cell_len(choice.key)) + f" {choice.key} ", self.style_of(Role.KEY)),
            (name + " " * (names - cell_len(name) + 2), self.style_of(Role.TEXT)),
            (choice.note, self.style_of(Role.DIM)),
        ]
        strip = fitted(pieces, width, self.glyphs.ellipsis)
        if place == self.cursor:
            return Strip([Segment(strip.text, self.style_of(Role.SELECTED))], width)
        return strip


class Chooser(Panel[Value]):
    """A field to type in and the choices that match; enter closes it with the value of the one chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "move(-1)", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
    ]
    KEYS = (("enter", "go"), ("esc", "close"))
    PLACEHOLDER: ClassVar[str] = ""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._choices: Sequence[Choice[Value]] = ()
        self._matching: list[int] = []
        self._offered: Choice[Value] | None = None  # in place of those that match

    @abstractmethod
    def choices(self) -> Sequence[Choice[Value]]:
        """Return all there is to choose from, in the order shown at first."""

    def body(self) -> Iterable[Widget]:
        yield Input(placeholder=wording(self.PLACEHOLDER), compact=True)
        yield ChoiceList()

    def on_mount(self) -> None:
        self.choose_anew()

    def choose_anew(self) -> None:
        """Offer what there is to choose now; the cursor stays on its choice."""
        shown = self.query_one(ChoiceList)
        under = shown.shown[shown.cursor].value if shown.shown else None
        self._choices = self.choices()
        shown.lay_out(self._choices)
        self._match(self.query_one(Input).value)
        self.point_at(under)

    def point_at(self, value: Value | None) -> None:
        """Put the cursor on a choice, where it is among those shown."""
        shown = self.query_one(ChoiceList)
        places = [place for place, choice in enumerate(shown.shown) if choice.value == value]
        if places:
            shown.move(places[0] - shown.cursor)

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(ChoiceList).styles.height = max(min(16, len(self._choices), event.size.height - 4), 3)

    def _match(self, text: str) -> None:
        self._offered = None
        self._matching = matches(
            text, [f"{choice.name} {choice.english}".rstrip() for choice in self._choices]
        )
        shown = [self._choices[place] for place in self._matching]
        self.query_one(ChoiceList).show(shown)
        count, every = f"{len(shown):,}", f"{len(self._choices):,}"
        self.set_title(translate("{count} of {all}", count=count, all=every) if text else count)

    def offer(self, choice: Choice[Value]) -> None:
        """Show one thing that is not among the choices, until other letters are typed."""
        self._offered = choice
        self.query_one(ChoiceList).show([choice])
        self.set_title("1")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._match(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose(self.query_one(ChoiceList).cursor)

    def on_click(self, event: events.Click) -> None:
        if isinstance(event.widget, ChoiceList):
            self._choose(event.widget.place_at(event.y - event.widget.region.y))

    def _choose(self, place: int) -> None:
        if self._offered is not None:
            self.chosen(self._offered.value)
        elif 0 <= place < len(self._matching):
            self.chosen(self._choices[self._matching[place]].value)

    def chosen(self, value: Value) -> None:
        """Close with the choice that was made."""
        self.dismiss(value)

    def action_move(self, rows: int) -> None:
        self.query_one(ChoiceList).move(rows)


def matches(query: str, names: Sequence[str]) -> list[int]:
    """Return places of the names that match, best first, equal ones in their order; all for an empty query.

    Every word of the query has to be in the name, in any order: best at the start of a word of it, else
    anywhere, else as letters in this order.
    """
    words = query.casefold().split()
    ranked = []
    for place, name in enumerate(names):
        rank = _rank(words, name.casefold())
        if rank is not None:
            ranked.append((rank, place))
    return [place for _, place in sorted(ranked)]


def _rank(words: Sequence[str], name: str) -> int | None:
    """Return how badly a name matches; None: not at all."""
    total = 0
    for word in words:
        if word not in name:
            if not _in_order(word, name):
                return None
            total += 10
        elif not re.search(rf"(?<![^\W_]){re.escape(word)}", name):  # at the start of no word
            total += 1
    return total


def _in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)
