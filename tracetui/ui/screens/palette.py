"""The command palette: what can be done now, by name. What is chosen runs on the screen below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from textual.actions import parse
from textual.screen import Screen

from tracetui.language import wording
from tracetui.ui.actions import Action, actions_of, key_label
from tracetui.ui.screens.chooser import Choice, Chooser
from tracetui.ui.viewer import Viewer


class CommandPalette(Chooser[Action]):
    """Commands named "verb: object"."""

    TITLE_OF = "Commands"
    PLACEHOLDER = "what to do"

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
        if self.is_active:
            target = self._below if value in actions_of(self.viewer.shown) else self.app
            self.dismiss(None)
            self.app.call_later(self.app.run_action, value.id, target)


def applicable(viewer: Viewer, screen: Screen[Any]) -> Iterator[Action]:
    """Yield the actions of the palette that the screen, or else the app, can do now."""
    of_screen = [(action, screen) for action in actions_of(viewer.shown)]
    for action, target in [*of_screen, *((action, viewer) for action in actions_of(None))]:
        _, name, parameters = parse(action.id)
        able = hasattr(target, f"action_{name}") or hasattr(target, f"_action_{name}")
        if action.palette and able and target.check_action(name, parameters):
            yield action
