"""The lines that a trace names are the lines of the training script that make the call."""

from __future__ import annotations

import re

import pytest

from simulator.scenarios import SCENARIOS
from simulator.source import TrainingScript
from tests.simulator.traces import SCENARIO_NAMES, events

CALLS = {
    "aten::slice": "[",
    "aten::select": "[",
    "aten::fill_": "] = float(",
    "aten::mean": ".mean(",
    "aten::stack": "torch.stack(",
    "aten::matmul": "@|self.",
    "aten::topk": ".topk(",
    "aten::ge": r">=|\.ge\(",
    "aten::repeat_interleave": ".repeat_interleave(",
    "aten::bitwise_and": "&",
    "aten::bitwise_not": "~",
    "aten::transpose": ".transpose(",
    "aten::mul": r"\*",
    "aten::masked_fill": ".masked_fill(",
    "aten::softmax": ".softmax(",
    "aten::view": r"\.view\(|\.flatten\(",
    "aten::permute": ".permute(",
    "aten::reshape": ".reshape(",
    "aten::add": r"\+",
    "aten::gelu": ".gelu(",
    "aten::linear": "self.",
    "aten::layer_norm": "norm",
    "aten::embedding": "self.embedding(",
    "aten::log_softmax": "cross_entropy(",
    "aten::nll_loss": "cross_entropy(",
    "aten::to": ".to(device",
    "aten::item": ".item()",
    "aten::ones_like": "loss.backward()",
    "aten::argmax": ".argmax(",
    "aten::bincount": ".bincount(",
    "aten::clamp": ".clamp(",
    "aten::reciprocal": ".reciprocal(",
    "aten::chunk": ".chunk(",
    "aten::eq": ".eq(",
    "aten::sum": ".sum(",
    "aten::conv2d": "self.patches(",
    "aten::flatten": ".flatten(",
    "aten::nonzero": ".nonzero(",
    "Optimizer.zero_grad#AdamW.zero_grad": "optimizer.zero_grad()",
    "Optimizer.step#AdamW.step": "optimizer.step()",
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": r"in loader:|in enumerate\(loader\):",
}


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_lines_hold_the_calls_of_their_operators(scenario: str) -> None:
    chosen = SCENARIOS[scenario]
    lines = chosen.script.read_text(encoding="utf-8").splitlines()
    frame = re.compile(re.escape(chosen.traced_as) + r"\((\d+)\): (\S+)$")
    script = TrainingScript(chosen.script, chosen.traced_as)
    checked = set()
    for event in events(scenario):
        stack = event.get("args", {}).get("Call stack")
        if stack is None:
            continue
        user_frames = [found for text in stack.split(";\r\n") if (found := frame.match(text))]
        assert [script.function(int(found[1]))[0] for found in user_frames] == [
            found[2] for found in user_frames
        ]
        assert [found[2] for found in user_frames][-3:] == ["train", "main", "<module>"]
        pattern = CALLS.get(event["name"])
        if pattern is not None:
            code = lines[int(user_frames[0][1]) - 1]
            assert re.search(pattern if "\\" in pattern or "|" in pattern else re.escape(pattern), code), (
                event["name"]
            )
            checked.add(event["name"])
    assert len(checked) > 10


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_frames_name_the_definition_of_their_function(scenario: str) -> None:
    chosen = SCENARIOS[scenario]
    lines = chosen.script.read_text(encoding="utf-8").splitlines()
    frame = re.compile(re.escape(chosen.script.name) + r"\((\d+)\): (\S+)$")
    calls = [event for event in events(scenario) if event.get("cat") == "python_function"]
    named = [
        found for event in calls if event["args"]["Python id"] > 2 and (found := frame.match(event["name"]))
    ]

    assert named
    assert all(f"def {found[2]}(" in lines[int(found[1]) - 1] for found in named)


def test_code_on_no_or_several_lines_is_refused() -> None:
    chosen = SCENARIOS["moba"]
    script = TrainingScript(chosen.script, chosen.traced_as)

    with pytest.raises(ValueError, match="2 lines"):
        script.line("for block in range(blocks):")
    with pytest.raises(ValueError, match="0 lines"):
        script.line("no such code")


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_training_scripts_compile(scenario: str) -> None:
    script = SCENARIOS[scenario].script
    compile(script.read_text(encoding="utf-8"), script.name, "exec")
