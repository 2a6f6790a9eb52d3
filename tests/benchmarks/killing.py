"""Run the tests of a package on broken code, those that reach the broken line first, until one fails."""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[2]
Function = tuple[str, int]  #: its file below tracetui, and its first line, decorators included

_SHARED = ("hypothesis.strategies", "numpy", "orjson", "pandas", "rich.console")
_CPU_SECONDS, _TIMES = 5, 10  # that a test may take, beside so many times what it takes on whole code
_SECONDS = 300  # that a test may take in all: it may wait for what never comes
_OTHER = 70  # exit status of a process that fails by itself; pytest's own are below 10


@dataclass(frozen=True)
class Case:
    """A test that passes on whole code."""

    test: str  #: as pytest names it
    seconds: float  #: of processor time
    reached: frozenset[Function]  #: what it calls in its own process

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


class Checkout:
    """A copy of a checkout, its compiled modules included, beside the same real traces."""

    def __init__(self, source: Path, directory: Path) -> None:
        """Copy `source` into the new `directory`."""
        for name in _SHARED:  # imported once for all the processes that are forked
            __import__(name)
        self.path, self._directory = directory / "main", directory
        ignored = shutil.ignore_patterns(".git", ".venv", ".hypothesis", ".*_cache")
        shutil.copytree(source, self.path, ignore=ignored)
        if (ROOT.parent / "shared").exists():
            (directory / "shared").symlink_to(ROOT.parent / "shared")

    def cases(self, *tests: str) -> list[Case]:
        """Return the tests below directories that pass, the fastest first.

        Raises:
            RuntimeError: none does; with what they printed.
        """
        record = self._directory / "cases.json"
        recorder = _Recorder(self.path / "tracetui")

        def run() -> int:
            self._run_tests(recorder, tests)
            cases = [(case.test, case.seconds, sorted(case.reached)) for case in recorder.cases]
            record.write_text(json.dumps(cases), encoding="utf-8")
            return 0

        _status(run)
        cases = [
            Case(test, seconds, frozenset((file, line) for file, line in reached))
            for test, seconds, reached in json.loads(record.read_text(encoding="utf-8"))
        ]
        if not cases:
            raise RuntimeError(self._log())
        return sorted(cases, key=lambda case: case.seconds)

    def fate(self, path: Path, broken: str, line: int, cases: Sequence[Case], seconds: float) -> str:
        """Return what the cases make of a broken file: it is "killed", "endless" or it "lives".

        Those are run that reach the function of the line, and after them the others of their files, which
        may see what those left in a fixture or a cache: as many as take so many seconds.
        """
        file, first = path.relative_to("tracetui").as_posix(), function_at(self._text(path), line)
        chosen = near(cases, file, first, seconds)
        files = sorted({case.file for case in chosen})
        sys.dont_write_bytecode = True
        with self._broken(path, broken):
            status = _status(lambda: self._run_tests(_Chosen(chosen), ["-x", *files]))
        if status == _OTHER:
            raise RuntimeError(self._log())
        return "endless" if status < 0 else "killed" if status else "lives"

    def _log(self) -> str:
        """Return what the last tests printed."""
        return (self._directory / "log").read_text(encoding="utf-8")

    def _text(self, path: Path) -> str:
        return (self.path / path).read_text(encoding="utf-8")

    @contextlib.contextmanager
    def _broken(self, path: Path, broken: str) -> Iterator[None]:
        """Have other text in a file, whose compiled form holds again afterwards."""
        file = self.path / path
        whole, status = file.read_bytes(), file.stat()
        file.write_text(broken, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(whole)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _run_tests(self, plugin: object, arguments: Sequence[str]) -> int:
        """Run tests of this checkout, in this process and no other ever after; return pytest's status."""
        directory = self._directory / "own"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        os.chdir(self.path)
        os.environ.update(PYTHONPATH=str(self.path), HYPOTHESIS_STORAGE_DIRECTORY=str(directory))
        sys.path[:] = [str(self.path), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "tracetui")]:
            del sys.modules[name]
        warnings.resetwarnings()  # those of a test that this process was forked from are errors
        gc.freeze()  # pytest collects garbage five times: not among all that this process was forked with
        with (self._directory / "log").open("w+b") as log:
            for descriptor in range(3):
                os.dup2(log.fileno(), descriptor)
        imported = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
        options = ["-q", "-W", imported, "--hypothesis-seed=0", f"--basetemp={directory / 'files'}"]
        settings.register_profile("thorough", max_examples=100)  # of tests without the suite's conftest.py
        options += ["--hypothesis-profile=thorough"]
        options += ["-o", "addopts="]  # the checkout's are for the plugins that are switched off
        switched_off = [
            word for name in ("cacheprovider", "randomly", "xdist") for word in ("-p", f"no:{name}")
        ]
        return int(pytest.main([*options, *switched_off, *arguments], [plugin]))


class _Recorder:
    """A plugin of pytest that records what each test that passes calls."""

    def __init__(self, sources: Path) -> None:
        self.cases: list[Case] = []
        self._sources = f"{sources}{os.sep}"
        self._passed = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        codes: set[CodeType] = set()

        def profile(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call":
                codes.add(frame.f_code)

        self._passed, start = True, time.process_time()
        threading.setprofile(profile)
        sys.setprofile(profile)
        result = yield
        sys.setprofile(None)
        threading.setprofile(None)
        seconds, size = time.process_time() - start, len(self._sources)
        product_codes = [code for code in codes if code.co_filename.startswith(self._sources)]
        reached = frozenset(
            (Path(code.co_filename[size:]).as_posix(), code.co_firstlineno) for code in product_codes
        )
        if self._passed:
            self.cases.append(Case(item.nodeid, seconds, reached))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed &= report.passed


class _Chosen:
    """A plugin of pytest that runs some tests in their order, and has the process end where one hangs."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._places = {case.test: place for place, case in enumerate(cases)}
        self._cases = cases
        self._limit(_CPU_SECONDS)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._limit(self._cases[self._places[item.nodeid]].seconds)
        return (yield)

    @staticmethod
    def _limit(seconds: float) -> None:
        """Have the system end this process, whatever it is at, unless it is told anew in time."""
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS + _TIMES * seconds)
        signal.alarm(_SECONDS)


def near(cases: Sequence[Case], file: str, first: int, seconds: float) -> Sequence[Case]:
    """Return the cases that reach a function (0: what stands outside of any), then the others of their files.

    Those first that call little else, since they are about it, and as many as take `seconds` of processor
    time. What is made when a file is imported, by functions too that no case reaches, is seen wherever it
    is looked at: by the cases of those files that reach any function of it, and by those that call nothing
    but look at it only, or have other processes call it; in the end by all.
    """
    reaching = {case.test for case in cases if (file, first) in case.reached}
    made = not reaching
    if made:
        reaching = {case.test for case in cases if any(name == file for name, _ in case.reached)}
    files = {case.file for case in cases if case.test in reaching}
    found = [case for case in cases if made or case.file in files]
    found.sort(
        key=lambda case: (
            bool(case.reached) and case.file not in files,
            not made and case.test not in reaching,
            len(case.reached),
        )
    )
    before = accumulate((case.seconds for case in found), initial=0.0)
    return [case for case, taken in zip(found, before) if taken < seconds]


def function_at(source: str, line: int) -> int:
    """Return the first line of the innermost function at a line, decorators included; 0 outside of any."""
    first = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start = min(child.lineno for child in (node, *node.decorator_list))
            if start <= line <= (node.end_lineno or start):
                first = max(first, start)
    return first


def _status(work: Callable[[], int]) -> int:
    """Return the exit status of a process of its own that does some work, below 0 where a signal ended it.

    Nothing it started outlives it.
    """
    process = os.fork()
    if not process:
        try:
            os.setsid()
            os._exit(work())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(_OTHER)
    _, status = os.waitpid(process, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)
