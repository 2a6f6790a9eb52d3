"""Trace files to keep and to find again, and what tells two traces apart."""

from __future__ import annotations

import json
import os
import time
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.export.training import training_events
from tracetui.cache.traces import keep, reopen
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace


def at_rest(path: Path) -> Path:
    """Let a file be one that was written a minute ago."""
    before = time.time() - 60
    os.utime(path, (before, before))
    return path


def training(path: Path) -> Path:
    """A small trace of all kinds of events, with hostile names."""
    path.write_text(json.dumps(training_events()))
    return at_rest(path)


def read(path: Path) -> Trace:
    with TraceFile(path) as trace_file:
        return build_trace(trace_file.read())


def read_and_keep(path: Path) -> Trace:
    """The trace as it is read; it has to be kept."""
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        assert keep(trace_file, trace)
        return trace


def found(path: Path) -> Trace | None:
    with TraceFile(path) as trace_file:
        return reopen(trace_file)


def same(one: Any, other: Any) -> bool:
    """Whether two objects are equal in all their fields, arrays in every element and in their type."""
    if is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return type(one) is type(other) and bool(one == other)
