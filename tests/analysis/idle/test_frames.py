"""Which frame of a stack is the user's own."""

from __future__ import annotations

import pytest

from tracetui.analysis.idle.frames import FrameRules, Origin
from tracetui.trace.stack import Frame, parse_call_stack

SITE = "/home/me/.local/lib/python3.9/site-packages"


@pytest.mark.parametrize(
    ("file", "origin"),
    [
        ("/home/me/imagenet/main.py", Origin.USER),
        ("main.py", Origin.USER),
        ("models/profile.py", Origin.USER),
        ("profile.py", Origin.USER),
        ("torch_tools/train.py", Origin.USER),
        ("C:\\work\\train.py", Origin.USER),
        (f"{SITE}/torch/nn/modules/conv.py", Origin.LIBRARY),
        (f"{SITE}/torch_npu/npu/utils.py", Origin.LIBRARY),
        ("torch/optim/sgd.py", Origin.LIBRARY),
        ("triton/runtime/jit.py", Origin.LIBRARY),
        ("scipy/ndimage/_interpolation.py", Origin.LIBRARY),
        ("transformers/models/bert/modeling_bert.py", Origin.USER),
        ("mindspore/nn/cell.py", Origin.LIBRARY),
        ("/usr/local/lib/python3.11/threading.py", Origin.LIBRARY),
        ("/opt/conda/lib/python3.9/multiprocessing/spawn.py", Origin.LIBRARY),
        ("threading.py", Origin.LIBRARY),
        ("multiprocessing/process.py", Origin.LIBRARY),
        (f"{SITE}/megatron/training.py", Origin.INSTALLED),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", Origin.INSTALLED),
        ("<string>", Origin.GENERATED),
        ("<frozen importlib._bootstrap>", Origin.GENERATED),
        ("/tmp/torchinductor_me/s4/generated.py", Origin.GENERATED),
        (f"/me/cache/s4/cs4{'yar2' * 12}.py", Origin.GENERATED),
        (f"/me/cache/s5/cs4{'yar2' * 12}.py", Origin.USER),
        ("", Origin.NO_FILE),
    ],
)
def test_origin_of_a_frame(file: str, origin: Origin) -> None:
    assert FrameRules().origin(Frame(file, 1, "f")) == origin


def test_prefixes_of_the_user_count_before_all_rules() -> None:
    rules = FrameRules(user=(f"{SITE}/megatron",), skip=("/home/me/common/", f"{SITE}/megatron/core"))
    assert rules.origin(Frame(f"{SITE}/megatron/training.py", 1, "f")) == Origin.USER
    assert rules.origin(Frame(f"{SITE}/megatron/core/layer.py", 1, "f")) == Origin.USER
    assert rules.origin(Frame("/home/me/common/log.py", 1, "f")) == Origin.LIBRARY
    assert rules.origin(Frame("/home/me/train.py", 1, "f")) == Origin.USER


def line(text: str, rules: FrameRules | None = None) -> str | None:
    frame = (rules or FrameRules()).line_of(parse_call_stack(text))
    return None if frame is None else str(frame)


def test_the_first_frame_of_the_user_from_the_leaf_is_charged() -> None:
    stack = f"{SITE}/torch/nn/functional.py(9): relu;\r\n/me/model.py(5): forward;\r\n/me/train.py(3): main"
    assert line(stack) == "/me/model.py(5): forward"
    assert line(stack, FrameRules(skip=("/me/model",))) == "/me/train.py(3): main"


def test_of_two_frames_the_one_nearer_to_the_user_is_charged_whichever_calls_the_other() -> None:
    files = ["/me/train.py", f"{SITE}/megatron/training.py", "torch/optim/sgd.py", "<string>", ""]
    frames = [Frame(file, 1, "f") for file in files]
    for place, frame in enumerate(frames):
        for other in frames[place + 1 :]:
            found = FrameRules().line_of((other, frame)), FrameRules().line_of((frame, other))
            assert found == (frame, frame)


def test_a_stack_without_the_user_is_charged_to_what_is_nearest() -> None:
    installed = f"{SITE}/torch/a.py(1): a;\r\n{SITE}/lightning/b.py(2): b;\r\n{SITE}/lightning/c.py(3): c"
    assert line(installed) == f"{SITE}/lightning/b.py(2): b"
    library = "<built-in function len>;\r\nthreading.py(5): run;\r\nthreading.py(9): _bootstrap"
    assert line(library) == "threading.py(5): run"
    assert line("<built-in function len>") == "<built-in function len>"
    assert line("") is None
