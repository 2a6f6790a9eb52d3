"""What fixing brings a job, as JSON and as a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracetui.export.cells import encodable
from tracetui.export.job.report import Report
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.sentences.notes import job_notes
from tracetui.export.tables.column import records
from tracetui.export.tables.shown import TableSection
from tracetui.export.tables.whatif import TRIALS, TrialRows
from tracetui.job.job import Job
from tracetui.job.whatif.answer import JobWhatIf, Trial
from tracetui.job.whatif.critical import CriticalRank
from tracetui.language import in_english, names, translate, wording
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_error, format_percent

_TOP = 10  # fixes that are listed
LARGEST_ERROR = 0.033  #: of a replay, as a share of a step: beyond it the answer says what is not modelled
_MOST_KINDS = 4
_WORTH = 1.002  #: slowdown of a kind or rank from which on it is named


@in_english()
def whatif_document(answer: JobWhatIf) -> dict[str, Any]:
    """Return the document of an answer; times are means of the steps."""
    return {
        "schema": SCHEMA,
        "replay_error": answer.replay_error,
        "step_ns": answer.step_ns,
        "ideal_ns": answer.ideal_ns,
        "slowdown": answer.slowdown,
        "by_kind": {encodable(kind): ratio for kind, ratio in answer.by_kind.items()},
        "by_rank": {str(rank): ratio for rank, ratio in answer.by_rank.items()},
        "worst_workers": answer.worst_workers,
        "last_stage": answer.last_stage,
        "unexplained_delays": None if answer.critical is None else answer.critical.delayed,
        "missing_delays": None if answer.critical is None else answer.critical.missing,
        "fixes": records(TRIALS, TrialRows(answer.step_ns, answer.trials)),
        "asked": {
            "fixes": [encodable(fix.text) for fix in answer.asked.fixes],
            "step_ns": answer.asked.step_ns,
            "saves_ns": answer.asked.saves_ns,
            "critical_rank": None if answer.critical is None else answer.critical.rank,
        },
    }


def whatif_report(answer: JobWhatIf, top: int | None) -> Report:
    """Return the report of an answer; at most `top` fixes, 0 for all."""
    job, sections = answer.order.job, _sections(answer, _TOP if top is None else top)
    return Report(head_words(job), [*whatif_sentences(answer)], sections, job_notes(job, has_means=False))


def whatif_sentences(answer: JobWhatIf) -> Iterator[str]:
    """Yield what a step takes now, with what was asked for fixed, and ideally."""
    if not answer.order.job.steps:
        yield translate("No steps are recorded: a step is the whole recording here.")
    error = format_error(answer.replay_error)
    if answer.asked.fixes:
        yield _gain_words(answer.asked, answer.step_ns)
        yield translate("The replay of a step as it was is off by {error} at most.", error=error)
    else:
        now = format_duration(answer.step_ns)
        yield translate("A step takes {now}; its replay is off by {error} at most.", now=now, error=error)
    yield from replay_sentences(answer.order.job, answer.replay_error)
    if answer.critical is not None:
        yield from _critical_sentences(answer.order.job, answer.critical, bool(answer.asked.fixes))
    template = (
        "Without delays a step would take {plain}, and {time} with each operation as long as usual: slowdown "
        "{slowdown}."
    )
    if answer.no_delay_ns > answer.step_ns:  # it begins sooner beside the step before, and ends no sooner
        template = (
            "Without delays, and with each operation as long as usual, a step would take {time}: slowdown "
            "{slowdown}."
        )
    yield translate(
        template,
        plain=format_duration(answer.no_delay_ns),
        time=format_duration(answer.ideal_ns),
        slowdown=f"{answer.slowdown:.3f}",
    )
    slow = [f"{_kind_words(kind)} {ratio:.3f}" for kind, ratio in answer.by_kind.items() if ratio >= _WORTH]
    if slow:
        yield translate("Slowdown by one kind alone: {kinds}.", kinds=names(slow[:_MOST_KINDS]))


def replay_sentences(job: Job, error: float) -> Iterator[str]:
    """Yield what a replay that is off by `error`, a share of a step, does not model."""
    if error > LARGEST_ERROR:
        yield translate("What of the order of its operations is not in the traces is not modelled.")
    if job.clocks.parts > 1:
        yield translate(
            "The clocks of {count} parts of the job are not aligned: their waits for each other stay.",
            count=job.clocks.parts,
        )
    if job.may_lack_late_rank:
        yield translate(
            "Whether ranks are missing is not known: where one was late, no fix here makes it earlier."
        )


def _critical_sentences(job: Job, critical: CriticalRank, is_then: bool) -> Iterator[str]:
    """Yield which rank is critical, `is_then`: with something fixed, and what else the chain is of."""
    if critical.rank is None:
        template = "Critical are {ranks}: {share} of the longest chain."
        if is_then:
            template = "Critical then are {ranks}: {share} of the longest chain."
        yield translate(template, ranks=_missing_words(job), share=_percent(critical.share))
    else:
        template = "Rank {rank} is critical: {share} of the longest chain, mostly {reason}."
        if is_then:
            template = "Rank {rank} is critical then: {share} of the longest chain, mostly {reason}."
        reason = translate(critical.reason)
        yield translate(template, rank=critical.rank, share=_percent(critical.share), reason=reason)
    if critical.missing > LARGEST_ERROR:
        yield translate(
            "Waiting for {ranks} is {share} of the longest chain: no fix makes them earlier.",
            ranks=_missing_words(job),
            share=_percent(critical.missing),
        )
    if critical.delayed > LARGEST_ERROR:
        yield translate(
            "Delays of no known reason are {share} of the longest chain: only no-jitter shortens them.",
            share=_percent(critical.delayed),
        )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _missing_words(job: Job) -> str:
    """Name the ranks that stand-ins stand for."""
    is_missing = job.missing and job.clocks.parts == 1 and not job.strangers
    return translate("missing ranks") if is_missing else translate("ranks that cannot be compared")


def critical_words(job: Job, critical: CriticalRank | None) -> str:
    """Say which rank is critical, and by what; "" where nothing is."""
    if critical is None:
        return ""
    if critical.rank is None:
        return translate("{ranks} are critical", ranks=_missing_words(job))
    return translate(
        "rank {rank} is critical, mostly {reason}", rank=critical.rank, reason=translate(critical.reason)
    )


def _gain_words(trial: Trial, step_ns: int) -> str:
    """Say what a step takes with fixes instead of `step_ns`."""
    template = "With {fixes} fixed a step takes {then} instead of {now}: {saved} ({share}) less."
    if trial.saves_ns <= 0:  # a step may begin sooner then, and end as before
        template = "With {fixes} fixed a step of {now} gains nothing."
    return translate(
        template,
        fixes=names(printable(fix.text) for fix in trial.fixes),
        then=format_duration(trial.step_ns),
        now=format_duration(step_ns),
        saved=format_duration(trial.saves_ns),
        share=format_percent(trial.saves_ns, step_ns),
    )


def _sections(answer: JobWhatIf, top: int) -> list[TableSection]:
    """Return the table of the fixes that save something."""
    gains = [trial for trial in answer.trials if trial.saves_ns > 0]
    rows = TrialRows(answer.step_ns, gains, top)
    title = translate("Single fixes, by what a step gains as replayed")
    return [TableSection(title, TRIALS, rows, rows.more, rows.more)] if gains else []


def _kind_words(kind: str) -> str:
    """Return "computing", "idle host.python": what an operation does is said in the language chosen."""
    does, space, cause = kind.partition(" ")
    return f"{wording(does)}{space}{printable(cause)}"
