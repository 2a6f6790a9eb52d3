"""What a fix of one rank saves: never more than the rank spends on it, wherever others are late as well."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.job.simulated import Meeting, Work, simulate
from tracetui.job.digest import DigestLine, TimeClass
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.whatif.answer import Replays
from tracetui.job.whatif.fixes import Fix, FixScope, Target
from tracetui.job.whatif.order import PARTS
from tracetui.job.whatif.row_fixes import RowFixes

RANKS = 3
LINES = [DigestLine("/job/train.py", line, "train", False) for line in (27, 65)]
GROUPS = {"all": (0, 1, 2), "left": (0, 1), "right": (1, 2)}


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Draw a job of three ranks that compute and are idle for two lines before they meet in some group."""

    def work() -> list[Work]:
        pieces = [Work(TimeClass.COMPUTING, draw(st.integers(1, 9)) * 20_000, "MatMul")]
        for line in LINES:
            if draw(st.booleans()):
                pieces.append(Work(TimeClass.IDLE, draw(st.integers(1, 9)) * 20_000, "host.python", line))
        return pieces

    names = draw(st.lists(st.sampled_from([*GROUPS]), min_size=1, max_size=4))
    meetings = [
        Meeting(name, GROUPS[name], {rank: work() for rank in GROUPS[name]}, draw(st.integers(1, 40)) * 1000)
        for name in names
    ]
    return simulate(meetings, RANKS)


@given(jobs())
def test_a_line_of_a_rank_saves_no_more_than_the_rank_is_idle_for_it(job: Job) -> None:
    replays = Replays(job)
    for line in job_lines(job):
        assert line.line is not None
        for place, idle_ns in enumerate(line.by_rank.tolist()):
            for scope in (None, *FixScope):
                fix = Fix(Target.LINE, file="train.py", line=line.line.line, rank=place, scope=scope)
                saved = replays.saves([fix])  # nothing where only this rank does that work
                assert all(0 <= saves <= idle_ns for saves in saved.values())
                assert saved or scope is FixScope.PEERS
        everywhere = Fix(Target.LINE, file="train.py", line=line.line.line, scope=FixScope.ALL)
        assert 0 <= replays.trial([everywhere]).saves_ns <= int(line.by_rank.sum())


@given(jobs())
def test_a_row_about_a_late_rank_saves_no_more_than_the_rank_spends(job: Job) -> None:
    replays, fixes = Replays(job), RowFixes(job)
    order = replays.order
    for root in job.root_breakdown.roots:
        fix = fixes.of_root(root)
        if fix is not None and root.rank is not None:
            spent = int(order.parts[order.rank == root.rank][:, PARTS.index(root.kind)].sum())
            assert all(saves <= spent for saves in replays.saves([fix]).values())
