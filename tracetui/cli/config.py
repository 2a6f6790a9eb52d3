"""The settings of a user: options that hold where the command line does not give them.

A TOML file, $XDG_CONFIG_HOME/tracetui/config.toml (else ~/.config/tracetui/config.toml). Its keys are the
names of options; a command takes those that it knows.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tracetui.cli.parser import usage_error
from tracetui.user_directories import user_directory

#: What may be set: options with a value, those of lists as often as there are values.
SETTINGS = {
    "palette": str,
    "lang": str,
    "editor": str,
    "source": list,
    "user-frame": list,
    "skip-frame": list,
}
_WORDS = {str: "a text in quotes", list: "a text in quotes, or a list of them"}


def config_path(environ: Mapping[str, str]) -> Path | None:
    """Return where the settings are: below $XDG_CONFIG_HOME, else ~/.config; None where there is neither."""
    directory = user_directory(environ, "XDG_CONFIG_HOME", ".config")
    return None if directory is None else directory / "config.toml"


class Settings:
    """What the file says, checked."""

    def __init__(self, path: Path | None = None, values: Mapping[str, Any] | None = None) -> None:
        """Check a setting. Raises UsageError where none has that name, or its value is of another kind."""
        self.path = path
        self._values = dict(values or {})
        for name, value in self._values.items():
            if name not in SETTINGS:
                raise usage_error(
                    "{path}: there is no setting {name}: they are {settings}",
                    path=path,
                    name=repr(name),
                    settings=", ".join(SETTINGS),
                )
            texts = value if SETTINGS[name] is list and isinstance(value, list) else [value]
            if not all(isinstance(text, str) for text in texts):
                raise usage_error(
                    "{path}: {name} is {words}", path=path, name=name, words=_WORDS[SETTINGS[name]]
                )

    def arguments(self, options: Collection[str], given: Collection[str]) -> list[str]:
        """Return the settings as arguments: those that a command knows and that are not given to it."""
        words: list[str] = []
        for name, value in self._values.items():
            option = f"--{name}"
            if option in options and option not in given:
                words += [f"{option}={text}" for text in (value if isinstance(value, list) else [value])]
        return words


NO_SETTINGS = Settings()


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of a user, none where there is no file. Raises UsageError where it is no TOML."""
    path = config_path(environ)
    if path is None:
        return NO_SETTINGS
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return NO_SETTINGS
    except (OSError, UnicodeDecodeError) as error:
        raise usage_error(
            "{path}: {error}", path=path, error=getattr(error, "strerror", None) or "is not UTF-8"
        ) from None
    return Settings(path, _parsed(path, text))


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        loaded: dict[str, Any] = tomllib.loads(text)
        return loaded
    except tomllib.TOMLDecodeError as error:
        raise usage_error("{path}: {error}", path=path, error=error) from None
