"""Names of operators, calls, frames and copies stand for causes; what only looks alike does not."""

from __future__ import annotations

import pytest

from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause


def test_every_cause_has_a_name_and_a_family() -> None:
    assert len({cause.label for cause in Cause}) == len(Cause)
    assert {cause.family for cause in Cause} == {"host", "queue", "launch", "device", "unlinked"}


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("aten::item", Cause.SYNC),
        ("aten::_local_scalar_dense", Cause.SYNC),
        ("aten::nonzero", Cause.SYNC),
        ("aten::nonzero_static", None),
        ("synchronize", Cause.SYNC),
        ("torch_npu::npu_synchronize", Cause.SYNC),
        ("synchronize_gradients", None),
        ("torch_npu::npu_synchronizer", None),
        ("aten::itemsize", None),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Cause.DATALOADER),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", Cause.DATALOADER),
        ("c10d::allreduce_", Cause.COMMUNICATION),
        ("nccl:all_to_all", Cause.COMMUNICATION),
        ("HcclAllreduce", Cause.COMMUNICATION),
        ("torch::distributed::reducer::mul_out", None),
        ("aten::mm", None),
        ("TorchDynamo: _compile", Cause.COMPILE),
        ("TorchDynamo Cache Lookup", None),
        ("CompileContext.entire_frame_compile (dynamo_timed)", Cause.COMPILE),
        ("CUDAGraphNode.record (dynamo_timed)", Cause.COMPILE),
        ("GraphModule.recompile", None),
    ],
)
def test_operators(name: str, cause: Cause | None) -> None:
    assert calls.cause_of_operator(name) == cause


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("AscendCL@aclrtSynchronizeStreamWithTimeout", Cause.SYNC),
        ("AscendCL@aclrtSynchronizeDevice", Cause.SYNC),
        ("Runtime@StreamSynchronize", Cause.SYNC),
        ("Runtime@MemCopySync", Cause.SYNC),
        ("Runtime@MemCopy2DSync", Cause.SYNC),
        ("Runtime@ModelExecuteSync", Cause.SYNC),
        ("AscendCL@aclrtMemcpy", Cause.SYNC),
        ("AscendCL@aclrtMemcpyAsync", None),
        ("urQueueFinish", Cause.SYNC),
        ("urEventWait", Cause.SYNC),
        ("urEventWaitWithBarrier", None),
        ("zeEventHostSynchronize", Cause.SYNC),
        ("zeCommandQueueSynchronize", Cause.SYNC),
        ("synchronizeStream", Cause.SYNC),
        ("cudaDeviceSynchronize", Cause.SYNC),
        ("cudaStreamSynchronize", Cause.SYNC),
        ("cuCtxSynchronize", Cause.SYNC),
        ("cudaMemcpy", Cause.SYNC),
        ("cudaMemcpyAsync", None),
        ("cudaStreamWaitEvent", None),
        ("AscendCL@aclopCompileAndExecute", Cause.COMPILE),
        ("AscendCL@opCompile", Cause.COMPILE),
        ("Hccl@Launch_Ffts", Cause.COMMUNICATION),
        ("Communication@Launch", Cause.COMMUNICATION),
        ("AscendCL@hcom_allReduce_", Cause.COMMUNICATION),
        ("Node@launch", None),
    ],
)
def test_calls(name: str, cause: Cause | None) -> None:
    assert calls.cause_of_call(name) == cause


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("torch/utils/data/dataloader.py(625): __next__", Cause.DATALOADER),
        ("/usr/lib/python3.9/site-packages/torch/utils/data/_utils/fetch.py(3): fetch", Cause.DATALOADER),
        ("torch_npu/npu/utils.py(52): synchronize", Cause.SYNC),
        ("train.py(9): load", None),
        ("/venv/torch/_dynamo/convert_frame.py(530): __call__", Cause.COMPILE),
        ("torch/_inductor/compile_fx.py(700): fx_codegen_and_compile", Cause.COMPILE),
        ("torch/_inductor/compile_fx.py(1767): run", None),
        ("triton/compiler/compiler.py(221): compile", Cause.COMPILE),
        ("triton/compiler/code_generator.py(1100): visit", Cause.COMPILE),
        ("triton/compiler/compiler.py(487): launch_metadata", None),
        ("triton/compiler/compiler.py(444): _init_handles", None),
    ],
)
def test_frames(name: str, cause: Cause | None) -> None:
    assert calls.cause_of_frame(name) == cause


def test_only_what_wraps_python_is_a_wrapper() -> None:
    for name in ("ProfilerStep#12", "Optimizer.step#AdamW.step", "Optimizer.zero_grad#SGD.zero_grad"):
        assert calls.is_wrapper(name)
    assert calls.is_wrapper("DistributedDataParallel.forward")
    assert not calls.is_wrapper("Optimizer")
    assert not calls.is_wrapper("aten::mm")


@pytest.mark.parametrize(
    ("text", "to_device", "to_host"),
    [
        ("host to device", True, False),
        ("host to device ex", True, False),
        ("device to host", False, True),
        ("device to device", False, False),
        ("Memcpy HtoD (Pinned -> Device)", True, False),
        ("Memcpy M2D", True, False),
        ("Memcpy D2M", False, True),
        ("Memcpy DtoH (Device -> Pageable)", False, True),
        ("Dequeue@acl_memcpy_host_to_device", True, False),
        ("MEMCPY_ASYNC", None, None),
        ("Dequeue@aclnnInplaceCopy", None, None),
    ],
)
def test_directions(text: str, to_device: bool | None, to_host: bool | None) -> None:
    assert calls.copies_to_device(text) is to_device
    assert calls.copies_to_host(text) is to_host


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (calls.compiles_at_launch, "aclopCompileAndExecute"),
        (calls.cause_of_call, "aclrtSynchronizeStream"),
        (calls.allocates_memory, "aclrtMalloc"),
        (calls.launches_graph, "cudaGraphLaunch"),
    ],
)
def test_a_call_is_named_after_one_layer(ask: calls.NamePredicate, name: str) -> None:
    assert ask(name) and ask(f"AscendCL@{name}")
    assert not ask(f"AscendCL@Node@{name}")


def test_a_call_that_compiles_and_a_wait_of_the_host() -> None:
    assert calls.compiles_at_launch("AscendCL@aclopCompileAndExecuteV2")
    assert not calls.compiles_at_launch("AscendCL@aclnnMm")
    assert calls.stream_waits("EVENT_WAIT")
    assert calls.stream_waits("Stream Wait Event")
    assert not calls.stream_waits("Context Sync")


@pytest.mark.parametrize(
    "name", ["hipExtModuleLaunchKernel", "urEnqueueKernelLaunch", "runFunction - job_prep"]
)
def test_calls_that_launch_one_kernel(name: str) -> None:
    assert calls.launches_kernel(name)
    assert not calls.waits_for_stream(name)


@pytest.mark.parametrize("name", ["cudaStreamSynchronize", "urQueueFinish", "zeCommandQueueSynchronize"])
def test_calls_that_wait_for_one_stream(name: str) -> None:
    assert calls.waits_for_stream(name)
    assert not calls.launches_kernel(name)
