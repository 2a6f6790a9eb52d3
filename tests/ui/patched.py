"""The viewer, something in it changed: `python -m tests.ui.patched CODE ARGUMENTS...` runs the code first."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    exec(sys.argv.pop(1), {})
    runpy.run_module("tracetui", run_name="__main__", alter_sys=True)
