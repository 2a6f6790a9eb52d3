"""The registry: one key does one thing, everything in it can be done, and the documents can be made of it."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest
from textual.actions import parse
from textual.binding import Binding

from tools.documents.generated import keys_markdown
from tracetui.ui.actions import ACTIONS, GROUPS, actions_of, bindings, key_label
from tracetui.ui.app import TraceApp
from tracetui.ui.job_app import JobApp
from tracetui.ui.screen_specs import SCREENS, ScreenScope
from tracetui.ui.screens.statistics import StatisticsPanel


@pytest.mark.parametrize("screen", SCREENS)
def test_a_key_does_one_thing_on_a_screen(screen: str) -> None:
    keys = Counter(key for action in actions_of(screen) for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_key_does_one_thing_everywhere() -> None:
    keys = Counter(key for action in actions_of(None) for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("screen", [*SCREENS, "statistics", None])
def test_every_action_has_a_method_that_takes_its_arguments(screen: str | None) -> None:
    """Of the screen it works on, or of the app, which hands some on to the screen in front."""
    owners: list[type] = [TraceApp]
    if screen == "statistics":
        owners.append(StatisticsPanel)
    elif screen is not None:
        spec = SCREENS[screen]
        owners.append(spec.screen_class)
        owners += [JobApp] if spec.scope is ScreenScope.JOB else []
    actions = list(actions_of(screen))
    assert actions
    for action in actions:
        _, name, arguments = parse(action.id)
        methods = [getattr(owner, f"action_{name}", None) for owner in owners]
        assert any(methods), f"{screen} has no action_{name}"
        for method in filter(None, methods):
            inspect.signature(method).bind(None, *arguments)


def test_titles_are_a_verb_and_an_object() -> None:
    for action in ACTIONS:
        verb, _, thing = action.title.partition(": ")
        assert verb and thing, action.title
        assert action.group in GROUPS
        assert set(action.screens) <= {*SCREENS, "statistics"}


def test_the_table_for_the_readme_has_every_action() -> None:
    lines = keys_markdown().splitlines()
    digits = [(action.id.partition("(")[0], action.screens) for action in ACTIONS if action.keys[0].isdigit()]
    assert len(lines) == 2 + len(GROUPS) + len(ACTIONS) - len(digits) + len(set(digits))
    assert all(line.replace("\\|", "").count("|") == 5 for line in lines)
    assert any("`x`" in line and "worst gap" in line for line in lines)
    assert any(line.startswith("| `1 - 9` |") for line in lines)


def test_keys_are_shown_as_they_are_typed() -> None:
    assert [key_label(key) for key in ("left_square_bracket", "question_mark", "x")] == ["[", "?", "x"]


def test_bindings_are_not_taken_from_terminals_and_multiplexers() -> None:
    eaten = {"ctrl+a", "ctrl+b", "ctrl+s", "ctrl+q", "ctrl+h", "ctrl+i", "ctrl+m", "shift+enter"}
    for screen in (*SCREENS, None):
        for binding in bindings(screen):
            assert isinstance(binding, Binding)
            keys = set(binding.key.split(","))
            alone = keys & eaten or {key for key in keys if key.startswith(("alt+", "f1", "f2"))}
            assert not alone or keys - alone, f"{binding.action} has only {keys}"
