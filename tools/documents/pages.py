"""The documents as the tests see them: pages of Markdown, their fenced blocks, and their translations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^)]+)\)")


class Page(NamedTuple):
    """A page of the documents."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """The path from the top of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    def blocks(self, *languages: str) -> Iterator[tuple[str, str]]:
        """Yield the language and the text of each fenced block; of some languages, where they are named."""
        for language, text in _FENCE.findall(self.text):
            if not languages or language in languages:
                yield language, text

    @property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return _FENCE.sub("", self.text)

    @property
    def codes(self) -> set[str]:
        """What the prose sets as code: commands, options, names."""
        return {" ".join(code.split()) for code in _CODE.findall(self.prose)}

    @property
    def links(self) -> list[str]:
        """What the prose links to."""
        return _LINK.findall(self.prose)

    @property
    def original(self) -> Path | None:
        """The English page of a translation; None of an English page."""
        if self.path.name == "README.zh-CN.md":
            return ROOT / "README.md"
        return ROOT / "docs" / self.path.name if self.path.parent.name == "zh" else None

    @property
    def anchors(self) -> set[str]:
        """What links to a heading of the page end with, made as GitHub makes it."""
        headings = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(self.prose))
        return {heading.replace(" ", "-") for heading in headings}


def pages() -> list[Page]:
    """Return all pages: those at the top, and those below docs/."""
    return [page_at(path) for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))]


def page_at(path: Path) -> Page:
    """Return the page in a file."""
    return Page(path, path.read_text(encoding="utf-8"))


def with_blocks_of(translation: str, original: str) -> str:
    """Return a translation with the fenced blocks of its original, one for one."""
    blocks = iter([found[0] for found in _FENCE.finditer(original)])
    return _FENCE.sub(lambda found: next(blocks, found[0]), translation)
