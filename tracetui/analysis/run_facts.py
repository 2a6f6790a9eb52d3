"""The run that a trace is of, as facts to be shown: rank, level, versions, options, environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracetui.siblings.run_description import RunDescription, describe_run


def facts_of_run(run: RunDescription) -> list[tuple[str, list[str]]]:
    """Return labels and what is known under each, of a run.

    Facts are as written by the producer: never print them unescaped.
    """
    return [(label, facts) for label, facts in _facts(run) if facts]


def facts_beside(trace: Path) -> list[tuple[str, list[str]]]:
    """Return the same of the run whose trace is at a path: never fails."""
    return facts_of_run(describe_run(trace))


def run_in_short(run: RunDescription) -> str:
    """Return rank and level: "rank 0, Level2"; "" where neither is known. Never print it unescaped."""
    rank = f"rank {run.rank}" if run.rank is not None else ""
    return ", ".join(fact for fact in (rank, run.level) if fact)


def _facts(run: RunDescription) -> Iterator[tuple[str, list[str]]]:
    facts = [
        f"rank {run.rank}" if run.rank is not None else "",
        f"on {run.host}" if run.host else "",
        run.level or "",
        " + ".join(run.activities),
        *(f"{name} {count}" for name, count in run.parallel.items()),
    ]
    yield "run", [fact for fact in facts if fact]
    yield "versions", [f"{name} {version}" for name, version in run.versions.items()]
    yield "options", [f"{name} {value}" for name, value in run.options.items()]
    yield "environ", [f"{name}={value}" for name, value in run.environment.items()]
    yield "problems", [*run.problems]
