"""The labels of the timeline take the room they need, and all that shows times begins beside them."""

from __future__ import annotations

from pathlib import Path

from tests.ui.viewing import open_viewer, timeline, until
from tracetui.reader.source import TraceFile
from tracetui.ui.drawing.rows import LineKind


async def test_times_stay_in_line_when_a_group_with_longer_labels_is_unfolded(samples: Path) -> None:
    path = samples / "moba" / "trace_view.json"
    with TraceFile(path, jobs=1) as trace_file:
        app = open_viewer(path, file=trace_file)
        async with app.run_test(size=(200, 60)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            screen = timeline(app)
            widths = set()
            for line in [line for line in screen.tracks.lines.lines if line.kind is LineKind.GROUP]:
                app.session.state.toggle(line.fold_key)
                screen.tracks.lay_out()
                await pilot.pause()
                widths.add(screen.tracks.label_width)
                assert screen.ruler.label_width == screen.minimap._label_width == screen.tracks.label_width
            assert len(widths) > 1
