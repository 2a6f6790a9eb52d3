"""The help: all keys of the screen it was opened over, from the registry, and what each number means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tracetui.analysis.idle.cause import Cause
from tracetui.export.language import cause_facts
from tracetui.language import translate, wording
from tracetui.trace.model import Activity
from tracetui.ui.actions import GROUPS, Action, actions_of, merge_actions
from tracetui.ui.drawing.causes import ROLES, cause_name
from tracetui.ui.drawing.glyphs import BLOCKS, Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText, fitted, wrapped
from tracetui.ui.screen_specs import shown_name
from tracetui.ui.screens.panel import Overlay
from tracetui.ui.widgets.lines import PLAIN, Lines, Pager, Pieces

COLUMN = 38  #: cells that a column of keys takes at least
ROOMY = 56  #: cells at which there is room for what most keys do in a few words
MARGIN = 2

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("window", "from the first start to the last end of the device's computing and communication."),
    ("computing", "time with a kernel running on any stream of the device."),
    ("communication", "time with a collective running; exposed: while nothing computes."),
    ("waiting", "exposed communication until the last rank of the group comes: that rank was late."),
    ("moving", "exposed communication from then on: data moves between ranks."),
    ("peer", "a rank by its number in a group, where the trace does not tell its number in the job."),
    ("free", "window without computing and without exposed communication: idle time and exposed copies."),
    ("idle", "time in which a device does nothing at all: no compute, no communication, no copy."),
    ("gap", "a stretch without a kernel of the device: other compute, communication, copy and idle."),
    (
        "AI CPU, DSA",
        "of a gap: the time that other compute fills; then communication, copies and idle time, each moment"
        " counted once, in this order.",
    ),
    ("lost", "of a gap: its idle time, exposed communication and exposed copies."),
    ("sampled", "not read yet: drawn in shades from a few places of the file, and counted in no number."),
    ("line", "idle time is charged to the Python line that ran, or that launched the task that ended it."),
    ("backward", "an operator of the backward pass: charged to the line of its forward operator."),
    (
        "frame",
        "a call of Python, at the line where its function begins; one that ran as the recording began, at the"
        " line where it was then.",
    ),
    ("(no stack)", "idle time for which the trace has no Python line: shown, never dropped."),
    (
        "exposed idle",
        "idle time that began while the host waited for the device: the host could not work ahead.",
    ),
    (
        "saves",
        "at most, if the host spent no time on the line: its time on the critical path. It can be more than"
        " the line's idle time: host time while the device is still busy delays later launches too.",
    ),
    ("critical path", "from the end of a step back to what it waited for; only what is on it can save time."),
    ("sync", "a synchronisation: the host waited for the device, in .item(), a copy, synchronize()."),
    ("signature", "gaps that are alike: mostly of one cause, one line and one operator."),
    ("linked", "the share of device tasks that lead back to an operator."),
    ("step", "what lies between two calls of profiler.step()."),
    ("stage", "computing, exposed communication and free time of a step, without the bubble."),
    ("preparing", "what comes before: from the start of the step on the host to its first task."),
    ("bubble", "time that receives from other stages of a pipeline take."),
    ("share", "of the whole that the header of the table names."),
)


class HelpScreen(Overlay[None]):
    """Keys by group in as many columns as fit, then the glossary."""

    DEFAULT_CSS = """
    HelpScreen { background: ansi_default; }
    HelpScreen Lines { height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "close", show=False),
        Binding("up,k", "cursor(-1)", show=False),
        Binding("down,j", "cursor(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("colon,ctrl+p", "palette", show=False),
    ]

    def compose(self) -> ComposeResult:
        yield Lines()
        yield Pager()

    def on_resize(self) -> None:
        viewer = self.viewer
        lines = help_lines(viewer.shown, self.size.width, self.palette, self.glyphs, viewer.refused)
        self.query_one(Pager).show(lines)
        self.call_after_refresh(self._entitle)

    def _entitle(self) -> None:
        palette = self.palette
        of = translate(
            "keys of the {screen} screen, and what the numbers mean",
            screen=wording(shown_name(self.viewer.shown)),
        )
        title: list[StyledText] = [
            (f"{translate('Help')}  ", palette.style_of(Role.TITLE)),
            (of, palette.style_of(Role.DIM)),
        ]
        keys: list[StyledText] = [
            (f"{self.query_one(Pager).place}  ", palette.style_of(Role.DIM)),
            ("esc", palette.style_of(Role.KEY)),
            (f" {translate('close')}", palette.style_of(Role.DIM)),
        ]
        self.query_one(Lines).show([title], keys)

    def action_cursor(self, lines: int) -> None:
        self.query_one(Pager).action_cursor(lines)
        self._entitle()

    def action_page(self, pages: int) -> None:
        self.query_one(Pager).action_page(pages)
        self._entitle()

    def action_first(self) -> None:
        self.query_one(Pager).action_first()
        self._entitle()

    def action_last(self) -> None:
        self.query_one(Pager).action_last()
        self._entitle()

    def action_palette(self) -> None:
        """Find a command of the screen below, in place of the help."""
        self.dismiss(None)
        self.app.call_later(self.app.run_action, "palette")


def help_lines(
    screen: str | None,
    width: int,
    palette: Palette,
    glyphs: Glyphs = BLOCKS,
    refused: Collection[str] = (),
) -> list[Pieces]:
    """Return the whole help of a screen, for a width; `refused`: ids of actions left out of it."""
    columns = 1 if width < 2 * COLUMN + MARGIN else 3 if width >= 3 * ROOMY else 2
    column = (width - MARGIN * (columns - 1)) // columns
    blocks = [_group(group, actions, column, palette) for group, actions in _groups(screen, refused)]
    lines = _side_by_side(blocks, columns, column, glyphs.ellipsis)
    lines.append([(translate("What the numbers mean"), palette.style_of(Role.TITLE))])
    for term, meaning in GLOSSARY:
        lines.extend(_explained(wording(term, f"term.{term}"), wording(meaning), width, palette))
    lines += [[], [(translate("Why a device is idle"), palette.style_of(Role.TITLE))]]
    for cause in Cause:
        facts = cause_facts(cause)
        meaning = f"{facts.label}: {facts.meaning}"
        lines.extend(_explained(cause_name(cause), meaning, width, palette, ROLES[cause]))
    return lines


def _groups(screen: str | None, refused: Collection[str]) -> Iterable[tuple[str, list[Action]]]:
    of_screen = list(actions_of(screen)) if screen else []
    taken = {key for action in of_screen for key in action.keys}
    everywhere = [action for action in actions_of(None) if not set(action.keys) <= taken]
    offered = [action for action in [*of_screen, *everywhere] if action.id not in refused]
    for group in GROUPS:
        actions = [action for action in offered if action.group == group]
        if actions:
            yield group, actions


def _group(group: str, actions: Sequence[Action], width: int, palette: Palette) -> list[Pieces]:
    """Return a title, a line per action, an empty line."""
    rows = [(" ".join(keys), action) for keys, action in merge_actions(actions)]
    keys = [keys for keys, _ in rows]
    room = min(max(map(cell_len, keys)), 11)
    lines: list[Pieces] = [[(wording(group), palette.style_of(Role.TITLE))]]
    for key, action in rows:
        text = wording(action.title).replace(": ", " ", 1).replace("：", " ", 1)
        does = wording(action.help)
        helped = does if cell_len(text) + cell_len(does) + room + 5 <= width else ""
        line: list[StyledText] = [
            (" " * (room - cell_len(key)) + f"{key}  ", palette.style_of(Role.KEY)),
            (text, palette.style_of(Role.TEXT)),
        ]
        if helped:
            line.append((f"  {helped}", palette.style_of(Role.DIM)))
        lines.append(line)
    return [*lines, []]


def _side_by_side(
    blocks: Sequence[Sequence[Pieces]], columns: int, width: int, ellipsis: str
) -> list[Pieces]:
    """Lay blocks out in columns of about equal height, in their order from top to bottom, then right."""
    heights = [len(block) for block in blocks]
    limit = max(max(heights), -(-sum(heights) // columns))
    while True:
        filled: list[list[Pieces]] = [[]]
        for block in blocks:
            if filled[-1] and len(filled[-1]) + len(block) > limit:
                filled.append([])
            filled[-1].extend(block)
        if len(filled) <= columns:
            break
        limit += 1
    lines: list[Pieces] = []
    for y in range(max(map(len, filled))):
        line: list[StyledText] = []
        for place, column in enumerate(filled):
            pieces = column[y] if y < len(column) else []
            line.append((" " * MARGIN if place else "", PLAIN))
            strip = fitted(pieces, width, ellipsis)
            line.extend((segment.text, segment.style or PLAIN) for segment in strip)
        lines.append(line)
    return lines


def _explained(
    term: str, meaning: str, width: int, palette: Palette, role: Role | Activity = Role.NUMBER
) -> Iterable[Pieces]:
    """Yield a term and its meaning, in as many lines as it takes."""
    indent = 15
    for place, text in enumerate(wrapped(meaning, width - indent)):
        shown = term if place == 0 else ""
        yield [
            (shown + " " * (indent - cell_len(shown)), palette.style_of(role)),
            (text, palette.style_of(Role.TEXT)),
        ]
