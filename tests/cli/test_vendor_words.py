"""A GPU is told of in the words of GPUs: no command names what only an NPU has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.analysis.planted import events_of
from tracetui.cli import main

OF_NPUS = re.compile(r"ai[ _-]?core|\bcube\b|\bvector\b|\bcann\b", re.IGNORECASE)
COMMANDS = (
    ["summary"],
    ["summary", "--md"],
    ["gaps"],
    ["gaps", "--md"],
    ["hotspots"],
    ["hotspots", "--md"],
    ["operators"],
    ["operators", "--md"],
    ["operators", "--by", "name"],
    ["memory"],
    ["advice"],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "gpu.pt.trace.json"
    path.write_text(json.dumps(events_of("gpu", 4)))
    return path


def words_of_npus(text: str) -> list[str]:
    return [line for line in text.splitlines() if OF_NPUS.search(line)]


def test_no_command_tells_of_a_gpu_in_words_of_npus(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, *options in COMMANDS:
        capsys.readouterr()
        assert main([command, str(path), *options]) == 0
        assert words_of_npus(capsys.readouterr().out) == []


def test_no_comparison_does(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The classes of kernels are cut by what they do; JSON keeps the names that it always had."""
    for options in ([], ["--md"], ["--by", "class"]):
        capsys.readouterr()
        assert main(["compare", str(path), str(path), *options]) == 0
        text = capsys.readouterr().out
        assert words_of_npus(text) == [] and ("kernels" in text) is (options != ["--by", "class"])
    assert main(["compare", str(path), str(path), "--json"]) == 0
    assert '"aicore"' in capsys.readouterr().out
