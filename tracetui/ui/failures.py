"""What people are told where work fails that the rest of the viewer is of use without."""

from __future__ import annotations

from tracetui.language import translate, wording
from tracetui.trace.clean import printable

_LONGEST = 200  #: characters of an error


class Refusal(Exception):  # noqa: N818 - no error of the program
    """Work cannot be done; `str()` is a sentence that tells people why."""


def failure(error: Exception, work: str = "This", purpose: str = "this") -> str:
    """Return a sentence: "The analysis failed: ValueError: …", "There is not enough memory for this."

    Args:
        error: what was raised; what it holds of a trace is made safe to print.
        work: what failed.
        purpose: what memory may not be enough for.
    """
    if isinstance(error, Refusal):
        return str(error)
    if isinstance(error, MemoryError):
        return translate("There is not enough memory for {purpose}.", purpose=wording(purpose))
    reason = printable(f"{type(error).__name__}: {error}", _LONGEST)
    return translate("{work} failed: {reason}", work=wording(work), reason=reason)
