"""Curves in the timeline: nothing short is lost, all have their lines, the cursor tells what is there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.synthetic import piece, process, trace_of
from tests.ui.training import screen_text
from tests.ui.viewing import open_viewer, until
from tracetui.analysis.counter_tracks import LEAD, MEMORY, CounterTrack
from tracetui.analysis.series import Series
from tracetui.trace.model import Trace
from tracetui.ui.drawing.curve_lines import CurveLines, Scale, _nearest_room, _shape_of, fill
from tracetui.ui.drawing.curve_rows import ROWS, Extras, extra_key
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS, Glyphs
from tracetui.ui.drawing.line_art import LineArt
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.row import LineKind, TimelineRow, track_key
from tracetui.ui.drawing.rows import curve_lines, hiding, timeline_lines
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.ui.state import TrackKey, Viewport, ViewState
from tracetui.ui.stories.curve_words import curve_at, describe_curve
from tracetui.units import format_duration


def sample(time: float, value: float, name: str = "HBM 0/Read", pid: int = 14) -> dict[str, object]:
    return {"ph": "C", "name": name, "pid": pid, "tid": 0, "ts": time, "args": {"Read(MB/s)": value}}


def with_counters(*samples: dict[str, object]) -> Trace:
    device = [*process(300, "Ascend Hardware", "NPU", 13), piece(300, 1, "kernel", 0.0, 1000.0)]
    counters = [*process(14, "HBM", "NPU", 17), *process(15, "LLC", "NPU", 18)]
    return trace_of([*device, *counters, *samples])


def drawn(trace: Trace, columns: int, glyphs: Glyphs = BLOCKS) -> list[str]:
    """The rows of the only counter of a trace, over all of it."""
    key = track_key(next(track for track in trace.tracks if track.samples))
    art = CurveLines(Picture(trace), Palette("none"), glyphs)
    state = ViewState(Viewport(trace.start_ns, trace.end_ns))
    edges = state.viewport.edges(columns)
    rows = [TimelineRow(LineKind.CURVE, key, "", 0, curve=key, part=part, parts=ROWS) for part in range(ROWS)]
    return ["".join(part.text for part in art.draw(row, state, edges, False)) for row in rows]


@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII])
def test_a_spike_of_one_sample_in_ten_thousand_is_seen_and_named(glyphs: Glyphs) -> None:
    samples = [sample(n / 10, 10.0) for n in range(10_000)]
    samples[7_003] = sample(700.3, 995.0)
    top, middle, bottom = drawn(with_counters(*samples), 80, glyphs)
    column = 56  # 700.3 of 1,000 us
    full = glyphs.shades[-1]
    assert top[column] == glyphs.pin and middle[column] == bottom[column] == full
    assert {*middle} == {" ", full} and {*bottom} == {glyphs.shades[1], full}
    assert "peak 995 MB/s" in top


def test_a_lead_that_is_mostly_none_is_dotted_at_any_zoom() -> None:
    """10 us of a lead in every 100, and once a long one: no column of 100 us is without any."""
    trace = with_counters(sample(0.0, 1.0))
    at = np.arange(0, 1_000_000, 10_000)
    ahead = np.where(at % 100_000 == 0, 1.0, 0.0)
    ahead[80:89] = 64.0
    lead = CounterTrack(LEAD, "host lead", "", "NPU", lambda: Series.from_samples(trace.start_ns + at, ahead))
    picture = Picture(trace)
    picture.take_extras(Extras((lead,)))
    state = ViewState(Viewport(trace.start_ns, trace.start_ns + 1_000_000))
    key = extra_key(lead)
    row = TimelineRow(LineKind.CURVE, key, "", -1, curve=key, part=0, parts=1)
    (line,) = [
        "".join(
            part.text
            for part in CurveLines(picture, Palette("none"), BLOCKS).draw(
                row, state, state.viewport.edges(10), False
            )
        )
    ]
    assert line[:8] + line[9:] == 9 * BLOCKS.dot and line[8] in BLOCKS.shades[4:]


def test_nothing_is_drawn_before_the_first_sample() -> None:
    _, _, bottom = drawn(with_counters(sample(500.0, 3.0)), 80)
    assert bottom == " " * 40 + "█" * 40


@given(st.lists(st.floats(-1e6, 1e12), min_size=1, max_size=9), st.integers(1, 4))
def test_a_scale_holds_all_and_more_is_never_lower(values: list[float], rows: int) -> None:
    scale = Scale.of(min(values), max(values))
    assert scale.low <= min(*values, 0) and max(*values, 0) <= scale.top
    ordered = np.sort(np.array(values))
    filled = fill(ordered, scale, rows)
    assert (np.diff(filled) >= 0).all() and filled.max(initial=0) <= 8 * rows
    assert ((filled > 0) == (ordered > scale.low)).all()
    assert fill(np.array([np.nan]), scale, rows).tolist() == [0]


def extras() -> Extras:
    series = Series(np.array([100], np.int64), np.array([2.0**20]))
    named = ("PTA allocated", "NPU"), ("PTA active", "NPU"), ("PyTorch allocated", None)
    return Extras(tuple(CounterTrack(MEMORY, name, "B", device, lambda: series) for name, device in named))


def test_every_curve_has_its_line_once_its_headers_are_open() -> None:
    trace = with_counters(sample(1.0, 2.0), sample(1.0, 2.0, "HBM 1/Read"), sample(1.0, 2.0, "LLC 0", 15))
    curves = curve_lines(trace.tracks, extras())
    assert len(curves) == 6
    for curve in curves:
        toggled: frozenset[TrackKey] = frozenset()
        assert timeline_lines(trace, toggled, (), extras=extras()).index(curve.key) < 0
        toggled ^= frozenset(hiding(trace, extras(), curve.key, toggled))
        lines = timeline_lines(trace, toggled, (), extras=extras())
        assert [line.part for line in lines.lines if line.curve == curve.key] == [0, 1, 2]
        assert len({line.key for line in lines.lines}) == len(lines.lines)
        folded = timeline_lines(trace, toggled ^ {curve.key}, (), extras=extras())
        assert [line.parts for line in folded.lines if line.curve == curve.key] == [1]
        pinned = timeline_lines(trace, toggled, (curve.key,), extras=extras())
        places = [place for place, line in enumerate(pinned.lines) if line.curve == curve.key]
        assert places == [1, 2, 3] and pinned.fixed == 4


def test_a_process_that_is_called_like_the_lead_is_a_process() -> None:
    trace = trace_of([*process(14, "Host lead", "NPU", 17), sample(1.0, 2.0), sample(1.0, 2.0, "b")])
    (header,) = timeline_lines(trace, frozenset(), ()).lines
    assert header.kind is LineKind.GROUP and header.members == 2


def test_the_curves_of_a_device_stand_below_it_under_one_header() -> None:
    trace = with_counters(sample(1.0, 2.0), sample(1.0, 2.0, "LLC 0", 15))
    lines = timeline_lines(trace, frozenset(), (), extras=extras()).lines
    labels = [line.label for line in lines]
    assert labels == ["NPU idle", "Stream 1", "counters and memory (NPU)", "memory of the host"]
    assert [line.members for line in lines[2:]] == [4, 1]
    waiting = timeline_lines(trace, frozenset(), (), extras=Extras(awaits_memory=True)).lines[-1]
    assert (waiting.label, waiting.members) == ("memory of the host", 1)


async def test_the_finder_goes_to_a_curve_of_the_memory_and_its_numbers_are_told(tmp_path: Path) -> None:
    """PTA holds 1 MB for 400 us, then 3 MB for 500: the mean of the window is 2.11 MB (of 2**20 bytes)."""
    table = "Component,Timestamp(us),Total Allocated(MB),Device Type\nPTA,100,1,NPU:0\nPTA,500,3,NPU:0\n"
    (tmp_path / "memory_record.csv").write_text(table, encoding="utf-8")
    path = tmp_path / "trace_view.json"
    app = open_viewer(path, ViewerOptions(palette="none"), trace=with_counters(sample(1.0, 2.0)))
    assert app.session.trace is not None
    object.__setattr__(app.session.trace, "path", str(path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        await pilot.pause()
        await pilot.press("T", "t", *"pta")
        await until(pilot, lambda: any("PTA allocated" in line for line in screen_text(app)))
        await pilot.press("enter", "end", "l")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, TimelineScreen)
        text = screen.details.text
        mean = round((400 * 2**20 + 500 * 3 * 2**20) / 900 / 1e6, 2)
        assert f"mean {mean} MB" in text and "least 1.05 MB at" in text and "most 3.15 MB at 0.0005" in text
        assert any("PTA allocated" in line for line in screen_text(app))


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 6), st.integers(0, 11))
def test_the_nearest_room_is_free_and_none_is_nearer(free: list[bool], cells: int, column: int) -> None:
    def away(first: int) -> int:
        return max(first - column, column - (first + cells - 1))

    rooms = [first for first in range(len(free) - cells + 1) if all(free[first : first + cells])]
    found = _nearest_room(np.array(free, np.bool_), cells, column)
    assert found in rooms if rooms else found == -1
    assert not rooms or away(found) == min(map(away, rooms))


def test_what_begins_after_the_last_sample_is_not_known_while_the_trace_is_read() -> None:
    series = Series.from_samples(np.array([0, 10, 20]), np.array([1.0, 3.0, 2.0]))
    curve = CounterTrack(MEMORY, "free", "B", "NPU", lambda: series)
    edges = np.arange(0, 60, 10)
    assert _shape_of(curve, edges, 2, True).highest.tolist()[:3] == [1.0, 3.0, 2.0]
    assert np.isnan(_shape_of(curve, edges, 2, True).highest[3:]).all()
    assert _shape_of(curve, edges, 2, False).highest.tolist() == [1.0, 3.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("start", "end", "share"), [(0, 100, ""), (0, 102, "50.0 %"), (198, 300, "50.0 %"), (200, 300, "")]
)
def test_the_idle_share_is_of_the_part_of_the_window_on_screen(start: int, end: int, share: str) -> None:
    device = SimpleNamespace(start_ns=100, end_ns=200)
    picture: Any = SimpleNamespace(
        analysis=SimpleNamespace(devices=[device]),
        idle=lambda _, edges: SimpleNamespace(busy=np.diff(edges) / 2),
    )
    art: Any = SimpleNamespace(_picture=picture)
    assert LineArt._idle_share(art, 0, Viewport(start, end)) == share
    assert LineArt._idle_share(art, -1, Viewport(start, end)) == ""


def test_the_last_sample_of_a_curve_is_part_of_it() -> None:
    time, values = np.array([100, 104, 109], np.int64), np.array([1.0, 2.0, 6.0])
    curve = CounterTrack(LEAD, "lead", "", "NPU", lambda: Series.from_samples(time, values))
    state = ViewState(Viewport(100, 200))
    for sketch, end in ((None, 200), (object(), 110)):
        picture: Any = SimpleNamespace(curve=lambda _: curve, sketch=sketch)
        spot = curve_at(picture, state)
        assert spot is not None and spot.span == (100, end)
        *_, screen, every = describe_curve(spot, 100, Pen(Palette("none"), ASCII))
        lengths = ["".join(text for text, _ in line).rpartition(" in ")[2] for line in (screen, every)]
        assert lengths == [format_duration(end - 100), format_duration(10)]
