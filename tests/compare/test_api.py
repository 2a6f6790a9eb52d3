"""`tracetui.compare`, from a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tracetui
from tests.compare.planted import run
from tracetui.compare.run import run_of


def test_of_paths_of_analyses_and_of_what_was_kept_of_them(samples: Path) -> None:
    path = samples / "moba" / "trace_view.json"
    analysis = run("mixed", 2)
    assert tracetui.compare(path, str(path)).step.delta_ns == 0
    assert tracetui.compare(analysis, run_of(analysis)).step.delta_ns == 0


@pytest.mark.parametrize("first", ["tracetui.compare.run", "tracetui", "tracetui.api"])
def test_it_is_a_function_and_a_package(first: str) -> None:
    """Whichever is imported first: modules of the package are found in it, by tools that patch them too."""
    script = (
        f"import {first}; import tracetui; assert callable(tracetui.compare); "
        "from tracetui import compare; import tracetui.compare.run as run; "
        "assert compare is tracetui.compare and compare.run is run; "
        "assert compare(*['samples/moba/trace_view.json'] * 2, cache=False).step.delta_ns == 0"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).resolve().parents[2])
