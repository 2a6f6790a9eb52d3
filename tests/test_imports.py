"""The architecture, as a test: which package may import which, and who may see the terminal libraries."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "tracetui"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: package -> the packages of tracetui it may import; the top-level modules (arrays, units) serve all.
ALLOWED = {
    "reader": {"reader"},
    "trace": {"trace", "reader"},
    "analysis": {"analysis", "trace"},
    "export": {"export", "analysis", "trace"},
    "ui": {"ui", "export", "analysis", "trace", "reader"},
    "cli": {"cli", "export", "analysis", "trace", "reader", "ui"},
}
#: what others may know of the reader: its front door and what it hands over.
READER_FRONT = {
    "tracetui.reader.errors",
    "tracetui.reader.events",
    "tracetui.reader.locate",
    "tracetui.reader.source",
}
TERMINAL = {"textual", "rich"}


def package_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imports_of(path: Path) -> set[str]:
    """Dotted names of all modules that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    package = package_of(path)
    for module in imports_of(path):
        top, _, rest = module.partition(".")
        if top in TERMINAL:
            assert package == "ui", f"{path} imports {module}"
        if top != "tracetui" or package not in ALLOWED:
            continue
        target = rest.split(".")[0]
        if target and (PACKAGE / target).is_dir():
            assert target in ALLOWED[package], f"{path} imports {module}"
        if target == "reader" and package not in ("reader", "trace"):
            assert module in READER_FRONT, f"{path} knows the reader's insides: {module}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_short_enough_to_read_and_says_what_it_knows(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), f"{path} has no docstring"
    assert source.count("\n") <= 400, f"{path} is too long to read in one sitting"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="sys.stdlib_module_names came with 3.10")
def test_only_known_third_parties_are_imported() -> None:
    known = {"numpy", "orjson", "pandas", "rich", "textual", "tracetui"} | set(sys.stdlib_module_names)
    for path in MODULES:
        tops = {module.split(".")[0] for module in imports_of(path)}
        assert tops <= known, f"{path} imports {sorted(tops - known)}"
