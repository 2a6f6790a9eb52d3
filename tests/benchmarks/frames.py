"""Frames of the timeline over 10 million slices: processor time and bytes for pan, zoom and cursor moves.

    python -m tests.benchmarks.bench_frames [--slices N] [--size 200x60] [--frames 60]

The trace is made of numpy columns, no file is read. A frame is a key press until the terminal would have been
written to; its bytes are those of the escape sequences that Textual makes for the changed regions.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from textual._compositor import CompositorUpdate

from tests.synthetic import trace_of
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family, Kind, Layer, Slices, Trace, Track
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions

NAMES = [
    f"aclnn{word}{number}" for number in range(40) for word in ("MatMul", "Add", "Softmax", "Cast", "Mul")
]
#: layer, family, lanes of each track, and its share of the slices
TRACKS = (
    *((Layer.DEVICE, Family.TASKS, 1, 3),) * 6,
    *((Layer.COMMUNICATION, Family.GROUP, 1, 1),) * 2,
    *((Layer.PYTHON, Family.OPERATORS, 6, 6),) * 4,
    *((Layer.PYTHON, Family.FRAMES, 12, 12),) * 2,
    *((Layer.CANN, Family.CALLS, 3, 3),) * 4,
)


class CountingApp(TraceApp):
    """Counts what would be written to the terminal."""

    written = 0

    def _display(self, screen: Any, renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.written += len(renderable.render_segments(self.console).encode())
        super()._display(screen, renderable)

    async def frame(self, key: str) -> tuple[float, int]:
        """ms of processor time and bytes, from a key until nothing more is drawn."""
        started, self.written = time.process_time(), 0
        self.simulate_key(key)
        seen = -1
        while seen != self.written:
            seen = self.written
            await asyncio.sleep(0.04)
        return (time.process_time() - started) * 1e3, self.written


def synthetic_trace(slices: int, seed: int = 1) -> Trace:
    """A trace of so many slices on 50 lanes, idle in between."""
    random = np.random.default_rng(seed)
    parts = sum(share for *_, share in TRACKS)
    starts: list[Int64s] = []
    durations: list[Int64s] = []
    activities: list[Int64s] = []
    lane_rows = [0]
    lane_track: list[int] = []
    tracks: list[Track] = []
    for index, (layer, family, lanes, share) in enumerate(TRACKS):
        first_lane, first_row = len(lane_track), lane_rows[-1]
        for _ in range(lanes):
            count = slices * share // parts // lanes
            dur = (random.exponential(8000, count) ** 1.3).astype(np.int64)
            gap = (random.exponential(4000, count) ** 1.2).astype(np.int64)
            starts.append(np.cumsum(dur + gap) - dur)
            durations.append(dur)
            kinds = (
                [Activity.AICORE, Activity.AICPU, Activity.COPY] if layer is Layer.DEVICE else [Activity.NONE]
            )
            activities.append(random.choice(np.array(kinds, np.int64), count))
            lane_rows.append(lane_rows[-1] + count)
            lane_track.append(index)
        device = "NPU 0" if layer in (Layer.DEVICE, Layer.COMMUNICATION) else None
        tracks.append(
            Track(index, layer, family, layer.name, f"{layer.name} {index}", device, str(layer), str(index),
                  range(first_lane, len(lane_track)), range(first_row, lane_rows[-1]), range(0))
        )  # fmt: skip
    start, dur = np.concatenate(starts), np.concatenate(durations)
    n = len(start)
    nothing = np.full(n, -1, np.int32)
    return replace(
        trace_of([]),
        kind=Kind.ASCEND,
        strings=NAMES,
        tracks=tuple(tracks),
        slices=Slices(
            start, dur, random.integers(0, len(NAMES), n, dtype=np.int32), nothing,
            np.concatenate(activities).astype(np.int8), np.arange(n), np.full(n, -1, np.int64),
            nothing, nothing, nothing, nothing,
        ),
        lane_rows=np.array(lane_rows, np.int64),
        lane_track=np.array(lane_track, np.int32),
        devices=("NPU 0",),
        start_ns=int(start.min()),
        end_ns=int((start + dur).max()),
    )  # fmt: skip


async def measure(trace: Trace, palette: str, size: tuple[int, int], frames: int) -> None:
    """Print the cost of each kind of movement."""
    app = CountingApp(Path(trace.path), ViewerOptions(palette=palette), trace=trace)
    async with app.run_test(size=size) as pilot:
        while app.analysing:
            await pilot.pause(0.1)
        for zoom in (0, 12, 24):
            for key in ("0", *["w"] * zoom):
                await app.frame(key)
            span = app.state.viewport.span_ns
            print(f"{palette}, {size[0]}x{size[1]}, {span / 1e6:,.3f} ms on screen")
            for what, keys in (("zoom", "ws"), ("pan", "d"), ("slice", ("right",)), ("row", "j")):
                costs, sizes = [], []
                for frame in range(frames):
                    back = frame % 2 if what == "zoom" else 0  # pans go on: no line has been drawn before
                    cost, size_of = await app.frame(keys[back])
                    costs.append(cost)
                    sizes.append(size_of)
                middle, high = np.percentile(costs, [50, 95])
                print(
                    f"  {what:<6} {middle:6.1f} ms median {high:6.1f} ms p95"
                    f" {np.median(sizes) / 1e3:7.1f} kB median {max(sizes) / 1e3:7.1f} kB most"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slices", type=int, default=10_000_000)
    parser.add_argument("--size", default="200x60")
    parser.add_argument("--frames", type=int, default=40)
    asked = parser.parse_args()
    width, height = (int(part) for part in asked.size.split("x"))
    trace = synthetic_trace(asked.slices)
    for palette in ("ansi", "true"):
        asyncio.run(measure(trace, palette, (width, height), asked.frames))


if __name__ == "__main__":
    main()
