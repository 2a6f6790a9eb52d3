"""What the arguments mean, before any trace is looked at."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tracetui.cli.parser import COMMANDS, Request, UsageError, parse_arguments
from tracetui.units import Moment, Window


def test_a_path_asks_for_the_viewer() -> None:
    assert parse_arguments(["trace.json"]) == Request("view", "trace.json")


def test_options_of_the_viewer() -> None:
    line = "--palette 256 --ascii --no-mouse --source a t.json --source b --step 3 --window 1ms..2ms"
    request = parse_arguments(line.split())
    assert request == Request(
        "view",
        "t.json",
        step=3,
        window=Window(Moment(10**6), Moment(2 * 10**6)),
        palette="256",
        ascii=True,
        mouse=False,
        sources=(Path("a"), Path("b")),
    )


def test_options_of_a_table() -> None:
    request = parse_arguments(["gaps", "--json", "--csv", "x.csv", "--top", "0", "--force", "t.json"])
    assert request == Request("gaps", "t.json", json=True, csv="x.csv", top=0, force=True)


def test_rules_of_frames_of_every_command() -> None:
    line = "--user-frame /site/megatron/ --skip-frame a/ --skip-frame b/ t.json"
    for command in ([], *([name] for name in COMMANDS)):
        needed = {"export": ["--csv", "-"], "check": ["--max-free", "1%"]}.get("".join(command), [])
        request = parse_arguments([*command, *line.split(), *needed])
        assert (request.user_frames, request.skip_frames) == (("/site/megatron/",), ("a/", "b/"))


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_that_reads_takes_a_number_of_processes(command: list[str]) -> None:
    needed = {"export": ["--csv", "-"], "check": ["--max-free", "1%"]}.get("".join(command), [])
    assert parse_arguments([*command, "--jobs", "3", "t", *needed]).jobs == 3
    assert parse_arguments([*command, "t", *needed]).jobs is None


def test_limits() -> None:
    line = "check t --max-free 10% --max-cause host.sync=3ms --max-idle .5% --max-cause host=5% --each-step"
    request = parse_arguments(line.split())
    assert [(limit.measure, limit.share, limit.ns) for limit in request.limits] == [
        ("free", Fraction(1, 10), None),
        ("idle", Fraction(1, 200), None),
        ("host.sync", None, 3_000_000),
        ("host", Fraction(1, 20), None),
    ]
    assert request.each_step


@pytest.mark.parametrize("command", COMMANDS)
def test_a_trace_named_like_a_command(command: str) -> None:
    assert parse_arguments([f"./{command}"]) == Request("view", f"./{command}")
    assert parse_arguments(["--", command]) == Request("view", command)
    assert parse_arguments(["--ascii", command]).path == command
    with pytest.raises(UsageError, match="PATH"):
        parse_arguments([command])


def test_a_path_that_starts_with_a_dash() -> None:
    assert parse_arguments(["gaps", "--", "-t.json"]).path == "-t.json"
    assert parse_arguments(["--", "--help"]).path == "--help"


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ([], "PATH"),
        (["a", "b"], "unrecognized"),
        (["gaps", "t", "--top", "-1"], "whole number"),
        (["gaps", "t", "--top", "x"], "whole number"),
        (["gaps", "t", "--top", "٣"], "whole number"),
        (["gaps", "t", "--top", "9" * 5000], "whole number"),
        (["gaps", "t", "--step", "1.5"], "whole number"),
        *(
            (["summary", "t", "--jobs", jobs], "from 1 to 64")
            for jobs in ("0", "-1", "65", "two", "9" * 5000)
        ),
        (["gaps", "t", "--window", "5"], "a window is"),
        (["gaps", "t", "--window", "2s..1s"], "ends after it starts"),
        (["gaps", "t", "--json", "--csv", "-"], "stdout"),
        (["gaps", "t", "--json", "--md"], "stdout"),
        (["gaps", "t", "--md", "--csv", "-"], "stdout"),
        (["advice", "t", "--top", "3"], "unrecognized"),
        (["t", "--skip-frame", ""], "at least one character"),
        (["check", "t"], "no limit is given"),
        (["check", "t", "--max-cause", "host.pyton=5%"], "there are host.gc, .*, host.python, .*unlinked"),
        (["check", "t", "--max-cause", "host.python"], "CAUSE=SHARE"),
        (["check", "t", "--max-free", "10"], "a share or a time"),
        (["check", "t", "--max-free", "110%"], "at most 100%"),
        (["export", "t"], "--csv"),
        (["export", "t", "--csv", "x", "--json"], "unrecognized"),
        (["t", "--palette", "pink"], "palette"),
        (["t", "--asc"], "unrecognized"),
        (["summary", "t", "--no-mouse"], "unrecognized"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments: list[str], about: str) -> None:
    with pytest.raises(UsageError, match=about) as raised:
        parse_arguments(arguments)
    assert "\n" not in str(raised.value)
    assert "--help" in str(raised.value) or "stdout" in about


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)]
)
def test_help_fits_a_terminal_of_80_columns(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as done:
        parse_arguments(arguments)
    assert done.value.code == 0
    out, err = capsys.readouterr()
    assert not err
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 80
