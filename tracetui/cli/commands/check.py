"""`tracetui check`: whether limits on shares of time are kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import PATHS, Collect, Parser, Request, usage_error
from tracetui.language import restate, state, translate
from tracetui.trace.clean import printable

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.health.facts import HealthFacts
    from tracetui.analysis.limits import Limit
    from tracetui.analysis.memory.limits import MemoryLimit
    from tracetui.comparison.comparison import Comparison
    from tracetui.comparison.regressions import RegressionLimit
    from tracetui.job.job import Job

_DESCRIPTION = f"""Hold a trace to limits, for scripts and CI: on the time that its devices are
free or idle, on memory, on waiting in a job of many ranks, on the change from
another run. Prints one line for each limit that is exceeded, with --trusted for
each number that is not to be believed, and nothing else on stdout.

A limit on time is a time (3ms) or a share (10%) of the time between the first
and the last work of a device; each device is held to it by itself, and with
--each-step each step on it too. Causes are those of idle time, as in the
summary, like host.python; "host" is all of the host's together.

With --max-wait, --max-imbalance or --max-phase PATH is a job of many ranks, as
for tracetui ranks, and each of them is held to these limits; they go with no
others.

With --baseline the trace is compared with another, the run before (see tracetui
compare): --max-regression 5% is how much slower a step may be, and
--max-regression idle=2ms the same of a part of it (idle, computing,
communication, copy, preparing), a cause (host.sync), a class (Matmul), of the
peak of memory (memory=500MB), or of what ranks lose by waiting (wait=5ms). BASE
and PATH may be digests then, and jobs.

With --same-exports the two exports of a run, its JSON and its database, are
held to say the same: tasks, gaps, times, steps and causes; it goes with no
limits, and neither with --trusted.

exit status:
  0 no limit is exceeded   4 one is, or a number is not to be believed
  5 nothing recorded tells of what a limit is about, or of it on a side

{PATHS}"""

_AT_MOST = "at most LIMIT, like 10%% or 3ms"
_MEASURES = {
    "free": "time without computing or communication",
    "idle": "time without any work, copies counting as work",
}

_MEASURES_OF_JOBS = {
    "wait": "what a rank of a job loses by waiting for others",
    "imbalance": "by how much longer than the mean of all a rank of a job computes in a step",
}

_SIZES = {
    "memory": "what tensors hold on a device: at most SIZE, like 60GB",
    "growth": "what they hold more from step to step, in each of the last three: at most SIZE, like 1MB",
}


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    for measure, meaning in _MEASURES.items():
        _add_limit(parser, measure, "limits", "LIMIT", _limit_of(measure), f"{meaning}: {_AT_MOST}")
    text = "idle time of this cause: at most LIMIT; may be repeated"
    _add_limit(parser, "cause", "limits_of_causes", "CAUSE=LIMIT", _cause_limit, text)
    for measure, meaning in _MEASURES_OF_JOBS.items():
        _add_limit(parser, measure, "limits_of_jobs", "LIMIT", _limit_of(measure), f"{meaning}: {_AT_MOST}")
    text = (
        "what the longest range of that name takes on a rank of a job: at most TIME, like "
        "generate=2.1s; may be repeated"
    )
    _add_limit(parser, "phase", "limits_of_jobs", "NAME=TIME", _phase_limit, text)
    parser.add_argument("--baseline", metavar="BASE", help="the run to compare with: a trace, digest or job")
    text = "how much longer than in BASE a step may be, or a part of it: 5%%, idle=2ms; may be repeated"
    _add_limit(parser, "regression", "regressions", "LIMIT", _regression, text)
    parser.add_all_steps()
    for measure, meaning in _SIZES.items():
        _add_limit(parser, measure, "limits_of_memory", "SIZE", _memory_limit_of(measure), meaning)
    parser.add_argument(
        "--same-exports", action="store_true", help="hold the JSON and the database of a run to say the same"
    )
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="fail too where a number that a limit is about is doubtful or wrong (see tracetui doctor)",
    )
    parser.add_argument("--each-step", action="store_true", help="hold each step to the limits too")
    parser.add_json()
    parser.add_ascii()
    parser.add_language()
    parser.add_scheduler()
    parser.add_rules()


def _add_limit(
    parser: Parser, name: str, dest: str, metavar: str, parse: Callable[[str], Any], help_text: str
) -> None:
    parser.add_argument(
        f"--max-{name}", dest=dest, metavar=metavar, action=Collect, type=parse, help=help_text
    )


class _CheckResult(NamedTuple):
    """The result of checking limits."""

    document: dict[str, Any]
    text: str  #: a line for each that is exceeded
    broken: bool
    notes: tuple[str, ...] = ()  #: what must be known to read it
    unchecked: tuple[str, ...] = ()  #: of which of them nothing tells: statements


def _run(request: Request) -> ExitCode:
    from tracetui.cli.output import print_json, print_text, say

    of_devices = (*request.limits, *request.limits_of_causes)
    other_limits = (*of_devices, *request.limits_of_memory, *request.regressions)
    if (request.baseline is None) != (not request.regressions):
        raise usage_error("--baseline BASE and --max-regression LIMIT belong together")
    if request.limits_of_jobs and (other_limits or request.each_step):
        of_jobs = "--max-wait, --max-imbalance and --max-phase"
        raise usage_error("{options} are of jobs, and go with no limits of a device", options=of_jobs)
    if request.same_exports and (
        other_limits or request.limits_of_jobs or request.each_step or request.export or request.trusted
    ):
        raise usage_error("--same-exports reads both exports of a run, and goes with no limits")
    if not other_limits and not request.limits_of_jobs and not request.same_exports:
        raise usage_error("no limit is given, like --max-free 10%; see tracetui check --help")
    if request.each_step and not of_devices:
        raise usage_error("--each-step goes with limits on the time of a device, like --max-idle 10%")
    if request.all_steps and request.baseline is None and not request.limits_of_jobs:
        raise usage_error("--all-steps goes with --baseline, or with limits on a job")
    results = [*_check_limits(request, of_devices)]
    if request.json:
        print_json(_document(results), request)
    else:
        print_text("".join(dict.fromkeys("".join(part.text for part in results).splitlines(True))), request)
    for part in results:
        for sentence in (*part.notes, *map(restate, part.unchecked)):
            say(sentence)
    if any(part.broken for part in results):
        return ExitCode.LIMIT
    return ExitCode.UNCHECKED if any(part.unchecked for part in results) else ExitCode.OK


def _document(results: Sequence[_CheckResult]) -> dict[str, Any]:
    """Join the documents of all kinds of limits, and what nothing tells of."""
    from tracetui.export.json_document import SCHEMA

    # Of a number in several of them the last verdict holds: that on both sides of a comparison is the worst.
    trust = {number: worth for part in results for number, worth in part.document.get("trust", {}).items()}
    joined = {key: value for part in results for key, value in part.document.items()}
    unchecked = [sentence for part in results for sentence in part.unchecked]
    return {"schema": SCHEMA, **joined, **({"trust": trust} if trust else {}), "unchecked": unchecked}


def _check_limits(request: Request, of_devices: tuple[Limit, ...]) -> Iterator[_CheckResult]:
    """Yield what came of each kind of limits."""
    if request.same_exports:
        yield _hold_exports(request)
        return
    if request.limits_of_jobs:
        from tracetui.cli.job_reading import open_job

        job = open_job(request, [Path(request.path)])
        yield _check_job(job, request.limits_of_jobs)
        if request.trusted:
            from tracetui.job.health import job_health, job_trust, rank_health

            facts = [*map(rank_health, job.ranks), job_health(job)]
            yield _check_trust(job_trust(job), {"steps", "communication", "ranks"}, facts)
        return
    if not of_devices and not request.limits_of_memory:
        yield from _compare_with_baseline(request)
        return
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.job.sources import digest_at

    if digest_at(Path(request.path)) is not None:
        raise usage_error("a digest is held to --max-regression alone: other limits need its trace")
    analysis, _ = open_analysis(request)
    yield _check_devices(analysis, of_devices, request.each_step)
    if request.trusted:
        from tracetui.analysis.health.facts import health_facts

        kept = health_facts(analysis)
        yield _check_trust(kept.trust, _numbers_of(of_devices, request), [kept])
    if request.limits_of_memory:
        yield _check_memory(analysis, request.limits_of_memory)
    if request.baseline is not None:
        yield from _compare_with_baseline(request, analysis)


def _compare_with_baseline(request: Request, opened: Analysis | None = None) -> Iterator[_CheckResult]:
    """Yield what came of the limits on regressions; `opened`: the analysis of the trace, where it is open."""
    from tracetui.cli.comparing import compare_whole

    compared = compare_whole(request, request.baseline, request.path, opened)
    yield _check_regressions(compared, request.regressions)
    if request.trusted:
        yield _check_trust_of_sides(compared, request.regressions)


def _numbers_of(limits: tuple[Limit, ...], request: Request) -> set[str]:
    """Return the numbers of a recording that limits are about, as its health calls them."""
    from tracetui.analysis.limits import FREE, IDLE

    numbers = {"idle"} if limits else set[str]()
    numbers |= {"causes"} if any(limit.measure not in (FREE, IDLE) for limit in limits) else set()
    numbers |= {"steps"} if request.each_step else set()
    return numbers | ({"memory"} if request.limits_of_memory else set())


def _nothing_to_check(sentence: str) -> _CheckResult:
    return _CheckResult({}, "", False, unchecked=(sentence,))


def _check_trust_of_sides(comparison: Comparison, limits: tuple[RegressionLimit, ...]) -> _CheckResult:
    """Hold both sides of a comparison to be believed in what limits on regressions are about."""
    from tracetui.comparison.regressions import COMMUNICATION, IDLE, MEMORY, STEP, WAIT

    known = {
        STEP: {"steps"},
        IDLE: {"steps", "idle"},
        COMMUNICATION: {"steps", "communication"},
        MEMORY: {"memory"},
        WAIT: {"steps", "communication", "ranks"},
    }
    numbers = set[str]()
    for limit in limits:
        is_cause = "." in limit.measure
        numbers |= known.get(limit.measure, {"steps", "causes"} if is_cause else {"steps", "operators"})
    return _check_trust(comparison.trust, numbers, [comparison.base.health, comparison.other.health])


def _check_trust(trust: Mapping[str, str], numbers: set[str], facts: Sequence[HealthFacts]) -> _CheckResult:
    """Hold recordings to be believed in some numbers: a line for each that is doubtful or wrong.

    Args:
        trust: the verdict on each number.
        numbers: that limits are about.
        facts: of the recordings, which tell why.
    """
    from tracetui.export.sentences.health import number_names, verdict_word

    broken = [number for number, worth in trust.items() if number in numbers and worth != "good"]
    lines = []
    for number in broken:
        sentences = (d.sentence for part in facts for d in part.doubts if number in d.affects)
        lines.append(
            translate(
                "not trusted: {numbers} {verdict}: {finding}",
                numbers=number_names([number]),
                verdict=verdict_word(trust[number]),
                finding=printable(restate(next(sentences))),
            )
        )
    document = {"trust": {number: worth for number, worth in trust.items() if number in numbers}}
    return _CheckResult(document, "".join(f"{line}\n" for line in lines), bool(broken))


def _hold_exports(request: Request) -> _CheckResult:
    """Compare both exports of a run, of which one is in memory at a time."""
    from tracetui.cli.trace_reading import opened_trace
    from tracetui.comparison.exports import export_differences, export_measures
    from tracetui.databases.exports import export_of, other_export
    from tracetui.export.comparison.exports import agreement_text, differences_text, exports_document
    from tracetui.reader.locate import locate_trace

    found = locate_trace(request.path)
    other = other_export(found)
    if other is None:
        template = "{path}: there is no JSON of this run beside it to compare with"
        if export_of(found) == "json":
            template = "{path}: there is no database of this run beside it to compare with"
        return _nothing_to_check(state(template, path=printable(str(found))))
    text, database = (found, other.path) if export_of(found) == "json" else (other.path, found)
    measures = []
    for path in (text, database):
        with opened_trace(request, str(path)) as (analysis, _):
            measures.append(export_measures(analysis))
    differences = export_differences(measures[0], measures[1])
    document = exports_document((str(text), str(database)), differences)
    notes = () if differences else (agreement_text(*measures),)
    return _CheckResult(document, differences_text(differences), bool(differences), notes)


def _check_devices(analysis: Analysis, limits: tuple[Limit, ...], each_step: bool) -> _CheckResult:
    from tracetui.analysis.limits import find_breaches, unrecorded_causes
    from tracetui.export.limits import breaches_text, doubts, limits_document

    if limits and not any(activity.window_ns > 0 for activity in analysis.devices):
        return _nothing_to_check(
            state("no known device computes or communicates in this trace: there is nothing to check")
        )
    found = find_breaches(analysis, limits)
    breaches = tuple(breach for breach in found if each_step or breach.step is None)
    differing = (restate(check.sentence) for check in analysis.checks if not check.agrees)
    notes = (*doubts(analysis, limits), *differing)
    unrecorded = unrecorded_causes(analysis.scheduler is not None, analysis.has_runtime)
    unrecorded -= {cause.label for cause in analysis.causes.by_cause()}  # as frames tell of compiling
    unchecked = _unrecorded_sentences(limit.measure for limit in limits if limit.measure in unrecorded)
    if each_step and not analysis.steps:
        unchecked += (state("no step is recorded: there is nothing to check"),)
    document, text = limits_document(limits, breaches), breaches_text(breaches)
    return _CheckResult(document, text, bool(breaches), notes, unchecked)


def _unrecorded_sentences(measures: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each measure that nothing recorded tells of."""
    return tuple(
        state("nothing recorded tells of {measure}: there is nothing to check", measure=measure)
        for measure in dict.fromkeys(measures)
    )


def _check_memory(analysis: Analysis, limits: tuple[MemoryLimit, ...]) -> _CheckResult:
    from tracetui.analysis.memory.limits import find_memory_breaches, unrecorded_measures
    from tracetui.export.limits import memory_breaches_text, memory_limits_document

    memory = analysis.memory
    breaches = () if memory is None else find_memory_breaches(memory, limits)
    unknown = unrecorded_measures(memory, limits)
    return _CheckResult(
        memory_limits_document(limits, breaches),
        memory_breaches_text(breaches),
        bool(breaches),
        unchecked=_unrecorded_sentences(unknown),
    )


def _check_regressions(comparison: Comparison, limits: tuple[RegressionLimit, ...]) -> _CheckResult:
    from tracetui.comparison.regressions import find_regressions, unknown_measures
    from tracetui.export.comparison.document import regressions_document
    from tracetui.export.comparison.limits import regressions_text
    from tracetui.export.sentences.notes import comparison_notes
    from tracetui.export.sentences.verdict import verdict

    for name, run in comparison.sides:
        if not len(run.wall_ns):
            template = "no known device computes or communicates in {run}: there is nothing to compare"
            return _nothing_to_check(state(template, run=name))
    unknown = unknown_measures(comparison, limits)
    found = find_regressions(comparison, [limit for limit in limits if limit.measure not in unknown])
    unmeasured = tuple(
        state("nothing tells of {measure} in both: there is nothing to check", measure=measure)
        for measure in unknown
    )
    document = regressions_document(comparison, limits, found)
    of_jobs = () if comparison.job is None else map(printable, comparison_notes(comparison))
    return _CheckResult(
        document, regressions_text(found), bool(found), (verdict(comparison), *of_jobs), unmeasured
    )


def _check_job(job: Job, limits: tuple[Limit, ...]) -> _CheckResult:
    from tracetui.export.limits import job_breaches_text, job_limits_document
    from tracetui.export.sentences.notes import job_notes
    from tracetui.job.limits import find_job_breaches, unknown_measures, unmarked_phases

    if not any(rank.digest.end > rank.digest.start for rank in job.ranks):
        return _nothing_to_check(
            state("no known device computes or communicates in these traces: there is nothing to check")
        )
    breaches = find_job_breaches(job, limits)
    notes = tuple(printable(note) for note in job_notes(job))
    unmarked = tuple(
        state("no range marked as {name} is known: there is nothing to check", name=printable(name))
        for name in unmarked_phases(job, limits)
    )
    document, text = job_limits_document(limits, breaches), job_breaches_text(breaches)
    unchecked = (*_unrecorded_sentences(unknown_measures(job, limits)), *unmarked)
    return _CheckResult(document, text, bool(breaches), notes, unchecked)


def _regression(text: str) -> RegressionLimit:
    from tracetui.comparison.regressions import parse_regression

    return _parsed(lambda: parse_regression(text))


def _limit_of(measure: str) -> Callable[[str], Limit]:
    def limit(text: str) -> Limit:
        from tracetui.analysis.limits import parse_limit

        return _parsed(lambda: parse_limit(measure, text))

    return limit


def _memory_limit_of(measure: str) -> Callable[[str], MemoryLimit]:
    def limit(text: str) -> MemoryLimit:
        from tracetui.analysis.memory.limits import MemoryLimit, parse_size

        return _parsed(lambda: MemoryLimit(measure, parse_size(text)))

    return limit


def _cause_limit(text: str) -> Limit:
    from tracetui.analysis.limits import parse_cause_limit

    return _parsed(lambda: parse_cause_limit(text))


def _phase_limit(text: str) -> Limit:
    from tracetui.analysis.limits import parse_phase_limit

    return _parsed(lambda: parse_phase_limit(text))


AnyLimit = TypeVar("AnyLimit")


def _parsed(parse: Callable[[], AnyLimit]) -> AnyLimit:
    try:
        return parse()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


COMMAND = Command(
    "check",
    "PATH",
    "hold time, memory, ranks or changes to limits, for CI",
    _DESCRIPTION,
    _add_arguments,
    _run,
    needs_stdout=False,
)
