"""A line that moved is the same line: by what it calls, or by its order in the function."""

from __future__ import annotations

from tests.analysis.gpu import gpu, host, kernel, launch
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.matched_lines import match_lines, number_of_names
from tracetui.trace.stack import Frame


def lines(file: str, function: str, **calls: str) -> dict[Frame, int]:
    """Frames by "_88" keywords, with the names of what is called there, separated by blanks."""
    return {Frame(file, int(at[1:]), function): number_of_names(names.split()) for at, names in calls.items()}


def moved(base: dict[Frame, int], other: dict[Frame, int]) -> dict[int, int]:
    """The numbers of BASE by those of OTHER."""
    return {after.line: before.line for after, before in match_lines(base, other, (base, other)).items()}


def test_lines_below_an_insertion_are_known_by_what_they_call() -> None:
    base = lines("/a/train.py", "step", _88="aten::mm", _93="aten::add")
    other = lines("/b/c/train.py", "step", _93="aten::mm", _98="aten::add")
    assert moved(base, other) == {93: 88, 98: 93}


def test_equal_numbers_are_equal_lines_where_as_much_fits() -> None:
    base = lines("train.py", "step", _10="aten::mm", _20="aten::add", _30="aten::mul")
    assert moved(base, base) == {10: 10, 20: 20, 30: 30}
    other = lines("train.py", "step", _10="aten::mm", _20="aten::add", _25="aten::div", _30="aten::mul")
    assert moved(base, other) == {10: 10, 20: 20, 30: 30}


def test_a_line_that_changed_what_it_calls_is_known_by_its_place() -> None:
    base = lines("train.py", "step", _10="aten::mm", _20="aten::add", _30="aten::mul")
    other = lines("train.py", "step", _11="aten::mm", _21="aten::sub", _31="aten::mul")
    assert moved(base, other) == {11: 10, 21: 20, 31: 30}


def test_functions_and_files_are_not_mixed_up() -> None:
    base = {**lines("m/a/net.py", "forward", _5="aten::mm"), **lines("m/b/net.py", "forward", _5="aten::add")}
    other = {
        **lines("x/b/net.py", "forward", _7="aten::add"),
        **lines("x/a/net.py", "forward", _9="aten::mm"),
    }
    assert moved(base, other) == {7: 5, 9: 5}
    found = match_lines(base, other, (base, other))
    assert found[Frame("x/a/net.py", 9, "forward")].file == "m/a/net.py"
    copy = lines("y/net.py", "forward", _9="aten::mm")
    assert moved(base, {**other, **copy}) == {7: 5, 9: 5}
    assert not set(copy) & set(match_lines(base, {**other, **copy}, (base, {**other, **copy})))
    alone = lines("x/a/net.py", "forward", _9="aten::mm")
    assert match_lines(base, alone, (base, alone))[next(iter(alone))].file == "m/a/net.py"
    assert moved(lines("net.py", "forward", _5="aten::mm"), lines("net.py", "backward", _5="aten::mm")) == {}


def test_frames_of_python_are_known_by_what_they_call_as_lines_of_stacks_are() -> None:
    """An operator is called by the innermost frame of the user's, through one of a package."""
    events = [*gpu(), launch(1012, 1, 1), kernel(1020, 900, 1)]
    for number, operator in enumerate(("aten::mm", "aten::add")):
        start = 1000 + 100 * number
        events += [
            host(start, 90, f"net.py({10 + number}): forward", "python_function"),
            host(start + 2, 80, "torch/nn/modules/linear.py(5): forward", "python_function"),
            host(start + 10, 20, operator),
        ]
    calls = run_of(analyse(trace_of(events))).lines.calls
    assert {(frame.line, number) for frame, number in calls.items()} == {
        (10, number_of_names(["aten::mm"])),
        (11, number_of_names(["aten::add"])),
        (5, 0),
    }
