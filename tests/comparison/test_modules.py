"""Device time under modules: each launch counts once in every module around it."""

from __future__ import annotations

from tests.analysis.machine import MAIN, call, frame, npu, operator, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_run import run_of


def test_a_module_that_calls_itself_holds_what_it_launches_once() -> None:
    net, layer = "nn.Module: Net_0", "nn.Module: Layer_3"
    frames = [frame(10, 80, net), frame(12, 60, layer), frame(14, 40, net), frame(16, 30, layer)]
    launches = [(20, 100, 10), (62, 120, 7), (74, 140, 5)]  # in all four, in two, in the outermost
    events = [*npu(), frame(0, 200, "train.py(1): main"), *frames]
    for number, (at, start, ns) in enumerate(launches, 1):
        events += [operator(at, 8), call(at + 2, 2, number, tid=MAIN), task(start, ns, connection=number)]
    modules = run_of(analyse(trace_of(events))).modules
    assert {name.rpartition(" > ")[2]: (total.ns, total.count) for name, total in modules.total.items()} == {
        "Net_0": (22, 3),
        "Layer_3": (17, 2),
    }
    assert {name.rpartition(" > ")[2]: total.ns for name, total in modules.self_sums.items()} == {
        "Net_0": 5,
        "Layer_3": 17,
    }
