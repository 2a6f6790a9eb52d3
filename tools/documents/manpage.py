"""The manual page, made of the parsers of the commands."""

from __future__ import annotations

from argparse_manpage.manpage import Manpage

from tools.wheels import ROOT
from tracetui.cli.completion import whole_parser
from tracetui.cli.config import SETTINGS
from tracetui.cli.exit_codes import ExitCode
from tracetui.version import __version__

PAGE = ROOT / "docs" / "tracetui.1"
_FILES = f""".TP
.I ~/.config/tracetui/config.toml
options that hold where the command line does not give them: {", ".join(SETTINGS)}.
.TP
.I ~/.cache/tracetui/traces
what is kept of large traces so that they open at once the next time; see
.BR "tracetui cache" .
"""


def manual() -> str:
    """Return the page, as roff."""
    page = Manpage(whole_parser())
    page.description = "why the NPU was idle, from a profiler trace"
    page.source, page.manual, page.date = f"tracetui {__version__}", "tracetui", ""
    statuses = "".join(f".TP\n.B {code.value}\n{code.meaning}\n" for code in ExitCode)
    return f"{str(page).rstrip()}\n.SH EXIT STATUS\n{statuses}.SH FILES\n{_FILES}"


def write() -> None:
    """Renew the page."""
    PAGE.write_text(manual(), encoding="utf-8")
