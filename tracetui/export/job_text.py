"""A job as text and as Markdown: the verdict in sentences, then its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracetui.export import markdown
from tracetui.export.job_document import roots_of
from tracetui.export.job_words import (
    WORTH,
    head_words,
    job_time,
    late_words,
    line_words,
    root_line,
    root_rank,
    root_words,
    verdict,
    whose,
)
from tracetui.export.ranks import group_words
from tracetui.export.text import MARGIN, Column, table, wrapped
from tracetui.job.job import Job
from tracetui.job.late import SlowStep, late_ranks, slow_steps
from tracetui.job.lines import JobLine, job_lines
from tracetui.job.links import JobLink, job_links
from tracetui.job.roots import Root
from tracetui.job.sayings import sayings
from tracetui.job.stages import Stage, job_stages
from tracetui.job.tables import VIEWS, RankRow, differing, leading, rank_rows, sorted_by
from tracetui.job.waits import Waits
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_duration, format_ms, format_percent

TOP = 10  #: rows of each table
TELLING = 1000  #: parts of the time of a job of which a root has to cost one
#: Measures of the table of ranks, by title.
_SHOWN = {
    "stage": "stage",
    "computing": "computing",
    "waiting": "communication_wait",
    "moving": "communication_transfer",
    "wait/move": "communication_unsplit",
    "copies": "copy",
    "idle": "idle",
    "preparing": "preparing",
    "bubble": "bubble",
}


#: Titles in the views of those whose own names are long.
_IN_VIEWS = {"communication_without_receive": "other comm.", "forward_backward": "fwd+bwd"}


@dataclass(frozen=True)
class Section:
    """A table of the report. Cells are as written in the trace: never print them unescaped."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""  #: what stands below


def job_text(job: Job, width: int, by: str | None = None, step: int | None = None, top: int = TOP) -> str:
    """Return the report as text; at most `top` rows in each table, 0 for all."""
    lines = [head_words(job, step), ""]
    for sentence in _verdict(job, step):
        lines += wrapped(sentence, width, later=MARGIN)
    lines.append("")
    for section in _sections(job, by, step, top):
        rows = [[printable(cell) for cell in row] for row in section.rows]
        lines += [section.title, *table(section.columns, rows, width)]
        lines += [f"{MARGIN}{section.more}"] if section.more else []
        lines.append("")
    said = sayings(job)
    if said:
        lines.append("Notes")
        for saying in said:
            lines += wrapped(f"{printable(saying)}.", width, MARGIN, 2 * MARGIN)
        lines.append("")
    return "\n".join(lines)


def job_markdown(job: Job, by: str | None = None, step: int | None = None, top: int = TOP) -> str:
    """Return the report as Markdown; at most `top` rows in each table, 0 for all."""
    lines = [f"## {markdown.plain(head_words(job, step))}", ""]
    lines += [markdown.plain(sentence) for sentence in _verdict(job, step)] + [""]
    for section in _sections(job, by, step, top):
        titles = [column.title for column in section.columns]
        texts = [column.title for column in section.columns if not column.right]
        rows = [
            [
                cell if column.right else markdown.code(cell) if cell else ""
                for column, cell in zip(section.columns, row)
            ]
            for row in section.rows
        ]
        lines += [f"### {markdown.plain(section.title)}", "", *markdown.table(titles, rows, texts), ""]
        lines += [section.more, ""] if section.more else []
    lines += [f"- {markdown.plain(saying)}." for saying in sayings(job)]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(job: Job, step: int | None) -> list[str]:
    return list(verdict(job, rank_rows(job, step), roots_of(job, step), _waits_of(job, step)))


def _waits_of(job: Job, step: int | None) -> Waits:
    return job.waits if step is None else job.waits.at(job.waits.step == step)


def _cost(waits: Waits, job: Job) -> dict[int | None, int]:
    """ns that each late rank cost the others, in all groups."""
    cost: dict[int | None, int] = {}
    for late in late_ranks(job, waits):
        cost[late.rank] = cost.get(late.rank, 0) + late.lost_ns
    return cost


def _sections(job: Job, by: str | None, step: int | None, top: int) -> Iterator[Section]:
    rows = rank_rows(job, step)
    roots, waits = roots_of(job, step), _waits_of(job, step)
    whole = job_time(rows)
    blamed = {rank for rank, lost in _cost(waits, job).items() if lost * 100 >= whole * WORTH}
    worth = [root for root in roots.roots if root.rank in blamed and root.lost_ns * TELLING >= max(whole, 1)]
    if worth:
        yield _roots(roots.roots, worth, whole, top)
    late = late_ranks(job, waits)
    if late:
        columns = [Column("lost"), Column("collectives"), Column("late", right=False, shrink_to=16)]
        columns.append(Column("in", right=False, shrink_to=16))
        told = [
            (
                format_duration(each.lost_ns),
                format_count(each.operations),
                late_words(each),
                group_words(each.group, each.name),
            )
            for each in late
        ]
        yield _section("Late ranks: what the others lost by waiting for them", columns, told, top)
    steps = [each for each in slow_steps(job) if step in (None, each.step)]
    if len(steps) > 1:
        columns = [*map(Column, ("step", "slowest", "lost by it", "lost"))]
        yield _section("Steps", columns, [_step(each) for each in steps], top)
    lines = job_lines(job, step)
    if lines:
        yield _lines(job, lines, top)
    yield _ranks(rows, by, top)
    links = job_links(job)
    if links:
        nominal = any(link.nominal for link in links)
        titles = ("moved", "in", "GB/s", *(("of nominal",) if nominal else ()))
        columns = [*map(Column, titles)]
        columns += [Column(title, right=False) for title in ("by", "from", "")]
        yield _section("Links, most time first", columns, [_link(link, nominal) for link in links], top)
    stages = job_stages(job, rows)
    if stages:
        titles = ("stage", "ranks", "computing", "bubble", "receiving", "imbalance")
        columns = [*map(Column, titles), Column("", right=False)]
        yield _section("Stages of the pipeline", columns, [_stage(stage) for stage in stages], top)


def _section(
    title: str, columns: Sequence[Column], rows: Sequence[tuple[str, ...]], top: int, more: str = ""
) -> Section:
    shown = rows[:top] if top else rows
    left = len(rows) - len(shown)
    return Section(
        title, tuple(columns), tuple(shown), more or (f"{format_count(left)} more" if left else "")
    )


def _roots(roots: tuple[Root, ...], worth: Sequence[Root], whole: int, top: int) -> Section:
    """What the ranks that cost most did longer; all else there is stands in one line."""
    columns = [*map(Column, ("lost", "share", "collectives", "rank"))]
    columns.append(Column("longer than the others", right=False, shrink_to=24))
    columns.append(Column("line", right=False, shrink_to=20, keep_end=True))
    shown = worth[:top] if top else list(roots)
    rows = [
        (
            format_duration(root.lost_ns),
            format_percent(root.lost_ns, whole) if root.lost_ns > 0 else "-",
            format_count(root.operations),
            root_rank(root),
            root_words(root),
            root_line(root),
        )
        for root in shown
    ]
    left = [root for root in roots if root not in shown]
    rest = f"{format_count(len(left))} more: {format_duration(sum(root.lost_ns for root in left))}, "
    rest += "below 0 what a late rank did less than the others"
    title = "Roots: why the late ranks were late, summed over all that waited"
    return Section(title, tuple(columns), tuple(rows), rest if left else "")


def _step(slow: SlowStep) -> tuple[str, ...]:
    slowest = "-" if slow.rank is None and slow.group_rank < 0 else f"peer {slow.group_rank}"
    slowest = slowest if slow.rank is None else str(slow.rank)
    return str(slow.step), slowest, format_duration(slow.lost_ns), format_duration(slow.total_ns)


def _lines(job: Job, lines: Sequence[JobLine], top: int) -> Section:
    """Whose problem each line is that ranks were idle for."""
    columns = [*map(Column, ("idle", "a rank", "worst"))]
    columns += [Column(title, right=False) for title in ("whose", "cause")]
    columns.append(Column("line", right=False, shrink_to=20, keep_end=True))
    rows = [
        (
            format_duration(line.idle_ns),
            format_duration(line.idle_ns // len(job.ranks)),
            format_duration(int(line.by_rank[line.worst])),
            whose(job, line),
            next(iter(line.causes)),
            line_words(line.line) if line.line is not None else "(no line)",
        )
        for line in lines
    ]
    return _section("Lines that ranks were idle for, all ranks together", columns, rows, top)


def _ranks(rows: tuple[RankRow, ...], by: str | None, top: int) -> Section:
    measure = leading(rows, by)
    ordered = sorted_by(rows, measure) if measure else rows
    view = VIEWS.get(by or "")
    apart = [name for name in differing(rows) if view is None or name in view]
    if view is not None:
        shown = {_IN_VIEWS.get(name, name.replace("_", " ")): name for name in view}
    else:
        told = {name for name in _SHOWN.values() if name == measure or any(row.mean(name) for row in rows)}
        shown = {title: name for title, name in _SHOWN.items() if name in told}
    if measure and measure not in shown.values():
        shown[measure.replace("_", " ")] = measure
    hosts = any(row.rank.digest.identity.host for row in rows)
    columns = (*map(Column, ("rank", *shown, "lost", "cost")),)
    columns += (Column("host", right=False, shrink_to=8),) if hosts else ()
    cells = []
    for row in ordered:
        means = [row.mean(name) for name in shown.values()]
        times = ["-" if ns is None else format_ms(ns, 2) for ns in means]
        host = (row.rank.digest.identity.host or "-",) if hosts else ()
        cells.append(
            (str(row.rank.number), *times, format_ms(row.lost_ns, 2), format_ms(row.cost_ns, 2), *host)
        )
    what = "ms of a mean step" if any(row.steps > 1 for row in rows) else "ms"
    differ = f"; differ in {', '.join(name.replace('_', ' ') for name in apart[:3])}" if apart else ""
    order = f", by {measure.replace('_', ' ')}" if measure else ""
    order = f", {by}{order}" if view is not None else order
    return _section(f"Ranks, {what}{order}{differ}", columns, cells, top)


def _link(link: JobLink, nominal: bool) -> tuple[str, ...]:
    ends, speed, share = link.ends, link.gb_per_s, link.nominal_share
    if ends.group_src < 0:
        path = f"rank {ends.src} to {ends.dst}"
    else:
        path = f"peer {ends.group_src} to {ends.group_dst} of group {ends.group}"
    return (
        format_bytes(link.bytes),
        format_duration(link.ns),
        "-" if speed is None else f"{speed:.1f}",
        *(("-" if share is None else f"{share * 100:.0f} %",) if nominal else ()),
        ends.transport,
        path,
        "slow" if link.slow else "",
    )


def _stage(stage: Stage) -> tuple[str, ...]:
    times = (stage.computing_max_ns, stage.bubble_ns, stage.receive_ns)
    return (
        str(stage.number),
        format_count(len(stage.ranks)),
        *map(format_duration, times),
        f"{stage.imbalance * 100:+.1f} %",
        "communicates much" if stage.communicates else "",
    )
