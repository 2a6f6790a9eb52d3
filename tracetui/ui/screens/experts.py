"""The experts of a job: its layers by how uneven they are, and the tokens of each rank in one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tracetui.export.job.experts import ExpertsAnswer, experts_answer, experts_sentences
from tracetui.export.sentences.rank_labels import labels
from tracetui.export.tables.column import Table
from tracetui.export.tables.experts import LAYERS, token_words
from tracetui.job.job import Job
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.job_screen import JobScreen
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_error, format_percent

if TYPE_CHECKING:
    import pandas as pd

    from tracetui.arrays import Int64s


class ExpertsScreen(JobScreen[ExpertsAnswer]):
    """The table of layers above the tokens of each rank in the layer under the cursor."""

    DEFAULT_CSS = """
    ExpertsScreen #title { height: 1; }
    ExpertsScreen #tokens { height: 2fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("experts")]
    TITLE_OF = "Experts"
    KEYS = (("e", "export"), ("R", "ranks"), ("S", "what if"), ("?", "keys"))

    def body(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="said")
        yield from super().body()

    def below(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="title")
        yield Lines(self.viewer.glyphs, id="tokens")

    def find(self, job: Job) -> ExpertsAnswer:
        return experts_answer(job, self.job_session.replays_of)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        for lines in self.query("#said, #title, #tokens").results(Lines):
            lines.show([])

    def show_found(self, job: Job, answer: ExpertsAnswer) -> None:
        if not answer.rows.rows:
            self.nothing(experts_sentences(answer)[0])
            return
        layout = (
            ColumnLook("layer", 0),
            ColumnLook("imbalance", 0, style=self.style_of(Role.IDLE)),
            ColumnLook("hot_rank", 0),
            ColumnLook("most_tokens", 1),
            ColumnLook("waiting_ns", 1),
            ColumnLook("moving_ns", 2),
            ...,
        )
        self.table.show(laid_out(LAYERS, answer.rows, layout), len(answer.rows.rows))
        self._say()
        self._draw()

    def on_resize(self) -> None:
        if self.answer is not None and self.answer.rows.rows:
            self._say()
            self.call_after_refresh(self._draw)

    def _say(self) -> None:
        """Say what balanced experts save in the first line, and the worst layer below it."""
        assert self.answer is not None
        answer = self.answer
        saved = translate(
            "Balance saves {time} ({share}) of a step; replay off by {error}",
            time=format_duration(max(answer.saves_ns, 0)),
            share=format_percent(max(answer.saves_ns, 0), answer.step_ns),
            error=format_error(answer.error),
        )
        self.show_answer(saved if answer.step_ns else "", self.place())
        self.say_below(experts_sentences(answer)[:1])

    @on(TableWidget.Moved)
    def _moved(self) -> None:
        self._draw()

    def _draw(self) -> None:
        """Draw a bar of tokens for each rank in the layer under the cursor, those with most first."""
        answer, row = self.answer, self.table.row
        if answer is None or not 0 <= row < len(answer.rows.rows):
            return
        layer, names = answer.rows.rows[row], labels(answer.rows.job)
        tokens = layer.tokens
        widget = self.query_one("#tokens", Lines)
        shown = sorted(tokens, key=lambda rank: (-tokens[rank], rank))[: max(widget.size.height, 1)]
        most_tokens = max(tokens.values(), default=1)
        mean = sum(tokens.values()) / max(len(tokens), 1)
        name = max((cell_len(names[rank]) for rank in shown), default=0)
        words = {rank: token_words(tokens[rank], layer.unit) for rank in shown}
        number = max(map(cell_len, words.values()), default=0)
        room = max(self.size.width - name - number - 12, 1)
        lines: list[Pieces] = []
        for rank in shown:
            filled = max(round(tokens[rank] * room / max(most_tokens, 1)), 1 if tokens[rank] else 0)
            hot = tokens[rank] > mean
            lines.append(
                [
                    (f" {names[rank]:<{name}} ", self.style_of(Role.TITLE if hot else Role.TEXT)),
                    (f"{words[rank]:>{number}} ", self.style_of(Role.NUMBER)),
                    (f"{tokens[rank] / mean if mean else 1:>5.2f}x ", self.style_of(Role.DIM)),
                    (
                        self.viewer.glyphs.full * filled,
                        self.style_of(Role.IDLE if hot else Role.COUNTER),
                    ),
                ]
            )
        widget.show(lines)
        rule = f"{self.viewer.glyphs.rule * 2} "
        title = translate("layer {layer}: tokens of each rank, and times the mean", layer=layer.number)
        self.query_one("#title", Lines).show(
            [[(rule, self.style_of(Role.RULE)), (title, self.style_of(Role.TITLE))]]
        )

    @property
    def identified(self) -> tuple[Table[Any], Any] | None:
        return None if self.answer is None else (LAYERS, self.answer.rows)

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.data_frame import small_frame

        assert self.answer is not None
        frame: pd.DataFrame = small_frame(LAYERS, self.answer.rows).take(view)
        return frame
