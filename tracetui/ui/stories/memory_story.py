"""The story of a block of memory: who allocated it, in which call, between what, and how long it lives.

Pure: makes lines of styled text, knows no widget.
"""

from __future__ import annotations

import numpy as np

from tracetui.analysis.memory.calls import nth_call
from tracetui.analysis.memory.model import NEVER, steps_at
from tracetui.analysis.memory.neighbours import Neighbours
from tracetui.export.memory.words import growing_sentence, ordinal, place_name
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import flowing
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.memory_views import BLOCKS, GROWING, SIZES, Shown, View
from tracetui.units import format_bytes, format_count, format_duration, format_time


class MemoryStory(Story):
    """Writes of blocks."""

    def lines(
        self,
        shown: Shown,
        view: View,
        row: int,
        block: int,
        neighbours: Neighbours | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """At most `height` lines of the row of a table, told by a block of it (place in `part.blocks`)."""
        recorded, blocks = shown.memory.recorded, shown.part.blocks
        line = int(blocks.line[block])
        frame = recorded.lines[line] if line >= 0 else None
        operator = printable(recorded.operators[blocks.operator[block]], 60)
        title = self._ruled(f"{operator} at {printable(place_name(frame), 60)}".lstrip(), width)
        size = format_bytes(int(blocks.bytes[block]))
        life = f", {self._life(shown, block)}."
        first = int(blocks.start[block])
        start = (
            f"at {format_time(first - shown.origin_ns)}"
            if recorded.timed
            else f"by event {format_count(first)}"
        )
        if view is GROWING:
            group = shown.document["growing"][row]
            said = [
                (
                    printable(growing_sentence(group, shown.sources.get(frame)), 400),
                    self._palette.style_of(Role.WARNING),
                ),
                (f". The last {size} allocated {start}{life}", self._dim),
            ]
            return [title, *flowing(said, max(width, 20))][:height]
        nth, calls = nth_call(recorded.blocks, int(shown.part.places[block]))
        call = "the only call" if calls == 1 else f"the {ordinal(nth)} of {format_count(calls)} calls"
        called = f"{' by' if recorded.timed else ','} {call} of that line"
        step = int(blocks.step[block])
        when = f" in step {recorded.steps[step].number}" if step >= 0 else ""
        said = [
            (self._which(shown, view, row), self._dim),
            (size, self._bold),
            (f" allocated {start}{called}{when}{life}", self._text),
            (f" {self._between(neighbours)}", self._dim),
        ]
        return [title, *flowing(said, max(width, 20))][:height]

    def _which(self, shown: Shown, view: View, row: int) -> str:
        """Which block the row is told by."""
        if view is BLOCKS:
            return ""
        if view is SIZES:
            return f"One of {format_count(shown.part.sizes[row].allocations)} blocks: "
        line = shown.part.lines[row]
        held = line.blocks_at_peak
        count, where = (held, " held at the peak") if held else (line.allocations, "")
        if count == 1:
            return "The only block" + where + ": "
        return f"The largest of {format_count(count)} blocks{where}: "

    def _life(self, shown: Shown, block: int) -> str:
        """ "released after 18.1 ms in step 52", "never released: alive until the end" """
        recorded, blocks = shown.memory.recorded, shown.part.blocks
        release, first = int(blocks.release[block]), int(blocks.step[block])
        if release == NEVER:
            later = len(recorded.steps) - 1 - first if first >= 0 else 0
            through = f", through {format_count(later)} more steps" if later > 1 else ""
            through = ", through 1 more step" if later == 1 else through
            return f"never released: alive until the end{through}"
        held = release - int(blocks.start[block])
        said = f"released after {format_duration(held) if recorded.timed else _events(held)}"
        (last,) = steps_at(recorded.steps, np.array([release])).tolist()
        return said if last in (-1, first) else f"{said} in step {recorded.steps[last].number}"

    def _between(self, neighbours: Neighbours | None) -> str:
        """ "The device runs Cast for it, after FlashAttentionScore and before Add." """
        if neighbours is None:
            return ""
        task, before, after = (text and printable(text, 40) for text in neighbours)
        beside = [f"{word} {name}" for word, name in (("after", before), ("before", after)) if name]
        if task:
            return f"The device runs {', '.join([f'{task} for it', *beside])}."
        return f"On the device it lies {' and '.join(beside)}." if beside else ""


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{format_count(count)} events"
