"""The tree of stacks by idle time, one frame a line. Draws `Branches` and moves a cursor in it.

Textual's `Tree` makes an object and its text for each frame: with 17,700 frames it was there after 1.0 s
(this: 0.11 s), took 29 ms and 11 kB for a page (8 ms, 4 kB), and 180 ms to open or close a frame (46 ms).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from tracetui.analysis.butterfly import callees, callers
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.modules import module_of
from tracetui.export.text import aligned
from tracetui.language import heading, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.branches import THRESHOLDS, Branch, Branches
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import fitted, ruled
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.scrolling import CursorRows
from tracetui.units import format_duration, format_percent

BAR = 8  #: cells
NUMBER = 8  #: "1.24 ms" and a blank
WIDE = 76  #: from this width on there is room for the bar and the own time
_BUILT_IN = re.compile(r"<built-in (?:method|function) (\w+)[^>]*>")
ALL, BELOW, CALLERS = FOCUSES = ("stacks", "stacks below", "callers of")
_EMPTY = StackNode(None, 0, 0, 0, ())


class StackTree(InViewer, CursorRows, can_focus=True):
    """Frames, the most idle first, with the idle time under each (inclusive) and in its own line."""

    HEAD = 2
    DEFAULT_CSS = "StackTree { width: 1fr; height: 1fr; }"

    class Moved(Message):
        """The cursor is on another frame, or on none (no stack, or many small ones)."""

        def __init__(self, tree: StackTree, frame: Frame | None) -> None:
            super().__init__()
            self.tree, self.frame = tree, frame

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, StackTree.Moved) and message.tree is self.tree

    def __init__(self) -> None:
        super().__init__()
        self.branches = Branches(_EMPTY)
        self.rows: list[Branch] = []
        self.focused = ALL  #: which part of all stacks is shown
        self._root, self._frameless = _EMPTY, ""  # all stacks
        self._frame: Frame | None = None  # that the part is of

    @property
    def branch(self) -> Branch | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def frame(self) -> Frame | None:
        """The frame under the cursor."""
        return self.branch.frame if self.branch is not None else None

    def show(self, root: StackNode, rules: FrameRules | None = None, frameless: str = "") -> None:
        """Show a tree, open along what has most of the idle time; the rules tell the user's frames.

        `frameless`: what the node without a frame is called.
        """
        self._frameless = frameless
        self._root, self._frame, self.focused = root, None, ALL
        self._show(root, rules)

    def focus_frame(self, frame: Frame | None) -> bool:
        """Show what is below a frame wherever it is, then its callers, then all stacks; False without one."""
        shown = FOCUSES[(FOCUSES.index(self.focused) + 1) % len(FOCUSES)]
        focused, root = None, self._root
        if shown != ALL:
            focused = frame if shown == BELOW else self._frame
            part = (callees if shown == BELOW else callers)(root, focused) if focused is not None else None
            if part is None:
                return False
            root = StackNode(None, part.idle_ns, 0, part.gaps, (part,))
        self._frame, self.focused = focused, shown
        self._show(root, self.branches.rules)
        return True

    def reveal(self, stack: Sequence[Frame]) -> bool:
        """Go to a stack (leaf first), as deep as the tree has it; False where it has none of it."""
        node = self.branches.reveal(stack)
        if node is not None:
            self._rearrange(node)
        return node is not None

    # --------------------------------------------------------------- actions

    def action_longest(self) -> None:
        """Open the frame and go to the longest below it."""
        branch = self.branch
        if branch is not None and branch.has_children:
            if not branch.opened:
                self.branches.open(branch)
                self._rearrange(branch.node)
            self.move_to(self.cursor + 1)

    def action_parent(self) -> None:
        """Go to the caller; where there is none, close the frame."""
        branch = self.branch
        if branch is None:
            return
        if branch.parent is not None:
            self.move_to(next(place for place, row in enumerate(self.rows) if row is branch.parent))
        elif branch.opened:
            self.action_activate()

    def action_activate(self) -> None:
        """Open or close the frame; show the small ones."""
        branch = self.branch
        if branch is None:
            return
        if not branch.nodes:  # the row of the small ones
            self.action_threshold(-1)
        elif branch.has_children:
            (self.branches.close if branch.opened else self.branches.open)(branch)
            self._rearrange(branch.node)

    def action_threshold(self, steps: int) -> None:
        """Hide more of the small frames (1) or fewer (-1)."""
        node = self.branch.node if self.branch is not None else None
        self.branches.raise_threshold(steps)
        self._rearrange(node)

    def action_folds(self) -> None:
        """Fold the frames of packages, or show each of them."""
        node = self.branch.node if self.branch is not None else None
        self.branches.folds = not self.branches.folds
        self._rearrange(node)

    def _show(self, root: StackNode, rules: FrameRules | None) -> None:
        self.branches = Branches(root, rules)
        self.branches.open_longest()
        self.cursor = self.top = 0
        self._rearrange(None)

    # ------------------------------------------------------------- the rows

    def _rearrange(self, node: StackNode | None) -> None:
        """Make the rows again, with the cursor on a frame, or where it was."""
        before = self.frame
        self.rows = self.branches.rows()
        for place, row in enumerate(self.rows):
            if node is not None and any(node is other for other in row.nodes):
                self.cursor = place
                break
        self.cursor = max(0, min(self.cursor, len(self.rows) - 1))
        self.scroll_to_cursor()
        self.refresh()
        if node is None or self.frame != before:
            self.post_moved()

    @property
    def row_count(self) -> int:
        return len(self.rows)

    def post_moved(self) -> None:
        self.post_message(self.Moved(self, self.frame))

    def on_resize(self) -> None:
        self.scroll_to_cursor()

    def on_click(self, event: events.Click) -> None:
        place = self.top + event.y - self.HEAD
        if event.y >= self.HEAD and place < len(self.rows):
            self.move_to(place)
            if event.chain == 2:
                self.action_activate()

    def roll(self, rows: int) -> None:
        self.action_cursor(rows)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # --------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < self.HEAD:
            return self._columns(width) if y else self._title(width)
        place = self.top + y - self.HEAD
        if place < len(self.rows):
            strip = self._draw(self.rows[place], width)
            if place == self.cursor and self.has_focus:
                return Strip([Segment(strip.text, self.style_of(Role.SELECTED))], width)
            return strip
        if y == self.HEAD and not self.rows:
            return fitted([(translate("No idle time with a Python stack."), self.style_of(Role.DIM))], width)
        return Strip.blank(width)

    def _title(self, width: int) -> Strip:
        """Draw a rule that says in words what is hidden."""
        hidden = self.branches.hidden(self.rows)
        title = translate(self.focused)
        if self._frame is not None:
            title = translate("{stacks} {function}", stacks=title, function=function_name(self._frame))
        if hidden:
            title = translate("{title}: {hidden}", title=title, hidden=hidden)
        title = ruled(title, self.glyphs.rule, width)
        style = self.style_of(Role.TITLE if self.has_focus else Role.RULE)
        return fitted([(title, style)], width, self.glyphs.ellipsis)

    def _columns(self, width: int) -> Strip:
        titles = aligned(heading("idle"), NUMBER) + " " * 8
        if width >= WIDE:
            titles += " " * (BAR + 1) + aligned(heading("own"), NUMBER)
        return fitted([(f"{titles}  {heading('stack')}", self.style_of(Role.DIM))], width)

    def _draw(self, branch: Branch, width: int) -> Strip:
        dim = self.style_of(Role.DIM)
        total = self.branches.root.idle_ns
        share = format_percent(branch.idle_ns, total)
        pieces = [(f"{format_duration(branch.idle_ns):>{NUMBER}}{share:>8}", self.style_of(Role.TEXT))]
        if width >= WIDE:
            own_time = format_duration(branch.own_ns) if branch.own_ns else ""
            bar = share_bar(branch.idle_ns, total, BAR, self.glyphs).ljust(BAR)
            pieces += [(f" {bar}", self.style_of(Role.IDLE)), (f"{own_time:>{NUMBER}}", dim)]
        used = sum(len(text) for text, _ in pieces)
        indent = " " * (2 + min(branch.indent, max(width - used, 0) // 2))
        mark = " "
        if branch.has_children:
            mark = self.glyphs.unfolded if branch.opened else self.glyphs.folded
        pieces.append((f"{indent}{mark} ", dim))
        return fitted([*pieces, *self._label(branch)], width, self.glyphs.ellipsis)

    def _label(self, branch: Branch) -> list[tuple[str, Style]]:
        dim = self.style_of(Role.DIM)
        frame = branch.frame
        if not branch.nodes:
            share = f"{THRESHOLDS[self.branches.threshold] / 10:g}"
            small = translate("{count} frames under {share} % each", count=branch.small, share=share)
            return [(f"{self.glyphs.ellipsis} {small}", dim)]
        if len(branch.nodes) > 1:
            packages = printable(self.branches.packages(branch.nodes))
            folded = translate("({count} frames of {packages})", count=len(branch.nodes), packages=packages)
            first = branch.nodes[0].frame
            module = module_of(first.function) if first is not None else None
            if module is not None:
                return [(printable(module, 200), self.style_of(Role.TITLE)), (f"  {folded}", dim)]
            last = f"{function_name(frame)}  " if frame is not None else ""
            return [(f"{self.glyphs.ellipsis} {last}{folded}", dim)]
        if frame is None:
            return [(self._frameless, dim)]
        module = module_of(frame.function)
        if module is not None:
            return [(printable(module, 200), self.style_of(Role.TITLE))]
        name = self.style_of(Role.USER_LINE) if self.branches.is_users(frame) else dim
        file = printable(path_end(frame.file))
        return [(function_name(frame), name), (f"  {file}({frame.line})" if file else "", dim)]


def function_name(frame: Frame) -> str:
    """Return the function of a frame: "mean" for "<built-in method mean of Tensor object>"."""
    built_in = _BUILT_IN.fullmatch(frame.function)
    return printable(built_in[1] if built_in else frame.function, 200)
