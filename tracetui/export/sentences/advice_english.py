"""Advice in English: of each rule a title, a text with its numbers, and the condition with its threshold.

All of it is ASCII, as documents have it. The names in braces in a text are those of its evidence and context:
times and shares as text, means with one decimal at most; `{times}` says what counts are of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tracetui.analysis.advice import Advice, model
from tracetui.analysis.advice.model import Figures, Threshold
from tracetui.analysis.idle.cause import Cause
from tracetui.units import format_duration, format_percent

#: Causes, by the key of the evidence that is their time.
CAUSES = {f"{cause.label.replace('.', '_')}_ns": cause for cause in Cause}
_PARTS = 10**15  # a share is rounded as so many parts of one, which a float still tells apart
_SOURCES = {
    model.OURS: "tracetui",
    model.MSPROF: "as msprof-analyze advises",
    model.MINDSPORE: "as MindSpore's guide says",
}


class AdviceWords(NamedTuple):
    """What people read of a piece of advice."""

    title: str
    text: str  #: one or two sentences with its numbers, free of names from the trace
    rule: str  #: the condition with its threshold and where that comes from


def english_words(advice: Advice) -> AdviceWords:
    """Return what people read of a piece of advice, in English."""
    title, text, rule = ENGLISH_ADVICE[advice.kind]
    fields = {key: _figure(key, value) for key, value in (*advice.evidence.items(), *advice.context.items())}
    fields["cost"] = "" if advice.cost_ns is None else ascii_duration(advice.cost_ns)
    fields["times"] = "in all" if advice.per_step_ns is None else "a step"
    fields["unit"] = "batch" if advice.per_step_ns is None else "step"
    fields.update(_parts(advice, fields))
    if advice.remedy:
        fields["remedy"] = REMEDIES[advice.id][advice.remedy].format_map(fields)
    return AdviceWords(title, text.format_map(fields), rule.format_map(fields))


def ascii_duration(ns: int) -> str:
    """Return a time in ASCII: "1.24 ms", "20.0 us"."""
    return format_duration(ns).replace("µ", "u")


def bound(threshold: Threshold) -> str:
    """Return a threshold with its unit: "50.0 us", "5 %", "4 times"."""
    return (
        ascii_duration(threshold.value) if threshold.unit == "ns" else f"{threshold.value} {threshold.unit}"
    )


def _figure(key: str, value: float | str) -> str:
    """Return a number of evidence: a time, a share, or a number with at most one decimal."""
    if isinstance(value, str):
        return value
    if key.endswith("_ns"):
        return ascii_duration(int(value))
    if "share" in key.split("_"):
        return format_percent(round(value * _PARTS), _PARTS)
    return f"{value:.1f}" if key.endswith("_pct") else f"{value:.1f}".removesuffix(".0")


def _parts(advice: Advice, fields: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a text that its numbers choose or join, by name."""
    evidence = advice.evidence
    if "uncomputed_steps" in advice.context:
        yield "of", _OF_COMPUTED if advice.context["uncomputed_steps"] else ""
    if advice.id == "small_operators_in_loop":
        yield "operators", f"{fields['operators']} operator{'s' * (int(evidence['operators']) > 1)}"
        yield "who", "One function" if advice.context["of_function"] else "One line"
        yield "loop", "" if advice.context["of_function"] else ", in a loop"
        yield "form", "of them" if advice.context["of_function"] else "in place of the loop"
    elif advice.id == "sync_in_loop":
        yield "who", "One call" if advice.file is None else "One line"
        least = f" of at least {bound(model.LOOP_SHARE)} of the device's time"
        yield "least", least if advice.per_step_ns is None else ""
        all_dry = evidence["dry_count"] == evidence["count"]
        yield "dry", "Each time" if all_dry else f"{fields['dry_count']} of {fields['count']} times"
    elif advice.id == "data_loader_slow":
        one, several = ("batch", "batches") if "slow_batches" in evidence else ("step", "steps")
        count = fields[f"slow_{several}"]
        yield "slow", f"{count} {one if count == '1' else several}"
        yield "before", _before(fields, ", and for {before_window_ns} before its first kernel")
    elif advice.id == "iteration_gap":
        yield "before", _before(fields, ", {before_window_ns} of it before its first kernel")
        yield "devices", _devices(fields, ", on {devices} of {of_devices} devices,")
    elif advice.id == "dispatch_queue_late":
        yield "waiting_ns", ascii_duration(int(evidence["busy_ns"]) + int(evidence["wakeup_ns"]))
    elif advice.id == "exposed_communication":
        yield "waiting", _WAITING[waiting_part(evidence)].format_map(fields)
    elif advice.id in ("threads_without_a_core", "interrupts_on_launching_cores"):
        saves = ": that saves {saves_at_most_ns} at most" if evidence["saves_at_most_ns"] else ""
        if "saves_with_peers_ns" in evidence:
            saves = (
                ": that saves {saves_at_most_ns} at most beyond waits for late peers, {saves_with_peers_ns} "
                "if they come sooner too"
            )
        yield "saves", saves.format_map(fields)
        yield (
            "nobody",
            f", for {fields['nobody_ns']} it was idle and woke up" if evidence.get("nobody_ns") else "",
        )
    elif advice.id == "free_time":
        causes = (f"{CAUSES[key].label} {fields[key]}" for key in evidence if key in CAUSES)
        yield "causes", ", ".join(causes)
        of_steps = int(advice.context["of_steps"])
        where = f"In {fields['steps']} of {fields['of_steps']} steps" if of_steps else ""
        on_devices = _devices(fields, f"{', on' if where else 'On'} {{devices}} of {{of_devices}} devices")
        yield "where", f"{where}{on_devices}{',' if on_devices else ''} the" if where or on_devices else "The"
        yield "whole", "a step" if of_steps else "all"
    elif advice.id == "data_queue":
        parts = []
        if evidence["batches"]:
            parts.append("The queue before the device was empty for {empty} of {batches} batches.")
        if "host_queue_empty_pct" in advice.context:
            parts.append("The queue of the host was empty for {host_queue_empty_pct} % of the time.")
        yield "queues", " ".join(parts).format_map(fields)
        yield "operator", "The operator below" if advice.subjects else "The pipeline"


def waiting_part(evidence: Figures) -> str:
    """Return which text says how much of exposed communication waits for late ranks: a key of `_WAITING`."""
    waiting_ns = evidence.get("waiting_for_ranks_ns")
    return "unsplit" if waiting_ns is None else "waiting" if waiting_ns else "on_time"


def _devices(fields: Mapping[str, str], template: str) -> str:
    """Return the part of a text about how many of several devices it holds for; "" where it does for all."""
    return template.format_map(fields) if "of_devices" in fields else ""


def _before(fields: Mapping[str, str], template: str) -> str:
    """Return the part of a text about time before the window of the device; "" where there is none."""
    return template.format_map(fields) if "before_window_ns" in fields else ""


def _rule(condition: str, threshold: Threshold) -> str:
    """Return a sentence of the condition and the source; {} stands for the threshold."""
    return f"{condition.format(bound(threshold))} ({_SOURCES[threshold.source]})."


_DATA_QUEUE_TEXT = "The device is idle for {iteration_gap_idle_ns} when steps begin. {queues} "
_DATA_QUEUE_RULE = _rule(
    f"Idle time when steps begin is at least {bound(model.DATA_QUEUE_SHARE)} of the device's time; data is "
    "late where the queue before the device is empty for more than {} of the batches",
    model.DATA_QUEUE_EMPTY,
)
_CONVERSION_TEXT = (
    "Kernels that do nothing else: {count_per_step} {times}, {total_ns} in all, {share_of_computing} of the "
    "computing time. "
)
_CONVERSION_RULE = _rule("Such kernels take at least {} of the computing time", model.CONVERSION_SHARE)

#: By `Advice.kind`.
ENGLISH_ADVICE = {
    "launch_bound": AdviceWords(
        "Launching takes longer than the kernels",
        "{launches_per_step} launches {times} of kernels that take {mean_kernel_ns} on average: for "
        "{idle_ns} in all ({share_of_window}) the device is idle until the host has launched the next one. "
        "Capture the step in a graph or compile it ({graph}): one launch then stands for many.",
        _rule(
            "The device is idle for at least {} of its time while operators are called and launched, at most "
            f"{bound(model.LAUNCH_PAUSE)} a launch, and kernels take at most {bound(model.LOOP_KERNEL)} on "
            "average",
            model.LAUNCH_SHARE,
        ),
    ),
    "small_operators_in_loop": AdviceWords(
        "Small operators launched one by one",
        "{who} enqueues {operators} over and over{loop}: {launches_per_step} launches {times} for "
        "kernels of {mean_kernel_ns} on average, and the device is idle for {idle_ns} in all while it waits "
        "for them. One fused or batched form {form} saves up to {launches_saved_per_step} launches {times}.",
        _rule(
            "A line enqueues the same operator at least {} a step in one call of a function, its kernels "
            f"take at most {bound(model.LOOP_KERNEL)} on average, and the idle time is at least "
            f"{bound(model.LOOP_SHARE)} of the device's time",
            model.LOOP_REPEATS,
        ),
    ),
    "sync_in_loop": AdviceWords(
        "The host waits for the device again and again",
        "{who} synchronises {count_per_step} times {times} and waits {wait_ns} in all. {dry} the device runs "
        "dry: {exposed_idle_ns} of idle time follow in all. Keep the values on the device and read them "
        "once, at the end, or not in every step.",
        _rule(
            "The same call from the same line synchronises at least {} {{times}}, and idle time{{least}} "
            "follows",
            model.SYNC_REPEATS,
        ),
    ),
    "data_loader_slow": AdviceWords(
        "The data loader is slow",
        "The host waits for data for {total_ns} in all, {slowest_ns} of it in the slowest {unit}, for at "
        f"least {bound(model.DATA_LOADER)} in {{slow}}. The device is idle for {{idle_ns}} in all "
        "meanwhile{before}. Give the data loader more workers, let it prefetch, or move its work to the "
        "device.",
        _rule("The data loader takes at least {} in a {{unit}}", model.DATA_LOADER),
    ),
    "data_queue.taking": AdviceWords(
        "Taking data from the queue is late",
        f"{_DATA_QUEUE_TEXT}Data was there: look at GetNext itself, and at what else the host does between "
        "steps.",
        _DATA_QUEUE_RULE,
    ),
    "data_queue.sending": AdviceWords(
        "Sending data to the device is late",
        f"{_DATA_QUEUE_TEXT}The host had data ready: make batches smaller on the way (types, padding), send "
        "fewer columns.",
        _DATA_QUEUE_RULE,
    ),
    "data_queue.pipeline": AdviceWords(
        "The data pipeline is late",
        f"{_DATA_QUEUE_TEXT}{{operator}} gets too little done: give it more workers, simplify it, or cache "
        "it.",
        _DATA_QUEUE_RULE,
    ),
    "garbage_collection": AdviceWords(
        "Garbage collections stop the host",
        f"Garbage collections of {bound(model.COLLECTION)} or more: {{count}}, {{longest_ns}} the longest. "
        "The device is idle for {idle_ns} in all while Python collects garbage. Call gc.freeze() once after "
        "start-up, and gc.disable() with a gc.collect() every so many steps.",
        _rule("A garbage collection takes at least {}", model.COLLECTION),
    ),
    "memory_allocation_stalls": AdviceWords(
        "The device waits while memory is allocated",
        "Calls that allocate or free device memory: {calls}, {total_ns} in all. The device is idle for "
        "{idle_ns} in all meanwhile. {remedy}",
        _rule("Calls that allocate or free device memory take at least {} of idle time", model.MEMORY),
    ),
    "dispatch_queue_late": AdviceWords(
        "The task queue launches late",
        "{waits} times a task was in the queue already while the device was idle, {waiting_ns} in all: "
        "{busy_ns} behind another launch, {wakeup_ns} until its thread woke up. {remedy}",
        _rule(
            "The idle time of tasks in the task queue is at least {} of the device's time", model.QUEUE_SHARE
        ),
    ),
    "operators_compiled_at_run_time": AdviceWords(
        "Operators are compiled while training",
        "Compilations: {compilations_per_step} {times}. The device is idle for {idle_ns} in all meanwhile. "
        "{remedy}",
        _rule("Compiling takes at least {} of the device's time, as idle time", model.COMPILE_SHARE),
    ),
    "threads_without_a_core": AdviceWords(
        "Threads are ready and have no core",
        "For {idle_ns} of idle time a thread of the host was ready and had no core; for {foreign_ns} of that "
        "other processes are known to have had it{nobody}. Cores with several threads of the trace: "
        "{shared_cores}. {remedy}",
        _rule(
            "Idle time of threads without a core is at least {} of the device's time", model.PREEMPTED_SHARE
        ),
    ),
    "interrupts_on_launching_cores": AdviceWords(
        "Interrupts stop the threads that launch",
        "Interrupts on cores of the host's threads (cores: {cores}) keep the device idle for {idle_ns}. Keep "
        "them off these cores with irqbalance and a list of banned cores, or "
        "/proc/irq/N/smp_affinity{saves}.",
        _rule("Interrupts cost at least {} of the device's time, as idle time", model.INTERRUPT_SHARE),
    ),
    "threads_migrate": AdviceWords(
        "Threads migrate between cores",
        "Threads of the host that come to another core: {threads}, up to {migrations_per_s} times a second. "
        "They find their caches cold. Pin them to cores of one socket with {setting}.",
        _rule("A thread comes to another core at least {} a second", model.MIGRATIONS),
    ),
    "threads_change_nodes": AdviceWords(
        "Threads migrate between NUMA nodes",
        "Threads of the host that come to a core of another NUMA node: {threads}, up to "
        "{node_migrations_per_s} times a second. They leave their memory behind. Keep them on one "
        "node, that of their device: numactl --cpunodebind=N --membind=N.",
        _rule("A thread comes to another NUMA node at least {} a second", model.NODE_MIGRATIONS),
    ),
    "ai_cpu_operator": AdviceWords(
        "An operator runs on the AI CPU",
        f"Runs of {bound(model.AI_CPU)} or more: {{count_per_step}} {{times}}, {{longest_ns}} the longest. "
        "For {exposed_ns} in all no AI core works meanwhile. Use a type or operator that the AI cores "
        "support (often int32 or float32 for int64 or float64), or compute it on the host, ahead of time.",
        _rule("An operator takes at least {} on the AI CPU", model.AI_CPU),
    ),
    "format_conversions": AdviceWords(
        "Data is converted between formats", f"{_CONVERSION_TEXT}{{remedy}}", _CONVERSION_RULE
    ),
    "casts": AdviceWords(
        "Data is cast between types",
        f"{_CONVERSION_TEXT}Keep data in the type that the operators around it use, and cast once instead of "
        "at every use.",
        _CONVERSION_RULE,
    ),
    "core_frequency_low": AdviceWords(
        "The AI cores run below their maximum frequency",
        "While kernels run, the frequency is {mean_mhz} MHz on average, {share_below} below the "
        "{maximum_mhz} MHz that AI cores of this trace reach; at that, kernels bound by the cores would take "
        "up to {cost} less. Look for limits of power and temperature (npu-smi info), and compare with the "
        "other devices.",
        _rule(
            "The mean frequency of the kernels, weighted by their time, is more than {} below the maximum",
            model.FREQUENCY,
        ),
    ),
    "exposed_communication": AdviceWords(
        "Communication is not overlapped",
        "For {exposed_ns} ({share_of_window}{of}) the device communicates and does not compute. {waiting} "
        "{remedy}",
        _rule(
            "Communication without computing takes at least {} of the device's time, and at least "
            f"{bound(model.COMMUNICATION_EXPOSED)} of all communication",
            model.COMMUNICATION_SHARE,
        ),
    ),
    "late_ranks": AdviceWords(
        "The device waits for ranks that come late",
        "For {waiting_for_ranks_ns} ({share_waiting}{of}) it is in a collective and does not compute: "
        "a rank of the group has not come yet. Find what that rank does meanwhile: its trace, same step "
        "(tracetui ranks). Until it comes sooner, time saved on this rank before such a wait becomes "
        "waiting.",
        _rule(
            "Communication without computing takes at least {} of the device's time, and it waits for at "
            "least half of that",
            model.COMMUNICATION_SHARE,
        ),
    ),
    "exposed_copies": AdviceWords(
        "The device waits for copies",
        "Copies: {count_per_step} {times}, {total_ns} in all, and for {exposed_ns} of that the device does "
        "nothing else. {remedy}",
        _rule(
            "Copies of one line in one direction take at least {} of the device's time with nothing beside "
            "them",
            model.COPY_SHARE,
        ),
    ),
    "iteration_gap": AdviceWords(
        "The device is idle when steps begin",
        "In {steps} of {of_steps} steps{devices} the first task comes late: the device is idle for {idle_ns} "
        "before it in all{before}, {longest_ns} at most. Take out of the way what runs before the forward "
        "pass: reading the loss, logging, loading data.",
        _rule("The device is idle for more than {} before the first task of a step", model.ITERATION_GAP),
    ),
    "free_time": AdviceWords(
        "The device is free for much of the time",
        "{where} device neither computes nor communicates for {share_free} of the time. It is "
        "idle for {idle_ns}, above all {causes}.",
        _rule("Free time is more than {} of {{whole}}", model.FREE_SHARE),
    ),
    "collect_host_events": AdviceWords(
        "Some idle time has no known origin",
        "For {unlinked_idle_ns} of idle time the trace does not tell what the host did; "
        "{linked_tasks} of {tasks} tasks lead to an operator. {remedy}",
        _rule("Idle time of unknown origin is at least {} of the device's time", model.MISSING_SHARE),
    ),
    "collect_stacks": AdviceWords(
        "The trace has no Python stacks",
        "{idle_ns} of idle time and {operators} operators lead to no line of Python. Collect with "
        "with_stack=True.",
        _rule(
            "No event has a stack, and the idle time is at least {} of the device's time", model.MISSING_SHARE
        ),
    ),
    "collect_level_1": AdviceWords(
        "Launches are not recorded",
        "For {launch_idle_ns} of idle time operators were being launched, and level 0 does not tell whether "
        "they were compiled or only sent. Collect at profiler level 1 or 2.",
        _rule(
            "No runtime call is recorded, and launches are at least {} of the device's time",
            model.MISSING_SHARE,
        ),
    ),
    "record_the_scheduler": AdviceWords(
        "The scheduler is not recorded",
        "For {idle_ns} of idle time the host was late. Whether its threads had cores is not recorded: "
        "docs/scheduler.md tells in three lines how to record it, and --sched reads it.",
        _rule("A late host costs at least {} of the device's time, as idle time", model.HOST_BOUND_SHARE),
    ),
}

_OF_COMPUTED = " of the steps whose computing is recorded"
#: By `waiting_part`.
_WAITING = {
    "unsplit": "How much of it is waiting for late ranks, this trace does not tell: tracetui ranks does, "
    "given the traces of all ranks.",
    "on_time": "No rank came late.",
    "waiting": "For {waiting_for_ranks_ns} of it a late rank has not come yet.",
}
_BUCKETS = (
    "{exposed_in_tail_ns} of it come after the backward pass, before the end of which "
    "{forward_backward_computing_alone_ns} of computing run without any communication: smaller buckets"
)
_START_EARLIER = "start it earlier and hide at most {hidden_at_most_ns}."
#: By the id of a rule and `Advice.remedy`.
REMEDIES = {
    "threads_without_a_core": {
        "pinned": "Pin the process to cores of its own with {setting}{saves}.",
        "awake": "Pinning does not help where the core is idle: keep cores from sleeping deeply (cpupower "
        "idle-set, the governor performance).",
    },
    "memory_allocation_stalls": {
        "settings": "Set {setting}, keep shapes the same from step to step, and leave out {without}.",
        "start_up": "One call takes {longest_ns}, longer than allocating does: the first calls of a process "
        "also load what the driver needs. Record steps after the first ones.",
    },
    "format_conversions": {
        "setting": "Keep tensors in one format: {setting}, or convert once, before the loop.",
        "once": "Keep tensors in one format, or convert once, before the loop.",
    },
    "dispatch_queue_late": {
        "queue": "TASK_QUEUE_ENABLE=2 takes more of each launch off the thread that dequeues; try "
        "CPU_AFFINITY_CONF=1 too.",
        "affinity": "CPU_AFFINITY_CONF=1 binds the threads to cores, so that the one that dequeues wakes up "
        "sooner; try TASK_QUEUE_ENABLE=2 too.",
    },
    "operators_compiled_at_run_time": {
        "binaries": "torch.npu.set_compile_mode(jit_compile=False) uses the compiled operators that CANN "
        "brings; shapes that stay the same are compiled once.",
        "shapes": "Keep shapes the same from step to step, or compile all that occur before training starts.",
    },
    "exposed_communication": {
        "buckets": f"{_BUCKETS} {_START_EARLIER}",
        "bucket_cap_mb": f"{_BUCKETS} (bucket_cap_mb) {_START_EARLIER}",
        "asynchronous": "{computing_alone_ns} of computing run without any communication and can hide at "
        "most {hidden_at_most_ns} of it: start collectives earlier, asynchronously, and wait for them where "
        "their result is used.",
        "less": "No computing is left that could hide it: send less, less often, or over faster links.",
    },
    "exposed_copies": {
        "to_device": "Pin the memory (pin_memory=True), copy with non_blocking=True, and copy the next batch "
        "on a stream of its own while this one is computed.",
        "to_host": "Keep values on the device until the end, or copy them to pinned memory with "
        "non_blocking=True and read them a step later.",
        "on_devices": "The data is on a device already: leave out copies that only join, reorder or keep it "
        "(cat, contiguous, clone), write results where they belong, or compile the code, which fuses them.",
        "memset": "It fills memory and copies nothing: allocate without filling (empty for zeros) where all "
        "of it is written before it is read, or compile the code, which fuses it with what follows.",
    },
    "collect_host_events": {
        "host": "The trace has no events of the host: collect those too (PyTorch: ProfilerActivity.CPU).",
        "level": "Collect at profiler level 1 or 2, which records every launch.",
        "warm_up": "Let the profiler warm up for a step, so that it records the launch of every kernel.",
    },
}
