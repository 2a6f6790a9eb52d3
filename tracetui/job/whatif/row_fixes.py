"""The fix that a row of the tables of a job stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tracetui.job.digest import DigestLine
from tracetui.job.idle_lines import JobLine
from tracetui.job.job import Job
from tracetui.job.network_links import JobLink
from tracetui.job.roots import Root
from tracetui.job.stages import Stage
from tracetui.job.whatif.fixes import Fix, FixScope, Target
from tracetui.job.whatif.order import PARTS


class RowFixes:
    """The fixes of the rows of a job: of what made ranks late, of lines, ranks, links and stages."""

    def __init__(self, job: Job, stages: Sequence[Stage] = ()) -> None:
        """Take the stages of the job: a rank that is alone in its stage has no peers but other stages."""
        self._alone = {stage.ranks[0]: stage.number for stage in stages if len(stage.ranks) == 1}
        self._files: dict[str, set[str]] = defaultdict(set)  # by their names
        for rank in job.ranks:
            for line in rank.digest.lines:
                self._files[_name(line.file)].add(line.file)

    def of_root(self, root: Root) -> Fix | None:
        """Return what makes a late rank do as much as its peers; None where no fix could."""
        if root.rank is None or root.kind not in PARTS:
            return None
        if root.line is not None and root.line.line > 0 and root.kind == "idle":
            scope = None if root.rank in self._alone else FixScope.PEERS
            return self._of_line(root.line, root.rank, scope)
        if root.kind == "computing" and root.rank in self._alone:
            return Fix(Target.STAGE, stage=self._alone[root.rank])
        return Fix(Target.RANK, rank=root.rank, part=root.kind)

    def of_line(self, line: JobLine) -> Fix | None:
        """Return the fix of a line on all ranks; None where no line is charged."""
        return self._of_line(line.line) if line.line is not None and line.line.line > 0 else None

    def _of_line(self, line: DigestLine, rank: int | None = None, scope: FixScope | None = None) -> Fix:
        name = _name(line.file)
        file = name if len(self._files[name] | {line.file}) == 1 else line.file
        return Fix(Target.LINE, file=file, line=line.line, rank=rank, scope=scope)


def link_fix(link: JobLink) -> Fix | None:
    """Return what makes a slow link as fast as links of its kind usually are; None of others."""
    src, dst = link.ends.src, link.ends.dst
    if not link.slow or src is None or dst is None or not link.slowness.usual_ns:
        return None
    factor = round(link.slowness.ns / link.slowness.usual_ns, 1)
    return Fix(Target.LINK, link=(min(src, dst), max(src, dst)), factor=factor) if factor > 1 else None


def _name(file: str) -> str:
    """Return the last part of a path."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]
