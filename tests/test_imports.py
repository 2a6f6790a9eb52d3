"""The architecture, as a test: which package may import which, and who may see the terminal libraries."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.sources import statements

PACKAGE = Path(__file__).resolve().parents[1] / "tracetui"
MODULES = sorted(PACKAGE.rglob("*.py"))


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


DOTTED = {_dotted(path) for path in MODULES}

#: top-level modules that serve all, and know nothing of the rest.
SHARED = {
    "arrays",
    "background",
    "compiled",
    "language",
    "new_file",
    "places",
    "units",
    "user_directories",
    "version",
}
#: package or top-level module -> what of tracetui it may import beside `SHARED`.
ALLOWED = {
    **{module: set[str]() for module in SHARED},
    "databases": {"databases"},
    "operations": {"operations"},
    "notebook": {"notebook"},
    "reader": {"reader", "databases"},
    "trace": {"trace", "reader"},
    "cache": {"cache", "siblings", "trace", "reader"},
    "siblings": {"siblings", "databases"},
    "analysis": {"analysis", "siblings", "databases", "trace"},
    "job": {
        "job",
        "comparison",
        "operations",
        "databases",
        "analysis",
        "siblings",
        "cache",
        "trace",
        "reader",
    },
    "comparison": {"comparison", "analysis", "siblings", "trace"},
    "export": {"export", "notebook", "job", "comparison", "operations", "analysis", "databases", "trace"},
    "api": {"job", "comparison", "analysis", "cache", "databases", "siblings", "trace", "reader"},
    "ui": {
        "ui",
        "notebook",
        "databases",
        "export",
        "job",
        "comparison",
        "analysis",
        "cache",
        "trace",
        "reader",
    },
    "cli": {
        "cli",
        "notebook",
        "api",
        "export",
        "job",
        "comparison",
        "analysis",
        "cache",
        "databases",
        "siblings",
        "trace",
        "reader",
        "ui",
    },
    "__init__": {"api", "export"},
    "__main__": {"cli"},
}
#: what others may know of the reader: its front door and what it hands over.
READER_FRONT = {
    "tracetui.reader.cores",
    "tracetui.reader.errors",
    "tracetui.reader.events",
    "tracetui.reader.joined",
    "tracetui.reader.locate",
    "tracetui.reader.skeleton",
    "tracetui.reader.source",
}
SCANNER = "_tracetui_scan"  #: compiled, where there is a compiler
TERMINAL = {"textual", "rich"}
#: the modules that import what only an extra installs, `tracetui[dask]` say; nobody imports them unasked.
OF_EXTRAS = {
    PACKAGE / "job" / "engines" / "dask.py": {"distributed"},
    PACKAGE / "job" / "engines" / "pinned.py": {"distributed"},
    PACKAGE / "cli" / "tool_server.py": {"anyio", "mcp", "mcp_types"},
    PACKAGE / "reader" / "inflating.py": {"zlib_ng"},
}
#: the modules that import pandas, which takes half a second: nobody imports them before a table is made.
FRAMES = {PACKAGE / "export" / path for path in ("data_frame.py", "trace/frames.py", "memory/frames.py")}


def package_of(path: Path) -> str:
    """The package of a file, or its own name at the top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


PACKAGES = sorted({package_of(path) for path in MODULES})


def modules_of(package: str) -> list[Path]:
    return [path for path in MODULES if package_of(path) == package]


class Module(NamedTuple):
    """What a file says of itself, and its imports: those made with it, and all, inside functions as well."""

    says: str | None
    at_once: list[ast.Import | ast.ImportFrom]
    imports: list[ast.Import | ast.ImportFrom]


@cache
def module_of(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_once, imports = (
        [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        for nodes in (tree.body, statements(tree))
    )
    return Module(ast.get_docstring(tree), at_once, imports)


def imports_of(path: Path, at_once: bool = False) -> set[str]:
    """Dotted names of all modules that a file imports, also inside functions; `at_once`: with the file."""
    found: set[str] = set()
    module = module_of(path)
    for node in module.at_once if at_once else module.imports:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package: str) -> None:
    pairs = [(path, module) for path in modules_of(package) for module in sorted(imports_of(path))]
    for path, module in pairs:
        top, _, rest = module.partition(".")
        if top in TERMINAL:
            assert package == "ui", f"{path} imports {module}"
        if top != "tracetui":
            continue
        target = rest.split(".")[0]
        if target:
            assert target in ALLOWED[package] | SHARED, f"{path} imports {module}"
        if target == "reader" and package not in ("reader", "trace"):
            assert module in READER_FRONT, f"{path} knows the reader's insides: {module}"


def test_no_modules_import_each_other() -> None:
    """Not even for their types: each can be read, and changed, knowing only those below it."""
    modules = {_dotted(path): path for path in MODULES}
    left = {name: imports_from(path) & set(modules) - {name} for name, path in modules.items()}
    while below := {name for name, needs in left.items() if not needs}:
        left = {name: needs - below for name, needs in left.items() if name not in below}
    assert not left, f"in a circle, or above one: {sorted(left)}"


def imports_from(path: Path) -> set[str]:
    """Dotted names of the modules that a file imports, also of those it takes from their package by name."""
    found = imports_of(path)
    for node in module_of(path).imports:
        if isinstance(node, ast.ImportFrom):
            taken = {f"{node.module}.{alias.name}" for alias in node.names}
            submodules = taken & DOTTED
            found |= submodules
            if len(submodules) == len(taken):
                found.discard(node.module or "")
    return found


def test_pandas_waits_for_the_first_table() -> None:
    frames = {_dotted(path) for path in FRAMES}
    for path in MODULES:
        if path not in FRAMES:
            early = imports_of(path, at_once=True) & {"pandas", *frames}
            assert not early, f"{path} imports {early}"


def test_a_module_says_what_it_knows() -> None:
    for path in MODULES:
        assert module_of(path).says, f"{path} has no docstring"


def test_the_design_names_every_package() -> None:
    """Its tree is the first thing that people read of the house."""
    design = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^tracetui/(\w+)", design, re.MULTILINE))
    named |= {name for name in SHARED if f"`{name}`" in design}
    assert named == set(PACKAGES) - {"__init__", "__main__"}


def test_the_first_picture_waits_for_no_analysis() -> None:
    """It shows a sample of what is read; the rest took a third of the time until it was there."""
    code = (
        "import tracetui.cli.commands.view, tracetui.cli.reading_options, tracetui.ui.screens.timeline, sys"
    )
    names = f"{code}; import tracetui.ui.app; print(*(name for name in sys.modules))"
    command = [sys.executable, "-c", names]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[2] for name in done.stdout.split() if name.startswith("tracetui.")}
    assert "ui.screens.timeline" in loaded
    late = ("api", "analysis.analyse", "analysis.idle.causes", "comparison", "job", "siblings.scheduler")
    assert not [name for name in loaded if name.startswith((*late, "ui.analysing", "ui.stories.describe"))]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="sys.stdlib_module_names came with 3.10")
def test_only_known_third_parties_are_imported() -> None:
    known = {
        "duckdb",
        "numpy",
        "orjson",
        "pandas",
        "rich",
        "shtab",
        "textual",
        "tomli",
        "tomllib",
        "tracetui",
        "xlsxwriter",
    }
    known |= {SCANNER} | set(sys.stdlib_module_names)
    for path in MODULES:
        tops = {module.split(".")[0] for module in imports_of(path)}
        assert tops <= known | OF_EXTRAS.get(path, set()), f"{path} imports {sorted(tops - known)}"


def test_the_extra_packages_wait_until_they_are_asked_for() -> None:
    names = {_dotted(path) for path in OF_EXTRAS}
    for path in set(MODULES) - OF_EXTRAS.keys():
        early = imports_of(path, at_once=True) & names
        assert not early, f"{path} imports {early}"


def test_the_words_of_a_language_wait_until_it_is_chosen() -> None:
    chinese = {name for name in DOTTED if name.startswith("tracetui.export.chinese")}
    for path in MODULES:
        if _dotted(path) not in chinese:
            early = imports_of(path, at_once=True) & chinese
            assert not early, f"{path} imports {early}"


def test_private_modules_of_textual_are_imported_in_one_place() -> None:
    private = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(module.startswith("textual._") for module in imports_of(path))
    }
    assert private == {"ui/_textual.py"}


#: Prints as JSON what runs of the command line, in several forms in turn, have loaded beside what Python
#: itself loads at its start.
LOADED = """
import contextlib, io, json, sys
before = set(sys.modules)
from tracetui.cli import main
for form in ((), ("--json",), ("--md",)):
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*sys.argv[1:], *form]) == 0
    print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_command_line_imports_the_viewer_only_to_show_it() -> None:
    commands = PACKAGE / "cli" / "commands"
    shows = {commands / "view.py", commands / "show.py"}  # the viewer, and a row in its words
    for path in set(modules_of("cli")) - shows:
        assert not any(name.startswith("tracetui.ui") for name in imports_of(path)), path


def test_a_query_of_a_trace_loads_no_pandas_and_no_job(samples: Path) -> None:
    """They would take half of the second that a query of a gigabyte may take."""
    pytest.importorskip("duckdb", "2", reason="older ones load pandas themselves")
    query = "select name, sum(dur_ns) from events group by name"
    command = [sys.executable, "-c", LOADED, "sql", str(samples / "moba" / "trace_view.json"), query]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    loaded = {tuple(name.split(".")[:2]) for name in json.loads(done.stdout.splitlines()[-1])}
    assert ("duckdb",) in loaded
    assert not {("pandas",), ("tracetui", "job"), ("tracetui", "comparison"), ("tracetui", "ui")} & loaded


#: places, notes, queries, pages and tools
LATE = (
    *(
        "cli.tool",
        "export.brief",
        "export.notes",
        "export.page",
        "export.queries",
        "export.skill",
        "notebook",
    ),
    *("ui.place", "ui.query", "ui.screens.sql", "ui.session_place"),
)


@pytest.mark.parametrize(
    "code", ["import tracetui.ui.app", "from tracetui.cli import main; main(['--help'])"]
)
def test_what_is_handed_on_waits_until_it_is_used(code: str) -> None:
    """Neither the help nor the viewer starts later for it."""
    names = f"{code}\nimport sys; print(*(name for name in sys.modules if name.startswith('tracetui.')))"
    command = [sys.executable, "-c", names]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    loaded = [name.partition(".")[2] for name in done.stdout.splitlines()[-1].split()]
    assert len(loaded) > 20
    assert not [name for name in loaded if name.startswith(LATE)]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="sys.stdlib_module_names came with 3.10")
def test_what_a_summary_loads(samples: Path) -> None:
    """Of a trace in the cache loading modules takes a third of the time: pandas alone would double that."""
    command = [sys.executable, "-c", LOADED, "summary", str(samples / "moba" / "trace_view.json")]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    parts = {"analysis", "api", "cache", "cli", "databases", "export", "notebook"}
    parts |= {"reader", "siblings", "trace"}
    for line in done.stdout.splitlines():
        loaded = [module.split(".") for module in json.loads(line)]
        tops = {module[0] for module in loaded} - set(sys.stdlib_module_names) - {SCANNER}
        assert tops == {"numpy", "orjson", "tracetui"}
        parts_loaded = {module[1] for module in loaded if module[0] == "tracetui" and len(module) > 1}
        assert parts_loaded - SHARED == parts
        assert not any(module[1:3] == ["export", "chinese"] for module in loaded)
