"""The command palette: what can be done now, by name. What is chosen runs on the screen below.

A place, or a command line that opens one, can be pasted in place of a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from textual.actions import parse
from textual.screen import Screen

from tracetui.language import wording
from tracetui.places import SharedPlace
from tracetui.ui.actions import GO, Action, actions_of, key_label
from tracetui.ui.messages import PlaceAsked
from tracetui.ui.place_opening import place_in
from tracetui.ui.screens.chooser import Choice, Chooser
from tracetui.ui.viewer import Viewer

_TO_PLACE = Action("open_place", (), GO, "go: to this place", "What the place that is typed here shows")


class CommandPalette(Chooser[Action]):
    """Commands named "verb: object"."""

    TITLE_OF = "Commands"
    PLACEHOLDER = "what to do"

    _place: SharedPlace | None = None  # what is typed

    def _match(self, text: str) -> None:
        self._place = place_in(text)
        if self._place is None:
            super()._match(text)
            return
        self.offer(Choice(wording(_TO_PLACE.title), wording(_TO_PLACE.help), _TO_PLACE))

    def choices(self) -> Sequence[Choice[Action]]:
        choices: list[Choice[Action]] = []
        taken: set[str] = set()
        self._below = self.app.screen_stack[-2]
        for action in applicable(self.viewer, self._below):
            free = [key_label(key) for key in action.keys if key not in taken]
            title = wording(action.title)
            english = action.title if title != action.title else ""
            choices.append(Choice(title, wording(action.help), action, "".join(free[:1]), english))
            taken.update(action.keys)
        return choices

    def chosen(self, value: Action) -> None:
        if value is _TO_PLACE and self._place is not None and self.is_active:
            self.dismiss(None)
            self.app.post_message(PlaceAsked(self._place))
        elif self.is_active:
            target = self._below if value in actions_of(self.viewer.shown) else self.app
            self.dismiss(None)
            self.app.call_later(self.app.run_action, value.id, target)


def applicable(viewer: Viewer, screen: Screen[Any]) -> Iterator[Action]:
    """Yield the actions of the palette that the screen, or else the app, can do now."""
    of_screen = [(action, screen) for action in actions_of(viewer.shown)]
    for action, target in [*of_screen, *((action, viewer) for action in actions_of(None))]:
        _, name, parameters = parse(action.id)
        is_offered = action.palette and action.id not in viewer.refused
        if is_offered and target.check_action(name, parameters):
            yield action
