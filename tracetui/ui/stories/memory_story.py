"""What the memory screen says: its answer in the first line, and the story of the block at the cursor.

Makes lines of styled text and knows no widget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.memory.growth import nth_call
from tracetui.analysis.memory.model import NEVER, steps_at
from tracetui.analysis.memory.neighbours import Neighbours
from tracetui.export.sentences.memory import (
    NO_TIMES,
    alive_sentence,
    call_words,
    frame_line_name,
    growing_sentence,
    growth_sentence,
    peak_parts,
    peak_sentence,
)
from tracetui.language import clauses, counted, semicolon_list, sentences, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line, compose_sentence
from tracetui.ui.drawing.strips import flowing, wrapped
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.memory_views import BLOCKS, GROWING, SIZES, MemoryView, ShownMemory
from tracetui.units import format_bytes, format_count, format_duration, format_time

_PLACE_CELLS = 14  #: cells of "/text 123/1,234" at the end of the first line
_MAX_PROBLEMS = 2  #: problems of the recording shown at most


class MemoryStory(Story):
    """The story of a block, for the pane below the tables of memory."""

    def lines(
        self,
        shown: ShownMemory,
        view: MemoryView,
        row: int,
        block: int,
        neighbours: Neighbours | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """Return at most `height` lines on a row of a table, described by one of its blocks.

        `block` is an index into `shown.part.blocks`.
        """
        recorded, blocks = shown.memory.recorded, shown.part.blocks
        line = int(blocks.line[block])
        frame = recorded.lines[line] if line >= 0 else None
        operator = printable(recorded.operators[blocks.operator[block]], 60)
        place = printable(frame_line_name(frame), 60)
        headline = translate("{what} at {line}", what=operator, line=place) if operator else place
        title = self._ruled(headline, width)
        size = format_bytes(int(blocks.bytes[block]))
        life = self._life_words(shown, block)
        first = int(blocks.start[block])
        start = translate("by event {number}", number=format_count(first))
        if recorded.timed:
            start = translate("at {time}", time=format_time(first - shown.origin_ns))
        if view is GROWING:
            group = shown.document["growing"][row]
            grows = printable(growing_sentence(group, shown.sources.get(frame)), 400)
            growth = compose_sentence(
                "{grows}. The last {size} allocated {start}, {life}.",
                self._dim,
                grows=(grows, self._palette.style_of(Role.WARNING)),
                size=size,
                start=start,
                life=life,
            )
            return [title, *flowing(growth, width)][:height]
        nth, calls = nth_call(recorded.blocks, int(shown.part.places[block]))
        call = call_words(nth, calls)
        template = "{size} allocated {start}, {call} of that line"
        if recorded.timed:
            template = "{size} allocated {start} by {call} of that line"
        allocation = compose_sentence(template, self._text, size=(size, self._bold), start=start, call=call)
        step = int(blocks.step[block])
        if step >= 0:
            number = str(recorded.steps[step].number)
            allocation = compose_sentence(
                "{allocation} in step {number}", self._text, allocation=allocation, number=number
            )
        sentence = [
            (self._which_block(shown, view, row), self._dim),
            *compose_sentence("{allocation}, {life}.", self._text, allocation=allocation, life=life),
            (sentences(["", self._neighbour_sentence(neighbours)]), self._dim),
        ]
        return [title, *flowing(sentence, width)][:height]

    def _which_block(self, shown: ShownMemory, view: MemoryView, row: int) -> str:
        """Return which of the blocks of the row is described."""
        if view is BLOCKS:
            return ""
        if view is SIZES:
            alike = int(np.count_nonzero(shown.part.blocks.bytes == shown.part.sizes[row].bytes))
            if alike == 1:
                return translate("The only block: ")
            return translate("One of {count} blocks: ", count=format_count(alike))
        line = shown.part.lines[row]
        if line.blocks_at_peak == 1:
            return translate("The only block held at the peak: ")
        if line.blocks_at_peak:
            count = format_count(line.blocks_at_peak)
            return translate("The largest of {count} blocks held at the peak: ", count=count)
        if line.allocations == 1:
            return translate("The only block: ")
        return translate("The largest of {count} blocks: ", count=format_count(line.allocations))

    def _life_words(self, shown: ShownMemory, block: int) -> str:
        """Return "released after 18.1 ms in step 52" or "never released: alive until the end"."""
        recorded, blocks = shown.memory.recorded, shown.part.blocks
        release, start_step = int(blocks.release[block]), int(blocks.step[block])
        if release == NEVER:
            later_steps = len(recorded.steps) - 1 - start_step if start_step >= 0 else 0
            template = "never released: alive until the end"
            if later_steps == 1:
                template = "never released: alive until the end, through 1 more step"
            if later_steps > 1:
                template = "never released: alive until the end, through {count} more steps"
            return translate(template, count=format_count(later_steps))
        lifetime = release - int(blocks.start[block])
        length = (
            format_duration(lifetime) if recorded.timed else counted(lifetime, "1 event", "{count} events")
        )
        (release_step,) = steps_at(recorded.steps, np.array([release])).tolist()
        if release_step in (-1, start_step):
            return translate("released after {time}", time=length)
        return translate(
            "released after {time} in step {number}", time=length, number=recorded.steps[release_step].number
        )

    def _neighbour_sentence(self, neighbours: Neighbours | None) -> str:
        """Return "The device runs Cast for it, after FlashAttentionScore and before Add."."""
        if neighbours is None:
            return ""
        task, before, after = (text and printable(text, 40) for text in neighbours)
        neighbour_words = [*([translate("after {name}", name=before)] if before else [])]
        neighbour_words += [translate("before {name}", name=after)] if after else []
        if task:
            device_words = translate("The device runs {task} for it", task=task)
            return translate("{sentence}.", sentence=clauses([device_words, *neighbour_words]))
        return (
            translate("On the device it lies {where}.", where=clauses(neighbour_words))
            if neighbour_words
            else ""
        )


@dataclass(frozen=True)
class MemoryAnswer:
    """The lines of an answer under a heading, wrapped to a width in cells."""

    palette: Palette
    glyphs: Glyphs
    heading: str
    width: int

    def words(self, sentence: str, room: int = 0) -> list[Line]:
        """Return a sentence after the heading; `room` cells stay free at the end of its first line."""
        text = self.palette.style_of(Role.TEXT)
        first_line, *more_lines = wrapped(
            f"{self.heading}  {printable(sentence, 300)}", max(self.width - room, 20)
        )
        title = (self.heading, self.palette.style_of(Role.TITLE))
        return [[title, (first_line[len(self.heading) :], text)], *([(line, text)] for line in more_lines)]

    def lines(self, shown: ShownMemory, tall: bool) -> list[Line]:
        """Return the peak and the growth, then what is missing in the recording.

        `tall` adds all that the rest of the peak is made of and what stays alive, where the screen is tall.
        """
        text, dim, warning = map(self.palette.style_of, (Role.TEXT, Role.DIM, Role.WARNING))
        recorded, document = shown.memory.recorded, shown.document
        lines = self.words(peak_sentence(document, shown.origin_ns), _PLACE_CELLS)
        parts = [*peak_parts(document["peak"])] if document["peak"] else []
        if tall or len(recorded.steps) > 1 or not parts:
            lines.append([(printable(growth_sentence(document, len(recorded.steps)), 300), text)])
        if not recorded.timed:
            lines.append([(translate(NO_TIMES), dim)])
        shown_parts = semicolon_list(parts if tall else parts[:1])
        rest = [translate("{sentence}.", sentence=shown_parts)] if parts else []
        rest += [alive_sentence(document)] if tall else []
        lines += [[(line, dim)] for line in wrapped(sentences(rest), self.width)] if rest else []
        mark = self.glyphs.warning
        return lines + [
            [(f"{mark} {printable(problem, 200)}", warning)] for problem in recorded.problems[:_MAX_PROBLEMS]
        ]
