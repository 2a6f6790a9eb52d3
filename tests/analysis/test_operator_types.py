"""The type of a task or operator: against the producer's own column, and names of every maker."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import npu, operator, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.operator_types import ascend_task_type, gpu_kernel_type, host_operator_type


@pytest.mark.parametrize("rank", ["level2/rank0", "level2/rank1"])
def test_types_are_those_of_the_producer(real_traces: Path, rank: str) -> None:
    path = real.npu_output(real_traces, rank) / "kernel_details.csv"
    with path.open(encoding="utf-8", newline="") as rows:
        type_of = {row["Name"]: row["Type"] for row in csv.DictReader(rows)}
    assert len(type_of) == 82
    assert {name: ascend_task_type(name) for name in type_of} == type_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GatherV2", "GatherV2"),
        ("GatherV217", "GatherV2"),
        ("Atan2", "Atan2"),
        ("AvgPool3D4", "AvgPool3D"),
        ("Default/network-Train/Conv2D-op123", "Conv2D"),
        ("MEMCPY_ASYNC", "MEMCPY_ASYNC"),
        ("ReluGrad_ee98c6628030785f610b924ab1557b31_high_performance_210000000", "ReluGrad"),
        ("MemSet_2e0edc6c5154edf0badbec9c57f44db6_high_performance__kernel0", "MemSet"),
        ("LogSoftmaxV2_291664ae3e88b38b8b46c2efbbea27c9_high_precision_400400000", "LogSoftmaxV2"),
        ("MatMulV2_ND_ND_ND_FP32_FP32_FP32_false_true_all_66243", "MatMulV2"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_types_of_tasks_of_an_npu(name: str, expected: str) -> None:
    assert ascend_task_type(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float*)",
            "vectorized_layer_norm_kernel",
        ),
        (
            "void at::native::elementwise_kernel<2, at::native::run(at::Base&)::{lambda(int)#1}>(int, f)",
            "elementwise_kernel",
        ),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, 4>(float)", "kernel"),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(T1::Params)",
            "cutlass_80_tensorop_s1688gemm",
        ),
        ("void cutlass::device_kernel<flash::FlashAttnBwd<flash::Mainloop<2>>>(Params)", "FlashAttnBwd"),
        (
            "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::M<2>>>>(Params)",
            "FlashAttnFwdSm90",
        ),
        ("ampere_sgemm_32x32_sliced1x4_tn", "ampere_sgemm"),
        ("Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN", "Cijk_Ailk_Bljk_BBS_BH"),
        ("_ZN2ck16tensor_operation6device12_GLOBAL__N_13runINS_4TileILi6E", "run"),
        ("_Zbroken", "_Zbroken"),
        ("triton_poi_fused__to_copy_1", "triton_poi_fused__to_copy"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
        ("<(", "<("),
    ],
)
def test_types_of_gpu_kernels(name: str, expected: str) -> None:
    assert gpu_kernel_type(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ProfilerStep#50", "ProfilerStep"),
        ("Kernel::Default/network/Mul-op12", "Mul"),
        ("aten::max_pool2d", "aten::max_pool2d"),
        ("AddBackward0", "AddBackward0"),
        ("aten::log10", "aten::log10"),
    ],
)
def test_types_of_operators(name: str, expected: str) -> None:
    assert host_operator_type(name) == expected


@given(st.text(alphabet="aclnV_0D(<>:Z1# /-", max_size=30))
def test_every_name_has_a_type(name: str) -> None:
    for type_of in (ascend_task_type, gpu_kernel_type, host_operator_type):
        assert bool(type_of(name)) == bool(name)


@given(
    st.lists(st.tuples(st.sampled_from(["Mul", "Mul1", "Mul2", "aclnnMuls_X_Mul", "Add3"]), st.booleans()))
)
def test_types_hold_their_names_and_all_time(slices: list[tuple[str, bool]]) -> None:
    events = [
        operator(100 * at, at, name) if host else task(100 * at, at, name=name)
        for at, (name, host) in enumerate(slices)
    ]
    analysis = analyse(trace_of([*npu(), *events]))
    for host in (False, True):
        operators = analysis.operators(host)
        types, names = operators.by_type(), operators.by_name()
        for column in ("count", "total_ns", "self_ns"):
            assert getattr(types, column).sum() == getattr(names, column).sum()
        for place in range(len(types)):
            row = types[place]
            inside = operators.of_type(row.name, row.activity).by_name()
            assert (inside.count.sum(), inside.total_ns.sum()) == (row.count, row.total_ns)
            assert (inside.max_ns.max(), len(inside)) == (row.max_ns, row.names)
            assert len(operators.instances(types, place)) == row.count
            assert analysis.trace.slices.dur[types.longest[place]] == row.max_ns
