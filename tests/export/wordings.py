"""Every text of the program that people read in the language they chose; `python -m tests.export.wordings`
lists those that Chinese lacks."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tracetui
from tracetui.analysis.advice.rules import RULES
from tracetui.analysis.idle.cause import Cause
from tracetui.export.chinese.words import WORDS
from tracetui.export.language import SHOWN_FACTS
from tracetui.ui.actions import ACTIONS, GROUPS, SCREENS, merged

PACKAGE = Path(tracetui.__file__).parent
#: Calls that take templates: by name, how many of their first arguments are some, and how many are skipped.
TELLING = {"tell": (0, 1), "wording": (0, 1), "said": (0, 1), "counted": (1, 3), "_joined": (0, 1)}


def missing() -> list[str]:
    """Return what the catalogue lacks, one a line: the module or table, and the key or the English text."""
    return sorted({f"{where}: {key!r}" for key, where in texts() if key not in WORDS})


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
    for _, action in merged(ACTIONS):
        yield action.help, "ui/actions.py"
    for name in (*GROUPS, *SCREENS):
        yield name, "ui/actions.py"


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


def templates() -> Iterator[tuple[str, str]]:
    """Yield each template and the module that has it; of a name, what it is given there."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "tracetui.language" not in source and path.name != "language.py":
            continue
        nodes = list(ast.walk(ast.parse(source)))
        named = _named(nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and (bounds := TELLING.get(_called(node))) is not None:
                for argument in node.args[slice(*bounds)]:
                    for template in filter(None, _constants(argument, named)):
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
                each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
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
