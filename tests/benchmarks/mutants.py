"""Break one token at a time and see whether a test fails: python -m tests.benchmarks.mutants [--count 50]

A mutant that survives the tests of its package is a line whose breaking nobody would notice, or one
that means the same: those are listed with a reason in `equivalents.py` and counted apart. Mutants are
drawn by a seed, so a run can be repeated, and are tried in copies of the checkout.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests.benchmarks.equivalents import EQUIVALENTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("reader", "trace", "analysis", "export")
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


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file, in its order. Types, decorators and imports are left alone."""
    source = (ROOT / path).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    passive, annotations = set(_passive(tree)), list(_annotations(tree))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.start[0] in passive or any(start <= token.start < end for start, end in annotations):
            continue
        new = SWAPS.get(token.string)
        if token.type == tokenize.NUMBER and token.string.isdecimal():
            new = str(int(token.string) + 1)
        if new is not None:
            line, column = token.start
            yield Mutant(path, line, column, token.string, new, lines[line - 1].strip())


def _passive(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports, decorators, heads of functions and attributes without a value."""
    for node in ast.walk(tree):
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
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            kind = node.annotation
            yield (kind.lineno, kind.col_offset), (node.value.lineno, node.value.col_offset)


def drawn(package: str, count: int, seed: int) -> list[Mutant]:
    """`count` mutants of a package, the same ones for the same seed and sources."""
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / "tracetui" / package).rglob("*.py"))
    found = [mutant for path in paths for mutant in mutants_of(path)]
    return random.Random(seed).sample(found, min(count, len(found)))


def copy_checkout(directory: Path) -> Path:
    """A copy of the checkout, its compiled modules included, beside the same real traces."""
    copy = directory / "main"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".hypothesis", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=ignored)
    if (ROOT.parent / "shared").exists():
        (directory / "shared").symlink_to(ROOT.parent / "shared")
    return copy


def survives(mutant: Mutant, copy: Path, tests: str, seconds: float) -> bool:
    """Whether the tests pass with a mutant; one that hangs them is killed."""
    path = copy / mutant.path
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(source), encoding="utf-8")
    own = sorted((copy / tests).rglob(f"test_{mutant.path.stem}.py"))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(copy)}
    try:
        for chosen in ([str(test) for test in own], [tests]):
            if not chosen:
                continue
            done = subprocess.run(
                [*command, *chosen], cwd=copy, env=environment, capture_output=True, timeout=seconds
            )
            if done.returncode not in (0, 5):
                return False
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_text(source, encoding="utf-8")
    return True


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks.mutants", description=__doc__)
    parser.add_argument("--package", choices=PACKAGES, action="append", help="all without")
    parser.add_argument("--count", type=int, default=50, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=180, help="that the tests of a package may take")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(asked.jobs) as pool:
        copies: Queue[Path] = Queue()
        for job in range(asked.jobs):
            (Path(directory) / str(job)).mkdir()
            copies.put(copy_checkout(Path(directory) / str(job)))

        def lives(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return survives(mutant, copy, f"tests/{mutant.path.parts[1]}", asked.seconds)
            finally:
                copies.put(copy)

        for package in asked.package or PACKAGES:
            chosen = drawn(package, asked.count, asked.seed)
            same = [mutant for mutant in chosen if mutant.key in EQUIVALENTS]
            tried = [mutant for mutant in chosen if mutant.key not in EQUIVALENTS]
            killed = 0
            for mutant, lived in zip(tried, pool.map(lives, tried)):
                killed += not lived
                if lived:
                    print(f"{mutant.path}:{mutant.line}: {mutant.old} -> {mutant.new}", flush=True)
                    print(f"    {mutant.text}", flush=True)
            print(
                f"{package}: {killed} of {len(chosen)} killed, {len(same)} mean the same (seed {asked.seed})",
                flush=True,
            )


if __name__ == "__main__":
    main()
