"""The settings of a user stand where the command line says nothing, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracetui.cli import main
from tracetui.cli.command_line import parse_arguments
from tracetui.cli.commands import COMMANDS, VIEW
from tracetui.cli.config import NO_SETTINGS, SETTINGS, Settings, config_path, read_settings
from tracetui.cli.parser import UsageError


def written(directory: Path, text: str) -> dict[str, str]:
    """The environment of a user with these settings."""
    path = config_path({"XDG_CONFIG_HOME": str(directory)})
    assert path is not None
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return {"XDG_CONFIG_HOME": str(directory)}


def test_settings_are_below_the_home_directory() -> None:
    assert config_path({"HOME": "/home/me"}) == Path("/home/me/.config/tracetui/config.toml")
    assert config_path({"HOME": "/home/me", "XDG_CONFIG_HOME": "/etc/me"}) == Path(
        "/etc/me/tracetui/config.toml"
    )
    assert config_path({"XDG_CONFIG_HOME": "relative"}) is None
    assert read_settings({}) is NO_SETTINGS


def test_each_command_takes_what_it_knows(tmp_path: Path) -> None:
    text = 'palette = "256,light"\neditor = "vim -R"\nsource = "/src"\nuser-frame = ["/a/", "-b"]\n'
    settings = read_settings(written(tmp_path, text))
    _, viewer = parse_arguments(["t.json"], settings)
    assert (viewer.palette, viewer.editor, viewer.sources) == (("256", "light"), "vim -R", (Path("/src"),))
    assert viewer.user_frames == ("/a/", "-b")
    _, hotspots = parse_arguments(["hotspots", "t.json"], settings)
    assert hotspots.user_frames == ("/a/", "-b") and not hasattr(hotspots, "palette")


@pytest.mark.parametrize("given", [["--user-frame", "/mine/"], ["--user-frame=/mine/"]])
def test_an_option_replaces_the_setting(given: list[str]) -> None:
    settings = Settings(Path("c"), {"user-frame": ["/a/"], "palette": "light"})
    _, request = parse_arguments([*given, "t.json", "--palette", "auto"], settings)
    assert (request.user_frames, request.palette) == (("/mine/",), ("auto", "auto"))
    _, other = parse_arguments(["--skip-frame=--user-frame", "--", "--user-frame"], settings)
    assert other.user_frames == ("/a/",), "one is a value, the other a path"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour = 1", "there is no setting 'colour'"),
        ("palette = 1", "palette is a text in quotes"),
        ("source = [1]", "source is a text in quotes, or a list of them"),
        ("palette = x", "line 1"),
        ('palette = "purple"', "a palette is one of"),
        ('"\\u001b]0;x" = 1', "there is no setting"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_its_file(
    tmp_path: Path,
    text: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in written(tmp_path, text).items():
        monkeypatch.setenv(name, value)
    assert main(["nowhere.json"]) == 2
    errors = capsys.readouterr().err
    assert str(tmp_path) in errors and sentence in errors
    assert errors.count("\n") == 1 and "\x1b" not in errors


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    environ = written(tmp_path, "")
    (tmp_path / "tracetui" / "config.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"config\.toml: is not UTF-8"):
        read_settings(environ)


def test_every_setting_is_an_option_of_some_command() -> None:
    options = {name for command in (VIEW, *COMMANDS) for name in command.parser().valued}
    assert {f"--{name}" for name in SETTINGS} <= options
