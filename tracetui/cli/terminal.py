"""What the terminal can show: the viewer or text, how wide, in which colours, with which glyphs. Functions of
the environment and the streams; Textual is not imported here.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, MutableMapping
from enum import Enum

from tracetui.cli.streams import Stream

#: of text; a column more than a sentence takes is never used, whatever COLUMNS says
LEAST_COLUMNS, USUAL_COLUMNS, MOST_COLUMNS = 20, 80, 1000


class Front(Enum):
    """What `tracetui PATH` shows."""

    VIEWER = "viewer"
    SUMMARY = "summary"
    DUMB = "dumb"  #: a person sits there, but the terminal cannot be drawn on
    HIDDEN = "hidden"  #: a person sits there, but stderr, on which the viewer is drawn, goes elsewhere


def choose_front(environ: Mapping[str, str], stdin: Stream, stdout: Stream, stderr: Stream) -> Front:
    """Return what is shown: the viewer needs three streams of a terminal that can move its cursor."""
    if not (is_terminal(stdin) and is_terminal(stdout)):
        return Front.SUMMARY
    if environ.get("TERM", "") in ("", "dumb", "unknown"):
        return Front.DUMB
    if not is_terminal(stderr):
        return Front.HIDDEN
    return Front.VIEWER


def is_file(stream: Stream) -> bool:
    """Return whether what is written goes to a regular file, where others may read it later."""
    try:
        return stream is not None and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # it has no descriptor, or is closed
        return False


def choose_palette(environ: Mapping[str, str]) -> str:
    """Return "none", "ansi", "256" or "true".

    16 colours over SSH whatever the terminal can: a full frame takes 70 kB there, 156 kB in true colour.
    """
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR") or term.startswith("vt") or term.endswith(("-m", "-mono")):
        return "none"
    if environ.get("SSH_CONNECTION"):
        return "ansi"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or term.endswith("-direct"):
        return "true"
    return "256" if "256" in term else "ansi"


def locale_language(environ: Mapping[str, str]) -> str:
    """Return the language of messages as the locale says, "zh" or, for all others, "en"."""
    names = (environ.get(variable, "") for variable in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, names), "").lower().startswith("zh") else "en"


def prepare_viewer(environ: MutableMapping[str, str]) -> None:
    """Ask for fewer frames and no animations over SSH; to be called before textual is imported."""
    if environ.get("SSH_CONNECTION"):
        environ.setdefault("TEXTUAL_FPS", "15")
        environ.setdefault("TEXTUAL_ANIMATIONS", "none")


def text_width() -> int:
    """Return the columns of text on stdout: the terminal's, else what COLUMNS says, else 80."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):
        setting = os.environ.get("COLUMNS", "")
        columns = int(setting) if setting.isascii() and setting.isdigit() and len(setting) < 9 else 0
    return min(max(columns, LEAST_COLUMNS), MOST_COLUMNS) if columns else USUAL_COLUMNS


def is_terminal(stream: Stream) -> bool:
    """Return whether a person is at the other end; False for a closed stream (None, or closed by now)."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def speaks_unicode(stream: Stream) -> bool:
    """Return whether all of Unicode can be written to a stream."""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "").replace("_", "")
    return encoding in ("utf8", "utf16", "utf32", "utf8sig")
