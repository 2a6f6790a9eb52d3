"""Names of producers, in the spellings of several versions, against what they mean."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.synthetic import flow, piece, process, thread, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.activities import activity_of_type, engine_of_type
from tracetui.trace.build import build_trace
from tracetui.trace.dialects.dialect import (
    Dialect,
    OperatorNames,
    Purpose,
    SliceCategories,
    TaskNames,
    merge_dialects,
)
from tracetui.trace.dialects.known import KNOWN, by_purpose, compile_any
from tracetui.trace.model import Activity, Family, Layer, Trace, TraceKind
from tracetui.trace.places import process_place


def activities(trace: Trace) -> dict[str, Activity]:
    return {trace.name(row): Activity(trace.slices.activity[row]) for row in range(len(trace.slices))}


@pytest.mark.parametrize(
    ("task_type", "activity"),
    [
        ("AI_CORE", Activity.COMPUTE),
        ("KERNEL_MIX_AIC", Activity.COMPUTE),
        ("AI_CORE_OF_SOME_LATER_CHIP", Activity.COMPUTE),
        ("AI_CPU", Activity.AICPU),
        ("KERNEL_AICPU", Activity.AICPU),
        ("DSA_SQE", Activity.AICPU),
        ("pcie dma sqe", Activity.COPY),
        ("Notify Wait", Activity.WAIT),
        ("EVENT_RECORD_SQE", Activity.EVENT),
        ("PROFILING_ENABLE", Activity.OTHER),
        ("TASK_TIMEOUT_SET", Activity.OTHER),
        ("WriteValueTask", Activity.EVENT),
        ("IPC_EVENT_WAIT", Activity.WAIT),
        ("REMOTE_EVENT_WAIT", Activity.WAIT),
        ("RDMA_DB_SEND", Activity.COMMUNICATION_TASK),
        ("WHAT_IS_THIS", None),
        ("", None),
    ],
)
def test_task_types(task_type: str, activity: Activity | None) -> None:
    assert activity_of_type(task_type) is activity


@pytest.mark.parametrize(
    ("process_name", "label", "thread_name", "category", "layer", "family"),
    [
        ("Python", "CPU", "Thread 1", "cpu_op", Layer.PYTHON, Family.OPERATORS),
        ("Python", "CPU", "Thread 1", "python_function", Layer.PYTHON, Family.FRAMES),
        ("Python GC", "", "Python GC", "gc", Layer.PYTHON, Family.COLLECTOR),
        ("MindSpore", "", "", "", Layer.PYTHON, Family.OPERATORS),
        ("MindSpore", "", "", "python_function", Layer.PYTHON, Family.FRAMES),
        ("CANN", "NPU 1", "Thread 1", "", Layer.RUNTIME, Family.CALLS),
        ("Ascend Hardware", "NPU 1", "Stream 1", "", Layer.DEVICE, Family.TASKS),
        ("Ascend Hardware", "NPU", "Step Trace(Model ID:1)", "", Layer.DEVICE, Family.ANNOTATIONS),
        ("HCCL", "NPU", "Group 0 Communication", "", Layer.COMMUNICATION, Family.GROUP),
        ("Communication", "NPU", "Communication", "", Layer.COMMUNICATION, Family.GROUP),
        ("Communication", "NPU", "Plane 3", "", Layer.COMMUNICATION, Family.PLANE),
        ("train.py", "CPU", "thread 1", "cuda_runtime", Layer.RUNTIME, Family.CALLS),
        ("train.py", "GPU 1", "stream 7", "kernel", Layer.DEVICE, Family.TASKS),
        ("train.py", "GPU 1", "stream 7", "gpu_user_annotation", Layer.DEVICE, Family.ANNOTATIONS),
        ("vLLM scheduler", "", "", "", Layer.OTHER, Family.OTHER),
        (None, "", "", "", Layer.OTHER, Family.OTHER),
    ],
)
def test_places(
    process_name: str | None, label: str, thread_name: str, category: str, layer: Layer, family: Family
) -> None:
    assert process_place(process_name, label, thread_name, category, marks=False) == (layer, family)


def test_user_ranges_are_known_by_their_flows_whatever_the_process_is_called() -> None:
    assert process_place("my_trainer", "CPU", "Thread 1", "", marks=True).layer == Layer.MARKS


def test_user_ranges_are_of_the_process_where_their_flows_start() -> None:
    events = [*process(1, "my_trainer"), *process(2, "other")]
    events += [piece(1, 2, "range", 0, 9), piece(2, 1, "another", 5, 9)]
    events += [flow("s", "MsTx", 1, 1, 2, 0), flow("f", "MsTx", 1, 2, 1, 5)]
    events += [flow("s", "MsTy", 1, 2, 1, 5)]
    trace = trace_of(events)
    assert {track.process: track.layer for track in trace.tracks} == {
        "my_trainer": Layer.MARKS,
        "other": Layer.OTHER,
    }


def test_user_ranges_without_a_part_on_the_device_are_told_by_their_args(tmp_path: Path) -> None:
    """Whatever their names hint at; another process is none of them."""
    events = [*process(1, "my_trainer"), *process(2, "other")]
    events += [piece(1, 2, "hcom_range", 0, 9, event_type="start/end", domain="default")]
    events += [piece(2, 1, "another", 5, 9, event_type="click")]
    (tmp_path / "trace_view.json").write_text(json.dumps(events))
    with TraceFile(tmp_path / "trace_view.json") as file:
        trace = build_trace(file.read())
    assert {track.process: track.layer for track in trace.tracks} == {
        "my_trainer": Layer.MARKS,
        "other": Layer.OTHER,
    }


@pytest.mark.parametrize(
    "category", ["privateuse1_runtime", "PrivateUse1_Runtime", "x" * 30, "unheard_of", None]
)
def test_categories_that_are_known_place_slices_whatever_their_length_and_case(category: str | None) -> None:
    (track,) = trace_of([*process(1, "trainer"), piece(1, 1, "call", 0, 9, category)]).tracks
    known = category is not None and category.lower().endswith("_runtime")
    assert track.layer == (Layer.RUNTIME if known else Layer.OTHER)


def test_hardware_tasks_of_a_collective_are_its_parts_on_their_own_device_only() -> None:
    events = []
    for device in (0, 1):
        events += process(10 + device, "Ascend Hardware", f"NPU {device}")
        events += [
            piece(10 + device, 4, f"sdma on {device}", 10, 5, connection_id=7, **{"Task Type": "SDMA"})
        ]
    events += [*process(20, "Communication", "NPU 0"), *thread(20, 0, "Group tp Communication")]
    events += [piece(20, 0, "hcom_allReduce_", 9, 9, connection_id=7)]
    assert activities(trace_of(events)) == {
        "sdma on 0": Activity.COMMUNICATION_TASK,
        "sdma on 1": Activity.COPY,
        "hcom_allReduce_": Activity.COMMUNICATION,
    }


@pytest.mark.parametrize(("other_id", "part"), [(None, True), (0, False), (1, False)])
def test_without_any_connection_id_the_copies_that_planes_show_are_parts_of_collectives(
    other_id: int | None, part: bool
) -> None:
    """A kernel is none, nor is a copy that no plane of its device shows at the same time."""
    events = [*process(9, "Python"), piece(9, 1, "aten::mm", 0, 90, "cpu_op")]
    events += [*process(1, "Ascend Hardware", "NPU"), *process(2, "HCCL", "NPU"), *thread(2, 4, "Plane 0")]
    for name, start, dur, kind in (
        ("copy", 10, 5, "SDMA"),
        ("kernel", 30, 5, "AI_CORE"),
        ("longer", 50, 6, "SDMA"),
    ):
        args: dict[str, Any] = {"Task Type": kind}
        if name == "longer" and other_id is not None:
            args["connection_id"] = other_id
        events += [piece(1, 3, name, start, dur, **args), piece(2, 4, f"of plane at {start}", start, 5)]
    found = activities(trace_of(events))
    assert {name: found[name] for name in ("copy", "kernel", "longer")} == {
        "copy": Activity.COMMUNICATION_TASK if part else Activity.COPY,
        "kernel": Activity.COMPUTE,
        "longer": Activity.COPY,
    }


def test_the_first_text_of_a_trace_is_a_type_like_others() -> None:
    events = [flow("s", "SDMA", 1, 1, 3, 0), *process(1, "Ascend Hardware", "NPU")]
    assert activities(trace_of([*events, piece(1, 3, "x", 0, 1, **{"Task Type": "SDMA"})])) == {
        "x": Activity.COPY
    }


def test_names_decide_where_2024_traces_call_every_task_other() -> None:
    names = ["MatMulV2", "MEMCPY_ASYNC", "EVENT_WAIT", "PROFILING_ENABLE", "AllReduceAicpuKernel"]
    names += ["Notify Wait", "SDMA", "KERNEL_AICPU"]
    events = process(1, "Ascend Hardware", "NPU")
    events += [piece(1, 3, name, 10 * n, 5, **{"Task Type": "Other"}) for n, name in enumerate(names)]
    expected = [
        Activity.COMPUTE,
        Activity.COPY,
        Activity.WAIT,
        Activity.OTHER,
        Activity.COMMUNICATION_TASK,
        Activity.WAIT,
        Activity.COPY,
        Activity.AICPU,
    ]
    assert activities(trace_of(events)) == dict(zip(names, expected))
    for event in events:
        event["args"].pop("Task Type", None)
    assert activities(trace_of(events)) == dict(zip(names, expected))


def test_slices_without_a_type_are_no_work_beside_typed_ones_and_kernels_where_none_has_a_type() -> None:
    events = [*process(1, "Ascend Hardware", "NPU"), piece(1, 3, "user range", 0, 50)]
    assert activities(trace_of(events)) == {"user range": Activity.COMPUTE}
    gpu = [*process(0, "python", "GPU 0"), piece(0, 7, "gemm", 10, 5, "kernel")]
    assert activities(trace_of(events + gpu)) == {"user range": Activity.COMPUTE, "gemm": Activity.COMPUTE}
    events += [piece(1, 3, "MatMul", 5, 5, **{"Task Type": "AI_CORE"})]
    assert activities(trace_of(events)) == {"user range": Activity.OTHER, "MatMul": Activity.COMPUTE}


def test_gpu_tasks_go_by_category_and_nccl_is_communication() -> None:
    events = process(0, "python", "GPU 0")
    for n, (name, category) in enumerate(
        [("gemm", "kernel"), ("ncclDevKernel_AllReduce", "kernel"), ("Memcpy HtoD", "gpu_memcpy")]
    ):
        events.append(piece(0, 7, name, 10 * n, 5, category))
    events.append(piece(0, 7, "ProfilerStep#1", 0, 90, "gpu_user_annotation"))
    trace = trace_of(events)
    assert trace.kind is TraceKind.GPU
    assert activities(trace) == {
        "gemm": Activity.COMPUTE,
        "ncclDevKernel_AllReduce": Activity.COMMUNICATION,
        "Memcpy HtoD": Activity.COPY,
        "ProfilerStep#1": Activity.OTHER,
    }


def test_parts_of_fused_tasks_are_no_tasks_of_their_own() -> None:
    events = [*process(2, "Ascend Hardware", "NPU"), *process(3, "Fusion Task", "NPU")]
    for pid in (2, 3):
        events.append(piece(pid, 7, f"MatMul{pid}", 0, 5, **{"Task Type": "AI_CORE"}))
    trace = trace_of(events)
    assert activities(trace) == {"MatMul2": Activity.COMPUTE, "MatMul3": Activity.NONE}


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce",
        "void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)",
        "mscclKernel_Sum_hip_bfloat16_Simple_false",
    ],
)
def test_kernels_of_libraries_like_nccl_are_communication(name: str) -> None:
    trace = trace_of([*process(0, "python", "GPU 0"), piece(0, 7, name, 0, 5, "kernel")])
    assert activities(trace) == {name: Activity.COMMUNICATION}


def test_tasks_that_torchs_own_profiler_records_are_those_of_an_npu() -> None:
    """Its label has no number; one call leads to several tasks."""
    events = [*process(0, "NPU", "Ascend NPU"), *process(9, "python", "CPU")]
    events += [
        piece(9, 9, "aten::mm", 0, 90, "cpu_op"),
        piece(9, 9, "MatMulV2", 10, 0, "privateuse1_runtime"),
    ]
    events.append(flow("s", "ac2g", 1, 9, 9, 10))
    for start, name, kind in (
        (10, "MatMulV2", "AICORE"),
        (20, "hcom_broadcast_", "AICPU"),
        (30, "Unique", "AICPU"),
    ):
        task = piece(0, 47, name, start, 5, "kernel", streamId=47, type=f"KERNEL_{kind}")
        events += [task, flow("f", "ac2g", 1, 0, 47, start)]
    trace = trace_of(events)
    assert trace.kind is TraceKind.ASCEND
    assert {(track.device, track.name) for track in trace.tracks if track.layer is Layer.DEVICE} == {
        ("NPU 0", "Stream 47")
    }
    found = activities(trace)
    assert found["MatMulV2"] is Activity.COMPUTE
    assert found["hcom_broadcast_"] is Activity.COMMUNICATION
    assert found["Unique"] is Activity.AICPU


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("ncclSymkDevKernel_AllReduce", Activity.COMMUNICATION),
        ("void (anonymous namespace)::multimem_all_reduce_kernel<bf16, 16>(int*)", Activity.COMMUNICATION),
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)", Activity.COMMUNICATION),
        ("_ZN4vllm26cross_device_reduce_1stageIDF16bLi8EEEv", Activity.COMMUNICATION),
        ("void trtllm::oneshotAllReduceKernel<half>(Params)", Activity.COMMUNICATION),
        ("void a::reduce_scatter_kernel(int)", Activity.COMMUNICATION),
        ("void deep_ep::internode_ll::combine<false>(int4*)", Activity.COMMUNICATION),
        ("void dpsk::ep::internode::cached_notify<false>(int)", Activity.COMMUNICATION),
        ("void dpsk::ep::cuda::get_dispatch_layout<256>(long const*)", Activity.COMPUTE),
        ("void small_reduce_kernel(int)", Activity.COMPUTE),
        ("void gemm<all_reduce>(int)", Activity.COMPUTE),
        ("triton_poi_fused_add_all_gather_into_tensor_3", Activity.COMPUTE),
    ],
)
def test_kernels_that_communicate_are_told_by_their_functions(name: str, activity: Activity) -> None:
    events = [*process(0, "python", "GPU 0"), piece(0, 7, name, 10, 5, "kernel")]
    assert activities(trace_of(events)) == {name: activity}


@pytest.mark.parametrize(
    ("label", "category", "names"),
    [
        ("MTIA 9", "mtia_ccp_events", {"fc": Activity.COMPUTE, "dma_request": Activity.COPY}),
        ("MTIA 9", "mtia_ccp_events", {"event_record": Activity.EVENT, "event_wait": Activity.WAIT}),
        ("XPU 1", "kernel", {"gemm": Activity.COMPUTE, "oneccl_allreduce": Activity.COMMUNICATION}),
    ],
)
def test_other_accelerators_of_pytorch_are_devices(
    label: str, category: str, names: dict[str, Activity]
) -> None:
    events = process(9, "python", label)
    events += [piece(9, 7, name, 10 * n, 5, category) for n, name in enumerate(names)]
    events.append(piece(9, 7, "range", 0, 90, "some_annotation"))
    trace = trace_of(events)
    assert (trace.devices, activities(trace)) == ((label,), {**names, "range": Activity.OTHER})


@pytest.mark.parametrize(
    ("task_type", "engine"),
    [
        ("AI_CPU", "AI CPU"),
        ("KERNEL_AICPU", "AI CPU"),
        ("aicpu_h", "AI CPU"),
        ("DSA_SQE", "DSA"),
        ("VPC_SQE", "VPC"),
        ("JPEGD_SQE", "JPEG"),
        ("TOF_SQE", "TOF_SQE"),
    ],
)
def test_what_computes_beside_the_cores_has_its_own_name(task_type: str, engine: str) -> None:
    assert activity_of_type(task_type) is Activity.AICPU
    assert engine_of_type(task_type) == engine


def test_every_type_of_other_compute_has_a_name_without_underscores_or_is_its_own() -> None:
    """Only the AI CPU is called so: it is an alarm to those who know the machine."""
    for task_type, activity in KNOWN.tasks.types.items():
        if activity is Activity.AICPU:
            assert (engine_of_type(task_type) == "AI CPU") == ("AICPU" in task_type.replace("_", ""))


def test_elements_have_the_bits_that_their_names_say() -> None:
    assert {"INT8", "BF16", "FP32", "INT128"} <= KNOWN.collectives.element_bytes.keys()
    of_c10d = {"BYTE": 1, "CHAR": 1, "BOOL": 1, "SHORT": 2, "HALF": 2, "BFLOAT16": 2, "INT": 4, "FLOAT": 4}
    of_c10d.update(LONG=8, DOUBLE=8)
    for name, size in KNOWN.collectives.element_bytes.items():
        assert size == (of_c10d.pop(name, 0) or int(re.sub(r"\D", "", name)) // 8), name
    assert not of_c10d


def test_of_several_dialects_the_earlier_come_first_and_the_same_may_be_said_twice() -> None:
    first = Dialect(
        operators=OperatorNames(step_beginnings=("Step ",)),
        tasks=TaskNames(types={"A": Activity.COMPUTE}),
        categories=SliceCategories(enqueues=frozenset({"in"})),
    )
    second = Dialect(
        operators=OperatorNames(step_beginnings=("Round ", "Step ")),
        tasks=TaskNames(types={"B": Activity.COPY, "A": Activity.COMPUTE}),
        categories=SliceCategories(enqueues=frozenset({"put"})),
    )
    both = merge_dialects((first, second))
    assert both.operators.step_beginnings == ("Step ", "Round ")
    assert both.tasks.types == {"A": Activity.COMPUTE, "B": Activity.COPY}
    assert both.categories.enqueues == {"in", "put"}
    assert merge_dialects((first,)) == first


def test_a_spelling_with_two_meanings_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tasks\.types: 'A' means"):
        merge_dialects(
            Dialect(tasks=TaskNames(types={"A": activity})) for activity in (Activity.COMPUTE, Activity.COPY)
        )


def test_patterns_fit_the_beginning_one_by_one_and_none_fits_nothing() -> None:
    pattern = compile_any(["a|b", "c$"])
    assert [bool(pattern.match(text)) for text in ("ax", "bx", "c", "cx", "xa")] == [1, 1, 1, 0, 0]
    assert compile_any([]).match("") is None
    table = by_purpose([(Purpose.COMPILE, "x"), (Purpose.SYNC, "y"), (Purpose.COMPILE, "z")])
    assert [(purpose, bool(found.match("z"))) for purpose, found in table] == [
        (Purpose.SYNC, False),
        (Purpose.COMPILE, True),
    ]


#: One more producer, one more entry: nothing else of tracetui is told of it.
NEW_PRODUCER = """
from tracetui.trace import dialects
from tracetui.trace.dialects.dialect import (
    CallNames, Dialect, OperatorNames, ProcessPlace, ProcessNames, Purpose, TaskNames,
)
from tracetui.trace.model import Activity, Family, Layer

ACME = Dialect(
    processes=ProcessNames(
        places={
            "Acme Host": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "Acme Driver": ProcessPlace(Layer.RUNTIME, Family.CALLS),
            "Acme Chip": ProcessPlace(Layer.DEVICE, Family.TASKS),
        },
        device_labels=("ACME",),
    ),
    tasks=TaskNames(types={"MATRIX_UNIT": Activity.COMPUTE}),
    operators=OperatorNames(step_beginnings=("Round ",)),
    calls=CallNames(purposes=((Purpose.SYNC, "acmeAwait"),)),
)
dialects.DIALECTS = (*dialects.DIALECTS, ACME)
"""

#: Prints what is known of a trace on stdin.
TELL = """
import json, sys
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
found = analyse(trace_of(json.load(sys.stdin)))
print(json.dumps({
    "devices": list(found.trace.devices),
    "computing": [activity.computing_ns for activity in found.devices],
    "steps": [step.number for step in found.steps],
    "sync": [(sync.call, sync.total_ns, sync.exposed_ns) for sync in found.syncs],
}))
"""


def test_a_new_producer_is_one_module_and_one_entry() -> None:
    events = [*process(1, "Acme Host"), *process(2, "Acme Driver"), *process(3, "Acme Chip", "ACME 0")]
    events += [piece(1, 5, "Round 3", 0, 100), piece(1, 5, "first", 0, 10), piece(1, 5, "second", 61, 7)]
    events += [piece(2, 5, "acmeLaunch", 2, 2, correlation=1), piece(2, 5, "acmeAwait", 15, 45)]
    events += [piece(2, 5, "acmeLaunch", 62, 2, correlation=2)]
    for start, number in ((10, 1), (70, 2)):
        events += [piece(3, 1, "gemm", start, 10, correlation=number, **{"Task Type": "Matrix Unit"})]
    done = subprocess.run(
        [sys.executable, "-c", NEW_PRODUCER + TELL],
        cwd=Path(__file__).parents[2],
        input=json.dumps(events),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {
        "devices": ["ACME 0"],
        "computing": [20_000],
        "steps": [3],
        "sync": [["acmeAwait", 45_000, 50_000]],
    }
    without = analyse(trace_of(events))
    assert [device.computing_ns for device in without.devices] == [0]
    assert not without.steps and not without.syncs


#: Spellings that are words of people too, or of tracetui itself.
WORDS = {"Python", "MindSpore", "CANN", "NPU", "GPU", "nn.Module: ", "enqueue", "dequeue", "gc", "OTHER"}
WORDS |= {"Communication", "Free", "kernel", "runtime", "operator", "memcpy", "memset"}
WORDS |= {"communication", "communication_not_overlapped", "free_time", "Steps"}
WORDS |= {"LOCAL", "SDMA", "RDMA", "HCCS", "PCIE", "SIO", "FP16", "FP32", "FP64", "BF16"}
WORDS |= {"UINT8", "INT8", "INT16", "INT32", "INT64"}
#: columns of the tables beside a trace, which have a package of their own
WORDS |= {"Computing", "Communication(Not Overlapped)", "HCCL", "COMMUNICATION"}


def spellings() -> set[str]:
    """All plain text of the tables, without `WORDS`."""
    found: set[str] = set()
    for column in (column for group in vars(KNOWN).values() for column in vars(group).values()):
        for entry in column:
            found.update(entry if isinstance(entry, tuple) else (entry,))
    return {text for text in found if isinstance(text, str) and not re.search(r"[\\?|$]", text)} - WORDS


def test_nobody_else_knows_a_spelling() -> None:
    package = Path(__file__).parents[2] / "tracetui"
    known = spellings()
    assert {"ProfilerStep#", "Ascend Hardware", "aten::to", "hcom_", "HostToDevice", "EVENT_WAIT"} <= known
    alone = re.compile(rf"""["'}}](?:{"|".join(map(re.escape, known))})["'{{]""")
    # What reads databases writes what a text export would say.
    paths = [path for path in package.rglob("*.py") if path.parent.name not in ("dialects", "database")]
    for path in paths:
        source = path.read_text(encoding="utf-8")
        if not alone.search(source):
            continue  # neither a whole string, nor what stands between the values of one
        nodes = ast.walk(ast.parse(source))
        texts = {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not texts & known, path
