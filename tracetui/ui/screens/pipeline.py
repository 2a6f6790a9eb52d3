"""The pipeline of a job: the passes of its stages over a step, and what their bubbles consist of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from tracetui.export.job.pipeline import pipeline_sentences
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.job.job import Job
from tracetui.job.pipeline import Pipeline, find_pipeline
from tracetui.job.pipeline_chart import stage_chart, usual_step
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.ranks.rank_view import RankPlace, place_of_step
from tracetui.ui.screens.job_screen import JobTableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.stage_chart import StageChartView
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_error


class PipelineScreen(JobTableScreen[Pipeline]):
    """The chart of a step above the table of the stages."""

    DEFAULT_CSS = """
    PipelineScreen #legend { height: 1; }
    PipelineScreen TableWidget { height: 1fr; }
    """
    BINDINGS = bindings("pipeline")
    TITLE_OF = "Pipeline"
    KEYS = (
        ("enter", "open"),
        ("[ ]", "step"),
        ("e", "export"),
        ("R", "ranks"),
        ("S", "what if"),
    )
    TABLE = PIPELINE_STAGES

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session, job_session, open_rank)
        self._step = -1  # place among the steps of the chart

    def body(self) -> Iterable[Widget]:
        yield Lines(id="said")
        yield StageChartView()
        yield Lines(id="legend")
        yield TableWidget()
        yield self.filter_input()

    @property
    def chart(self) -> StageChartView:
        """The stages over time."""
        return self.query_one(StageChartView)

    def find(self, job: Job) -> Pipeline | str:
        return find_pipeline(job) or pipeline_sentences(None)[0]

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        self.chart.show(None, 0)

    def rows_of(self, answer: Pipeline) -> JobRows:
        assert self.job_session.job is not None
        return JobRows(self.job_session.job, answer.stages)

    def sentences(self, answer: Pipeline) -> list[str]:
        return pipeline_sentences(answer)[:-1]  # what is saved stands in the first line

    def show_found(self, job: Job, answer: Pipeline) -> None:
        if self._step < 0:
            self._step = usual_step(answer)
        self._set_heights()
        super().show_found(job, answer)

    def column_places(self) -> Sequence[ColumnPlace]:
        return (
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

    def saving(self, answer: Pipeline) -> str:
        return translate(
            "Work spread evenly saves {time} of a step; replay off by {error}",
            time=format_duration(max(answer.balance_saves_ns, 0)),
            error=format_error(answer.error),
        )

    def place_of(self, job: Job, answer: Pipeline, row: int) -> RankPlace:
        """Return the step of the chart on the rank that is drawn of a stage."""
        rank = min(answer.stages[row].ranks)
        place = next(place for place, other in enumerate(job.ranks) if other.number == rank)
        return place_of_step(job, place, answer.order.steps[self._step])

    def on_resize(self) -> None:
        self._set_heights()

    def _set_heights(self) -> None:
        """Make the chart as high as its stages want, and half of the screen at most."""
        stages = len(self.answer.stages) if self.answer is not None else 1
        self.chart.styles.height = min(stages + 1, max(self.size.height // 2, 2))

    def draw_row(self, answer: Pipeline, row: int) -> None:
        self.chart.show(stage_chart(answer, self._step), row)
        step = translate("step {step}", step=answer.order.steps[self._step])
        title = [(f" {step} ", self.style_of(Role.TITLE))]
        self.query_one("#legend", Lines).show([[*title, *self.chart.legend()]])

    def action_beside_step(self, by: int) -> None:
        """Show another step in the chart."""
        if self.answer is not None:
            self._step = min(max(self._step + by, 0), len(self.answer.order.steps) - 1)
            self.draw_row(self.answer, max(self.table.cursor_row, 0))
