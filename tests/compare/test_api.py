"""`tracetui.compare`, from a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import tracetui
from tests.compare.planted import run
from tracetui.compare.run import run_of


def test_of_paths_of_analyses_and_of_what_was_kept_of_them(samples: Path) -> None:
    path = samples / "moba" / "trace_view.json"
    analysis = run("mixed", 2)
    assert tracetui.compare(path, str(path)).step.delta_ns == 0
    assert tracetui.compare(analysis, run_of(analysis)).step.delta_ns == 0


def test_it_is_the_function_whatever_was_imported_before() -> None:
    script = (
        "import tracetui.compare.run, tracetui; assert callable(tracetui.compare); "
        "from tracetui import compare; from tracetui.compare.comparison import compare_runs; "
        "assert compare is tracetui.compare and compare.__module__ == 'tracetui.api'"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
