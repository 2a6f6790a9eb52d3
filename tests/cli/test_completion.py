"""What shells are told to complete."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import ROOT
from tracetui.cli import main
from tracetui.cli.commands import COMMANDS
from tracetui.cli.completion import SHELLS, completion, whole_parser

_ASK = """
source /dev/stdin
shopt -s progcomp
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_tracetui 2> /dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_all_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", shell]) == 0
    script = capsys.readouterr().out
    for command in COMMANDS:
        assert command.name in script
        for option in command.parser().valued:
            assert option.lstrip("-") in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["su"], {"summary"}),
        (["samp"], {"samples"}),
        (["compare", "--by", "ca"], {"cause"}),
        (["summary", "samples/mo"], {"samples/moba"}),
        (["digest", "-o", "samples/mob"], {"samples/moba"}),
        (["gaps", "--to"], {"--top"}),
    ],
    ids=" ".join,
)
def test_bash_completes_commands_options_and_files(words: list[str], expected: set[str]) -> None:
    script = completion("bash", whole_parser())
    asked = ["bash", "--norc", "-c", _ASK, "bash", "tracetui", *words]
    done = subprocess.run(asked, input=script, text=True, capture_output=True, cwd=ROOT, check=True)
    assert set(done.stdout.split()) == expected


def test_a_shell_that_is_not_known_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", "csh"]) == 2
    assert "bash" in capsys.readouterr().err
