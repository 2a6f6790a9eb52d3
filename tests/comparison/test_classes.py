"""The class of device time: by operators and kernels, whatever ranges people mark around them."""

from __future__ import annotations

import pytest

from tests.analysis.gpu import gpu, host, kernel, launch
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_run import Run, run_of


def run(kernel_name: str, operator: str, *around: tuple[str, str]) -> Run:
    """A kernel of 50 ns that an operator launches, inside of slices with a name and a category each."""
    events = [*gpu(), *(host(1000 + place, 90 - 2 * place, *outer) for place, outer in enumerate(around))]
    events += [host(1010, 20, operator), launch(1012, 2, 1), kernel(1020, 50, 1, kernel_name)]
    return run_of(analyse(trace_of(events)))


@pytest.mark.parametrize(
    ("kernel_name", "operator", "row"),
    [
        ("void split_embedding_backward<4, fbgemm_gpu::Sum>", "split_lookup", "Vector"),
        ("fbgemm_gpu::f8_gemm", "quantized_mm", "Matmul"),
        (
            "aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore",
            "Default/net",
            "Flash Attention (Forward)",
        ),
        ("PromptFlashAttention", "Default/net", "Flash Attention (Forward)"),
    ],
)
def test_a_kernel_is_known_by_its_name(kernel_name: str, operator: str, row: str) -> None:
    assert run(kernel_name, operator).classes[row].ns == 50


@pytest.mark.parametrize("category", ["user_annotation", "cpu_op"])
@pytest.mark.parametrize("name", ["forward_backward", "flash_attention block"])
def test_a_marked_range_is_no_operator(name: str, category: str) -> None:
    plain, marked = run("scudnn", "aten::conv2d"), run("scudnn", "aten::conv2d", (name, category))
    assert name in marked.phases
    assert {row: total.ns for row, total in marked.classes.items()} == dict.fromkeys(plain.classes, 50)
    assert marked.operators.by_name.keys() == {"aten::conv2d"}


def test_an_operator_decides_before_the_one_that_it_calls() -> None:
    run_of_both = run("elementwise", "aten::add", ("aten::conv2d", "cpu_op"))
    assert run_of_both.classes["Conv (Forward)"].ns == 50


@pytest.mark.parametrize("name", ["forward", "<forward op>", "<backward op>"])
def test_what_holds_a_scripted_module_is_no_operator_beside_annotations(name: str) -> None:
    scripted = run("scudnn", "aten::conv2d", ("train", "user_annotation"), (name, "cpu_op"))
    assert scripted.operators.by_name.keys() == {"aten::conv2d"}


def test_an_operator_that_is_called_like_one_remains_one() -> None:
    found = run("scudnn", "aten::conv2d", ("train", "user_annotation"), ("forward_fused", "cpu_op"))
    assert found.operators.by_name.keys() == {"forward_fused"}
