"""The names of ranks beside the rows of a map: short, those of missing ranks too."""

from __future__ import annotations

from tracetui.export.sentences.job import absent_state, late_words
from tracetui.job.absent_ranks import AbsentRank
from tracetui.job.grids import GridMeasure
from tracetui.job.job import Job
from tracetui.language import translate
from tracetui.trace.clean import printable

#: What the map of each measure of the ranks answers.
QUESTIONS = {
    GridMeasure.COST: "Who makes others wait?",
    GridMeasure.WAITED: "Who waits for others?",
    GridMeasure.IDLE: "Which rank is idle?",
    GridMeasure.COMMUNICATION: "Which rank has exposed communication?",
    GridMeasure.COPY: "Which rank only copies?",
    GridMeasure.COMPUTING: "Which rank computes most?",
}
#: What its time is, where that is not plain.
LEGENDS = {
    GridMeasure.COST: "waits for it, also with other work",
    GridMeasure.WAITED: "its waits, also with other work",
}
#: What idle time is where columns are time: steps begin with their first task.
IDLE_BY_TIME = "idle, preparing included"
_NAME_CELLS = 24  #: of the host of a rank


def labels(job: Job) -> tuple[str, ...]:
    """Return "rank 5" by the place of each rank, with its host where the job has several."""
    hosts = [rank.digest.identity.host for rank in job.ranks]
    several = len(set(hosts)) > 1
    return tuple(
        _called(rank.number) + (f" {printable(host, _NAME_CELLS)}" if several and host else "")
        for rank, host in zip(job.ranks, hosts)
    )


def _called(number: int) -> str:
    return translate("rank {number}", number=number)


def absent_label(absent: AbsentRank, unread: frozenset[int] = frozenset()) -> str:
    """Return "rank 5 (missing)", "peer 5 (missing)" where only its number in a group is known.

    One whose number is in `unread` is there and not read: "rank 5 (not read)".
    """
    late = absent.late
    if late.rank is not None:
        return printable(late_words(late, unread), _NAME_CELLS)
    state = absent_state(late, unread)
    if late.group_rank < 0:
        return translate("a rank ({state})", state=state)
    return translate("peer {number} ({state})", number=late.group_rank, state=state)
