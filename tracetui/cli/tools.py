"""Commands as tools of agents: their arguments as a JSON schema, and a call as a command line.

A tool reads what lies below directories that were named at the start, and nothing else; it takes none of the
options that write, and none that reach another machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tracetui.cli.command import Command

Schema = dict[str, Any]

_LONGEST = 4096  #: characters of one value
_MOST_VALUES = 64  #: values of an option that may be repeated
#: Commands that are tools; they answer in JSON and change nothing.
_ANSWERING = frozenset(
    {
        *("advice", "check", "compare", "doctor", "experts", "gaps", "hotspots", "memory", "operators"),
        *("phases", "pipeline", "ranks", "scheduler", "show", "sql", "summary", "whatif"),
    }
)
#: Arguments that name files to be read.
_READ = frozenset({"path", "paths", "base", "against", "baseline", "sched", "base_sched", "sources"})
#: Arguments that name none.
_PLAIN = frozenset(
    {
        *("all_steps", "balance", "base_step", "base_window", "by", "each_step", "export", "fixes", "host"),
        *("limits", "limits_of_causes", "limits_of_jobs", "limits_of_memory", "no_jitter", "only", "query"),
        *("regressions", "row", "same_exports", "sched_offset", "shapes", "skip_frames", "step", "tables"),
        *("timeout", "top", "trusted", "user_frames", "window"),
    }
)
#: Arguments that change nothing in JSON, by command.
_WITHOUT_EFFECT = {
    "compare": frozenset({"by", "top"}),
    **dict.fromkeys(
        ("experts", "phases", "pipeline", "ranks", "sql", "summary", "whatif"), frozenset({"top"})
    ),
}
_WHOLE_NUMBERS = frozenset({"base_step", "sched_offset", "step", "top"})
_FULL: Schema = {
    "type": "boolean",
    "default": False,
    "description": "the whole answer, which may be long; without it some 2,000 tokens, and `left_out` says "
    "what was cut",
}


class ToolRefusal(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """A call that is not made; `str()` says why."""


class Tool(NamedTuple):
    """A command that answers in JSON, as agents call it."""

    command: Command
    arguments: Mapping[str, argparse.Action]  #: by the name that agents use: `path`, `all_steps`

    @property
    def description(self) -> str:
        """What it is for: the first paragraph of the command's help."""
        return self.command.description.partition("\n\n")[0]

    def input_schema(self) -> Schema:
        """Return the JSON schema of a call's arguments."""
        properties = {name: _schema_of(action) for name, action in self.arguments.items()}
        needed = [name for name, action in self.arguments.items() if action.required]
        return {
            "type": "object",
            "properties": {**properties, "full": _FULL},
            "required": needed,
            "additionalProperties": False,
        }

    def command_line(self, call: Mapping[str, Any], roots: Sequence[Path]) -> list[str]:
        """Return the words after `tracetui` that make a call.

        Raises ToolRefusal where an argument is none of the tool's, or leads out of the directories.
        """
        unknown = sorted(call.keys() - self.arguments.keys() - {"full"})
        if unknown:
            raise ToolRefusal(f"{self.command.name} has no argument {unknown[0][:80]!r}")
        options: list[str] = []
        words: list[str] = []
        for name, action in self.arguments.items():
            for value in _values(name, action, call.get(name)):
                text = str(_inside(value, roots)) if action.dest in _READ else value
                if not action.option_strings:
                    words.append(text)
                else:
                    option = action.option_strings[-1]
                    options.append(option if action.nargs == 0 else f"{option}={text}")
        is_full = _flag("full", call.get("full"))
        return [self.command.name, "--json", *([] if is_full else ["--brief"]), *options, "--", *words]


def tools_of(commands: Sequence[Command]) -> dict[str, Tool]:
    """Return the tools by name: of the given commands those that answer and change nothing."""
    return {
        command.name: Tool(command, dict(_offered(command)))
        for command in commands
        if command.name in _ANSWERING
    }


def _offered(command: Command) -> Iterator[tuple[str, argparse.Action]]:
    for action in command.parser()._actions:
        if action.dest in (_READ | _PLAIN) - _WITHOUT_EFFECT.get(command.name, frozenset()):
            option = action.option_strings[-1] if action.option_strings else action.dest
            yield option.lstrip("-").replace("-", "_"), action


def _schema_of(action: argparse.Action) -> Schema:
    value: Schema
    if action.nargs == 0:
        value = {"type": "boolean"}
    elif action.dest in _WHOLE_NUMBERS:
        value = {"type": "integer"}
    elif action.dest == "timeout":
        value = {"type": "number"}
    else:
        value = {"type": "string"}
    if action.choices is not None:
        value["enum"] = list(action.choices)
    if _is_repeated(action):
        value = {"type": "array", "items": value}
    return {**value, "description": (action.help or "").replace("%%", "%")}


def _is_repeated(action: argparse.Action) -> bool:
    return action.nargs == "+" or action.default == ()


def _values(name: str, action: argparse.Action, given: Any) -> list[str]:
    """Return the values of an argument as text; of a flag that is set, one."""
    if given is None:
        if action.required:
            raise ToolRefusal(f"the argument {name!r} is missing")
        return []
    if action.nargs == 0:
        return [""] if _flag(name, given) else []
    values = given if isinstance(given, list) and _is_repeated(action) else [given]
    if len(values) > _MOST_VALUES:
        raise ToolRefusal(f"{name!r} has at most {_MOST_VALUES} values")
    return [_text(name, value) for value in values]


def _flag(name: str, value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise ToolRefusal(f"{name!r} is true or false")


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ToolRefusal(f"{name!r} is a text or a number")
    text = str(value)
    if len(text) > _LONGEST:
        raise ToolRefusal(f"{name!r} has at most {_LONGEST:,} characters")
    if "\0" in text:
        raise ToolRefusal(f"{name!r} holds a null character")
    return text


def _inside(value: str, roots: Sequence[Path]) -> Path:
    """Return a path that is read, with its links followed; a relative one is below the first directory."""
    try:
        path = (roots[0] / value).resolve()
    except (OSError, RuntimeError, ValueError):  # links that lead in a circle
        raise ToolRefusal(f"{value[:200]!r} is no path") from None
    if not any(path == root or root in path.parents for root in roots):
        named = ", ".join(map(str, roots))
        raise ToolRefusal(f"{value[:200]!r} is not below the directories that this server may read: {named}")
    return path
