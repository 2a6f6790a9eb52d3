"""Causes and advice in Chinese: complete, with the same numbers, and laid out by cells."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import tracetui
from tracetui.analysis import advice as rules
from tracetui.analysis.advice import find_advice
from tracetui.analysis.idle.cause import Cause
from tracetui.cli import main
from tracetui.cli.terminal import locale_language
from tracetui.export.chinese.advice import ADVICE
from tracetui.export.chinese.causes import CAUSES
from tracetui.export.language import CHINESE, ENGLISH, cause_facts, choose_language
from tracetui.export.sentences.advice import advice_words
from tracetui.export.text import cell_width, wrap_sentence
from tracetui.language import counted, in_english, set_language

#: What a text may ask for beside its evidence: how counts are said, and the causes that there are times of.
GIVEN = {
    "times",
    "causes",
    "before",
    "devices",
    "nobody",
    "of",
    "queues",
    "remedy",
    "saves",
    "waiting",
    "where",
    "who",
}
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def chinese() -> Iterator[None]:
    choose_language(CHINESE)
    yield
    choose_language(ENGLISH)


def nodes() -> Iterator[ast.AST]:
    """All of the code of the rules."""
    for path in Path(str(rules.__file__)).parent.glob("*.py"):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def calls() -> Iterator[dict[str, ast.expr]]:
    """The arguments of every piece of advice that the rules may give."""
    for node in nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Advice":
            yield {str(keyword.arg): keyword.value for keyword in node.keywords}


def test_every_cause_and_every_rule_is_told() -> None:
    assert CAUSES.keys() == {cause.label for cause in Cause}
    arguments = (node for node in nodes() if isinstance(node, ast.keyword) and node.arg == "id")
    ids = {argument.value.value for argument in arguments if isinstance(argument.value, ast.Constant)}
    assert ids and ids <= ADVICE.keys()
    from tracetui.analysis.advice.device import _CONVERSIONS

    assert ADVICE.keys() == ids | {rule_id for rule_id, *_ in _CONVERSIONS}


def test_a_text_asks_for_nothing_but_its_evidence() -> None:
    for call in calls():
        evidence = call["evidence"]
        if isinstance(call["id"], ast.Constant) and isinstance(evidence, ast.Dict):
            keys = {key.value for key in evidence.keys if isinstance(key, ast.Constant)}
            words = ADVICE[str(call["id"].value)]
            assert {name for _, name, _, _ in Formatter().parse(words.text) if name} <= keys | GIVEN, (
                words.title
            )


def test_where_english_names_an_operator_so_does_chinese() -> None:
    for cause in Cause:
        words = CAUSES[cause.label]
        assert ("{}" in words.doing) == ("{}" in cause.facts.doing)
        assert bool(words.doing_unknown) == bool(cause.facts.doing_unknown)


@pytest.mark.usefixtures("chinese")
def test_advice_keeps_its_numbers(samples: Path) -> None:
    analysis = tracetui.load(samples / "moba" / "trace_view.json")
    for advice in find_advice(analysis):
        words = advice_words(advice)
        assert HAN.search(words.title) and HAN.search(words.text) and HAN.search(words.rule)
        assert "{" not in words.text
    assert HAN.search(cause_facts(Cause.OPERATOR).brief) and cause_facts(Cause.SYNC).label == "host.sync"


def test_one_is_told_as_several_where_a_language_says_both_alike() -> None:
    try:
        set_language({"{count} gaps": "{count} 个间隙", "1 step": "一个 step", "{count} steps": "{count} 个"})
        assert counted(1, "1 gap", "{count} gaps") == "1 个间隙"
        assert counted(1, "1 step", "{count} steps") == "一个 step"
        with in_english():
            assert counted(1, "1 gap", "{count} gaps") == "1 gap"
    finally:
        set_language({})
    assert [counted(n, "1 gap", "{count} gaps") for n in (1, 2000)] == ["1 gap", "2,000 gaps"]
    assert [counted(n, "1 in {run}", "{count} in {run}", run="A") for n in (1, 2)] == ["1 in A", "2 in A"]


@pytest.mark.parametrize("command", ["advice", "summary"])
def test_text_and_markdown_are_chinese_and_documents_are_not(
    command: str, samples: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = str(samples / "moba" / "trace_view.json")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    try:
        for form, expected in ((["--md"], True), ([], True), (["--json"], False)):
            assert main([command, trace, *form]) == 0
            out = capsys.readouterr().out
            assert bool(HAN.search(out)) == expected, form
            if not expected:
                json.loads(out)
            else:
                assert form or all(cell_width(line) <= 80 for line in out.splitlines())
                assert "| time |" not in out and "| share |" not in out
    finally:
        choose_language(ENGLISH)


def test_english_is_there_on_demand(
    samples: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for english in (["--lang", "en"], ["--ascii"]):
        assert main(["advice", str(samples / "moba" / "trace_view.json"), *english]) == 0
        assert not HAN.search(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_TW", "LANG": "de_DE"}, "zh"),
        ({"LC_ALL": "", "LANG": "en_US.UTF-8"}, "en"),
    ],
)
def test_the_locale_says_the_language(environ: dict[str, str], language: str) -> None:
    assert locale_language(environ) == language


@pytest.mark.parametrize("width", [20, 23, 40])
def test_lines_break_between_wide_characters(width: int) -> None:
    text = "设备空闲 2.32 ms，等待（host）下发；done 完成。"
    lines = wrap_sentence(text, width, "  ", "    ")
    assert all(cell_width(line) <= width for line in lines)
    assert lines[0].startswith("  ") and all(line.startswith("    ") for line in lines[1:])
    assert not any(line.strip()[0] in "，。；）" for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
