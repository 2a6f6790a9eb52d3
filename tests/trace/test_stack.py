"""Stacks as profilers write them, and text that is no stack."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracetui.trace.stack import Frame, distinct_ends, parse_call_stack, parse_frame, path_end

FRAMES = (
    Frame("/opt/torch/nn/functional.py", 2233, "conv2d"),
    Frame("/home/a b/train (copy).py", 88, "forward"),
    Frame("<string>", 1, "<module>"),
)


def test_frames_come_leaf_first_with_every_separator() -> None:
    for separator in (";\r\n", ";\n", "\n", ";"):
        assert parse_call_stack(separator.join(map(str, FRAMES))) == FRAMES
    assert parse_call_stack(str(FRAMES[0]) + ";\r\n") == FRAMES[:1]


def test_a_semicolon_inside_a_frame_does_not_cut_it() -> None:
    odd = Frame("/home/a;b/train.py", 7, "main")
    named = Frame("x.py", 3, "f;g")
    built_in = Frame("", 0, "<built-in method conv2d>")
    for stack in ((odd,), (odd, FRAMES[1], odd), (FRAMES[1], odd), (FRAMES[0], named), (built_in, odd)):
        assert parse_call_stack(";".join(map(str, stack))) == stack
        assert parse_call_stack(";\r\n".join(map(str, (*stack, FRAMES[0])))) == (*stack, FRAMES[0])
    assert parse_call_stack("no; frames; at all") == (Frame("", 0, "no; frames; at all"),)
    assert parse_call_stack("a.py(1): f;") == (Frame("a.py", 1, "f"),)


def test_functions_without_a_file() -> None:
    assert parse_frame("nn.Module: Conv2d_0") == Frame("", 0, "nn.Module: Conv2d_0")
    assert parse_frame("<built-in method conv2d of type object at 0x7f00ab>") == Frame(
        "", 0, "<built-in method conv2d of type object>"
    )


def test_line_numbers_of_any_length_do_not_fail() -> None:
    assert parse_frame(f"a.py({'9' * 5000}): f").line == 0


def test_the_end_of_a_path_is_its_last_parts_whatever_separates_them() -> None:
    assert [path_end("/opt/src/train.py", parts) for parts in (1, 2, 9)] == [
        "train.py",
        "src/train.py",
        "/opt/src/train.py",
    ]
    assert path_end("C:\\src\\train.py") == path_end("train.py") == "train.py"


@given(st.text(st.characters()))
def test_any_text_gives_frames(text: str) -> None:
    for frame in parse_call_stack(text):
        assert frame.line >= 0
        assert isinstance(frame.file, str) and isinstance(frame.function, str)


@given(
    st.lists(
        st.builds(Frame, st.sampled_from(["a.py", "/x/b.py"]), st.integers(1, 999999), st.sampled_from("fgh"))
    )
)
def test_what_is_written_is_read(frames: list[Frame]) -> None:
    assert parse_call_stack(";\r\n".join(map(str, frames))) == tuple(frames)
    assert parse_call_stack(";".join(map(str, frames))) == tuple(frames)


def test_paths_are_told_apart_by_as_little_of_their_ends_as_possible() -> None:
    assert distinct_ends(["/me/train.py", "/me/data.py"]) == {
        "/me/train.py": "train.py",
        "/me/data.py": "data.py",
    }
    assert distinct_ends(["/a/x/train.py", "/b/x/train.py", "/b/y/train.py", "eval.py"]) == {
        "/a/x/train.py": "a/x/train.py",
        "/b/x/train.py": "b/x/train.py",
        "/b/y/train.py": "y/train.py",
        "eval.py": "eval.py",
    }
    deep = "/".join("d" * 1000)
    assert len(distinct_ends([f"a/{deep}", f"b/{deep}"])[f"a/{deep}"]) < 20, "not without end"
