"""The operators of the simulated framework: what each calls, launches, and does in the backward pass.

A table of names and typical times; knows neither clocks nor files.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.machine import Kernel


class Recipe(NamedTuple):
    """An operator: its cpu_ops from outer to inner, what the innermost launches, its backward operators."""

    ops: tuple[str, ...]
    api: str | None = None
    kernels: tuple[Kernel, ...] = ()
    backward: str | None = None
    gradients: tuple[str, ...] = ()
    compile_us: float = 0.0  #: compiled as a graph at every launch, which takes so long
    allocates: bool = True


def _cube(name: str, us: float = 20.0) -> tuple[Kernel, ...]:
    return (Kernel(name, "AI_CORE", us),)


def _vector(name: str, us: float = 4.0) -> tuple[Kernel, ...]:
    return (Kernel(name, "AI_CORE", us),)


def _view(name: str) -> Recipe:
    return Recipe((f"aten::{name}", "aten::as_strided"), allocates=False)


MATMUL = _cube("MatMulV3Common_MatMulV3")
BATCH_MATMUL = _cube("BatchMatMulNode_BatchMatMulV3")

RECIPES: dict[str, Recipe] = {
    "add": Recipe(("aten::add",), "aclnnAdd", _vector("AddAiCore_Add"), "AddBackward0"),
    "attention": Recipe(
        ("npu::npu_fusion_attention",),
        "aclnnFlashAttentionScore",
        _cube("FlashAttentionScore_FlashAttentionScore", 80.0),
    ),
    "bincount": Recipe(
        ("aten::bincount",), "aclnnBincount", (Kernel("BincountAiCpu_Bincount", "AI_CPU", 420.0),)
    ),
    "bitwise_and": Recipe(
        ("aten::bitwise_and",), "aclnnBitwiseAndTensor", _vector("LogicalAndAiCore_LogicalAnd")
    ),
    "bitwise_not": Recipe(("aten::bitwise_not",), "aclnnBitwiseNot", _vector("LogicalNotAiCore_LogicalNot")),
    "bmm": Recipe(
        ("aten::matmul", "aten::bmm"),
        "aclnnBatchMatMul",
        BATCH_MATMUL,
        "BmmBackward0",
        ("bmm_grad", "bmm_grad"),
    ),
    "bmm_grad": Recipe(("aten::bmm",), "aclnnBatchMatMul", BATCH_MATMUL),
    "cat": Recipe(("aten::stack", "aten::cat"), "aclnnCat", _vector("ConcatDNode_ConcatD")),
    "contiguous": Recipe(
        ("aten::reshape", "aten::clone", "aten::copy_"),
        "aclnnInplaceCopy",
        _vector("TransposeAiCore_Transpose"),
        "CloneBackward0",
    ),
    "grouped_matmul": Recipe(
        ("npu::npu_grouped_matmul",), "aclnnGroupedMatmulV4", _cube("GroupedMatmul_GroupedMatmul", 100.0)
    ),
    "argmax": Recipe(("aten::argmax",), "aclnnArgMax", _vector("ArgMaxV2_ArgMaxV2", 9.0)),
    "chunk": Recipe(("aten::chunk", "aten::split", "aten::narrow"), allocates=False),
    "clamp": Recipe(("aten::clamp",), "aclnnClampMin", _vector("MaximumAiCore_Maximum", 2.2)),
    "conv2d": Recipe(
        ("aten::conv2d", "aten::convolution", "aten::_convolution"),
        "Conv2D",
        (
            Kernel("trans_TransData_0", "AI_CORE", 40.0),
            Kernel("Conv2D1", "AI_CORE", 200.0),
            Kernel("trans_TransData_2", "AI_CORE", 30.0),
        ),
        "ConvolutionBackward0",
        ("conv2d_grad",),
        compile_us=1600.0,
    ),
    "conv2d_grad": Recipe(
        ("aten::convolution_backward",),
        "Conv2DBackpropFilter",
        (
            Kernel("trans_TransData_12", "AI_CORE", 40.0),
            Kernel("Conv2DBackpropFilter6_MemSet", "AI_CORE", 4.0),
            Kernel("Conv2DBackpropFilter6", "AI_CORE", 260.0),
        ),
        compile_us=900.0,
    ),
    "eq": Recipe(("aten::eq",), "aclnnEqTensor", _vector("EqualAiCore_Equal", 2.4)),
    "flatten": Recipe(("aten::flatten", "aten::view"), allocates=False),
    "sum": Recipe(("aten::sum",), "aclnnReduceSum", (Kernel("ReduceSumOpAiCore_ReduceSum", "MIX_AIV", 4.6),)),
    "cross_entropy_softmax": Recipe(
        ("aten::log_softmax", "aten::_log_softmax"),
        "aclnnLogSoftmax",
        _vector("LogSoftmaxAiCore_LogSoftmaxV2"),
        "LogSoftmaxBackward0",
        ("log_softmax_grad",),
    ),
    "embedding": Recipe(
        ("aten::embedding", "aten::index_select"),
        "aclnnEmbedding",
        _vector("GatherV2AiCore_GatherV2"),
        "EmbeddingBackward0",
        ("embedding_grad",),
    ),
    "embedding_grad": Recipe(
        ("aten::embedding_backward", "aten::embedding_dense_backward"),
        "aclnnEmbeddingDenseBackward",
        (
            Kernel("MemSet", "AI_CORE", 6.0),
            Kernel("EmbeddingDenseGradAiCore_EmbeddingDenseGrad", "MIX_AIV", 40.0),
        ),
    ),
    "fill": Recipe(
        ("aten::fill_",), "aclnnInplaceFillScalar", _vector("FillAiCore_Fill", 2.0), allocates=False
    ),
    "float": Recipe(
        ("aten::to", "aten::_to_copy", "npu::npu_dtype_cast"), "aclnnCast", _vector("CastAiCore_Cast", 12.0)
    ),
    "ge": Recipe(("aten::ge",), "aclnnGeTensor", _vector("GreaterEqualAiCore_GreaterEqual")),
    "gelu": Recipe(
        ("aten::gelu",), "aclnnGelu", _vector("GeluAiCore_Gelu", 30.0), "GeluBackward0", ("gelu_grad",)
    ),
    "gelu_grad": Recipe(
        ("aten::gelu_backward",), "aclnnGeluBackward", _vector("GeluGradAiCore_GeluGrad", 40.0)
    ),
    "layer_norm": Recipe(
        ("aten::layer_norm", "aten::native_layer_norm"),
        "aclnnLayerNorm",
        _vector("LayerNormV3_LayerNormV3", 12.0),
        "NativeLayerNormBackward0",
        ("layer_norm_grad",),
    ),
    "layer_norm_grad": Recipe(
        ("aten::native_layer_norm_backward",),
        "aclnnLayerNormBackward",
        (Kernel("LayerNormGradV3_LayerNormGradV3", "MIX_AIV", 26.0),),
    ),
    "linear": Recipe(
        ("aten::linear", "aten::matmul", "aten::mm"),
        "aclnnMatmul",
        MATMUL,
        "MmBackward0",
        ("mm_grad", "mm_grad"),
    ),
    "log_softmax_grad": Recipe(
        ("aten::_log_softmax_backward_data",),
        "aclnnLogSoftmaxBackward",
        _vector("LogSoftmaxGrad_LogSoftmaxGrad"),
    ),
    "masked_fill": Recipe(
        ("aten::masked_fill", "aten::masked_fill_"),
        "aclnnInplaceMaskedFillScalar",
        _vector("MaskedFillAiCore_MaskedFill"),
        "MaskedFillBackward0",
        ("masked_fill_grad",),
    ),
    "masked_fill_grad": Recipe(
        ("aten::masked_fill",), "aclnnInplaceMaskedFillScalar", _vector("MaskedFillAiCore_MaskedFill")
    ),
    "mean": Recipe(
        ("aten::mean",),
        "aclnnMean",
        _vector("ReduceMeanAiCore_ReduceMean", 5.0),
        "MeanBackward1",
        ("mul_grad",),
    ),
    "mm_grad": Recipe(("aten::mm",), "aclnnMm", MATMUL),
    "mul": Recipe(("aten::mul",), "aclnnMuls", _vector("MulAiCore_Mul"), "MulBackward0", ("mul_grad",)),
    "mul_grad": Recipe(("aten::mul",), "aclnnMuls", _vector("MulAiCore_Mul")),
    "nll_loss": Recipe(
        ("aten::nll_loss_nd", "aten::nll_loss", "aten::nll_loss_forward"),
        "aclnnNLLLoss",
        (Kernel("NLLLossAiCore_NLLLoss", "MIX_AIV", 15.0),),
        "NllLossBackward0",
        ("nll_loss_grad",),
    ),
    "nll_loss_grad": Recipe(
        ("aten::nll_loss_backward",), "aclnnNLLLossBackward", _vector("NLLLossGradAiCore_NLLLossGrad", 60.0)
    ),
    "nonzero": Recipe(("aten::nonzero",), "aclnnNonzeroV2", _vector("NonZero_NonZero", 6.0)),
    "ones_like": Recipe(("aten::ones_like",), "aclnnInplaceOne", _vector("OnesLikeAiCore_OnesLike", 2.0)),
    "permute": _view("permute"),
    "reciprocal": Recipe(
        ("aten::reciprocal",), "aclnnReciprocal", _vector("ReciprocalAiCore_Reciprocal", 2.2)
    ),
    "repeat_interleave": Recipe(
        ("aten::repeat_interleave",),
        "aclnnRepeatInterleaveIntWithDim",
        _vector("RepeatInterleaveV2_RepeatInterleave", 14.0),
    ),
    "select": _view("select"),
    "slice": _view("slice"),
    "softmax": Recipe(
        ("aten::softmax", "aten::_softmax"),
        "aclnnSoftmax",
        _vector("SoftmaxV2Op_SoftmaxV2", 40.0),
        "SoftmaxBackward0",
        ("softmax_grad",),
    ),
    "softmax_grad": Recipe(
        ("aten::_softmax_backward_data",),
        "aclnnSoftmaxBackward",
        _vector("SoftmaxGradAiCore_SoftmaxGrad", 50.0),
    ),
    "topk": Recipe(("aten::topk",), "aclnnTopk", (Kernel("TopkV2_TopKV2", "MIX_AIV", 24.0),)),
    "transpose": _view("transpose"),
    "view": Recipe(("aten::view",), allocates=False),
    # optimizer (one call for all parameters)
    "foreach_add": Recipe(
        ("aten::_foreach_add_",), "aclnnForeachAddScalar", _vector("ForeachAddScalar_ForeachAddScalar")
    ),
    "foreach_addcdiv": Recipe(
        ("aten::_foreach_addcdiv_",),
        "aclnnForeachAddcdivScalar",
        _vector("ForeachAddcdivScalar_ForeachAddcdivScalar"),
    ),
    "foreach_addcmul": Recipe(
        ("aten::_foreach_addcmul_",),
        "aclnnForeachAddcmulScalar",
        _vector("ForeachAddcmulScalar_ForeachAddcmulScalar"),
    ),
    "foreach_div": Recipe(
        ("aten::_foreach_div_",), "aclnnForeachDivScalar", _vector("ForeachDivScalar_ForeachDivScalar")
    ),
    "foreach_lerp": Recipe(
        ("aten::_foreach_lerp_",), "aclnnForeachLerpScalar", _vector("ForeachLerpScalar_ForeachLerpScalar")
    ),
    "foreach_mul": Recipe(
        ("aten::_foreach_mul_",), "aclnnForeachMulScalarV2", _vector("ForeachMulScalarV2_ForeachMulScalar")
    ),
    "foreach_sqrt": Recipe(("aten::_foreach_sqrt",), "aclnnForeachSqrt", _vector("ForeachSqrt_ForeachSqrt")),
}

SYNTAX = {"add", "bitwise_and", "bitwise_not", "bmm", "fill", "ge", "mul", "select", "slice"}
METHODS = {
    "argmax",
    "bincount",
    "chunk",
    "clamp",
    "contiguous",
    "eq",
    "flatten",
    "masked_fill",
    "mean",
    "permute",
    "reciprocal",
    "repeat_interleave",
    "softmax",
    "sum",
    "topk",
    "transpose",
    "view",
}


def builtin(name: str) -> str | None:
    """Return the C function that Python calls for an operator; None where it is an operator of the
    language.
    """
    if name in SYNTAX:
        return None
    method = RECIPES[name].ops[0].split("::")[1]
    if name in METHODS:
        return f"<built-in method {method} of Tensor object at 0xfffca17d7e50>"
    return f"<built-in method {method} of type object at 0xffffab81cf10>"
