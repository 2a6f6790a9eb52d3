"""The first and the last line of a screen: what is open and how it is doing; the most useful keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tracetui.databases.exports import export_of
from tracetui.export.sentences.health import headline, mark
from tracetui.language import counted, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity, TraceKind
from tracetui.ui.actions import ACTIONS, key_label
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, tail
from tracetui.ui.screen_specs import SCREENS
from tracetui.ui.session import Session
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_bytes, format_count, format_duration, format_percent

if TYPE_CHECKING:
    from tracetui.analysis.communication.analyse import WindowSplit

_NARROW = 100  #: columns up to which only the most important is said
_LONGEST_RUN = 30  #: cells of the rank and the level of a run
_LEAST_NAME = 12  #: cells of the name of a trace that are always there
_KINDS = {TraceKind.ASCEND: "Ascend", TraceKind.GPU: "GPU", TraceKind.CHROME: "Chrome"}


class TopLine(Lines):
    """The file, its kind and span, how idle each device is, and what is wrong or under way."""

    DEFAULT_CSS = "TopLine { height: 1; }"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def on_mount(self) -> None:
        self.update()

    def on_resize(self) -> None:
        self.update()

    def update(self) -> None:
        """Say it again: the trace, the analysis, the progress or the room has changed."""
        doubt = self._doubt()
        self.styles.height = 2 if doubt else 1
        self.show([doubt, self._left()] if doubt else [self._left()], self._right())

    def _doubt(self) -> list[StyledText]:
        """Return the worst finding about the recording, for a line of its own; nothing where all is good."""
        analysis = self.session.analysis
        text = "" if analysis is None else headline(analysis.health, analysis.steps)
        if not text:
            return []
        return [
            (f" {text}", self.style_of(Role.WARNING)),
            ("  B", self.style_of(Role.KEY)),
            (f" {translate('health')}", self.style_of(Role.DIM)),
        ]

    def _left(self) -> list[StyledText]:
        app, session = self.viewer, self.session
        style = app.palette.style_of
        pieces: list[StyledText] = []
        if len(app.sessions) > 1:
            number = f" {app.sessions.index(session) + 1}/{len(app.sessions)}"
            pieces.append((number, style(Role.DIM)))
        if session.trace is None or session.holds_nothing:
            if session.kind is not None:
                pieces += [(f"  {_KINDS[session.kind]}", style(Role.TEXT)), *self._export()]
            return [self._naming(pieces), *pieces]
        dot = (f"  {app.glyphs.dot}  ", style(Role.DIM))
        span = format_duration(session.trace.end_ns - session.trace.start_ns)
        pieces += [("  ", style(Role.TEXT)), (f"{_KINDS[session.trace.kind]} {span}", style(Role.TEXT))]
        pieces += self._export()
        place, sampled = len(pieces), 0
        if session.picture is not None and session.picture.sketch is not None:
            sampled = place + 1
            pieces += [
                ("  ", style(Role.TEXT)),
                (f"{app.glyphs.unread[1]} {translate('sampled')}", style(Role.WARNING)),
            ]
        if session.analysis is not None:
            splits = [split for split in session.analysis.communication.splits if split.window_ns]
            for split in splits:
                pieces += [dot, (f"{printable(split.device)} ", style(Role.TEXT))]
                pieces += self._split(split, len(splits) == 1)
            if sampled and self._room(pieces) <= _LEAST_NAME:
                pieces[sampled] = (pieces[sampled][0][: cell_len(app.glyphs.unread[1])], pieces[sampled][1])
            from tracetui.analysis.run_facts import run_in_short  # by now the analysis has it

            run = printable(run_in_short(session.analysis.run), _LONGEST_RUN)
            if run and cell_len(session.name) + len(run) + 4 <= self._room(pieces):
                pieces[place:place] = [("  ", style(Role.TEXT)), (run, style(Role.DIM))]
        return [self._naming(pieces), *pieces]

    def _export(self) -> list[StyledText]:
        """Return which export of a run is read: a database, or JSON where there is a database as well."""
        if export_of(self.session.path) == "db":
            word = translate("database")
        elif self.session.analysis is not None and self.session.analysis.other_export is not None:
            word = "JSON"
        else:
            return []
        return [(f" {word}", self.style_of(Role.DIM))]

    def _naming(self, pieces: list[StyledText]) -> StyledText:
        """Return the name of the trace; of a long one the end, where other pieces need the room."""
        room = max(self._room(pieces) - 1, _LEAST_NAME)
        return (
            f" {tail(self.session.name, room, self.glyphs.ellipsis)}",
            self.style_of(Role.TITLE),
        )

    def _room(self, pieces: list[StyledText]) -> int:
        """Return the cells that other pieces of the line leave."""
        right = self._right()
        return self.size.width - sum(cell_len(text) for text, _ in [*pieces, *right]) - (1 if right else 0)

    def _split(self, split: WindowSplit, single: bool) -> list[StyledText]:
        """Return what the time of a device went into; on a narrow screen only what it lost most to.

        single : the device is the only one, so there is room for more than communication in one.
        """
        style = self.palette.style_of
        lost: list[tuple[str, int, Role | Activity]] = [
            (translate("waiting"), split.wait_ns, Role.WAITING),
            (translate("moving"), split.transfer_ns, Activity.COMMUNICATION),
            (translate("comm"), split.unsplit_ns, Activity.COMMUNICATION),
        ]
        idle: tuple[str, int, Role | Activity] = (translate("idle"), split.idle_ns, Role.IDLE)
        if not single:
            parts = [(translate("comm"), split.communication_ns, Activity.COMMUNICATION), idle]
        elif self.size.width > _NARROW:
            computing = (translate("computing"), split.computing_ns, Activity.COMPUTE)
            parts = [computing, *lost, (translate("copies"), split.copy_ns, Activity.COPY), idle]
        else:
            parts = [max(lost, key=lambda part: part[1]), idle]
        pieces: list[StyledText] = []
        analysis = self.session.analysis
        idle_doubt = "" if analysis is None else mark(analysis.health, "idle")
        for words, ns, role in parts:
            if ns or role is Role.IDLE:
                share = format_percent(ns, split.window_ns)
                doubt = idle_doubt if role is Role.IDLE else ""
                pieces.append((f"{' ' if pieces else ''}{words} {share}{doubt}", style(role)))
        return pieces

    def _right(self) -> list[StyledText]:
        app, session = self.viewer, self.session
        style = app.palette.style_of
        pieces: list[StyledText] = []
        if session.progress is not None:
            _, total, events = session.progress
            if rows := session.file.rows if session.file is not None else 0:
                total_rows = format_count(rows)
                text = translate("reading {share} % of {count} rows", share=session.share, count=total_rows)
            else:
                text = translate("reading {share} % of {size}", share=session.share, size=format_bytes(total))
            if session.silent_s:
                text += translate(", nothing for {seconds} s", seconds=session.silent_s)
            elif events and self.size.width > _NARROW:
                text += translate(", {count} events", count=format_count(events))
            pieces.append(
                (
                    f"{text}  {translate('esc stops')} ",
                    style(Role.WARNING if session.silent_s else Role.NUMBER),
                )
            )
        elif session.recording is not None:
            done, total = session.recording
            share, size = 100 * done // total, format_bytes(total)
            text = translate("reading the scheduler, {share} % of {size}", share=share, size=size)
            pieces.append((f"{text}  {translate('esc stops')} ", style(Role.NUMBER)))
        elif session.analysing:
            pieces.append((f"{translate('analysing')} ", style(Role.DIM)))
        if count := len(session.warnings):
            text = f"{app.glyphs.warning} {counted(count, '1 warning', '{count} warnings')} "
            pieces.append((text, style(Role.WARNING)))
        return pieces


class KeyLine(Lines):
    """The five most useful keys of a screen, or what the program has just to say."""

    DEFAULT_CSS = "KeyLine { height: 1; }"

    def __init__(self, actions: tuple[tuple[str, str], ...]) -> None:
        """Name actions; `actions`: the id of each and one or two words for it."""
        super().__init__()
        self._actions = actions
        self._status = ("", Role.TEXT)  # what may come before it is on screen

    def on_mount(self) -> None:
        self.show_status(*self._status)

    def show_status(self, sentence: str, role: Role = Role.TEXT) -> None:
        """Show a sentence in place of the keys; "" shows the keys again."""
        sentence = wording(sentence)
        style, self._status = self.palette.style_of, (sentence, role)
        if sentence:
            self.show([[(f" {sentence}", style(role))]])
            return
        pieces: list[StyledText] = []
        for action_id, words in self._actions:
            keys = " ".join(_keys_of(part) for part in action_id.split("|"))
            pieces += [
                (f" {keys}", style(Role.KEY)),
                (f" {wording(words, f'key.{words}')} ", style(Role.DIM)),
            ]
        room = self.size.width - sum(cell_len(text) for text, _ in pieces)
        right: list[StyledText] = [("?", style(Role.KEY)), (f" {translate('help')} ", style(Role.DIM))]
        if room > 32:
            letters = " ".join(
                key_label(spec.key)
                for spec in SCREENS.values()
                if not spec.stands_for and self.viewer.has_screen(spec.name)
            )
            right = [(letters, style(Role.KEY)), (f" {translate('screens')}  ", style(Role.DIM)), *right]
        self.show([pieces], right)

    def on_resize(self) -> None:
        self.show_status(*self._status)


def _keys_of(action_id: str) -> str:
    return next((key_label(action.keys[0]) for action in ACTIONS if action.id == action_id), "")
