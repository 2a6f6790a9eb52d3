"""Every template of a sentence that the program may tell, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import tracetui

PACKAGE = Path(tracetui.__file__).parent
#: Calls that take templates: by name, how many of their first arguments are some, and how many are skipped.
TELLING = {"tell": (0, 1), "wording": (0, 1), "said": (0, 1), "counted": (1, 3), "_joined": (0, 1)}


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
                    for template in _constants(argument, named):
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
