"""The tree of stacks as it is drawn and walked."""

from __future__ import annotations

from textual.app import App, ComposeResult

from tests.ui.test_branches import STDLIB, TORCH, node, root
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.trace.stack import Frame
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.widgets.stack_tree import StackTree

MS = 1_000_000


class TreeApp(App[None]):
    palette, glyphs = Palette("none"), ASCII

    def __init__(self, top: StackNode) -> None:
        super().__init__()
        self.top = top
        self.moves: list[Frame | None] = []

    def compose(self) -> ComposeResult:
        yield StackTree()

    def on_mount(self) -> None:
        self.stacks = self.query_one(StackTree)
        self.stacks.show(self.top, frameless="(no stack)")

    def on_stack_tree_moved(self, message: StackTree.Moved) -> None:
        self.moves.append(message.frame)

    def lines(self) -> list[str]:
        return [self.stacks.render_line(y).text.rstrip() for y in range(self.stacks.size.height)]


def training() -> StackNode:
    """60 ms under a loss behind two frames of packages, 30 ms in a data loader, 10 ms without a stack."""
    loss = node("loss", 60 * MS, file="/work/loss.py")
    wrapped = node("call", 0, node("run", 0, loss, file=STDLIB), file=TORCH)
    main = node("main", 0, wrapped, node("load", 30 * MS))
    return StackNode(None, 100 * MS, 0, 9, (main, StackNode(None, 10 * MS, 10 * MS, 1, ())))


async def test_it_opens_along_the_longest_and_says_what_it_folded() -> None:
    app = TreeApp(training())
    async with app.run_test(size=(100, 10)):
        lines = app.lines()
    assert lines[0].startswith("-- stacks: 2 frames of torch and the standard library folded --")
    assert [" ".join(line.split()) for line in lines[2:7]] == [
        "90.0 ms 90.0 % ####### - main train.py(1)",
        "60.0 ms 60.0 % #### - ~ run (2 frames of torch and the standard library)",
        "60.0 ms 60.0 % #### 60.0 ms loss loss.py(1)",
        "30.0 ms 30.0 % ## 30.0 ms load train.py(1)",
        "10.0 ms 10.0 % | 10.0 ms (no stack)",
    ]


async def test_keys_walk_to_the_longest_and_back_to_the_caller() -> None:
    app = TreeApp(training())
    async with app.run_test(size=(60, 10)) as pilot:
        tree = app.stacks
        tree.action_longest()
        assert tree.frame is not None
        assert tree.branch is not None
        assert len(tree.branch.nodes) == 2
        tree.action_longest()
        assert tree.frame.function == "loss"
        tree.action_longest()  # a leaf stays
        assert tree.frame.function == "loss"
        tree.action_parent()
        tree.action_parent()
        assert tree.frame.function == "main"
        tree.action_parent()  # no caller: it closes
        assert len(tree.rows) == 2
        tree.action_activate()
        assert len(tree.rows) == 5
        tree.action_last()
        assert tree.frame is None
        await pilot.pause()
        assert app.moves[-1] is None


async def test_unfolding_and_the_threshold_keep_the_cursor_on_its_frame() -> None:
    app = TreeApp(training())
    async with app.run_test(size=(60, 10)):
        tree = app.stacks
        tree.action_cursor(2)
        for change in (tree.action_folds, lambda: tree.action_threshold(-9), tree.action_folds):
            change()
            assert tree.frame == Frame("/work/loss.py", 1, "loss")


async def test_the_row_of_small_frames_opens_them() -> None:
    app = TreeApp(root(node("big", 1000), node("a", 1), node("b", 2)))
    async with app.run_test(size=(60, 10)):
        app.stacks.action_last()
        assert app.lines()[3].endswith("~ 2 frames under 0.5 % each")
        app.stacks.action_activate()
        assert len(app.stacks.rows) == 3


async def test_a_long_tree_scrolls_with_the_cursor_and_the_mouse_selects() -> None:
    app = TreeApp(root(*(node(f"f{i}", 1000 - i) for i in range(300))))
    async with app.run_test(size=(60, 10)) as pilot:
        app.stacks.branches.threshold = 0
        app.stacks.action_threshold(0)
        app.stacks.action_page(3)
        assert app.stacks.cursor == 24
        assert app.lines()[9].split()[-2] == "f24"
        await pilot.click(StackTree, offset=(3, 5))
        assert app.stacks.frame is not None
        assert app.stacks.frame.function == "f20"


async def test_names_are_neither_obeyed_nor_parsed() -> None:
    evil = StackNode(Frame("/x/[red]\x1b[2J.py", 1, "[bold]f\x07"), 5, 5, 1, ())
    app = TreeApp(StackNode(None, 5, 0, 1, (evil,)))
    async with app.run_test(size=(60, 10)):
        line = app.lines()[2]
    assert line.isprintable()
    assert "[bold]f" in line
    assert "[red]" in line


async def test_an_empty_tree_says_so() -> None:
    app = TreeApp(StackNode(None, 0, 0, 0, ()))
    async with app.run_test(size=(60, 10)):
        app.stacks.action_longest()
        app.stacks.action_activate()
        app.stacks.action_page(1)
        assert "No idle time" in app.lines()[2]
