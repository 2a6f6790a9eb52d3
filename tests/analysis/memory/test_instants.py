"""The `[memory]` events of a GPU: blocks of the host apart, and what was held before the first of them."""

from __future__ import annotations

import json
from typing import Any

from tests.analysis import gpu
from tests.analysis.machine import us
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.memory.model import HOST
from tracetui.comparison.memory_use import memory_use
from tracetui.comparison.walls import StepChoice
from tracetui.export.memory.document import memory_document
from tracetui.export.memory.text import memory_markdown, memory_text


def event(time: int, address: int, size: int, allocated: int, device: int = 0) -> dict[str, Any]:
    args = {"Addr": address, "Bytes": size, "Total Allocated": allocated, "Total Reserved": 4_096}
    where = {"ph": "i", "s": "t", "pid": gpu.HOST, "tid": gpu.HOST, "cat": "cpu_instant_event"}
    return {**where, "name": "[memory]", "ts": us(time), "args": {**args, "Device Id": device}}


STEPS = [gpu.step(1, 0, 100), gpu.step(2, 100, 100), gpu.launch(5, 5, 1), gpu.kernel(20, 10, 1)]
ON_DEVICE = [event(10, 1, 512, 1_512), event(120, 2, 256, 1_768), event(150, 1, -512, 1_256)]
#: Another process allocates on device 1 in the time of the steps, and has a single step of its own.
OTHER = {"pid": 99, "tid": 99}
TWO_PROCESSES = [*gpu.gpu(), *STEPS, *ON_DEVICE, {**gpu.step(40, 0, 200), **OTHER}]
TWO_PROCESSES += [{**event(time, time, 64, 64 * time, 1), **OTHER} for time in (15, 130)]
ON_HOST = [event(30, 1, 64, 64, -1), event(40, 3, 32, 96, -1), event(160, 1, -64, 32, -1)]


def test_blocks_of_the_host_are_in_no_sum_of_a_device() -> None:
    analysis = analyse(trace_of([*gpu.gpu(), *STEPS, *ON_DEVICE, *ON_HOST]))
    memory = analysis.memory
    assert memory is not None
    document = memory_document(memory, memory.all)
    assert document["alive_at_end"] == {"bytes": 256, "blocks": 1}
    assert [line["allocations"] for line in document["lines"]] == [2]
    assert document["host"]["alive_at_end"] == {"bytes": 32, "blocks": 1}
    (line,) = document["host"]["lines"]
    assert line["id"] is None, "that of lines is of the memory of devices"
    assert (line["allocated_bytes"], line["allocations"], line["bytes_at_peak"]) == (96, 2, 0)
    assert [size.bytes for size in memory.all.sizes] == [512, 256]
    assert memory.part(2, None, None).host is None
    title = "Memory of the host, in no sum of a device\n"
    assert title in memory_text(memory, memory.all, "line", None, 0, 200, lambda frame: None)
    assert title in memory_markdown(memory, memory.all, "line", None, 0, lambda frame: None)


def test_a_device_is_called_as_the_trace_calls_it() -> None:
    for label in ("XPU 0", "GPU 2"):  # the second: the number among those that its process may use is 0
        metadata = json.loads(json.dumps(gpu.gpu()).replace("GPU 0", label))
        memory = analyse(trace_of([*metadata, *STEPS, *ON_DEVICE, *ON_HOST])).memory
        assert memory is not None
        assert memory.recorded.devices == (HOST, label)


def test_steps_of_one_process_say_nothing_of_a_device_of_another() -> None:
    memory = analyse(trace_of(TWO_PROCESSES)).memory
    assert memory is not None
    growth = {(growth.device, growth.step): growth.bytes for growth in memory.growth}
    assert growth == {("GPU 0", 1): 512, ("GPU 1", 1): None}
    assert memory.all.peak is not None
    assert (memory.all.peak.device, memory.all.peak.step) == ("GPU 1", -1)
    assert memory.recorded.blocks.step.tolist() == [0, -1, 1, -1]
    part = memory.part(1, None, None)
    assert part.peak is not None
    assert (part.peak.device, part.peak.bytes, part.peak.step) == ("GPU 0", 1_512, 0)
    assert part.blocks.bytes.tolist() == [512]
    use = memory_use(memory, StepChoice(step=1))
    assert use is not None and use.peak == 1_512


def test_blocks_of_the_host_of_another_process_are_in_no_step() -> None:
    on_host = [{**host_event, **OTHER} for host_event in ON_HOST]
    memory = analyse(trace_of([*TWO_PROCESSES, *on_host])).memory
    assert memory is not None
    assert memory.all.host is not None and memory.part(1, None, None).host is None


def test_the_host_alone_is_told_as_it_is() -> None:
    memory = analyse(trace_of([*gpu.gpu(), *STEPS, *ON_HOST])).memory
    assert memory is not None
    document = memory_document(memory, memory.all)
    assert (document["alive_at_end"], document["host"]) == ({"bytes": 32, "blocks": 1}, None)


def test_the_first_step_grows_from_what_was_held_before_the_first_event() -> None:
    """1,512 B after the first event, which allocates 512 B: 1,000 B when the step begins."""
    memory = analyse(trace_of([*gpu.gpu(), *STEPS, *ON_DEVICE])).memory
    assert memory is not None
    assert [(step_growth.step, step_growth.bytes) for step_growth in memory.growth] == [(1, 512)]
    (curve,) = memory.curves
    assert [curve.allocated_at(time) for time in (0, int(curve.time[0]))] == [1_000, 1_512]
