"""The traces that are measured: a file of any size, and columns of any length that no file was read for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.synthetic import trace_of
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family, Layer, Slices, Trace, TraceKind, Track

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
SCALE_TOOL = SHARED / "tools" / "scale_trace.py"
REAL = SHARED / "traces/npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


def made_file(path: Path, megabytes: int) -> Path:
    """A trace of about so many MB at `path`, old enough to be cached.

    Of real events by the tool beside the checkout if it is there, else of a sample's.
    """
    if SCALE_TOOL.exists() and REAL.exists():
        command = [sys.executable, str(SCALE_TOOL), str(REAL), str(path), "--mb", str(megabytes)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    else:
        _repeated_sample(path, megabytes)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def _repeated_sample(path: Path, megabytes: int) -> None:
    samples = sorted((ROOT / "samples").rglob("*.json"), key=lambda sample: sample.stat().st_size)
    if not samples:
        sys.exit("no trace given, and none beside this checkout to make one of")
    document = json.loads(samples[-1].read_text(encoding="utf-8"))
    events = document if isinstance(document, list) else document["traceEvents"]
    piece = json.dumps(events)[1:-1].encode()
    with path.open("wb") as file:
        file.write(b"[" + piece)
        for _ in range(megabytes * 1_000_000 // len(piece)):
            file.write(b", " + piece)
        file.write(b"]")


class Lanes(NamedTuple):
    """Some tracks that are alike."""

    layer: Layer
    family: Family
    tracks: int
    lanes: int  #: of each track
    share: int  #: of the slices, of each track


#: streams that keep a device busy beside deep and dense rows of the host
DENSE = (
    Lanes(Layer.DEVICE, Family.TASKS, 6, 1, 3),
    Lanes(Layer.COMMUNICATION, Family.GROUP, 2, 1, 1),
    Lanes(Layer.PYTHON, Family.OPERATORS, 4, 6, 6),
    Lanes(Layer.PYTHON, Family.FRAMES, 2, 12, 12),
    Lanes(Layer.RUNTIME, Family.CALLS, 4, 3, 3),
)
#: one stream that is idle after each task: a gap for every tenth slice
GAPS = (
    Lanes(Layer.DEVICE, Family.TASKS, 1, 1, 18),
    Lanes(Layer.PYTHON, Family.OPERATORS, 1, 6, 30),
    Lanes(Layer.RUNTIME, Family.CALLS, 1, 3, 12),
)
_NAMES = [
    f"aclnn{word}{number}" for number in range(40) for word in ("MatMul", "Add", "Softmax", "Cast", "Mul")
]


def made_trace(slices: int, rows: tuple[Lanes, ...] = DENSE, seed: int = 1) -> Trace:
    """A trace of about so many slices, idle in between."""
    random = np.random.default_rng(seed)
    kinds = [lanes for lanes in rows for _ in range(lanes.tracks)]
    parts = sum(lanes.share for lanes in kinds)
    starts: list[Int64s] = []
    durations: list[Int64s] = []
    activities: list[Int64s] = []
    lane_rows = [0]
    lane_track: list[int] = []
    tracks: list[Track] = []
    for index, (layer, family, _, lanes, share) in enumerate(kinds):
        first_lane, first_row = len(lane_track), lane_rows[-1]
        for _ in range(lanes):
            count = slices * share // parts // lanes
            dur = (random.exponential(8000, count) ** 1.3).astype(np.int64)
            gap = (random.exponential(4000, count) ** 1.2).astype(np.int64)
            starts.append(np.cumsum(dur + gap) - dur)
            durations.append(dur)
            device = [Activity.COMPUTE, Activity.AICPU, Activity.COPY]
            among = device if layer is Layer.DEVICE else [Activity.NONE]
            activities.append(random.choice(np.array(among, np.int64), count))
            lane_rows.append(lane_rows[-1] + count)
            lane_track.append(index)
        on = "NPU 0" if layer in (Layer.DEVICE, Layer.COMMUNICATION) else None
        tracks.append(
            Track(index, layer, family, layer.name, f"{layer.name} {index}", on, str(layer), str(index),
                  range(first_lane, len(lane_track)), range(first_row, lane_rows[-1]), range(0))
        )  # fmt: skip
    start, dur = np.concatenate(starts), np.concatenate(durations)
    n = len(start)
    nothing = np.full(n, -1, np.int32)
    return replace(
        trace_of([]),
        kind=TraceKind.ASCEND,
        strings=_NAMES,
        tracks=tuple(tracks),
        slices=Slices(
            start=start,
            end=start + dur,
            name=random.integers(0, len(_NAMES), n, dtype=np.int32),
            category=nothing,
            activity=np.concatenate(activities).astype(np.int8),
            event=np.arange(n),
            correlation=nothing,
            stack=nothing,
            task_type=nothing,
            direction=nothing,
        ),
        lane_rows=np.array(lane_rows, np.int64),
        lane_track=np.array(lane_track, np.int32),
        devices=("NPU 0",),
        owners={track.pid: track.pid for track in tracks},
        start_ns=int(start.min()),
        end_ns=int((start + dur).max()),
    )
