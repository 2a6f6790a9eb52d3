"""The command line: arguments, exit codes, and whether the viewer or text is what the terminal can show."""

from __future__ import annotations

from tracetui.cli.run import main

__all__ = ["main"]
