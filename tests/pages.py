"""What a command prints, word for word, kept beside the tests: `pytest --update-snapshots` writes it anew."""

from __future__ import annotations

import pytest


def check(text: str, name: str, request: pytest.FixtureRequest) -> None:
    """Assert that a text is that of `pages/NAME.txt` beside the test, or write that.

    Blanks at the end of a line are kept, and shown as `·`.
    """
    shown = "".join(
        f"{line.rstrip(' ')}{'·' * (len(line) - len(line.rstrip(' ')))}\n" for line in text.splitlines()
    )
    path = request.path.parent / "pages" / f"{name}.txt"
    if request.config.getoption("--update-snapshots", default=False):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), "if it is meant to: --update-snapshots, and look at it"
