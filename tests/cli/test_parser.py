"""What the arguments mean, before any trace is looked at."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tracetui.cli import main
from tracetui.cli.command import Command
from tracetui.cli.command_line import parse_arguments
from tracetui.cli.commands import COMMANDS, VIEW
from tracetui.cli.parser import Parser, Request, UsageError
from tracetui.places import SharedPlace
from tracetui.units import Moment, Window

#: of one trace
NAMES = tuple(
    command.name
    for command in COMMANDS
    if [action.dest for action in command.parser()._get_positional_actions()][:1] == ["path"]
)
#: what a command cannot do without, beside its trace
NEEDED = {
    "export": ["--csv", "-"],
    "check": ["--max-free", "1%"],
    "report": ["-o", "-"],
    "sql": ["--tables"],
    "show": ["gap=NPU:1"],
}


def test_a_path_asks_for_the_viewer() -> None:
    command, request = parse_arguments(["trace.json"])
    assert command is VIEW
    assert request.path == "trace.json"
    assert request.cache and request.mouse
    assert request.palette == ("auto", "auto")
    assert (request.sources, request.jobs, request.window) == ((), None, None)


def test_a_place_is_read_or_refused_in_one_sentence() -> None:
    assert parse_arguments(["t", "--at", "gaps@0.5s..1s"])[1].place == SharedPlace(
        "gaps", span=(500_000_000, 10**9)
    )
    with pytest.raises(UsageError, match=r"argument --at: the time of a place is START\.\.END, like"):
        parse_arguments(["t", "--at", "gaps@1"])


def test_options_of_the_viewer() -> None:
    line = "--palette 256 --ascii --no-mouse --source a t.json --source b --step 3 --window 1ms..2ms"
    command, request = parse_arguments(line.split())
    assert (command, request.path) == (VIEW, "t.json")
    assert (request.palette, request.ascii, request.mouse) == (("256", "auto"), True, False)
    assert request.sources == (Path("a"), Path("b"))
    assert (request.step, request.window) == (3, Window(Moment(10**6), Moment(2 * 10**6)))


def test_options_of_a_table() -> None:
    command, request = parse_arguments(
        ["gaps", "--json", "--csv", "x.csv", "--top", "0", "--force", "t.json"]
    )
    assert (command.name, request.path) == ("gaps", "t.json")
    assert (request.json, request.md, request.csv, request.top, request.force) == (
        True,
        False,
        "x.csv",
        0,
        True,
    )


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_command_that_reads_takes_rules_of_frames_and_a_number_of_processes(name: str) -> None:
    words, needed = [name] * bool(name), NEEDED.get(name, [])
    line = "--user-frame /site/megatron/ --skip-frame a/ --skip-frame b/ --jobs 3 t.json"
    _, request = parse_arguments([*words, *line.split(), *needed])
    assert (request.user_frames, request.skip_frames) == (("/site/megatron/",), ("a/", "b/"))
    assert request.jobs == 3
    assert parse_arguments([*words, "t", *needed])[1].jobs is None


@pytest.mark.parametrize("name", NAMES)
def test_options_may_stand_before_a_command(name: str) -> None:
    for line in (
        f"--no-cache {name} --jobs 3 t",
        f"--no-cache --jobs 3 {name} t",
        f"--jobs=3 --no-cache {name} t",
        f"{name} --no-cache t --jobs 3",
    ):
        command, request = parse_arguments([*line.split(), *NEEDED.get(name, [])])
        assert (command.name, request.path, request.cache, request.jobs) == (name, "t", False, 3)
    command, request = parse_arguments(["--top", "5", "--csv", name, "gaps", "t"])
    assert (command.name, request.csv, request.top) == ("gaps", name, 5)
    with pytest.raises(UsageError, match=rf"--no-mouse; see tracetui {name} --help"):
        parse_arguments(["--no-mouse", name, "t", *NEEDED.get(name, [])])


def test_a_command_is_a_module_and_an_entry_of_the_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def add_arguments(parser: Parser) -> None:
        parser.add_trace()
        parser.add_argument("--loudly", action="store_true")

    def run(request: Request) -> int:
        return 7 if request.loudly else 8

    sing = Command("sing", "PATH", "the trace as a song", "Sing a trace.", add_arguments, run)
    monkeypatch.setattr("tracetui.cli.commands.COMMANDS", (*COMMANDS, sing))
    assert (main(["sing", "t"]), main(["--no-cache", "--loudly", "sing", "t"])) == (8, 7)
    assert main(["--help"]) == main(["sing", "--help"]) == 0
    out = capsys.readouterr().out
    assert "  tracetui sing PATH      the trace as a song\n" in out
    assert "Sing a trace." in out


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        (["sql", "t", "--json", "select 1"], "query", "select 1"),
        (["sql", "t", "--top", "5", "-- a comment\nselect 1", "--ascii"], "query", "-- a comment\nselect 1"),
        (["report", "t", "-o", "-", "other"], "other", "other"),
        (["report", "t", "--output=-", "--", "--other"], "other", "--other"),
        (["t", "--step", "5", "other"], "more_paths", ["other"]),
    ],
)
def test_options_may_stand_between_what_is_no_option(line: list[str], attribute: str, value: object) -> None:
    _, request = parse_arguments(line)
    assert (request.path, getattr(request, attribute)) == ("t", value)


def test_an_option_whose_value_is_missing_takes_no_path() -> None:
    with pytest.raises(UsageError, match="expected one argument"):
        parse_arguments(["gaps", "t", "--csv"])


def test_an_option_takes_a_negative_value_as_its_value() -> None:
    with pytest.raises(UsageError, match="argument --window: a time is a number with a unit"):
        parse_arguments(["gaps", "t", "--window", "-5ms.."])
    _, request = parse_arguments(["gaps", "t", "--sched-offset", "-5", "--csv", "-"])
    assert (request.sched_offset, request.csv) == (-5, "-")


def test_limits() -> None:
    line = "check t --max-free 10% --max-cause host.sync=3ms --max-idle .5% --max-cause host=5% --each-step"
    _, request = parse_arguments(line.split())
    limits = (*request.limits, *request.limits_of_causes)
    assert [(limit.measure, limit.share, limit.ns) for limit in limits] == [
        ("free", Fraction(1, 10), None),
        ("idle", Fraction(1, 200), None),
        ("host.sync", None, 3_000_000),
        ("host", Fraction(1, 20), None),
    ]
    assert request.each_step


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_named_like_a_command(name: str) -> None:
    for arguments in ([f"./{name}"], ["--", name], ["--ascii", "--", name], ["t", "--source", name]):
        command, request = parse_arguments(arguments)
        assert command is VIEW
        assert request.path in (f"./{name}", name, "t")
    for arguments in ([name], ["--ascii", name]):
        with pytest.raises(UsageError, match=f"PATH.*; see tracetui {name} --help"):
            parse_arguments(arguments)


def test_a_path_that_starts_with_a_dash() -> None:
    assert parse_arguments(["gaps", "--", "-t.json"])[1].path == "-t.json"
    assert parse_arguments(["--", "--help"])[1].path == "--help"


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ([], "PATH"),
        (["gaps", "a", "b"], "unrecognized"),
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
        (["check", "t", "--max-cause", "host.pyton=5%"], "there are host.gc, .*, host.python, .*unlinked"),
        (["check", "t", "--max-cause", "host.python"], "CAUSE=SHARE"),
        (["check", "t", "--max-free", "10"], "a share or a time"),
        (["check", "t", "--max-free", "110%"], "at most 100%"),
        (["export", "t"], "--csv"),
        (["export", "t", "--csv", "x", "--json"], "unrecognized"),
        (["t", "--palette", "pink"], "palette"),
        (["t", "--asc"], "unrecognized"),
        (["summary", "t", "--no-mouse"], "unrecognized"),
        (["comapre", "a", "b", "--json"], r"no command or file comapre; did you mean tracetui compare\? See"),
        (["--ascii", "sumary", "t"], "did you mean tracetui summary"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments: list[str], about: str) -> None:
    with pytest.raises(UsageError, match=about) as raised:
        parse_arguments(arguments)
    assert "\n" not in str(raised.value)
    assert "--help" in str(raised.value) or "stdout" in about


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name, "--help"] for name in (*NAMES, "compare"))]
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


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_an_option_alone_makes_no_parser_of_any_command(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []
    make_parser = Command.parser

    def parser(command: Command, epilog: str | None = None) -> Parser:
        made.append(command.name)
        return make_parser(command, epilog)

    monkeypatch.setattr(Command, "parser", parser)
    with pytest.raises(SystemExit):
        parse_arguments([option])
    assert capsys.readouterr().out
    assert made == [""]
