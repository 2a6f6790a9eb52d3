"""The registry of everything a key can do: the one source of bindings, palette, help screen and docs/keys.md.

Knows no screen's code: an action's id is the name of the `action_*` method that does it, on the screen it
belongs to, or on the app.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from textual.binding import Binding, BindingType
from textual.keys import key_to_character

from tracetui.ui.screen_specs import SCREENS

#: action groups, in the order of the help screen
MOVE, SELECT, IDLE, SEARCH, WINDOW, TRACKS, TABLES, STACK, GO, PROGRAM = GROUPS = (
    "Move in time",
    "Select",
    "Find idle",
    "Search",
    "Window and export",
    "Tracks",
    "Tables",
    "Stack and source",
    "Screens",
    "Program",
)


@dataclass(frozen=True)
class Action:
    """One thing to do."""

    id: str  #: the method `action_<id>`, with its argument: "nth_gap(3)"
    keys: tuple[str, ...]  #: Textual's names of keys, the first one is shown
    group: str
    title: str  #: "verb: object"
    help: str  #: one line
    screens: tuple[str, ...] = ()  #: where it works; everywhere if empty
    palette: bool = True  #: listed in the command palette
    priority: bool = False  #: wins over the focused widget


def _unlisted(
    key: str, keys: tuple[str, ...], group: str, title: str, text: str, screens: tuple[str, ...] = ()
) -> Action:
    """Return an action that is only a key: nobody looks for it by name."""
    return Action(key, keys, group, title, text, screens, palette=False)


T = ("timeline",)
S = ("stacked",)
TS = T + S
G, H, M, OPS, V = ("gaps",), ("hotspots",), ("heatmap",), ("operators",), ("advice",)
R = ("ranks",)
WHATIF, STEPPED = ("whatif",), ("whatif", "pipeline")
C = ("compare",)
F, Y = ("flame",), ("memory",)
#: a panel over the screens: a table in several views, whose keys are rows of this registry too
STATISTICS = ("statistics",)
SQL = tuple(spec.name for spec in SCREENS.values() if "sql" in (spec.name, spec.stands_for))
MAPS = tuple(spec.name for spec in SCREENS.values() if spec.is_map)
ROWS = tuple(spec.name for spec in SCREENS.values() if spec.has_rows) + STATISTICS
TABULAR = ROWS + MAPS + F
FILTERED = tuple(spec.name for spec in SCREENS.values() if spec.has_filter)
VIEWS = tuple(spec.name for spec in SCREENS.values() if spec.has_views) + STATISTICS

ACTIONS: tuple[Action, ...] = (
    _unlisted("pan(-1)", ("a",), MOVE, "pan: left", "Earlier, by an eighth of the screen", TS),
    _unlisted("pan(1)", ("d",), MOVE, "pan: right", "Later, by an eighth of the screen", TS),
    _unlisted("pan(-6)", ("A",), MOVE, "pan: left fast", "Earlier, by most of the screen", TS),
    _unlisted("pan(6)", ("D",), MOVE, "pan: right fast", "Later, by most of the screen", TS),
    _unlisted("to_end(-1)", ("home",), MOVE, "go: start", "The start of the trace", TS),
    _unlisted("to_end(1)", ("end",), MOVE, "go: end", "The end of the trace", TS),
    Action("zoom(1)", ("w", "plus"), MOVE, "zoom: in", "Closer, around the selection or the centre", TS),
    Action("zoom(-1)", ("s", "minus"), MOVE, "zoom: out", "Farther", TS),
    _unlisted("zoom(4)", ("W",), MOVE, "zoom: in, faster", "Four times as fast", TS),
    _unlisted("zoom(-4)", ("S",), MOVE, "zoom: out, faster", "Four times as fast", TS),
    Action("show_all", ("0",), MOVE, "show: whole trace", "Everything from start to end", TS),
    Action("go_to_time", ("at",), MOVE, "go: to a time", "12.3ms, 1.2s, or the µs of kernel_details.csv", T),
    Action("fit_selection", ("f",), MOVE, "fit: selection", "The selected slice or gap fills the screen", TS),
    Action("undo", ("backspace",), MOVE, "undo: movement", "Back to where you looked before"),
    Action("redo", ("U",), MOVE, "redo: movement", "Forward again"),
    _unlisted("event(-1)", ("left", "h", "comma"), SELECT, "select: slice before", "The slice before", TS),
    _unlisted("event(1)", ("right", "l", "full_stop"), SELECT, "select: slice after", "The slice after", TS),
    _unlisted("track(-1)", ("up", "k"), SELECT, "select: row above", "The row above, same time", TS),
    _unlisted("track(1)", ("down", "j"), SELECT, "select: row below", "The row below, same time", TS),
    _unlisted("track(-12)", ("pageup",), SELECT, "select: rows above", "A page up", T),
    _unlisted("track(12)", ("pagedown",), SELECT, "select: rows below", "A page down", T),
    _unlisted("other_pane", ("tab",), SELECT, "show: all details", "j k scroll below; tab: back", T),
    Action("flow(-1)", ("left_square_bracket",), SELECT, "follow: to host", "Task → launch → operator", T),
    Action("flow(1)", ("right_square_bracket",), SELECT, "follow: to device", "Operator → launch → task", T),
    Action("next_gap(1)", ("x",), IDLE, "go: next worst gap", "The next one in their ranking"),
    Action("next_gap(-1)", ("X",), IDLE, "go: previous gap by rank", "The one before it in their ranking"),
    Action("rank_gaps", ("b",), IDLE, "rank: gaps otherwise", "By lost or idle time, communication", T + G),
    Action("line_gap(1)", ("x",), IDLE, "go: next gap of the line", "The worst of the line first", H),
    Action("line_gap(-1)", ("X",), IDLE, "go: gap of the line before", "The other way round", H),
    Action("what_if", ("percent_sign",), IDLE, "try: a faster line", "In half or no time, or with a core", H),
    Action("next_ranking", ("c",), IDLE, "show: next ranking", "Signatures, syncs, modules, frames", H),
    Action("modules", ("m",), IDLE, "show: modules", "Idle time by nn.Module; again: lines", H),
    Action("evidence(1)", ("x",), IDLE, "go: next evidence", "The next gap or slice of the advice", V),
    Action("evidence(-1)", ("X",), IDLE, "go: evidence before", "The other way round", V),
    *(
        _unlisted(f"nth_gap({n})", (str(n),), IDLE, f"go: gap number {n}", f"The gap of rank {n}", TS + G)
        for n in range(1, 10)
    ),
    Action("search", ("slash",), SEARCH, "search: names", "Slices whose name contains a text", T),
    Action("next_hit(1)", ("n",), SEARCH, "search: next hit", "The next slice found", T),
    Action("next_hit(-1)", ("N",), SEARCH, "search: previous hit", "The slice found before", T),
    Action("search_same", ("asterisk",), SEARCH, "search: this name", "All slices of the selected name", T),
    Action("mark_window", ("v",), WINDOW, "mark: window", "From here to the next v; says its length", T),
    Action("window_selection", ("r",), WINDOW, "window: selection", "The window becomes the selection", T),
    Action("statistics", ("i",), WINDOW, "show: statistics", "Time per name, and idle time, in the window"),
    Action("export", ("e",), WINDOW, "export: window", "Write the slices of the window to a CSV file"),
    Action("copy", ("y",), WINDOW, "copy: selection", "To the clipboard, and to a file"),
    Action("write_note", ("apostrophe",), WINDOW, "note: write", "A line at what is selected"),
    Action("notes_written", ("quotation_mark",), WINDOW, "note: list all", "Enter goes to the place of one"),
    Action("copy_place", ("u",), WINDOW, "copy: place", "The command that opens this picture elsewhere"),
    Action("fold", ("space",), TRACKS, "fold: track", "Fold or unfold the track or group of the cursor", T),
    Action("pin", ("P",), TRACKS, "pin: track", "Keep the track of the cursor on top", T),
    Action("find_track", ("t",), TRACKS, "find: track", "Go to a track by a part of its name", T),
    _unlisted("cursor(-1)", ("up", "k"), TABLES, "move: row above", "The row above", ROWS),
    _unlisted("cursor(1)", ("down", "j"), TABLES, "move: row below", "The row below", ROWS),
    _unlisted("page(-1)", ("pageup",), TABLES, "move: page up", "A screenful up", ROWS),
    _unlisted("page(1)", ("pagedown",), TABLES, "move: page down", "A screenful down", ROWS),
    _unlisted("first", ("home",), TABLES, "move: first row", "The first row", ROWS),
    _unlisted("last", ("end",), TABLES, "move: last row", "The last row", ROWS),
    _unlisted("activate", ("enter",), TABLES, "open: row", "Go there in the timeline", ROWS),
    Action("sort_beside(-1)", ("less_than_sign",), TABLES, "sort: column left", "Sort by it", ROWS),
    Action("sort_beside(1)", ("greater_than_sign",), TABLES, "sort: column right", "Sort by it", ROWS),
    Action("reverse", ("equals_sign",), TABLES, "sort: the other way", "Reverse the order", ROWS),
    Action("filter", ("slash",), TABLES, "filter: rows", "Rows with a text in a name", FILTERED),
    Action("export_table", ("e",), TABLES, "export: table", "Write the rows shown to a CSV file", TABULAR),
    Action("next_view", ("tab",), TABLES, "show: next table", "Or map; of the device, of the host", VIEWS),
    _unlisted("next_view(-1)", ("shift+tab",), TABLES, "show: map before", "The other way round", MAPS + C),
    *(
        _unlisted(f"show_map({n})", (str(n),), TABLES, f"show: map {n}", f"The map of number {n}", where)
        for where, last in ((M, 5), (R, 7))
        for n in range(1, last + 1)
    ),
    Action("try_row", ("percent_sign",), TABLES, "try: fix of the row", "What a step gains by it", R),
    Action("try_fix", ("space",), TABLES, "try: fix", "With those tried already; again: no longer", WHATIF),
    Action("beside_step(-1)", ("left_square_bracket",), MOVE, "go: step before", "In the lanes", STEPPED),
    Action("beside_step(1)", ("right_square_bracket",), MOVE, "go: next step", "In the lanes", STEPPED),
    _unlisted("row(-1)", ("K",), TABLES, "move: row above", "In the table below the map", R),
    _unlisted("row(1)", ("J",), TABLES, "move: row below", "In the table below the map", R),
    _unlisted("open_row", ("o",), TABLES, "open: row", "The rank that it is about", R),
    Action("open_base", ("backslash",), TABLES, "open: row in BASE", "Enter goes there in OTHER", C),
    Action("open_both", ("vertical_line",), TABLES, "open: row in both", "Stacked, steps aligned", C),
    Action("beside_step(-1)", ("left_square_bracket",), MOVE, "go: step before", "Both runs, at once", S),
    Action("beside_step(1)", ("right_square_bracket",), MOVE, "go: next step", "Both runs, at once", S),
    _unlisted("activate", ("enter",), SELECT, "open: selection", "In the timeline of its run", S),
    Action("flip", ("backslash",), SELECT, "flip: to the other run", "To what matches the selection", S),
    Action("instance(-1)", ("comma",), TABLES, "go: instance before", "Of the operator, in time", OPS),
    Action("instance(1)", ("full_stop",), TABLES, "go: next instance", "Of the operator, in time", OPS),
    Action("open_type", ("space",), TABLES, "open: type", "Its names; again: back to all types", OPS),
    Action("fold_types", ("z",), TABLES, "fold: types", "One row per type, or per name", OPS),
    Action("beside_step(-1)", ("left_square_bracket",), TABLES, "limit: step before", "Only one step", OPS),
    Action("beside_step(1)", ("right_square_bracket",), TABLES, "limit: next step", "Only one step", OPS),
    Action("edit_query", ("tab",), TABLES, "edit: query", "The line of SQL above the table", SQL),
    _unlisted("scroll_columns(-1)", ("left", "h"), TABLES, "show: columns before", "Those without room", SQL),
    _unlisted("scroll_columns(1)", ("right", "l"), TABLES, "show: more columns", "Those without room", SQL),
    _unlisted("curve_cursor(-1)", ("left", "h"), TABLES, "move: earlier", "The cursor of the curve", Y),
    _unlisted("curve_cursor(1)", ("right", "l"), TABLES, "move: later", "The cursor of the curve", Y),
    Action("next_curve", ("c",), TABLES, "show: next curve", "Of another component or device", Y),
    _unlisted("cell(0, -1)", ("left", "h"), TABLES, "move: cell left", "The cell before", MAPS),
    _unlisted("cell(0, 1)", ("right", "l"), TABLES, "move: cell right", "The next cell", MAPS),
    _unlisted("cell(-1, 0)", ("up", "k"), TABLES, "move: cell above", "The row above", MAPS),
    _unlisted("cell(1, 0)", ("down", "j"), TABLES, "move: cell below", "The row below", MAPS),
    _unlisted("edge_cell(-1)", ("home",), TABLES, "move: first cell", "The first of the row", MAPS),
    _unlisted("edge_cell(1)", ("end",), TABLES, "move: last cell", "The last of the row", MAPS),
    Action("worst_cell(1)", ("x",), TABLES, "go: next worst cell", "The next one in their ranking", MAPS),
    Action("worst_cell(-1)", ("X",), TABLES, "go: worse cell", "The one before it in their ranking", MAPS),
    _unlisted("open_cell", ("enter",), TABLES, "open: cell", "Its time in the timeline", MAPS),
    Action("stack", ("p",), STACK, "show: Python stack", "The stack of the selection, and the source", T),
    Action("next_pane(1)", ("tab",), STACK, "show: next pane", "The table, the stacks, the source", H),
    _unlisted("next_pane(-1)", ("shift+tab",), STACK, "show: pane before", "The other way round", H),
    _unlisted("longest", ("right", "l"), STACK, "stacks: longest below", "Open the frame and go there", H),
    _unlisted("parent", ("left", "h"), STACK, "stacks: caller", "Go to the caller", H),
    _unlisted("toggle_frame", ("space",), STACK, "stacks: open or close", "What the frame calls", H),
    Action("threshold(1)", ("plus",), STACK, "stacks: show fewer", "Sum up more of the small frames", H),
    Action("threshold(-1)", ("minus",), STACK, "stacks: show more", "Sum up fewer of the small frames", H),
    Action("fold_frames", ("z",), STACK, "stacks: fold packages", "Fold or show the frames of packages", H),
    Action("focus_frame", ("f",), STACK, "stacks: this frame", "What is below it; then its callers; all", H),
    _unlisted("move(-1, 0)", ("up", "k"), STACK, "flame: caller", "The frame above", F),
    _unlisted("move(1, 0)", ("down", "j"), STACK, "flame: widest below", "What takes most in the frame", F),
    _unlisted("move(0, -1)", ("left", "h"), STACK, "flame: frame left", "The frame beside it", F),
    _unlisted("move(0, 1)", ("right", "l"), STACK, "flame: frame right", "The frame beside it", F),
    _unlisted("ends(-1)", ("home",), STACK, "flame: first row", "The outermost frame", F),
    _unlisted("ends(1)", ("end",), STACK, "flame: last row", "Down along the widest frames", F),
    Action("zoom_in", ("enter", "plus"), STACK, "flame: zoom in", "The frame fills the screen", F),
    Action("zoom_out", ("backspace", "minus"), STACK, "flame: zoom out", "Back again; so does esc", F),
    Action("fold_frames", ("z",), STACK, "flame: fold packages", "Fold or show the frames of packages", F),
    Action("open_editor", ("o",), STACK, "open: editor", "$EDITOR at the line shown"),
    *(
        Action(f"go({spec.name!r})", (spec.key,), GO, spec.title, spec.help)
        for spec in SCREENS.values()
        if not spec.stands_for
    ),
    Action("session(-1)", ("left_curly_bracket",), GO, "go: trace before", "Of those that are open"),
    Action("session(1)", ("right_curly_bracket",), GO, "go: next trace", "Of those that are open"),
    Action("flip", ("backslash",), GO, "flip: other trace", "To the same step and operator of it"),
    Action("sessions", ("L",), GO, "list: open traces", "Choose the one to look at"),
    _unlisted("back", ("escape",), GO, "go: back", "Close, stop the loading, or back to the timeline"),
    _unlisted("palette", ("colon", "ctrl+p"), PROGRAM, "palette: commands", "Find a command by name"),
    Action("help", ("question_mark",), PROGRAM, "help: keys", "All keys of this screen"),
    Action("warnings", ("exclamation_mark",), PROGRAM, "show: warnings", "Of the trace, and its run"),
    _unlisted("notes", ("exclamation_mark",), PROGRAM, "show: notes", "What the ranks' traces lack", R),
    Action("quit", ("q",), PROGRAM, "quit: tracetui", "Leave"),
    Action("cancel", ("ctrl+c",), PROGRAM, "cancel: loading", "Stop it; without any, leave", (), False, True),
    Action("suspend", ("ctrl+z",), PROGRAM, "suspend: to the shell", "Back with `fg`", (), False, True),
    Action("redraw", ("ctrl+l",), PROGRAM, "redraw: the screen", "After other output on it", (), True, True),
)  # fmt: skip

#: what Textual has no character for
_LABELS = {
    "at": "@",
    "backslash": "\\",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
}


def key_label(key: str) -> str:
    """Return how a key is shown: "left_square_bracket" is "["."""
    character = key_to_character(key) or ""
    return _LABELS.get(key, character if character.isprintable() and character.strip() else key)


def actions_of(screen: str | None) -> Iterator[Action]:
    """Yield the actions that belong to one screen only (None: those that work everywhere)."""
    for action in ACTIONS:
        if (screen in action.screens) if screen else not action.screens:
            yield action


def bindings(screen: str | None) -> list[BindingType]:
    """Return the Textual bindings of a screen (None: of the app)."""
    return [
        Binding(
            ",".join(action.keys),
            action.id,
            action.title,
            show=False,
            priority=action.priority,
            tooltip=action.help,
            id=action.id,
        )
        for action in actions_of(screen)
    ]


def merge_actions(actions: Iterable[Action]) -> Iterator[tuple[tuple[str, ...], Action]]:
    """Yield keys as they are shown, with their action; digits with like actions share a row."""
    for same, run in groupby(
        actions,
        lambda action: (action.id.partition("(")[0], action.screens) if action.keys[0].isdigit() else action,
    ):
        first, *rest = run
        if isinstance(same, tuple) and rest:
            digit, last = first.keys[0], rest[-1].keys[0]
            title, helped = (text.replace(digit, "n") for text in (first.title, first.help))
            yield (f"{digit} - {last}",), replace(first, title=title, help=helped)
        else:
            for action in (first, *rest):
                yield tuple(key_label(key) for key in action.keys), action
