"""Fixes as people name them: a line, a rank, a stage, a link, a phase."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Optional

from tracetui.job.digest import DigestLine
from tracetui.language import state
from tracetui.trace.clean import printable


class Target(Enum):
    """What a fix is about."""

    LINE = "line"
    RANK = "rank"
    STAGE = "stage"
    LINK = "link"
    PHASE = "phase"
    EXPERTS = "experts"
    JITTER = "jitter"


class FixScope(Enum):
    """How much of the idle time of a line is gone."""

    PEERS = "peers"  #: what a rank has of it beyond the lower median of the others
    ALL = "all"


@dataclass(frozen=True)
class Fix:
    """Something that is fixed; what does not belong to its target is unset."""

    target: Target
    file: str = ""
    line: int = -1
    rank: Optional[int] = None  # noqa: UP045 - a dataclass of Python 3.9
    part: str = ""  #: of the work of a rank: "computing", "copy" or "idle"; "" for all of it
    stage: int = -1
    phase: str = ""  #: name of the ranges, as written in the trace
    link: tuple[int, int] = (-1, -1)
    factor: float = 1.0  #: of a link or a line: how many times as fast
    scope: FixScope | None = None  #: None: that of peers where a rank stands out, else all

    @property
    def text(self) -> str:
        """The fix as it is written; as written in the trace: never print it unescaped."""
        if self.target is Target.LINE:
            where = f"@{self.rank}" if self.rank is not None else ""
            much = f"={self.scope.value}" if self.scope else f"={self.factor:g}x" if self.factor > 1 else ""
            return f"{self.file}:{self.line}{where}{much}"
        if self.target is Target.RANK:
            return f"rank={self.rank}" + (f"={self.part}" if self.part else "")
        if self.target is Target.STAGE:
            return f"stage={self.stage}"
        if self.target is Target.PHASE:
            return f"phase={self.phase}"
        if self.target is Target.LINK:
            return f"link={self.link[0]}-{self.link[1]}={self.factor:g}x"
        return "balance=experts" if self.target is Target.EXPERTS else "no-jitter"

    def concerns(self, line: DigestLine) -> bool:
        """Return whether a line is the one that is fixed: its file by its name or the end of its path."""
        path = line.file.replace("\\", "/")
        name = self.file.replace("\\", "/")
        return line.line == self.line and (path == name or path.endswith(f"/{name.lstrip('/')}"))


BALANCED_EXPERTS = Fix(Target.EXPERTS)
NO_JITTER = Fix(Target.JITTER)

_RANK = re.compile(r"rank=(\d{1,9})(?:=(computing|copy|idle))?")
_STAGE = re.compile(r"stage=(\d{1,9})")
_PHASE = re.compile(r"phase=(.+)", re.DOTALL)
_LINK = re.compile(r"link=['\"]?(\d{1,9})-(\d{1,9})['\"]?=(\d{1,9}(?:\.\d{1,9})?)x")
_LINE = re.compile(r"(.+):(\d{1,9})(?:@(\d{1,9}))?(?:=(peers|all|\d{1,9}(?:\.\d{1,9})?x))?", re.DOTALL)
FORMS = ("FILE:LINE", "FILE:LINE@RANK", "rank=N", "stage=N", "phase=NAME", "link=A-B=2x")


def parse_fix(text: str) -> Fix:
    """Return the fix that a text names. Raises ValueError with a sentence where it names none."""
    if match := _RANK.fullmatch(text):
        return Fix(Target.RANK, rank=int(match[1]), part=match[2] or "")
    if match := _STAGE.fullmatch(text):
        return Fix(Target.STAGE, stage=int(match[1]))
    if match := _PHASE.fullmatch(text):
        return Fix(Target.PHASE, phase=match[1])
    if match := _LINK.fullmatch(text):
        first, second = sorted((int(match[1]), int(match[2])))
        factor = float(match[3])
        if first == second:
            raise ValueError(state("a link is between two ranks"))
        if factor <= 1:
            raise ValueError(state("a link is as fast as it was at 1x: more than that fixes it"))
        return Fix(Target.LINK, link=(first, second), factor=factor)
    if text in ("balance=experts", "no-jitter"):
        return BALANCED_EXPERTS if text.startswith("balance") else NO_JITTER
    if match := _LINE.fullmatch(text):
        rank = int(match[3]) if match[3] else None
        file, line = match[1].strip("'\""), int(match[2])
        if match[4] and match[4].endswith("x"):
            factor = float(match[4][:-1])
            if factor <= 1:
                raise ValueError(state("a line is as fast as it was at 1x: more than that fixes it"))
            return Fix(Target.LINE, file=file, line=line, rank=rank, factor=factor)
        scope = FixScope(match[4]) if match[4] else None
        return Fix(Target.LINE, file=file, line=line, rank=rank, scope=scope)
    raise ValueError(
        state("{text} names nothing: a fix is one of {forms}", text=repr(printable(text)), forms=FORMS)
    )
