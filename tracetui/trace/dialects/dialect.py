"""What a producer calls things: the groups of spellings, and how those of several producers become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum, auto
from typing import Any, NamedTuple

from tracetui.trace.model import Activity, Family, Layer


class ProcessPlace(NamedTuple):
    """Where slices are shown."""

    layer: Layer
    family: Family


class Purpose(Enum):
    """What the time of a host slice is for, where its name says it. Of several the first counts."""

    SYNC = auto()  #: waiting for the device
    DATALOADER = auto()
    COMMUNICATION = auto()
    COMPILE = auto()
    PROFILER = auto()


@dataclass(frozen=True)
class ProcessNames:
    """What says which process holds what: the CPU, the runtime, a device, a group."""

    #: Process names that say by themselves what the process holds, exactly as written.
    places: Mapping[str, ProcessPlace] = field(default_factory=dict)
    #: Process names, and categories of slices and flows as written, that only an Ascend profiler writes.
    ascend: frozenset[str] = frozenset()
    ascend_categories: frozenset[str] = frozenset()
    gpu: frozenset[str] = frozenset()  #: process names that only a profiler of GPUs writes
    labels: frozenset[str] = frozenset()  #: labels that say what a process without a name holds
    #: Patterns of the names of files whose processes have neither name nor label: `numbers` says what their
    #: numbers stand for; every other small number is that of a device.
    numbered_files: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    device: tuple[str, ...] = ()  #: the process name that a device's number stands for
    gpu_files: tuple[str, ...] = ()  #: patterns of those of such files whose devices are GPUs,
    gpu_device: tuple[str, ...] = ()  #: and what a device's number stands for there
    ai_cpu: frozenset[str] = frozenset()  #: processes whose tasks do not run on the AI cores
    numbered: frozenset[str] = frozenset()  #: processes whose pids the profiler makes of the OS pid
    device_labels: tuple[str, ...] = ()  #: first words of the process labels of devices
    gpu_labels: tuple[str, ...] = ()  #: those of them that are GPUs
    #: What a device is called by its label, where that has no number: the pid is its number.
    unnumbered_devices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ThreadNames:
    """What the threads of a device's processes are called."""

    planes: tuple[str, ...] = ()  #: beginnings of the threads, in a process of groups, of their planes
    groups: tuple[str, ...] = ()  #: patterns of the threads of groups; group 1: its name
    master_planes: frozenset[str] = frozenset()  #: the planes whose tasks the producer times operations by
    annotations: tuple[str, ...] = ()  #: beginnings of the threads of a device that hold no tasks


@dataclass(frozen=True)
class ProcessHints:
    """What a process without a known name holds: the known process that has such slices."""

    categories: Mapping[str, str] = field(default_factory=dict)  #: by the category of a slice
    names: Mapping[str, str] = field(default_factory=dict)  #: by the whole name of a slice
    name_beginnings: tuple[tuple[str, str], ...] = ()  #: by its beginning; the first that fits counts
    #: Hints that nothing else gives, surest first: one slice is enough, against an unknown name too.
    certain: tuple[str, ...] = ()


@dataclass(frozen=True)
class SliceCategories:
    """The categories of slices."""

    places: Mapping[str, ProcessPlace] = field(
        default_factory=dict
    )  #: where the process name does not decide
    activities: Mapping[str, Activity] = field(default_factory=dict)  #: of the tasks of a device
    #: Of the slices that hand tasks to a queue, of those that take them out, and of the user's own ranges;
    #: these three as written: they are no operators.
    enqueues: frozenset[str] = frozenset()
    dequeues: frozenset[str] = frozenset()
    annotations: frozenset[str] = frozenset()
    counters: frozenset[str] = frozenset()  #: of ranges with counters of the device, in place of its kernels


@dataclass(frozen=True)
class FlowCategories:
    """The categories of flows, as written."""

    families: Mapping[str, tuple[Family, ...]] = field(default_factory=dict)  #: where the ends of a flow are
    unique: frozenset[str] = frozenset()  #: an id with several starts is shared by unrelated tasks
    marks: frozenset[str] = frozenset()  #: their starts mark a process of user ranges
    launch: frozenset[str] = frozenset()  #: from the runtime's call to the task
    operator: frozenset[str] = frozenset()  #: from the operator to the task
    backward: frozenset[str] = frozenset()  #: from a forward operator to its backward operator
    dispatch: frozenset[str] = frozenset()  #: from the thread of Python to one that works for it


@dataclass(frozen=True)
class TaskNames:
    """The types and names of the tasks of a device; types in upper case with spaces as "_"."""

    types: Mapping[str, Activity] = field(default_factory=dict)
    #: The beginnings that stand for a class where the type is not in the table; the first that fits counts.
    type_beginnings: tuple[tuple[str, Activity], ...] = ()
    vector_types: tuple[str, ...] = ()  #: beginnings of the types of tasks of vector cores
    name_beginnings: tuple[tuple[str, Activity], ...] = ()  #: names that decide, whatever the type
    parts: tuple[str, ...] = ()  #: beginnings of the names of tasks of which one call launches several
    generic_types: frozenset[str] = frozenset()  #: types that every task may have
    #: What computes beside the AI cores, as people call it, by the beginnings of task types.
    engines: tuple[tuple[str, str], ...] = ()
    ai_cpu_types: tuple[str, ...] = ()  #: patterns of the types, as written, of tasks of the AI CPU
    format_conversions: tuple[str, ...] = ()  #: patterns of kernels that only change the layout of data
    casts: tuple[str, ...] = ()  #: patterns of kernels that only change its type
    #: Beginnings and endings of the names of kernels whose type stands after the last "_", and beginnings
    #: that are no part of the type.
    type_last_beginnings: tuple[str, ...] = ()
    type_last_endings: tuple[str, ...] = ()
    untyped_beginnings: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()  #: patterns of kernels called after their binary; group 1: the type
    host_waits: tuple[str, ...] = ()  #: patterns of waits on a stream that only the host waits in
    overlap_rows: Mapping[str, str] = field(default_factory=dict)  #: the producer's sums, by ours


@dataclass(frozen=True)
class CopyNames:
    """The names of copies, and what says their direction."""

    beginnings: tuple[str, ...] = ()  #: of names of copies that tell their direction after " ("
    #: Patterns anywhere in the direction or the name of a copy, in lower case with "_" as a space.
    to_device: tuple[str, ...] = ()
    to_host: tuple[str, ...] = ()
    any_direction: tuple[str, ...] = ()  #: that a direction is said at all


@dataclass(frozen=True)
class CollectiveNames:
    """The names of collectives, of their groups and of their parts."""

    kernel_endings: tuple[str, ...] = ()  #: kernels that count as communication, by their names
    kernels: tuple[str, ...] = ()  #: patterns of the names of those known by their category
    #: Patterns of the operations of groups; group 1: the last digits of the key of the group, where told.
    group_operations: tuple[str, ...] = ()
    group_operation_beginnings: tuple[str, ...] = ()
    #: Patterns of what a collective does; group 1: its type, and where told 2: its number among those of its
    #: group, 3: its iteration. The first that fits counts.
    types: tuple[str, ...] = ()
    #: Patterns of what args call a collective; group 1: its type, with "_" between its words.
    arg_types: tuple[str, ...] = ()
    receives: tuple[str, ...] = ()  #: beginnings of the names of operations that receive
    rank_waits: tuple[str, ...] = ()  #: patterns of parts, on planes or streams, that wait for another rank
    notify_waits: frozenset[str] = frozenset()  #: names of the tasks of planes that do
    sdma_moves: frozenset[str] = frozenset()  #: names of the tasks of planes that move bytes by SDMA
    rdma_sends: frozenset[str] = frozenset()  #: and of those that send by RDMA: bytes or a notification
    element_bytes: Mapping[str, int] = field(default_factory=dict)  #: by the type's name in upper case


@dataclass(frozen=True)
class NetworkLinks:
    """The links between devices, and the generations of chips that have them."""

    carriers: Mapping[str, str] = field(default_factory=dict)  #: what carries SDMA transfers, by link type
    chips: Mapping[str, str] = field(default_factory=dict)  #: generations, by a type of task only they have
    #: Link types of generations with the same types of tasks.
    types_of_other_chips: frozenset[str] = frozenset()
    speeds: Mapping[str, float] = field(default_factory=dict)  #: nominal GB/s, by "generation carrier"


@dataclass(frozen=True)
class OperatorNames:
    """The names of operators, steps, phases and iterations."""

    step_beginnings: tuple[str, ...] = ()  #: of the names of steps; what follows is the number
    phases: tuple[str, ...] = ()  #: patterns of annotations that are phases; group 1: the name
    #: Patterns of iterations of a graph on a device, and of the passes in them; group 1: the number.
    iterations: tuple[str, ...] = ()
    iteration_passes: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()  #: patterns of operators, beside steps, that only wrap Python
    copies: frozenset[str] = frozenset()  #: operators that copy, to the device or elsewhere
    backward_beginnings: tuple[str, ...] = ()  #: the engine evaluates a function of the backward
    engine_beginnings: tuple[str, ...] = ()  #: of others that the autograd engine runs itself
    queue_beginnings: tuple[str, ...] = ()  #: of the names of slices of the task queue
    purposes: tuple[tuple[Purpose, str], ...] = ()  #: patterns; all that is inside is for the same purpose


@dataclass(frozen=True)
class CallNames:
    """The names of calls of the runtime and the driver; patterns are of what follows a layer's beginning."""

    layer_beginnings: tuple[str, ...] = ()  #: that say which layer a call is of, the commonest first
    purposes: tuple[tuple[Purpose, str], ...] = ()  #: patterns; a blocking copy waits for the device
    device_waits: tuple[str, ...] = ()  #: patterns of calls that wait for all that was launched before,
    stream_waits: tuple[str, ...] = ()  #: and of those that wait for what was launched on one stream
    graph_launches: tuple[str, ...] = ()  #: patterns of calls that launch many tasks at once
    #: Patterns of calls whose kernel may begin before the one before it on its stream ends.
    early_launches: tuple[str, ...] = ()
    #: Patterns of calls after which a stream waits for the host: for a function of it, or a value in memory.
    stream_holds: tuple[str, ...] = ()
    #: Patterns of calls that launch one kernel each, whose task is in every complete recording.
    kernel_launches: tuple[str, ...] = ()
    capture_begins: tuple[str, ...] = ()  #: patterns of calls after which launches are kept for a graph,
    capture_ends: tuple[str, ...] = ()  #: and of those that end that
    graph_makes: tuple[str, ...] = ()  #: patterns of calls that make a graph, as of what was kept
    compiling_launches: tuple[str, ...] = ()  #: patterns of calls that compile what they launch
    memory: tuple[str, ...] = ()  #: patterns of calls that allocate device memory or free it
    #: Beginnings of the calls that launch, best first, where several have the id of a task.
    kernel_beginnings: tuple[str, ...] = ()
    copy_beginnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class CounterNames:
    """The names of counters, without units."""

    core_frequencies: tuple[str, ...] = ()  #: patterns of the frequency of AI cores
    fractions: tuple[str, ...] = ()  #: patterns of those in "%" that hold fractions, 0 to 1


@dataclass(frozen=True)
class FrameNames:
    """The names of frames of Python."""

    purposes: tuple[tuple[Purpose, str], ...] = ()  #: patterns
    blocked: tuple[str, ...] = ()  #: patterns of functions in which a thread is blocked
    built_in_beginnings: tuple[str, ...] = ()  #: of frames of functions without a file
    module_beginnings: tuple[str, ...] = ()  #: of frames of a module of the model; its name follows
    framework_packages: frozenset[str] = frozenset()  #: packages whose code is not the user's
    generated_files: tuple[str, ...] = ()  #: patterns of the paths of code that a compiler wrote
    module_calls: tuple[str, ...] = ()  #: patterns of "file: function" of the frame that calls a module


@dataclass(frozen=True)
class NativeFrameNames:
    """The names of frames of C++, below those of Python in the stacks of an allocator."""

    files: tuple[str, ...] = ()  #: patterns of their whole paths
    #: Patterns of functions; group 1: the operator. The first that fits any counts, the outermost of it.
    operators: tuple[str, ...] = ()
    gpu_allocators: tuple[str, ...] = ()  #: patterns of functions, and of the names of settings, of GPUs only


@dataclass(frozen=True)
class Dialect:
    """The spellings of one producer; what it does not write is left out.

    Patterns are regular expressions that fit the beginning of a name, "beginnings" are plain text. Categories
    of slices are in lower case, whatever the trace writes, unless a line says otherwise.
    """

    processes: ProcessNames = ProcessNames()
    threads: ThreadNames = ThreadNames()
    hints: ProcessHints = ProcessHints()
    categories: SliceCategories = SliceCategories()
    flows: FlowCategories = FlowCategories()
    tasks: TaskNames = TaskNames()
    copies: CopyNames = CopyNames()
    collectives: CollectiveNames = CollectiveNames()
    links: NetworkLinks = NetworkLinks()
    operators: OperatorNames = OperatorNames()
    calls: CallNames = CallNames()
    counters: CounterNames = CounterNames()
    frames: FrameNames = FrameNames()
    native: NativeFrameNames = NativeFrameNames()


def merge_dialects(dialects: Iterable[Dialect]) -> Dialect:
    """Return the spellings of several producers as one table; in what is ordered, the earlier come first.

    Raises:
        ValueError: two of them mean different things by one spelling.
    """
    tables = tuple(dialects)
    groups = ((group.name, [getattr(dialect, group.name) for dialect in tables]) for group in fields(Dialect))
    return Dialect(**{name: _merge_group(name, parts) for name, parts in groups})


def _merge_group(name: str, groups: list[Any]) -> Any:
    """Return one group of all dialects, such as their `tasks`, column by column."""
    columns = [column.name for column in fields(groups[0])]
    values = {
        column: _merge_column(f"{name}.{column}", [getattr(group, column) for group in groups])
        for column in columns
    }
    return type(groups[0])(**values)


def _merge_column(name: str, parts: list[Any]) -> Any:
    if isinstance(parts[0], tuple):
        return tuple(dict.fromkeys(entry for part in parts for entry in part))
    if isinstance(parts[0], frozenset):
        return frozenset[str]().union(*parts)
    table: dict[str, Any] = {}
    for part in parts:
        for spelling, meaning in part.items():
            if table.setdefault(spelling, meaning) != meaning:
                raise ValueError(f"{name}: {spelling!r} means {table[spelling]!r} and {meaning!r}")
    return table
