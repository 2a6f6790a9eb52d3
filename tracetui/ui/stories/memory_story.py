"""The story of a block of memory: who allocated it, in which call, between what, and how long it lives.

Pure: makes lines of styled text, knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tracetui.analysis.memory.calls import nth_call
from tracetui.analysis.memory.model import NEVER, steps_at
from tracetui.analysis.memory.neighbours import Neighbours
from tracetui.export.memory.words import growing_sentence, ordinal, place_name
from tracetui.language import clauses, counted, sentences, tell
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, said
from tracetui.ui.drawing.strips import Piece, flowing
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
        place = printable(place_name(frame), 60)
        named = tell("{what} at {line}", what=operator, line=place)
        title = self._ruled(named.lstrip(), width)
        size = format_bytes(int(blocks.bytes[block]))
        life = self._life(shown, block)
        first = int(blocks.start[block])
        start = tell("by event {number}", number=format_count(first))
        if recorded.timed:
            start = tell("at {time}", time=format_time(first - shown.origin_ns))
        if view is GROWING:
            group = shown.document["growing"][row]
            grows = printable(growing_sentence(group, shown.sources.get(frame)), 400)
            told = said(
                "{grows}. The last {size} allocated {start}, {life}.",
                self._dim,
                grows=(grows, self._palette.style_of(Role.WARNING)),
                size=size,
                start=start,
                life=life,
            )
            return [title, *flowing([*told], max(width, 20))][:height]
        nth, calls = nth_call(recorded.blocks, int(shown.part.places[block]))
        call = tell("the only call")
        if calls > 1:
            call = tell("the {nth} of {count} calls", nth=ordinal(nth), count=format_count(calls))
        told_of = "{size} allocated {start}, {call} of that line"
        if recorded.timed:
            told_of = "{size} allocated {start} by {call} of that line"
        held: Iterable[Piece] = said(told_of, self._text, size=(size, self._bold), start=start, call=call)
        step = int(blocks.step[block])
        if step >= 0:
            number = str(recorded.steps[step].number)
            held = said("{said} in step {number}", self._text, said=held, number=number)
        told_block = [
            (self._which(shown, view, row), self._dim),
            *said("{said}, {life}.", self._text, said=held, life=life),
            (sentences(["", self._between(neighbours)]), self._dim),
        ]
        return [title, *flowing(told_block, max(width, 20))][:height]

    def _which(self, shown: Shown, view: View, row: int) -> str:
        """Which block the row is told by."""
        if view is BLOCKS:
            return ""
        if view is SIZES:
            return tell("One of {count} blocks: ", count=format_count(shown.part.sizes[row].allocations))
        line = shown.part.lines[row]
        if line.blocks_at_peak == 1:
            return tell("The only block held at the peak: ")
        if line.blocks_at_peak:
            count = format_count(line.blocks_at_peak)
            return tell("The largest of {count} blocks held at the peak: ", count=count)
        if line.allocations == 1:
            return tell("The only block: ")
        return tell("The largest of {count} blocks: ", count=format_count(line.allocations))

    def _life(self, shown: Shown, block: int) -> str:
        """ "released after 18.1 ms in step 52", "never released: alive until the end" """
        recorded, blocks = shown.memory.recorded, shown.part.blocks
        release, first = int(blocks.release[block]), int(blocks.step[block])
        if release == NEVER:
            later = len(recorded.steps) - 1 - first if first >= 0 else 0
            told = "never released: alive until the end"
            if later == 1:
                told = "never released: alive until the end, through 1 more step"
            if later > 1:
                told = "never released: alive until the end, through {count} more steps"
            return tell(told, count=format_count(later))
        held = release - int(blocks.start[block])
        length = format_duration(held) if recorded.timed else counted(held, "1 event", "{count} events")
        (last,) = steps_at(recorded.steps, np.array([release])).tolist()
        if last in (-1, first):
            return tell("released after {time}", time=length)
        return tell("released after {time} in step {number}", time=length, number=recorded.steps[last].number)

    def _between(self, neighbours: Neighbours | None) -> str:
        """ "The device runs Cast for it, after FlashAttentionScore and before Add." """
        if neighbours is None:
            return ""
        task, before, after = (text and printable(text, 40) for text in neighbours)
        beside = [*([tell("after {name}", name=before)] if before else [])]
        beside += [tell("before {name}", name=after)] if after else []
        if task:
            runs = tell("The device runs {task} for it", task=task)
            return tell("{sentence}.", sentence=clauses([runs, *beside]))
        return tell("On the device it lies {where}.", where=clauses(beside)) if beside else ""
