"""What is said of advice, causes, jobs, memory and comparisons in Chinese: complete, laid out by cells."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from string import Formatter
from types import CodeType
from typing import Any

import pytest
from rich.cells import cell_len
from rich.style import Style

import tracetui
from simulator.generate import main as generate
from simulator.job.directory import write_job
from simulator.memory import write_run
from tests.export.test_language import GIVEN
from tests.export.wordings import PACKAGE, formatted, missing
from tests.job.planted import truth
from tracetui.analysis.advice import Advice
from tracetui.analysis.advice.model import Figures
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.cli import main
from tracetui.comparison.compared_row import ComparedRow, RowScale
from tracetui.comparison.tally import NOTHING
from tracetui.export.chinese.advice import ADVICE, FIGURES, PARTS
from tracetui.export.chinese.words import TABLES, WORDS
from tracetui.export.language import CHINESE, ENGLISH, SHOWN_FACTS, cause_facts, choose_language
from tracetui.export.sentences.advice import advice_answer, advice_title, advice_words, figure_in_language
from tracetui.export.sentences.advice_english import ENGLISH_ADVICE, english_words
from tracetui.export.sentences.comparison import collective_name
from tracetui.export.sentences.memory import NO_TIMES
from tracetui.export.text import cell_width
from tracetui.export.trace.advice_text import _advice
from tracetui.language import (
    in_english,
    names,
    restate,
    state,
    statement_document,
    statement_of,
    translate,
    without_stop,
)
from tracetui.siblings.beside import Refusal
from tracetui.trace.clean import printable, shortened
from tracetui.ui.actions import ACTIONS, merge_actions
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Line, compose_sentence
from tracetui.ui.drawing.strips import flowing
from tracetui.ui.stories.advice_story import AdviceStory
from tracetui.ui.stories.gap_story import GapStory
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.stories.nested_story import NestedStory
from tracetui.ui.stories.sync_story import SyncStory

PALETTE = Palette("true")
#: Words of English sentences, where they stand alone: not in names, code, columns and paths.
ENGLISH_WORDS = re.compile(
    r"(?<![\w:./(`=-])(?:an?|the|of|at|in|if|is|are|was|were|and|or|to|for|with|from|by|on|that|than|its?|no|"
    r"not|more|less|each|all|until|after|before|between|while|when|which|most|least|first|step's)"
    r"(?![\w:.()=/…-])",
    re.IGNORECASE,
)
HAN = re.compile(r"[\u4e00-\u9fff]")
#: Half-width punctuation right after a Chinese character.
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:!?]|[\u4e00-\u9fff]\.(?!\w)")


@pytest.fixture
def chinese() -> Iterator[None]:
    choose_language(CHINESE)
    yield
    choose_language(ENGLISH)


@pytest.fixture(scope="module")
def moba(samples: Path) -> Analysis:
    return tracetui.load(samples / "moba" / "trace_view.json")


def fields(template: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(template) if field and field.isidentifier()}


@cache
def constants() -> frozenset[str]:
    """All texts in the code of the program, as it is compiled."""
    found: set[str] = set()
    left: list[object] = [
        SourceFileLoader(path.stem, str(path)).get_code(path.stem)
        for path in PACKAGE.rglob("*.py")
        if "chinese" not in path.relative_to(PACKAGE).parts
    ]
    while left:
        constant = left.pop()
        if isinstance(constant, str):
            found.add(constant)
        elif isinstance(constant, CodeType):
            left += constant.co_consts
        elif isinstance(constant, (tuple, frozenset)):
            left += constant
    return frozenset(found)


# -- the tables ----------------------------------------------------------------------------------------


def test_nothing_is_missing() -> None:
    """Where this fails, the lines name what `tracetui/export/chinese` lacks, which is shown in English."""
    assert "\n".join(missing()) == ""


def test_no_sentence_of_the_viewer_has_its_values_in_it_already() -> None:
    """A catalogue has templates: `translate` fills them in."""
    assert formatted() == []


def test_what_is_missing_is_shown_in_english() -> None:
    evidence: Figures = {"count_per_step": 2, "share_of_computing": 0.5, "total_ns": 7, "novel_ns": 7}
    advice = Advice("casts", 5, evidence)
    words = dict(WORDS)
    try:
        choose_language(CHINESE)
        for key in [key for key in words if key.startswith(("host.gc", "advice.casts."))]:
            del WORDS[key]
        assert cause_facts(Cause.GC) == Cause.GC.facts
        assert cause_facts(Cause.SYNC).name == "同步"
        assert advice_words(advice) == english_words(advice)
        assert figure_in_language("novel_ns", 7) == ("novel", "7 ns")
        assert translate("{count} new things", count=2) == "2 new things"
    finally:
        WORDS.update(words)
        choose_language(ENGLISH)


def test_no_words_are_left_of_a_sentence_that_is_gone() -> None:
    derived = {measure.removesuffix(" time") for measure in WORDS}
    derived |= {cause.name.lower() for cause in CommunicationCause}
    derived |= {f"{cause.label}.{fact}" for cause in Cause for fact in SHOWN_FACTS}
    derived |= {f"advice.{rule}.{field}" for rule in ADVICE for field in ("title", "text", "rule")}
    derived |= {f"advice.{part}" for part in PARTS}
    derived |= {f"figure.{key}" for key in FIGURES}
    derived |= {action.help for _, action in merge_actions(ACTIONS)}
    assert WORDS.keys() <= constants() | derived


def test_a_sentence_has_one_translation_with_the_same_fields() -> None:
    every = [english for table in TABLES for english in table]
    assert len(every) == len(set(every))
    for table in TABLES:
        for english, words in table.items():
            assert fields(words) == fields(english), english


def test_words_are_chinese_and_so_is_their_punctuation() -> None:
    for words in WORDS.values():
        assert not ENGLISH_WORDS.search(re.sub(r"\{\w*\}|tracetui A B|'select .*'", "X", words)), words
        assert not HALF_WIDTH.search(words), words


# -- advice --------------------------------------------------------------------------------------------


@cache
def rules() -> list[Advice]:
    """A piece of advice of every rule: with the keys of its evidence, and where it points."""
    paths = (PACKAGE / "analysis" / "advice").glob("*.py")
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    found = []
    for kind in ENGLISH_ADVICE:
        rule, _, variant = kind.partition(".")
        calls = [
            {str(keyword.arg): keyword.value for keyword in node.keywords}
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Advice"
        ]
        advice_call = next(
            (call for call in calls if getattr(call["id"], "value", None) == rule),
            next(call for call in calls if not isinstance(call["id"], ast.Constant)),
        )
        evidence: Figures = dict.fromkeys(fields(ADVICE[rule].text) - {"share_waiting", *GIVEN}, 0.5)
        if isinstance(advice_call["evidence"], ast.Dict):
            evidence.update(
                (str(key.value), 1) for key in advice_call["evidence"].keys if isinstance(key, ast.Constant)
            )
        place: dict[str, Any] = {
            "context": {"share_waiting": 0.5},
            "subjects": ("mul",) * 7,
            "file": "train.py",
            "line": 8,
            "function": "main",
        }
        found += [Advice(rule, 5, evidence, variant=variant, per_step_ns=mean, **place) for mean in (None, 2)]
    return found


@pytest.mark.usefixtures("chinese")
def test_no_english_is_left_in_any_rule() -> None:
    assert len(rules()) >= 2 * len(ADVICE)
    for rule in rules():
        words = advice_words(rule)
        assert HAN.search(words.title) and HAN.search(words.text), rule
        lines = _advice(rule, "1  ", "   ", 80)
        lines += _texts(AdviceStory(PALETTE, BLOCKS).lines(rule, 80))
        lines.append(advice_answer([rule, rule], 100))
        for line in lines:
            assert not ENGLISH_WORDS.search(line), (rule, line)
            assert cell_len(line) <= 80, (rule, line)


def test_every_number_of_evidence_has_a_name() -> None:
    keys = {key for advice in rules() for key in advice.evidence}
    assert keys <= FIGURES.keys()


def test_every_rule_has_words_in_both_languages() -> None:
    assert {kind.partition(".")[0] for kind in ENGLISH_ADVICE} == ADVICE.keys()
    assert {advice.kind for advice in rules()} == ENGLISH_ADVICE.keys()
    assert advice_title("a kind of another version") == "a kind of another version"


# -- what commands print -------------------------------------------------------------------------------

COMMANDS = [
    "summary {moba}",
    "summary {stalls}",
    "advice {moba}",
    "advice {stalls} --md",
    "gaps {moba} --by communication",
    "gaps {stalls} --md",
    "operators {moba}",
    "hotspots {stalls}",
    "hotspots {moba} --by module",
    "hotspots {moba} --by frame --md",
    "hotspots {moba} --by scope",
    "memory {grpo}",
    "memory {grpo} --by size --md",
    "memory {moba}",
    "ranks {job}",
    "ranks {job} --md",
    "compare {stalls} {queueless}",
    "compare {moba} {moba}",
    "compare {moba} {stalls} --by advice",
    "compare {moba} {stalls} --by memory",
    "compare {moba} {stalls} --by line",
    "compare {moba} {stalls} --md",
    "compare {job} {job} --by root",
]


@pytest.fixture(scope="module")
def paths(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Traces by the name of their scenario; "queueless" is "stalls" without its task queue."""
    directory = tmp_path_factory.mktemp("chinese")
    stalls = ["--scenario", "stalls", "--steps", "2", "--out"]
    generate([*stalls, str(directory / "stalls.json")])
    generate([*stalls, str(directory / "queueless.json"), "--no-task-queue"])
    (directory / "grpo").mkdir()
    write_run(directory / "grpo", steps=3)
    write_job(truth("loader").outcome, directory / "job", 1)
    assert main(["digest", str(directory / "job"), "-o", str(directory / "digests")]) == 0
    made = {name: str(directory / f"{name}.json") for name in ("stalls", "queueless")}
    return {
        **made,
        "moba": str(samples / "moba" / "trace_view.json"),
        "grpo": str(directory / "grpo"),
        "job": str(directory / "digests"),
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_no_english_is_left_in_what_a_command_says(
    command: str, paths: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert say(command, paths, "zh") == 0
    for line in prose(capsys.readouterr().out):
        assert not ENGLISH_WORDS.search(line), line


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.thorough if command == "compare {moba} {moba}" else ())
        for command in COMMANDS[::2]
        if "--md" not in command
    ],
)
def test_documents_are_english_in_any_language(
    command: str, paths: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for language in ("zh", "en"):
        assert say(f"{command} --json", paths, language) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    json.loads(outputs[0])


def say(command: str, paths: dict[str, str], language: str) -> int:
    """Run a command, its paths by their names."""
    try:
        return main([*(word.format_map(paths) for word in command.split()), "--lang", language])
    finally:
        choose_language(ENGLISH)


def prose(text: str) -> Iterator[str]:
    """The lines without paths and the titles of columns, which are those of scripts, and without notes."""
    lines = text.splitlines()
    titles: set[int] = set()
    for place, line in enumerate(lines):
        above = place - 1
        while re.match(r"  ──|\|( ?:?-+:? ?\|)+$", line) and lines[above].startswith(("  ", "|")):
            titles.add(above)
            above -= 1
    for place, line in enumerate(lines):
        if place not in titles and not line.startswith(("/", "BASE", "OTHER", "- BASE", "- OTHER")):
            yield re.sub("`[^`]*`", "", line)


# -- what the viewer says ------------------------------------------------------------------------------


def _texts(lines: list[Line]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


@pytest.mark.usefixtures("chinese")
def test_stories_of_gaps_are_chinese_and_fit(moba: Analysis, thorough: bool) -> None:
    story = GapStory(PALETTE, BLOCKS)
    for gap in range(len(moba.gaps)) if thorough else range(random.randrange(3), len(moba.gaps), 3):
        lines = story.lines(moba, gap, gap + 1, 80, moba.lead_losses)
        told_lines = [line for line in _texts(lines) if HAN.search(line)]
        assert len(told_lines) > 4
        for line in told_lines:
            assert not ENGLISH_WORDS.search(line), line


@pytest.mark.usefixtures("chinese")
def test_stories_of_lines_are_chinese(moba: Analysis) -> None:
    lines = [
        line
        for row in moba.lines
        for line in _texts(LineStory(PALETTE, BLOCKS).lines(moba, row, moba.savings, 80, 20))
    ]
    for sync in moba.syncs:
        lines += _texts(SyncStory(PALETTE, BLOCKS).lines(moba, sync, None, moba.savings, 80, 20))
    for nested in moba.modules:
        lines += _texts(NestedStory(PALETTE, BLOCKS).of_row(moba, nested, 120, 20)[:1])
    assert len(lines) > 40
    for line in filter(HAN.search, lines):
        assert not ENGLISH_WORDS.search(line), line


# -- how it is laid out --------------------------------------------------------------------------------


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("width", [20, 31, 80])
def test_styled_text_breaks_between_wide_characters(width: int) -> None:
    bold = Style(bold=True)
    template = "{device} was idle {time} before {task}."
    time = ("1.24\u00a0ms", bold)
    pieces = compose_sentence(template, Style(), device="NPU", time=time, task="aclnnMatmul")
    assert ("1.24\u00a0ms", bold) in pieces
    lines = _texts(flowing(pieces * 4, width))
    assert all(cell_width(line) <= width for line in lines)
    assert not any(line[0] in "，。；）" for line in lines)
    assert "".join("".join(lines).split()) == "NPU在aclnnMatmul之前空闲了1.24ms。" * 4


def test_documents_are_made_in_english_while_all_else_is_chinese(chinese: None) -> None:
    assert translate("No gaps.") == "没有间隙。" and names(["a", "b"]) == "a、b"
    with in_english():
        assert translate("No gaps.") == "No gaps." and names(["a", "b"]) == "a, b"
    assert translate("No gaps.") == "没有间隙。"


# -- what is kept in English -----------------------------------------------------------------------------


@pytest.mark.usefixtures("chinese")
def test_statements_are_shown_in_chinese_wherever_they_stand() -> None:
    stacks = state("No Python stacks: collect with with_stack=True to see lines of code.")
    assert restate(stacks) == "没有 Python 调用栈：采集时设置 with_stack=True 才能看到代码行。"
    assert restate(without_stop(stacks)) == "没有 Python 调用栈：采集时设置 with_stack=True 才能看到代码行"
    both = state("BASE and OTHER")
    few = state("{count} steps tell nothing of chance: ranges are compared", count=2)
    assert restate(state("{run}: {note}", run=both, note=few)) == (
        "BASE 和 OTHER：只有 2 个 step，无从判断是否偶然：改为比较取值范围"
    )
    refusal = Refusal(state("is empty"))
    assert restate(state("{name} {refusal}", name="a.csv", refusal=refusal)) == "a.csv 为空"
    numbers = tuple(map(state, ("steps", "idle")))
    doubt = state("{finding} ({numbers}: {verdict})", finding="odd", numbers=numbers, verdict=state("wrong"))
    assert doubt == "odd (steps, idle: wrong)" and restate(doubt) == "odd（step、空闲：有误）"
    assert restate("is empty") == "is empty"
    assert (
        restate(state("{run}: {note}", run="a.json", note="nobody wrote this")) == "a.json：nobody wrote this"
    )


def test_a_statement_is_english_text_whatever_language_is_chosen() -> None:
    try:
        choose_language(CHINESE)
        kernels = state("{count} kernels", count=3)
        assert kernels == "3 kernels" and json.dumps([kernels]) == '["3 kernels"]'
        with in_english():
            assert restate(kernels) == "3 kernels"
        assert restate(kernels) == "3 个 kernel"
    finally:
        choose_language(ENGLISH)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "carry",
    [
        lambda sentence: pickle.loads(pickle.dumps(sentence)),
        copy.deepcopy,
        lambda sentence: statement_of(json.loads(json.dumps(statement_document(sentence)))),
        shortened,
        printable,
        lambda sentence: str(Refusal(sentence)),
    ],
)
def test_a_statement_stays_one_wherever_it_is_carried(carry: Callable[[str], str]) -> None:
    numbers = tuple(map(state, ("steps", "idle")))
    doubt = state("{finding} ({numbers}: {verdict})", finding=state("is empty"), numbers=numbers, verdict="-")
    assert carry(doubt) == doubt and restate(carry(doubt)) == "为空（step、空闲：-）"
    assert carry("a text") == restate(carry("a text")) == "a text"


@pytest.mark.parametrize(
    "document",
    [
        {"template": "{note}"},
        {"template": "{note}", "values": {}},
        {"template": 3, "values": {}},
        {"template": "{a}{a}", "values": {"a": "twice as long"}},
        json.loads('{"template": "{a}", "values": {"a": ' * 9 + '"deep"' + "}}" * 9),
    ],
)
def test_what_is_no_statement_is_refused(document: Any) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        statement_of(document)


@pytest.mark.usefixtures("chinese")
def test_nothing_but_fields_is_filled_into_the_template_of_a_file() -> None:
    template = "{note.__class__} {0} {note!r:>9} {} {{note}}"
    statement = statement_of({"template": template, "values": {"note": "{verdict}"}})
    assert statement == restate(statement) == template.replace("{note}", "{verdict}")


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "allreduce, 8 ranks, FP32, 8.39 to 16.8 MB (wait)",
            "allreduce、8 张卡、FP32、8.39 到 16.8 MB（等待）",
        ),
        ("allreduce, 524 kB to 1.05 MB (transfer)", "allreduce、524 kB 到 1.05 MB（传输）"),
        ("my 8 ranks to 9", "my 8 ranks to 9"),
    ],
)
def test_collectives_are_named_in_chinese(name: str, words: str) -> None:
    """Of a name that the trace gives nothing is translated."""
    assert collective_name(ComparedRow(name, NOTHING, NOTHING, RowScale(1, 1, Fraction(1)), None)) == words


@pytest.mark.usefixtures("chinese")
def test_memory_without_times_is_said_in_chinese() -> None:
    assert translate(NO_TIMES) == "没有记录时间：事件以编号表示。"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("cause", "sentence"),
    [("Python", "因 Python 而空闲"), ("同步", "因同步而空闲"), ("（host.gc）", "因（host.gc）而空闲")],
)
def test_a_value_stands_apart_from_chinese_only_where_it_is_latin(cause: str, sentence: str) -> None:
    assert translate("idle, {cause}", cause=cause) == restate(state("idle, {cause}", cause=cause)) == sentence
    assert translate("most {cause} {share}", cause="同步", share="5 %") == "最多的是同步 5 %"
    assert translate("idle, {cause}", cause="训练v2") == "因训练v2 而空闲"
    assert translate("{rank}, {why}", rank="a", why="b") == "a，b"
