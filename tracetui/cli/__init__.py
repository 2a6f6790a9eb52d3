"""The command line: arguments, exit codes, and whether the viewer or text is what the terminal can show."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tracetui with `arguments` (those of the process by default); returns the exit status."""
    try:
        from tracetui.cli.entry import main as run  # only here, as ctrl+c may come meanwhile

        return run(arguments)
    except KeyboardInterrupt:
        return 130  # ExitCode.CANCELLED, which may not be imported yet
