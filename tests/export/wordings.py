"""Every text of the program that people read in the language they chose; `python -m tests.export.wordings`
lists those that Chinese lacks."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tracetui
import tracetui.export
from tracetui.analysis.advice.rules import RULES
from tracetui.analysis.idle.cause import Cause
from tracetui.export.chinese.words import WORDS
from tracetui.export.language import SHOWN_FACTS
from tracetui.export.sentences.advice_english import REMEDIES
from tracetui.export.tables.column import Form, Table
from tracetui.ui.actions import ACTIONS, GROUPS, merge_actions
from tracetui.ui.screen_specs import SCREENS
from tracetui.ui.screens.help import GLOSSARY

PACKAGE = Path(tracetui.__file__).parent
#: Calls that take templates: by name, how many of their first arguments are some, and how many are skipped.
TELLING = {
    "translate": (0, 1),
    "state": (0, 1),
    "usage_error": (0, 1),
    "wording": (0, 1),
    "compose": (0, 1),
    "compose_sentence": (0, 1),
    "counted": (2, 3),  # Chinese says one and several alike
    "_joined": (0, 1),
    # what the viewer translates where it shows it
    "show_status": (0, 1),
    "show_answer": (0, 1),
    "nothing": (0, 1),
    "missing": (0, 1),
    "note": (0, 1),
    "set_title": (0, 1),
}
#: Names of modules of the viewer that hold texts which are translated where they are shown.
TEXTS = {"TITLE_OF", "PLACEHOLDER", "MEANWHILE", "MAPS", "_EMPTY"}
#: Names and properties that hold keys with what they do, and fields of views.
KEYS = {"KEYS", "hints", "ways_out"}
FIELDS = {"note", "empty", "heats", "unit", "question"}
#: What a function of the viewer returns for people.
SENTENCE = re.compile(r"[A-Z][a-z]* .* .*\.")
#: Words that f-strings of the viewer may have: the same in every language, and parts of what no one reads.
SAME_IN_ALL = {"ms", "rank", "step", "tab", "tracetui", "event", "names"}
WORD = re.compile(r"(?:(?<=[\s:,;(])|^)[a-z]{2,}(?=[\s:,;.)]|$)")
#: What begins the key of a word that may mean another thing elsewhere.
KINDS = {"title", "term", "key"}
#: Calls whose texts nobody reads.
SILENT = {"parse", "_unlisted"}
#: Calls that make a column of the viewer: by name, the place of its title.
COLUMNS = {"number_column": 1, "name_column": 1, "ViewColumn": 1}
Module = tuple[str, list[ast.AST]]  #: its path, and all nodes of its code


def missing() -> list[str]:
    """Return what the catalogue lacks, one a line: the module or table, and the key or the English text."""
    return sorted({f"{where}: {key!r}" for key, where in texts() if not _is_told(key)})


def _is_told(key: str) -> bool:
    """Tell whether the catalogue has a text; of a word by what it is there, too, if only as the word."""
    kind, _, word = key.partition(".")
    return key in WORDS or (kind in KINDS and word in WORDS)


def formatted() -> list[str]:
    """Return where the viewer shows an f-string with words, which no catalogue can have."""
    modules = [*_viewer()]
    return [*_made_of_words(modules), *_translated_late(modules)]


def _made_of_words(modules: Sequence[Module]) -> Iterator[str]:
    """Yield where an f-string of the viewer has words of English; styles, CSS and SQL have their own."""
    for path, nodes in modules:
        silent = (
            node
            for node in nodes
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _called(node) in SILENT)
        )
        skipped = {id(child) for node in silent for child in ast.walk(node)}
        for node in nodes:
            if isinstance(node, ast.JoinedStr) and id(node) not in skipped:
                said = [str(text.value) for text in node.values if isinstance(text, ast.Constant)]
                words = {word for text in said if " " in text for word in WORD.findall(text)} - SAME_IN_ALL
                if words and not any("{" in text or text.startswith("select ") for text in said):
                    yield f"{path}:{node.lineno}"


def _translated_late(modules: Sequence[Module]) -> list[str]:
    return [
        f"{path}:{node.lineno}"
        for path, nodes in modules
        for node in nodes
        if isinstance(node, ast.Call)
        and _called(node) in TELLING
        and any(isinstance(argument, ast.JoinedStr) and [*_texts_in(argument)] for argument in node.args[:1])
    ]


def texts() -> Iterator[tuple[str, str]]:
    """Yield each key or English text of the catalogue that the program asks for, and who does."""
    yield from templates()
    for cause in Cause:
        for fact in SHOWN_FACTS:
            if getattr(cause.facts, fact):
                yield f"{cause.label}.{fact}", "analysis/idle/cause.py"
    for rule, figures in advice():
        for field in ("title", "text", "rule"):
            yield f"advice.{rule}.{field}", "analysis/advice"
        for figure in figures:
            yield f"figure.{figure}", "analysis/advice"
    for rule in ("exposed_communication", "memory_allocation_stalls"):  # other texts name all remedies
        for remedy in REMEDIES[rule]:
            yield f"advice.{rule}.{remedy}", "analysis/advice"
    yield from findings()
    for _, action in merge_actions(ACTIONS):
        yield action.help, "ui/actions.py"
        yield action.title, "ui/actions.py"
    for term, meaning in GLOSSARY:
        yield f"term.{term}", "ui/screens/help.py"
        yield meaning, "ui/screens/help.py"
    modules = [*_viewer()]
    yield from titles(modules)
    yield from shown_by_the_viewer(modules)
    for name in (*GROUPS, *SCREENS):
        yield name, "ui/actions.py"


def titles(modules: Sequence[Module]) -> Iterator[tuple[str, str]]:
    """Yield the keys of the titles of all columns that people read."""
    for module in pkgutil.walk_packages(tracetui.export.__path__, "tracetui.export."):
        for table in vars(importlib.import_module(module.name)).values():
            if isinstance(table, Table):
                for column in table.columns:
                    if column.title and column.forms & Form.SHOWN:
                        yield f"title.{column.title}", module.name
    for path, nodes in modules:
        for node in nodes:
            if isinstance(node, ast.Call):
                called = _called(node)
                given = [
                    keyword.value
                    for keyword in node.keywords
                    if keyword.arg == "title" and called == "ColumnLook"
                ]
                given += node.args[COLUMNS[called] :][:1] if called in COLUMNS else []
                for title in given:
                    if isinstance(title, ast.Constant) and isinstance(title.value, str) and title.value:
                        yield f"title.{title.value}", path


def shown_by_the_viewer(modules: Sequence[Module]) -> Iterator[tuple[str, str]]:
    """Yield the texts that the viewer keeps in its classes, and translates where it shows them."""
    for path, nodes in modules:
        for node in nodes:
            name = _name_of(node)
            if name in KEYS:
                for pair in ast.walk(node):
                    if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
                        does = pair.elts[1]
                        if isinstance(does, ast.Constant) and isinstance(does.value, str) and does.value:
                            key = f"key.{does.value}"
                            yield key if key in WORDS else does.value, path
            elif name in TEXTS:
                yield from ((text, path) for text in _texts_in(node))
            elif isinstance(node, ast.keyword) and node.arg in FIELDS:
                yield from ((text, path) for text in _texts_in(node.value))
            elif isinstance(node, ast.Return) and node.value is not None:
                yield from ((text, path) for text in _texts_in(node.value) if SENTENCE.fullmatch(text))


def _viewer() -> Iterator[Module]:
    for path in sorted((PACKAGE / "ui").rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        yield name, list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def _texts_in(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if (
            isinstance(child, ast.Constant)
            and isinstance(child.value, str)
            and re.search("[a-z]{2}", child.value)
        ):
            yield child.value


def advice() -> Iterator[tuple[str, list[str]]]:
    """Yield the id of each piece of advice that the rules may give, and the keys of its evidence."""
    causes = {f"{cause.label.replace('.', '_')}_ns" for cause in Cause}
    for path in sorted({Path(inspect.getfile(rule)) for rule in RULES}):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = _named(nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and _called(node) == "Advice":
                fields = {keyword.arg: keyword.value for keyword in node.keywords}
                evidence = fields["evidence"]
                keys = evidence.keys if isinstance(evidence, ast.Dict) else ()
                figures = [str(key.value) for key in keys if isinstance(key, ast.Constant)]
                for rule in filter(str.isidentifier, _constants(fields["id"], named)):
                    yield rule, [figure for figure in figures if figure not in causes]


def findings() -> Iterator[tuple[str, str]]:
    """Yield the sentences and remedies of all findings about a recording."""
    for path in sorted((PACKAGE / "analysis" / "health").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = _named(nodes)
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            given = [k.value for k in node.keywords if k.arg in ("sentence", "remedy")]
            given += node.args[2:4] if _called(node) == "_note" else []
            for template in (text for argument in given for text in _constants(argument, named)):
                yield template, path.relative_to(PACKAGE).as_posix()


def templates() -> Iterator[tuple[str, str]]:
    """Yield each template and the module that has it; of a name, what it is given there."""
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = _named(nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and (bounds := TELLING.get(_called(node))) is not None:
                for argument in node.args[slice(*bounds)]:
                    for template in _constants(argument, named):
                        if template and not template.isdigit():
                            yield template, path.relative_to(PACKAGE).as_posix()


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _named(nodes: Sequence[ast.AST]) -> dict[str, list[ast.expr]]:
    """What each name of a module is given, in any of its functions, or goes through."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.For, ast.comprehension)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.value if isinstance(node, ast.Assign) else node.iter
            for name in (
                child for target in targets for child in ast.walk(target) if isinstance(child, ast.Name)
            ):
                found.setdefault(name.id, []).append(value)
    return found


def _constants(
    node: ast.expr, named: dict[str, list[ast.expr]], seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id not in seen:
        for value in named.get(node.id, ()):
            yield from _constants(value, named, seen | {node.id})
    elif isinstance(node, ast.IfExp):
        for branch in (node.body, node.orelse):
            yield from _constants(branch, named, seen)
    elif isinstance(node, ast.Subscript):
        yield from _constants(node.value, named, seen)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _constants(value, named, seen)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for value in node.elts:
            yield from _constants(value, named, seen)
    elif isinstance(node, ast.BinOp):
        yield from _constants(node.left, named, seen)


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in missing()) or "Nothing is missing.\n")
