"""What a producer calls things: the columns of the tables, and how several tables become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum, auto
from typing import Any, NamedTuple

from tracetui.trace.model import Activity, Family, Layer


class Place(NamedTuple):
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
class Dialect:
    """The spellings of one producer; what it does not write is left out.

    Patterns are regular expressions that fit the beginning of a name, "beginnings" are plain text. Categories
    of slices are in lower case, whatever the trace writes, unless a line says otherwise.
    """

    # Processes and threads.
    #: Process names that say by themselves what the process holds, exactly as written.
    processes: Mapping[str, Place] = field(default_factory=dict)
    #: Process names, and categories of slices and flows as written, that only an Ascend profiler writes.
    ascend_processes: frozenset[str] = frozenset()
    ascend_categories: frozenset[str] = frozenset()
    gpu_processes: frozenset[str] = frozenset()  #: process names that only a profiler of GPUs writes
    label_processes: frozenset[str] = frozenset()  #: labels that say what a process without a name holds
    #: Patterns of the names of files whose processes have neither: what their numbers stand for; every other
    #: small number is that of a device.
    numbered_files: tuple[str, ...] = ()
    process_numbers: Mapping[str, str] = field(default_factory=dict)
    device_process: tuple[str, ...] = ()
    gpu_files: tuple[str, ...] = ()  #: patterns of those of such files whose devices are GPUs,
    gpu_device_process: tuple[str, ...] = ()  #: and what such a number stands for there
    ai_cpu_processes: frozenset[str] = frozenset()  #: whose tasks do not run on the AI cores
    numbered_processes: frozenset[str] = frozenset()  #: those whose pids the profiler makes of the OS pid
    plane_threads: tuple[str, ...] = ()  #: beginnings of the threads, in a process of groups, of their planes
    group_threads: tuple[str, ...] = ()  #: patterns of the threads of groups; group 1: its name
    master_planes: frozenset[str] = frozenset()  #: the planes whose tasks the producer times operations by
    annotation_threads: tuple[str, ...] = ()  #: beginnings of the threads of a device that hold no tasks
    device_labels: tuple[str, ...] = ()  #: first words of the process labels of devices
    gpu_labels: tuple[str, ...] = ()  #: those of them that are GPUs

    # What a process without a known name holds: the known process that has such slices.
    category_hints: Mapping[str, str] = field(default_factory=dict)
    name_hints: Mapping[str, str] = field(default_factory=dict)  #: by the whole name of a slice
    name_beginning_hints: tuple[tuple[str, str], ...] = ()  #: by its beginning; the first that fits counts
    #: Hints that nothing else gives, surest first: one slice is enough, against an unknown name too.
    certain_hints: tuple[str, ...] = ()

    # Categories of slices.
    categories: Mapping[str, Place] = field(default_factory=dict)  #: where the process name does not decide
    category_activities: Mapping[str, Activity] = field(default_factory=dict)  #: of the tasks of a device
    #: Of the slices that hand tasks to a queue, of those that take them out, and of the user's own ranges;
    #: these three as written: they are no operators.
    enqueues: frozenset[str] = frozenset()
    dequeues: frozenset[str] = frozenset()
    annotations: frozenset[str] = frozenset()

    # Categories of flows, as written.
    flow_families: Mapping[str, tuple[Family, ...]] = field(default_factory=dict)  #: where its ends are
    unique_flows: frozenset[str] = frozenset()  #: an id with several starts is shared by unrelated tasks
    marks_flows: frozenset[str] = frozenset()  #: their starts mark a process of user ranges
    launch_flows: frozenset[str] = frozenset()  #: from the runtime's call to the task
    operator_flows: frozenset[str] = frozenset()  #: from the operator to the task
    backward_flows: frozenset[str] = frozenset()  #: from a forward operator to its backward operator
    dispatch_flows: frozenset[str] = frozenset()  #: from the thread of Python to one that works for it

    # Tasks of a device; types in upper case with spaces as "_".
    task_types: Mapping[str, Activity] = field(default_factory=dict)
    #: The beginnings that stand for a class where the type is not in the table; the first that fits counts.
    task_type_beginnings: tuple[tuple[str, Activity], ...] = ()
    vector_types: tuple[str, ...] = ()  #: beginnings of the types of tasks of vector cores
    task_name_beginnings: tuple[tuple[str, Activity], ...] = ()  #: names that decide, whatever the type
    generic_task_types: frozenset[str] = frozenset()  #: types that every task may have
    #: What computes beside the AI cores, as people call it, by the beginnings of task types.
    engines: tuple[tuple[str, str], ...] = ()
    ai_cpu_types: tuple[str, ...] = ()  #: patterns of the types, as written, of tasks of the AI CPU
    format_conversions: tuple[str, ...] = ()  #: patterns of kernels that only change the layout of data
    casts: tuple[str, ...] = ()  #: patterns of kernels that only change its type
    collective_kernel_endings: tuple[str, ...] = ()  #: kernels that count as communication, by their names
    collective_kernels: tuple[str, ...] = ()  #: patterns of the names of those known by their category
    #: Beginnings and endings of the names of kernels whose type stands after the last "_", and beginnings
    #: that are no part of the type.
    type_last_beginnings: tuple[str, ...] = ()
    type_last_endings: tuple[str, ...] = ()
    untyped_beginnings: tuple[str, ...] = ()
    copy_task_beginnings: tuple[str, ...] = ()  #: of names of copies that tell their direction after " ("
    host_wait_tasks: tuple[str, ...] = ()  #: patterns of waits on a stream that only the host waits in
    #: Patterns anywhere in the direction or the name of a copy, in lower case with "_" as a space.
    to_device: tuple[str, ...] = ()
    to_host: tuple[str, ...] = ()
    any_direction: tuple[str, ...] = ()  #: that a direction is said at all
    overlap_rows: Mapping[str, str] = field(default_factory=dict)  #: the producer's sums, by ours

    # Collectives.
    #: Patterns of the operations of groups; group 1: the last digits of the key of the group, where told.
    group_operations: tuple[str, ...] = ()
    group_operation_beginnings: tuple[str, ...] = ()
    #: Patterns of what a collective does; group 1: its type, and where told 2: its number among those of its
    #: group, 3: its iteration. The first that fits counts.
    collective_types: tuple[str, ...] = ()
    receive_operations: tuple[str, ...] = ()  #: beginnings
    rank_waits: tuple[str, ...] = ()  #: patterns of parts, on planes or streams, that wait for another rank
    notify_waits: frozenset[str] = frozenset()  #: names of the tasks of planes that do
    data_moves: tuple[str, ...] = ()  #: patterns of parts that move bytes
    sdma_moves: frozenset[str] = frozenset()  #: names of the tasks of planes that move bytes by SDMA
    rdma_sends: frozenset[str] = frozenset()  #: and of those that send by RDMA: bytes or a notification
    carriers: Mapping[str, str] = field(default_factory=dict)  #: what carries SDMA transfers, by link type
    chips: Mapping[str, str] = field(default_factory=dict)  #: generations, by a type of task only they have
    links_of_other_chips: frozenset[str] = (
        frozenset()
    )  #: link types of generations with the same types of tasks
    link_speeds: Mapping[str, float] = field(default_factory=dict)  #: nominal GB/s, by "generation carrier"
    element_bytes: Mapping[str, int] = field(default_factory=dict)  #: by the type's name in upper case

    # Slices of the host.
    step_beginnings: tuple[str, ...] = ()  #: of the names of steps; what follows is the number
    phase_annotations: tuple[str, ...] = ()  #: patterns of annotations that are phases; group 1: the name
    #: Patterns of iterations of a graph on a device, and of the passes in them; group 1: the number.
    iterations: tuple[str, ...] = ()
    iteration_passes: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()  #: patterns of operators, beside steps, that only wrap Python
    copy_operators: frozenset[str] = frozenset()  #: that copy, to the device or elsewhere
    backward_operators: tuple[str, ...] = ()  #: beginnings: the engine evaluates a function of the backward
    engine_operators: tuple[str, ...] = ()  #: beginnings of others that the autograd engine runs itself
    queue_names: tuple[str, ...] = ()  #: beginnings of the names of slices of the task queue
    operators: tuple[tuple[Purpose, str], ...] = ()  #: patterns; all that is inside is for the same purpose
    #: Beginnings that say which layer a call is of, the commonest first. The patterns of calls, from `calls`
    #: to `memory_calls`, are of what follows.
    call_layers: tuple[str, ...] = ()
    calls: tuple[tuple[Purpose, str], ...] = ()  #: patterns; a blocking copy waits for the device
    graph_launches: tuple[str, ...] = ()  #: patterns of calls that launch many tasks at once
    compiling_launches: tuple[str, ...] = ()  #: patterns of calls that compile what they launch
    memory_calls: tuple[str, ...] = ()  #: patterns of calls that allocate device memory or free it
    #: Beginnings of the calls that launch, best first, where several have the id of a task.
    kernel_calls: tuple[str, ...] = ()
    copy_calls: tuple[str, ...] = ()

    # Counters, by their names without units.
    core_frequencies: tuple[str, ...] = ()  #: patterns of the frequency of AI cores
    fraction_counters: tuple[str, ...] = ()  #: patterns of those in "%" that hold fractions, 0 to 1

    # Frames of Python.
    frames: tuple[tuple[Purpose, str], ...] = ()  #: patterns
    blocked_frames: tuple[str, ...] = ()  #: patterns of functions in which a thread is blocked
    built_in_frames: tuple[str, ...] = ()  #: beginnings of frames of functions without a file
    module_frames: tuple[str, ...] = ()  #: beginnings of frames of a module of the model; its name follows
    framework_packages: frozenset[str] = frozenset()  #: packages whose code is not the user's
    generated_files: tuple[str, ...] = ()  #: patterns of the paths of code that a compiler wrote
    module_calls: tuple[str, ...] = ()  #: patterns of "file: function" of the frame that calls a module

    # Frames of C++, below those of Python in the stacks of an allocator.
    native_files: tuple[str, ...] = ()  #: patterns of their whole paths
    #: Patterns of functions; group 1: the operator. The first that fits any counts, the outermost of it.
    native_operators: tuple[str, ...] = ()
    gpu_allocators: tuple[str, ...] = ()  #: patterns of functions, and of the names of settings, of GPUs only


def merged(dialects: Iterable[Dialect]) -> Dialect:
    """Return the spellings of several producers as one table; in what is ordered, the earlier come first.

    Raises:
        ValueError: two of them mean different things by one spelling.
    """
    columns: dict[str, Any] = {column.name: [] for column in fields(Dialect)}
    for dialect in dialects:
        for name, parts in columns.items():
            parts.append(getattr(dialect, name))
    return Dialect(**{name: _joined(name, parts) for name, parts in columns.items()})


def _joined(name: str, parts: list[Any]) -> Any:
    if not parts or isinstance(parts[0], tuple):
        return tuple(dict.fromkeys(entry for part in parts for entry in part))
    if isinstance(parts[0], frozenset):
        return frozenset[str]().union(*parts)
    table: dict[str, Any] = {}
    for part in parts:
        for spelling, meaning in part.items():
            if table.setdefault(spelling, meaning) != meaning:
                raise ValueError(f"{name}: {spelling!r} means {table[spelling]!r} and {meaning!r}")
    return table
