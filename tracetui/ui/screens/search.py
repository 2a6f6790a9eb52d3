"""The search prompt: one line at the bottom, the number of hits as one types. Enter goes to the nearest hit.

Knows how to ask; `NameSearch` knows what matches, and all screens find the hits in `session.state.search`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from textual import on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerError, get_current_worker

from tracetui.arrays import Int64s
from tracetui.language import counted, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.ui.drawing.palette import Role
from tracetui.ui.messages import TraceChanged
from tracetui.ui.name_search import REGEX, WHOLE, BadPattern, NameSearch
from tracetui.ui.screens.panel import Panel
from tracetui.ui.session import Session
from tracetui.ui.state import NONE, Search

DEBOUNCE_S = 0.06
SLOW_S = 0.25  #: a search that takes longer says that it is running


class SearchPrompt(Panel[int]):
    """Closes with the slice to go to, or None; what was found stays in the state, unless it was dropped."""

    TITLE_OF = "Search"
    KEYS = (("enter", "go"), ("esc", "drop"))

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._names: NameSearch | None = None
        self._asked = ""  # the query that is typed
        self._answered = ""  # the query that state.search answers
        self._go = False  # enter was pressed before the answer came
        self._timer: Timer | None = None

    def body(self) -> Iterable[Widget]:
        yield Input(
            placeholder=translate(
                "part of a name, {regex}pattern or {whole}whole name", regex=REGEX, whole=WHOLE
            ),
            compact=True,
        )

    def on_mount(self) -> None:
        if self.session.trace is None:
            self.set_title("Still reading the trace.")
        else:
            self._names = NameSearch(self.session.trace)
            sentence = "lower case matches any case"
            if self.session.progress:
                sentence = translate("in the {share} % of the file that are read", share=self.session.share)
            self.set_title(sentence)

    def on_trace_changed(self, message: TraceChanged) -> None:
        """Search again, unless the trace is only analysed now: rows of the trace before are void."""
        trace = self.session.trace
        if trace is None or (self._names is not None and self._names.trace is trace):
            return
        self._names, self._answered = NameSearch(trace), ""
        if self._asked:
            self._search()

    # ---------------------------------------------------------------- typing

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._asked, self._go = event.value, False
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE_S, self._search)

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._go = True
        if not self._asked:
            self.action_close()
        elif self._answered == self._asked:
            self._close_with_hit()
        elif searching := self._search():
            # The next key is for what the prompt goes to, so it waits here for a while
            with suppress(WorkerError, asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(searching.wait()), SLOW_S)

    def action_close(self) -> None:
        """Drop the search."""
        self._keep(Search())
        self.dismiss(None)

    # --------------------------------------------------------------- finding

    def _search(self) -> Worker[None] | None:
        """Have a thread search; None where there is nothing to search in yet."""
        names, query = self._names, self._asked
        if self._timer is not None:
            self._timer.stop()
        if names is None:
            return None
        self.set_timer(SLOW_S, lambda: self._say_searching(query))

        def search() -> None:
            worker = get_current_worker()
            try:
                rows, refusal = names.rows(query, lambda: worker.is_cancelled), ""
            except BadPattern as bad:
                rows, refusal = np.empty(0, np.int64), str(bad)
            if not worker.is_cancelled:
                self.call_later(self._take, names, query, rows, refusal)

        return self.run_worker(search, thread=True, exclusive=True, group="search")

    def _say_searching(self, query: str) -> None:
        if query == self._asked != self._answered:
            self.set_title("searching; a key stops it")

    def _take(self, names: NameSearch, query: str, rows: Int64s, refusal: str) -> None:
        """Show what a thread found for a query: the hits, or why there are none."""
        if query != self._asked or names is not self._names:
            return
        self._answered = query
        self._keep(names.search(query, rows))
        if refusal:
            self.set_title(printable(refusal, 200), Role.WARNING)
        elif not query:
            self.set_title("")
        else:
            count = len(rows)
            words = counted(count, "1 slice", "{count} slices")
            self.set_title(words, Role.TEXT if count else Role.WARNING)
        if self._go:
            self._close_with_hit()

    def _keep(self, search: Search) -> None:
        self.session.state.search = search
        self.viewer.view_changed()

    def _close_with_hit(self) -> None:
        trace, state = self.session.trace, self.session.state
        if trace is not None and len(state.search.hits):
            self.dismiss(step_to_hit(trace, state.search, state.row, state.viewport.start_ns, 1))


def step_to_hit(trace: Trace, search: Search, row: int, time_ns: int, step: int) -> int:
    """Go to the next (1) or previous (-1) hit in time, and around at the end; its slice, -1 without hits.

    Next to the hit that is selected (`row`); else, next to the selected slice; without one, next to a time.
    """
    hits = search.hits
    if not len(hits):
        return NONE
    if 0 <= search.at < len(hits) and hits[search.at] == row:
        at = search.at + step
    else:
        moment = int(trace.slices.start[row]) if row >= 0 else time_ns
        starts = trace.slices.start[hits]
        if step > 0:
            at = int(np.searchsorted(starts, moment, "left"))
        else:
            at = int(np.searchsorted(starts, moment, "right")) - 1
    search.at = at % len(hits)
    return int(hits[search.at])


def same_name(trace: Trace, row: int) -> Search:
    """Return the search for the name of a slice, which is the hit it stands at."""
    names = NameSearch(trace)
    hits = names.named_as(row)
    return names.search(WHOLE + trace.name(row), hits, int(np.flatnonzero(hits == row)[0]))
