"""Break one token at a time and see whether a test fails: python -m tests.benchmarks.mutants [--count 50]

A mutant that survives the tests of its package is a line whose breaking nobody would notice, or one
that means the same: those are listed with a reason in `equivalents.py` and counted apart. Mutants are
drawn by a seed, so a run can be repeated, and are tried in copies of the checkout. Some twenty minutes
for 200 of them.
"""

from __future__ import annotations

import argparse
import ast
import io
import multiprocessing
import random
import re
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from tests.benchmarks.equivalents import EQUIVALENTS
from tests.benchmarks.killing import ROOT, Case, Checkout
from tests.sources import statements

PACKAGES = (
    "reader",
    "databases",
    "operations",
    "trace",
    "cache",
    "siblings",
    "analysis",
    "comparison",
    "job",
    "export",
    "ui",
    "cli",
)
#: where tests of a package lie beside its own directory: databases are read by the reader, what jobs and
#: comparisons write is tested with them, and recordings of the scheduler are read for what is analysed
BESIDE = {
    "reader": ("tests/databases",),
    "databases": ("tests/reader",),
    "operations": ("tests/job",),
    "siblings": ("tests/analysis", "tests/cache"),
    "job": ("tests/operations", "tests/cli"),
    "comparison": ("tests/job", "tests/cli"),
    "export": ("tests/job", "tests/comparison", "tests/operations", "tests/cli"),
    "cli": ("tests/cache",),
}
#: what a token becomes; each also the other way round
_SWAPS = {
    "<": "<=",
    ">": ">=",
    "==": "!=",
    "+": "-",
    "&": "|",
    "and": "or",
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "any": "all",
    "True": "False",
    '"left"': '"right"',
}
SWAPS = {**_SWAPS, **{new: old for old, new in _SWAPS.items()}}


@dataclass(frozen=True)
class Mutant:
    """One token of a file, and what stands in its place."""

    path: Path  #: from the root of the checkout
    line: int
    column: int
    old: str
    new: str
    text: str  #: the line, without the space around it

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it while lines move: its file below tracetui, its line's text, and what it becomes."""
        return self.path.relative_to("tracetui").as_posix(), self.text, f"{self.old} -> {self.new}"

    def applied(self, source: str) -> str:
        """The source with this token replaced."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        end = self.column + len(self.old)
        lines[self.line - 1] = line[: self.column] + self.new + line[end:]
        return "".join(lines)


@cache
def mutants_of(path: Path) -> tuple[Mutant, ...]:
    """Return every mutant of a file, in its order.

    Types, decorators and imports are left alone, and the -1 of a reshape: numpy takes any number below 0
    for the length that fits.
    """
    source = (ROOT / path).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    passive, annotations = set(_passive(tree)), list(_annotations(tree))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        new = SWAPS.get(token.string)
        if token.type == tokenize.NUMBER and token.string.isdecimal():
            if re.search(r"reshape\([^()]*-$", token.line[: token.start[1]]):
                continue
            new = str(int(token.string) + 1)
        line, column = token.start
        if new is None or line in passive or any(start <= token.start < end for start, end in annotations):
            continue
        found.append(Mutant(path, line, column, token.string, new, lines[line - 1].strip()))
    return tuple(found)


def _passive(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports, decorators, heads of functions and attributes without a value."""
    for node in statements(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Global)):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from range(node.lineno, node.body[0].lineno if node.body else node.lineno)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                yield from range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1)
        if isinstance(node, ast.AnnAssign) and node.value is None:
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _annotations(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where the annotation of each variable with a value begins and ends, as line and column."""
    for node in statements(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            kind = node.annotation
            yield (kind.lineno, kind.col_offset), (node.value.lineno, node.value.col_offset)


@cache
def _every(package: str) -> list[Mutant]:
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / "tracetui" / package).rglob("*.py"))
    return [mutant for path in paths for mutant in mutants_of(path)]


def drawn(package: str, count: int, seed: int) -> list[Mutant]:
    """`count` mutants of a package, the same ones for the same seed and sources."""
    found = _every(package)
    return random.Random(seed).sample(found, min(count, len(found)))


def chosen(
    packages: Sequence[str], count: int, seed: int, module: Path | None = None
) -> dict[str, list[Mutant]]:
    """Mutants by package: `count` drawn of each of some or of a directory, or all of a file.

    `module`: the file or directory, from the root of the checkout.
    """
    if module is None:
        return {package: drawn(package, count, seed) for package in packages}
    inside = module.relative_to("tracetui")
    found = list(mutants_of(module)) if module.suffix else drawn(inside.as_posix(), count, seed)
    return {inside.parts[0]: found}


def _try(
    checkout: Checkout,
    cases: Sequence[Case],
    seconds: float,
    mutants: Sequence[Mutant],
    fates: SimpleQueue[tuple[Mutant, str]],
) -> None:
    """Put what becomes of each mutant."""
    for mutant in mutants:
        source = (checkout.path / mutant.path).read_text(encoding="utf-8")
        fates.put((mutant, checkout.fate(mutant.path, mutant.applied(source), mutant.line, cases, seconds)))


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks.mutants", description=__doc__)
    parser.add_argument("--package", choices=PACKAGES, action="append", help="all without")
    parser.add_argument(
        "--module", type=Path, help="all mutants of a file, tracetui/trace/flows.py, or some of a directory"
    )
    parser.add_argument("--tests", action="append", help="run these, not those of the package: tests/trace")
    parser.add_argument("--count", type=int, default=50, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of tests that a mutant may pass")
    asked = parser.parse_args()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as directory:
        checkouts = [Checkout(ROOT, Path(directory, "0"))]
        # All at once: the sources may change while the copies are tried.
        draws = chosen(asked.package or PACKAGES, asked.count, asked.seed, asked.module)
        for package, every in draws.items():
            same = [mutant for mutant in every if mutant.key in EQUIVALENTS]
            tried = [mutant for mutant in every if mutant.key not in EQUIVALENTS]
            tests = asked.tests or (f"tests/{package}", *BESIDE.get(package, ()))
            cases = checkouts[0].cases(*tests)
            seconds = sum(case.seconds for case in cases)
            print(f"{package}: {len(cases)} tests of {seconds:.0f} s, {len(tried)} mutants", flush=True)
            while len(checkouts) < asked.jobs:
                checkouts.append(Checkout(checkouts[0].path, Path(directory, str(len(checkouts)))))
            fates: SimpleQueue[tuple[Mutant, str]] = context.SimpleQueue()
            workers = [
                context.Process(
                    target=_try, args=(checkout, cases, asked.seconds, tried[job :: asked.jobs], fates)
                )
                for job, checkout in enumerate(checkouts)
            ]
            for worker in workers:
                worker.start()
            living = 0
            for _ in tried:
                mutant, fate = fates.get()
                living += fate == "lives"
                if fate != "killed":
                    print(f"{fate}: {mutant.path}:{mutant.line}: {mutant.old} -> {mutant.new}", flush=True)
                    print(f"    {mutant.text}", flush=True)
            for worker in workers:
                worker.join()
            killed = len(tried) - living
            print(
                f"{package}: {killed} of {len(every)} killed, {len(same)} mean the same (seed {asked.seed})",
                flush=True,
            )


if __name__ == "__main__":
    main()
