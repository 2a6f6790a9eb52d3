"""The pipeline of a job: the passes of its stages over a step, and what their bubbles consist of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tracetui.export.job.pipeline import pipeline_sentences
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.job.job import Job
from tracetui.job.pipeline import Pipeline, find_pipeline
from tracetui.job.pipeline_chart import stage_chart, usual_step
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.screens.job_screen import JobScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.stage_chart import StageChartView
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_error

if TYPE_CHECKING:
    import pandas as pd

    from tracetui.arrays import Int64s


class PipelineScreen(JobScreen["Pipeline | None"]):
    """The chart of a step above the table of the stages."""

    DEFAULT_CSS = """
    PipelineScreen #legend { height: 1; }
    PipelineScreen TableWidget { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("pipeline")]
    TITLE_OF = "Pipeline"
    KEYS = (("[ ]", "step"), ("e", "export"), ("R", "ranks"), ("S", "what if"), ("?", "keys"))

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session, job_session, open_rank)
        self._step = -1  # place among the steps of the chart

    def body(self) -> Iterable[Widget]:
        glyphs = self.viewer.glyphs
        yield Lines(glyphs, id="said")
        yield StageChartView(self.viewer.palette, glyphs)
        yield Lines(glyphs, id="legend")
        yield self.new_table()
        yield self.filter_input()

    @property
    def chart(self) -> StageChartView:
        """The stages over time."""
        return self.query_one(StageChartView)

    def find(self, job: Job) -> Pipeline | None:
        return find_pipeline(job)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        self.query_one("#said", Lines).show([])
        self.query_one("#legend", Lines).show([])
        self.chart.show(None, 0)

    def show_found(self, job: Job, answer: Pipeline | None) -> None:
        sentences = pipeline_sentences(answer)
        if answer is None:
            self.nothing(sentences[0])
            return
        if self._step < 0:
            self._step = usual_step(answer)
        rows = JobRows(job, answer.stages)
        layout = (
            ColumnLook("stage", 0),
            ColumnLook("ranks", 4),
            ColumnLook("microbatches", 5),
            ColumnLook("warmup_ns", 3),
            ColumnLook("steady_ns", 6),
            ColumnLook("drain_ns", 3),
            ColumnLook("bubble_ns", 0, style=self.style_of(Role.IDLE)),
            ColumnLook("schedule_ns", 1),
            ColumnLook("imbalance_ns", 1),
            ColumnLook("jitter_ns", 1),
            ColumnLook("late_host_ns", 1),
            ...,
        )
        self.table.show(laid_out(PIPELINE_STAGES, rows, layout), len(answer.stages))
        self._set_heights()
        self._say()
        self._draw()

    def on_resize(self) -> None:
        self._set_heights()
        if self.answer is not None:
            self._say()

    def _say(self) -> None:
        """Say what equal stages save in the first line, and the rest below it."""
        pipeline = self.answer
        assert pipeline is not None
        saved = translate(
            "Work spread evenly saves {time} of a step; replay off by {error}",
            time=format_duration(max(pipeline.balance_saves_ns, 0)),
            error=format_error(pipeline.error),
        )
        self.show_answer(saved, self.place())
        self.say_below(pipeline_sentences(pipeline)[:-1])

    def _set_heights(self) -> None:
        """Make the chart as high as its stages want, and half of the screen at most."""
        stages = len(self.answer.stages) if self.answer is not None else 1
        self.chart.styles.height = min(stages + 1, max(self.size.height // 2, 2))

    def _draw(self) -> None:
        answer = self.answer
        if answer is None:
            return
        chart = stage_chart(answer, self._step)
        self.chart.show(chart, max(self.table.row, 0))
        step = translate("step {step}", step=answer.order.steps[self._step])
        title = [(f" {step} ", self.style_of(Role.TITLE))]
        self.query_one("#legend", Lines).show([[*title, *self.chart.legend()]])

    @on(TableWidget.Moved)
    def _moved(self) -> None:
        self._draw()

    def action_beside_step(self, by: int) -> None:
        """Show another step in the chart."""
        if self.answer is not None:
            self._step = min(max(self._step + by, 0), len(self.answer.order.steps) - 1)
            self._draw()

    @property
    def identified(self) -> tuple[Table[Any], Any] | None:
        answer, job = self.answer, self.job_session.job
        return None if answer is None or job is None else (PIPELINE_STAGES, JobRows(job, answer.stages))

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.data_frame import small_frame

        answer = self.answer
        job = self.job_session.job
        assert answer is not None and job is not None
        frame: pd.DataFrame = small_frame(PIPELINE_STAGES, JobRows(job, answer.stages)).take(view)
        return frame
