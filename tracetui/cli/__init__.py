"""The command line: arguments, exit codes, and whether the viewer or text is what the terminal can show."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main", "run"]


def run() -> NoReturn:
    """Run tracetui as this process, which ends at once where all went well.

    To take apart what has been imported and read takes Python a twentieth of the time of most commands.
    """
    is_done = False

    def leave() -> None:
        if is_done:
            os._exit(0)

    atexit.register(leave)  # what was registered first is called last, when threads and caches are done
    code = main()
    is_done = code == 0
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tracetui with `arguments` (those of the process by default); returns the exit status."""
    try:
        from tracetui.cli.entry import main as run_command  # only here, as ctrl+c may come meanwhile

        return run_command(arguments)
    except KeyboardInterrupt:
        return 130  # ExitCode.CANCELLED, which may not be imported yet
