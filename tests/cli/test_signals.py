"""Signals end a command in order, wherever they come."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.forks import ROOT
from tracetui.cli import main, signals
from tracetui.cli.signals import as_cancel, raise_if_signalled

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _handlers_are_as_before() -> Iterator[None]:
    """And usual ones at first: nohup has one ignored, and what a shell puts into the background another."""
    watched = (*ALL, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in watched}
    usual: dict[signal.Signals, Any] = {
        **dict.fromkeys(watched, signal.SIG_DFL),
        signal.SIGINT: signal.default_int_handler,
    }
    for number, handler in usual.items():
        signal.signal(number, handler)
    yield
    after = {number: signal.getsignal(number) for number in watched}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == usual


@pytest.mark.parametrize("number", ALL)
def test_a_signal_does_as_ctrl_c_does(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), as_cancel(*ALL):
        signal.raise_signal(number)


def test_an_ignored_signal_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_cancel(*ALL):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_an_interrupt_has_become_is_one() -> None:
    with pytest.raises(KeyboardInterrupt), as_cancel(*ALL):
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("as numpy has it") from None
    with pytest.raises(ImportError), as_cancel(*ALL):
        raise ImportError("of nobody's doing")


def test_one_that_nobody_noticed_is_told() -> None:
    with as_cancel(*ALL):
        raise_if_signalled()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            raise_if_signalled()


def test_an_import_is_done_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what is raised in its own cleaning up after one, and goes on."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "interrupted.py").write_text("import signal\nsignal.raise_signal(15)\ndone = True\n")
    with pytest.raises(KeyboardInterrupt), as_cancel(*ALL):
        assert importlib.import_module("interrupted").done
        until = time.monotonic() + 300
        while time.monotonic() < until:
            time.sleep(0.01)
    assert sys.modules.pop("interrupted").done


def test_an_import_that_hangs_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_MOST_RETRIES", 3)
    monkeypatch.syspath_prepend(str(tmp_path))
    program = "import signal, time\nsignal.raise_signal(15)\ntime.sleep(300)\n"
    (tmp_path / "hanging.py").write_text(program)
    with pytest.raises(KeyboardInterrupt), as_cancel(*ALL):
        importlib.import_module("hanging")


def test_ctrl_c_before_anything_is_imported_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupting:
        @staticmethod
        def find_spec(name: str, path: Sequence[str] | None, target: object = None) -> None:
            if name == "tracetui.cli.entry":
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(300)

    monkeypatch.delitem(sys.modules, "tracetui.cli.entry", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting, *sys.meta_path])
    assert main(["--version"]) == 130


@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_while_the_command_starts_prints_nothing(tmp_path: Path, ignored: bool) -> None:
    """It comes before anything of the program is imported; nohup has it ignored."""
    (tmp_path / "tracetui").mkdir()
    (tmp_path / "tracetui" / "__init__.py").write_text("import os\nos.kill(os.getpid(), 2)\n")
    (tmp_path / "tracetui" / "cli.py").write_text("def run(): pass\n")
    process = subprocess.run(
        [sys.executable, str(ROOT / ".build" / "tracetui")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL),
    )
    assert (process.returncode, process.stderr) == (0 if ignored else -signal.SIGINT, b"")
