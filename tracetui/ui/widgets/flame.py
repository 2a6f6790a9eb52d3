"""The flame view: rows of cells, one frame each, with a cursor in them and a frame to look at closer."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.modules import module_of
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.branches import Branches, FrameKind, frame_kind
from tracetui.ui.drawing.flame import Flame, flame_rows
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.scrolling import WheelScrolled
from tracetui.ui.widgets.stack_tree import function_name
from tracetui.units import format_count, format_duration

#: a number fits after a name in a cell of so many more
NUMBER = 12
PAINTS: dict[FrameKind, Role | Activity] = {
    FrameKind.YOURS: Role.IDLE,
    FrameKind.MODULE: Activity.COMPUTE,
    FrameKind.FRAMEWORK: Role.HOST,
    FrameKind.OTHER: Role.FRAME,
}
_EMPTY = StackNode(None, 0, 0, 0, ())


class FlameView(InViewer, WheelScrolled, can_focus=True):
    """Frames below their callers; the one looked at fills the first row."""

    DEFAULT_CSS = "FlameView { width: 1fr; height: 1fr; }"

    class Moved(Message):
        """The cursor is on another cell."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = Branches(_EMPTY)
        self.cells: list[list[Flame]] = []
        self._frameless = ""  # what the node without a frame is called
        self.row = self.place = 0  #: of the cursor, and the first row on screen
        self.top = 0
        self._path: list[StackNode] = [_EMPTY]  # the root, and what was zoomed into one after the other
        self._callers: list[list[StackNode]] = [[]]  # of each of those, outermost first

    @property
    def flame(self) -> Flame | None:
        """The cell under the cursor."""
        return self.cells[self.row][self.place] if self.cells else None

    @property
    def caller(self) -> Flame | None:
        """The cell above the cursor."""
        flame = self.flame
        return self.cells[self.row - 1][flame.parent] if flame is not None and flame.parent >= 0 else None

    @property
    def zoomed(self) -> bool:
        """Whether a part is looked at."""
        return len(self._path) > 1

    @property
    def is_without_stack(self) -> bool:
        """Whether the cursor is on the idle time that no stack is recorded for."""
        node = self.flame.node if self.flame is not None else None
        return node is not None and node.frame is None and not node.children

    @property
    def written(self) -> Frame | None:
        """The frame under the cursor that is in a file: of a built-in function its caller."""
        return next((frame for frame in self._frames() if frame.file), None)

    def stack(self) -> list[str]:
        """Return the frames under the cursor and their callers, innermost first, in plain text."""
        return [printable(str(frame)) for frame in self._frames()]

    def landmarks(self) -> list[str]:
        """Return the callers of the cell under the cursor that are modules or the user's, outermost first."""
        names = []
        for frame in reversed(self._frames(callers_only=True)):
            module = module_of(frame.function)
            if module is not None or self.branches.is_users(frame):
                names.append(printable(module, 200) if module is not None else function_name(frame))
        return names

    def _frames(self, callers_only: bool = False) -> list[Frame]:
        """Return the frames from the cell under the cursor up to its outermost caller, innermost first."""
        here = self.flame.nodes if self.flame is not None and not callers_only else ()
        nodes = [*self._callers[-1], *self._above(), *here]
        return [node.frame for node in reversed(nodes) if node.frame is not None]

    def _above(self) -> list[StackNode]:
        """Return the callers of the cell under the cursor that are shown, outermost first."""
        nodes: list[StackNode] = []
        flame, row = self.caller, self.row - 1
        while flame is not None:
            nodes[:0] = flame.nodes
            row -= 1
            flame = self.cells[row][flame.parent] if flame.parent >= 0 else None
        return nodes

    def clear(self) -> None:
        """Show nothing."""
        self.branches, self.cells = Branches(_EMPTY), []
        self._path, self._callers = [_EMPTY], [[]]
        self.row = self.place = self.top = 0
        self.refresh()

    def show(self, root: StackNode, rules: FrameRules | None = None, frameless: str = "") -> None:
        """Show a tree, all of it; the cursor on the frame at which it first parts.

        `frameless`: what the node without a frame is called.
        """
        self._frameless = frameless
        self.branches = Branches(root, rules)
        self._path, self._callers = [root], [[]]
        self._lay_out(None)

    # --------------------------------------------------------------- actions

    def action_move(self, rows: int, cells: int) -> None:
        """Go to the caller, to the widest frame below, or along the row."""
        flame = self.flame
        if flame is None:
            return
        if rows < 0 and flame.parent >= 0:
            self._go(self.row - 1, flame.parent)
        elif rows > 0 and self.row + 1 < len(self.cells):
            below = self.cells[self.row + 1]
            children = [place for place, cell in enumerate(below) if cell.parent == self.place]
            if children:
                self._go(self.row + 1, max(children, key=lambda place: below[place].idle_ns))
        elif cells:
            self._go(self.row, max(0, min(self.place + cells, len(self.cells[self.row]) - 1)))

    def action_ends(self, side: int) -> None:
        """Go to the first row, or down along the widest frames to the last."""
        if side < 0:
            self._go(0, 0)
            return
        before = None
        while before != (self.row, self.place):
            before = (self.row, self.place)
            self.action_move(1, 0)

    def action_zoom_in(self) -> None:
        """Fill the first row with the cell under the cursor."""
        flame = self.flame
        if flame is None or (self.row == 0 and not flame.small):
            return
        self._callers.append([*self._callers[-1], *self._above()])
        if flame.node is None:
            caller = self.caller
            frame = caller.node.frame if caller is not None and caller.node is not None else None
            self._path.append(StackNode(frame, flame.idle_ns, 0, 0, flame.small))
        else:
            self._path.append(flame.nodes[0])
        self._lay_out(self._path[-1])

    def action_zoom_out(self) -> bool:
        """Go back to what was looked at before; return False where all is."""
        if not self.zoomed:
            return False
        left = self._path.pop()
        self._callers.pop()
        self._lay_out(left)
        return True

    def action_folds(self) -> None:
        """Fold the frames of packages, or show each of them."""
        node = self.flame.node if self.flame is not None else None
        self.branches.folds = not self.branches.folds
        self._lay_out(node)

    def roll(self, rows: int) -> None:
        self.action_move(rows, 0)

    # ------------------------------------------------------------- the cells

    def _lay_out(self, node: StackNode | None) -> None:
        """Make the cells again, with the cursor on a frame, else on the first row."""
        self.cells = flame_rows(self._path[-1], self.size.width, self.branches.chain)
        self.row = self.place = 0
        if node is None:
            self._go_to_parting()
        for row, cells in enumerate(self.cells):
            for place, cell in enumerate(cells):
                if node is not None and _is_of(cell, node):
                    self.row, self.place = row, place
        self._scroll()
        self.refresh()
        self.post_message(self.Moved())

    def _go_to_parting(self) -> None:
        """Go down the rows as long as one frame has most of all."""
        for row, cells in enumerate(self.cells):
            if 4 * cells[0].idle_ns < 3 * self.cells[0][0].idle_ns:
                break
            self.row = row

    def _go(self, row: int, place: int) -> None:
        if (row, place) == (self.row, self.place):
            return
        before, self.row, self.place = self.row, row, place
        if self._scroll():
            self.refresh()
        else:
            for changed in {before, row}:
                self.refresh(Region(0, changed - self.top, self.size.width, 1))
        self.post_message(self.Moved())

    def _scroll(self) -> bool:
        """Bring the cursor into view, and what is below it where there is room; True where rows moved."""
        height = max(self.size.height, 1)
        top = min(max(self.top, self.row - height + 1), self.row)
        top = max(0, min(top, len(self.cells) - height))
        moved, self.top = top != self.top, top
        return moved

    def on_resize(self) -> None:
        flame = self.flame
        self._lay_out(flame.node if flame is not None else None)

    def on_click(self, event: events.Click) -> None:
        row = self.top + event.y
        if row >= len(self.cells):
            return
        for place, cell in enumerate(self.cells[row]):
            if cell.left <= event.x < cell.right:
                self._go(row, place)
                if event.chain == 2:
                    self.action_zoom_in()
                break

    # --------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        width, row = self.size.width, self.top + y
        if row >= len(self.cells):
            return Strip.blank(width)
        pieces: list[StyledText] = []
        at = 0
        for place, cell in enumerate(self.cells[row]):
            pieces.append((" " * (cell.left - at), Style.null()))
            pieces.append((self._text(cell), self._style(cell, row == self.row and place == self.place)))
            at = cell.right
        runs = groupby((piece for piece in pieces if piece[0]), key=itemgetter(1))
        return fitted([("".join(text for text, _ in run), style) for style, run in runs], width)

    def _style(self, cell: Flame, selected: bool) -> Style:
        if selected:
            return self.palette.paint_of(Role.SELECTED).box
        frame = shown_frame(cell)
        if frame is None:
            return self.palette.paint_of(Role.FRAME).box
        return flame_style(frame_kind(frame, self.branches.rules), self.palette)

    def _text(self, cell: Flame) -> str:
        """Return the name after the line between two cells, and the time if it fits, in exactly its cells."""
        width = cell.right - cell.left
        frame = shown_frame(cell)
        mark = self.mark(frame_kind(frame, self.branches.rules)) if frame is not None else ""
        text = self.glyphs.sliver + mark + self.label(cell)
        room = width - cell_len(text)
        if room >= NUMBER:
            text += f"  {format_duration(cell.idle_ns)}"
        elif room < 0 and width > 1:
            text = set_cell_size(text, width - 1) + self.glyphs.ellipsis
        return set_cell_size(text, width)

    def mark(self, kind: FrameKind) -> str:
        """Return the mark in front of names of a kind; "" for the framework's."""
        glyphs = self.glyphs
        marks = {FrameKind.YOURS: glyphs.here, FrameKind.MODULE: glyphs.pin, FrameKind.OTHER: glyphs.dot}
        return marks.get(kind, "")

    def label(self, cell: Flame) -> str:
        """Name the function or module of a cell, and how many frames are folded into it."""
        if not cell.nodes:
            return translate("{count} more", count=format_count(len(cell.small)))
        frame = shown_frame(cell)
        if frame is None:
            return translate("all idle time") if cell.nodes[-1].children else self._frameless
        folded = f" +{len(cell.nodes) - 1}" if len(cell.nodes) > 1 else ""
        module = module_of(frame.function)
        if module is not None:
            return printable(module, 200) + folded
        file = printable(path_end(frame.file))
        return f"{function_name(frame)} {file}{folded}" if file else f"{function_name(frame)}{folded}"


def shown_frame(cell: Flame) -> Frame | None:
    """Return the frame that stands for a cell: a module that frames are folded into, else the innermost."""
    first = cell.nodes[0].frame if cell.nodes else None
    if first is not None and module_of(first.function) is not None:
        return first
    return cell.nodes[-1].frame if cell.nodes else None


def _is_of(cell: Flame, node: StackNode) -> bool:
    """Return whether a cell is the frame's, or of the small ones that were looked at under the frame."""
    return any(part is node for part in cell.nodes) or (bool(cell.small) and cell.small == node.children)


def flame_style(kind: FrameKind, palette: Palette) -> Style:
    """Return how cells of a kind are filled."""
    box = palette.paint_of(PAINTS[kind]).box
    return box + Style(bold=True) if kind is FrameKind.YOURS else box
