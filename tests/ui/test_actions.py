"""The registry: one key does one thing, everything in it can be done, and the README can be made of it."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.actions import parse

from tracetui.ui.actions import ACTIONS, GROUPS, SCREENS, actions_of, bindings, key_label, keys_markdown
from tracetui.ui.app import TraceApp
from tracetui.ui.screens.timeline import TimelineScreen


@pytest.mark.parametrize("screen", SCREENS)
def test_a_key_does_one_thing_on_a_screen(screen: str) -> None:
    keys = Counter(key for action in actions_of(screen) for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_key_does_one_thing_everywhere() -> None:
    keys = Counter(key for action in actions_of(None) for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_action_of_the_timeline_and_the_app_has_its_method() -> None:
    for owner, screen in ((TimelineScreen, "timeline"), (TraceApp, None)):
        for action in actions_of(screen):
            method = f"action_{parse(action.id)[1]}"
            if action.id == "open_editor" or action.screens != ("timeline",):
                continue
            assert hasattr(owner, method), f"{owner.__name__} has no {method}"


def test_titles_are_a_verb_and_an_object() -> None:
    for action in ACTIONS:
        verb, _, thing = action.title.partition(": ")
        assert verb and thing, action.title
        assert action.group in GROUPS
        assert set(action.screens) <= {*SCREENS, "statistics"}


def test_the_table_for_the_readme_has_every_action() -> None:
    lines = keys_markdown().splitlines()
    digits = [action.id.partition("(")[0] for action in ACTIONS if action.keys[0].isdigit()]
    assert len(lines) == 2 + len(GROUPS) + len(ACTIONS) - len(digits) + len(set(digits))
    assert all(line.count("|") == 5 for line in lines)
    assert any("`x`" in line and "worst gap" in line for line in lines)
    assert any(line.startswith("| `1 - 9` |") for line in lines)


def test_keys_are_shown_as_they_are_typed() -> None:
    assert [key_label(key) for key in ("left_square_bracket", "question_mark", "x")] == ["[", "?", "x"]


def test_bindings_are_not_taken_from_terminals_and_multiplexers() -> None:
    eaten = {"ctrl+a", "ctrl+b", "ctrl+s", "ctrl+q", "ctrl+h", "ctrl+i", "ctrl+m", "shift+enter"}
    for screen in (*SCREENS, None):
        for binding in bindings(screen):
            keys = set(binding.key.split(","))
            alone = keys & eaten or {key for key in keys if key.startswith(("alt+", "f1", "f2"))}
            assert not alone or keys - alone, f"{binding.action} has only {keys}"
