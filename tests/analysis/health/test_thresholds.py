"""Every number that the rules of health compare with stands in the documents, in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RULES = sorted((ROOT / "tracetui/analysis/health").glob("*.py"))
#: Numbers that count and halve, and severities.
PLAIN = {0, 1, 2, 3, 100}


def thresholds() -> Iterator[tuple[str, object]]:
    """Yield the names and values of the numeric constants of all modules."""
    for module in RULES:
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.Assign):
                continue
            (target,) = node.targets
            pairs = (
                zip(target.elts, node.value.elts)
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                else [(target, node.value)]
            )
            for name, value in pairs:
                if any(is_number(part) for part in ast.walk(value)):
                    yield f"{module.stem}.{ast.unparse(name)}", ast.literal_eval(value)


def is_number(node: ast.AST) -> bool:
    """Return whether a node is a number."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


@pytest.mark.parametrize("page", ["docs/method.md", "docs/zh/method.md"])
def test_all_stand_in_the_table(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+\.\w+)` \| `([^`]+)` \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
    assert {name: ast.literal_eval(value) for name, value in table} == dict(thresholds())
    assert len(table) == len(dict(table))


@pytest.mark.parametrize("module", RULES, ids=lambda module: module.stem)
def test_no_rule_compares_with_another_number(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    numbers = {part.value for node in functions for part in ast.walk(node) if is_number(part)}  # type: ignore[attr-defined]
    assert numbers <= PLAIN
