"""What PyTorch itself calls things, whatever the device: operators, frames, steps, the backward pass."""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
    Dialect,
    FlowCategories,
    FrameNames,
    NativeFrameNames,
    OperatorNames,
    ProcessPlace,
    Purpose,
    SliceCategories,
)
from tracetui.trace.model import Family, Layer

PYTORCH = Dialect(
    categories=SliceCategories(
        places={
            "cpu_op": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "user_annotation": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "python_function": ProcessPlace(Layer.PYTHON, Family.FRAMES),
        },
        annotations=frozenset({"user_annotation"}),
    ),
    flows=FlowCategories(
        families={"fwdbwd": (Family.OPERATORS,)},
        backward=frozenset({"fwdbwd"}),
    ),
    operators=OperatorNames(
        step_beginnings=("ProfilerStep#",),
        phases=(r"## (.{1,60}) ##",),
        wrappers=(
            r"Optimizer\..*#",
            r"(?:Distributed|FullySharded)DataParallel\.(?:forward|backward)",
        ),
        copies=frozenset({"aten::to", "aten::copy_", "aten::_to_copy"}),
        backward_beginnings=("autograd::engine::evaluate_function",),
        engine_beginnings=("torch::autograd::AccumulateGrad",),  # in 2021 inside of no evaluate_function
        purposes=(
            (Purpose.SYNC, r"aten::(?:item|_local_scalar_dense|is_nonzero|nonzero)$"),
            (Purpose.SYNC, r"(?:\w+::)?(?:\w+_)?synchronize$"),
            (Purpose.DATALOADER, r"enumerate\(Data(?:Loader|Pipe)\)#"),
            (Purpose.COMMUNICATION, r"c10d::|record_param_comms"),
            # [C]; a look into the cache of Dynamo is part of each call of what is compiled
            (Purpose.COMPILE, r"(?i:TorchDynamo(?! Cache Lookup)|torch\._dynamo|inductor_compile)"),
            (Purpose.COMPILE, r".*(?:compil\w*|CUDAGraphNode\.record) \(dynamo_timed\)$"),
        ),
    ),
    frames=FrameNames(
        purposes=(
            (Purpose.SYNC, r"(?:.*/)?torch/cuda/.*: synchronize$"),
            (Purpose.SYNC, r"<built-in .*_cuda_synchronize\b|<built-in method synchronize of "),
            (Purpose.DATALOADER, r"(?:.*/)?torch/utils/data/"),
            # Other functions of the last two files run at each launch, as run and launch_metadata do.
            (
                Purpose.COMPILE,
                r"(?:.*/)?(?:torch/_dynamo/convert_frame\.py|triton/compiler/code_generator\.py|"
                r"(?:torch/_inductor/compile_fx|triton/compiler/compiler)\.py\(\d+\): \w*compil)",
            ),
            (Purpose.PROFILER, r"(?:.*/)?(?:torch/profiler/|torch/autograd/profiler\.py\()"),
        ),
        blocked=(
            r"<built-in (?:method|function) "
            r"(?:acquire|poll|select|epoll|kevent|sleep|wait\w*|recv\w*|accept|read)\b",
            # of a thread that was in them already when the recording began nothing further inside is recorded
            r"(?:.*/)?(?:threading\.py\(\d+\): wait|selectors\.py\(\d+\): select)$",
        ),
        built_in_beginnings=("<built-in ",),
        module_beginnings=("nn.Module: ",),
        framework_packages=frozenset(
            {"torch", "torchvision", "torchaudio", "triton", "numpy", "scipy", "pandas", "PIL"}
        ),
        # By Inductor, below a directory that can be chosen: file and directory are called by its hash.
        generated_files=(
            r"(?:.*/)?torchinductor_[^/]*/",
            r"(?:.*/)?(?P<start>[a-z2-7]{2})/c(?P=start)[a-z2-7]{40,}\.py$",
        ),
        module_calls=(r"(?:.*/)?torch/nn/modules/module\.py: (?:_call_impl|__call__)$",),
    ),
    native=NativeFrameNames(
        files=(r"(?:\?\?|<unknown>)?$", r".*\.(?:c|cc|cpp|cxx|cu|h|hpp|hxx|cuh|inl|o|so)$"),
        operators=(r"torch::autograd::generated::(\w+)::apply\b", r"at::_ops::(\w+)::"),
    ),
)
