"""The experts of a job: its layers by how uneven they are, and the tokens of each rank in one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.widget import Widget

from tracetui.export.job.experts import ExpertsAnswer, balance_sentences, experts_answer
from tracetui.export.sentences.rank_labels import labels
from tracetui.export.tables.experts import LAYERS, LayerRows, token_words
from tracetui.job.job import Job
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.ranks.rank_view import RankPlace
from tracetui.ui.screens.job_screen import JobTableScreen
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.units import format_duration, format_error, format_percent


class ExpertsScreen(JobTableScreen[ExpertsAnswer]):
    """The table of layers above the tokens of each rank in the layer under the cursor."""

    DEFAULT_CSS = """
    ExpertsScreen #title { height: 1; }
    ExpertsScreen #tokens { height: 2fr; }
    """
    BINDINGS = bindings("experts")
    TITLE_OF = "Experts"
    KEYS = (("enter", "open"), ("e", "export"), ("R", "ranks"), ("S", "what if"))
    TABLE = LAYERS

    def below(self) -> Iterable[Widget]:
        yield Lines(id="title")
        yield Lines(id="tokens")

    def find(self, job: Job) -> ExpertsAnswer:
        return experts_answer(job, self.job_session.replays_of)

    def rows_of(self, answer: ExpertsAnswer) -> LayerRows:
        return answer.rows

    def sentences(self, answer: ExpertsAnswer) -> list[str]:
        return balance_sentences(answer)

    def column_places(self) -> Sequence[ColumnPlace]:
        return (
            ColumnLook("layer", 0),
            ColumnLook("imbalance", 0, style=self.style_of(Role.IDLE)),
            ColumnLook("hot_rank", 0),
            ColumnLook("most_tokens", 1),
            ColumnLook("waiting_ns", 1),
            ColumnLook("moving_ns", 2),
            ...,
        )

    def saving(self, answer: ExpertsAnswer) -> str:
        if answer.saves_ns is None:
            return ""
        return translate(
            "Balance saves {time} ({share}) of a step; replay off by {error}",
            time=format_duration(max(answer.saves_ns, 0)),
            share=format_percent(max(answer.saves_ns, 0), answer.step_ns),
            error=format_error(answer.error),
        )

    def place_of(self, job: Job, answer: ExpertsAnswer, row: int) -> RankPlace:
        """Return the exchange of the hot rank in which its experts work at most tokens."""
        layer = answer.rows.rows[row]
        hot = layer.hot_ranks(answer.rows.groups)[:1] or [layer.exchanges[0].rank]
        exchanges = [exchange for exchange in layer.exchanges if exchange.rank in hot]
        fullest = max(exchanges, key=lambda exchange: exchange.tokens or 0)
        collectives = job.ranks[fullest.rank].collectives
        start, end = collectives.start[fullest.dispatch], collectives.end[fullest.combine]
        return RankPlace(fullest.rank, int(start), int(end))

    def draw_row(self, answer: ExpertsAnswer, row: int) -> None:
        """Draw a bar of tokens for each rank in a layer, those with most first."""
        layer, names = answer.rows.rows[row], labels(answer.rows.job)
        tokens = {rank: count for rank, count in layer.tokens.items() if count is not None}
        widget = self.query_one("#tokens", Lines)
        shown = sorted(tokens, key=lambda rank: (-tokens[rank], rank))[: max(widget.size.height, 1)]
        most_tokens = max(tokens.values(), default=1)
        total = sum(tokens.values())
        name_width = max((cell_len(names[rank]) for rank in shown), default=0)
        words = {rank: token_words(tokens[rank], layer.unit) for rank in shown}
        number_width = max(map(cell_len, words.values()), default=0)
        room = max(self.size.width - name_width - number_width - 12, 1)
        lines: list[Pieces] = []
        for rank in shown:
            filled = max(round(tokens[rank] * room / max(most_tokens, 1)), 1 if tokens[rank] else 0)
            scaled = tokens[rank] * len(tokens)
            hot = scaled > total
            lines.append(
                [
                    (f" {names[rank]:<{name_width}} ", self.style_of(Role.TITLE if hot else Role.TEXT)),
                    (f"{words[rank]:>{number_width}} ", self.style_of(Role.NUMBER)),
                    (f"{scaled / total if total else 1:>5.2f}x ", self.style_of(Role.DIM)),
                    (self.glyphs.full * filled, self.style_of(Role.IDLE if hot else Role.COUNTER)),
                ]
            )
        widget.show(lines)
        rule = f"{self.glyphs.rule * 2} "
        title = translate("layer {layer}: tokens of each rank, and times the mean", layer=layer.number)
        self.query_one("#title", Lines).show(
            [[(rule, self.style_of(Role.RULE)), (title, self.style_of(Role.TITLE))]]
        )
