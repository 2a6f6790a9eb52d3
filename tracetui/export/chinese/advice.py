"""Advice in Chinese, by the id of its rule.

The names in braces are those of its evidence: times and shares as text, means with one decimal at most.
"""

from __future__ import annotations

from tracetui.analysis.advice import model
from tracetui.analysis.advice.model import Threshold
from tracetui.export.sentences.advice_english import AdviceWords, bound

_SOURCES = {
    model.OURS: "tracetui",
    model.MSPROF: "与 msprof-analyze 的建议一致",
    model.MINDSPORE: "与 MindSpore 的指南一致",
}
_UNITS = {"times": "次"}


def _bound(threshold: Threshold) -> str:
    return bound(threshold).replace(threshold.unit, _UNITS.get(threshold.unit, threshold.unit))


def _rule(condition: str, threshold: Threshold) -> str:
    return f"{condition.format(_bound(threshold))}（{_SOURCES[threshold.source]}）。"


ADVICE = {
    "launch_bound": AdviceWords(
        "下发比 kernel 更费时间",
        "{times}{launches_per_step} 次下发，kernel 平均只有 {mean_kernel_ns}：有 {idle_ns}（{share_of_window}）Device 空闲，"
        "在等 Host 下发下一个。把整个 step 捕获成图或编译（{graph}），一次下发代替许多次。",
        _rule(
            "在调用和下发算子期间 Device 空闲至少占其时间的 {}，每次下发不超过 "
            f"{_bound(model.LAUNCH_PAUSE)}，kernel 平均不超过 {_bound(model.LOOP_KERNEL)}",
            model.LAUNCH_SHARE,
        ),
    ),
    "small_operators_in_loop": AdviceWords(
        "小算子逐个下发",
        "{who}反复下发 {operators} 种算子：{times}{launches_per_step} 次，kernel 平均只有 {mean_kernel_ns}，"
        "Device 为等待它们共空闲 {idle_ns}。用一个融合算子或批量写法代替它们，最多可省：{times}"
        "{launches_saved_per_step} 次下发。",
        _rule(
            "同一行代码在一次函数调用中每个 step 至少 {}下发同一算子，其 kernel 平均不超过 "
            f"{_bound(model.LOOP_KERNEL)}，造成的空闲至少占 Device 时间的 {_bound(model.LOOP_SHARE)}",
            model.LOOP_REPEATS,
        ),
    ),
    "sync_in_loop": AdviceWords(
        "Host 反复等待 Device",
        "同一处调用反复同步：{times}{count_per_step} 次，共等待 {wait_ns}；全部 {count} 次中有 {dry_count} 次 Device 被排空，之后共空闲 "
        "{exposed_idle_ns}。把数值留在 Device 上，最后再读一次，或不要每个 step 都读。",
        _rule(
            "同一行的同一调用每个 step 至少同步 {}，且之后有空闲；没有 step 时按全部计，且空闲至少占 Device 时间的 "
            f"{_bound(model.LOOP_SHARE)}",
            model.SYNC_REPEATS,
        ),
    ),
    "data_loader_slow": AdviceWords(
        "数据加载慢",
        "Host 等待数据共 {total_ns}，最慢的一个 step（或 batch）{slowest_ns}，其间 Device 共空闲 {idle_ns}{before}。增加 DataLoader 的 worker 数，"
        "打开预取，或把预处理移到 Device 上。",
        _rule("一个 step（或一个 batch）取数据至少要 {}", model.DATA_LOADER),
    ),
    "data_queue": AdviceWords(
        "step 开始时在等数据",
        "step 开始时 Device 共空闲 {iteration_gap_idle_ns}。{queues}队列不空时请看 "
        "GetNext 和 Host 在 step 之间的其他工作；Host 队列从不为空时，慢在向 Device 发送数据；否则慢在数据处理流水线，给列出的算子"
        "更多 worker、简化它或缓存其结果。",
        _rule(
            f"step 开始时的空闲至少占 Device 时间的 {_bound(model.DATA_QUEUE_SHARE)}；超过 {{}} 的 batch 遇到空队列即为数据来得晚",
            model.DATA_QUEUE_EMPTY,
        ),
    ),
    "garbage_collection": AdviceWords(
        "垃圾回收阻塞 Host",
        f"不少于 {_bound(model.COLLECTION)} 的 Python 垃圾回收有 {{count}} 次，最长 {{longest_ns}}；垃圾回收期间 Device 共空闲 "
        "{idle_ns}。启动完成后调用一次 gc.freeze()，并用 gc.disable() 关闭自动回收，每隔若干个 step 调用一次 gc.collect()。",
        _rule("一次垃圾回收至少 {}", model.COLLECTION),
    ),
    "memory_allocation_stalls": AdviceWords(
        "Device 等待显存申请",
        "{calls} 次申请或释放显存的调用共 {total_ns}，其间 Device 共空闲 {idle_ns}。{remedy}",
        _rule("申请或释放显存的调用造成的空闲至少 {}", model.MEMORY),
    ),
    "dispatch_queue_late": AdviceWords(
        "任务在队列中等待下发",
        "有 {waits} 次任务已在队列中而 Device 空闲：{busy_ns} 排在其他下发之后，{wakeup_ns} 等待出队"
        "线程唤醒。可试 TASK_QUEUE_ENABLE=2（减少出队线程的下发工作）与 CPU_AFFINITY_CONF=1（绑核，唤醒更快）。",
        _rule("任务在队列中造成的空闲至少占 Device 时间的 {}", model.QUEUE_SHARE),
    ),
    "operators_compiled_at_run_time": AdviceWords(
        "训练过程中编译算子",
        "{times}{compilations_per_step} 次编译，Device 为此共空闲 {idle_ns}。让各个 "
        "step 的 shape 保持不变；在 NPU 上使用 torch.npu.set_compile_mode(jit_compile=False)。",
        _rule("编译造成的空闲至少占 Device 时间的 {}", model.COMPILE_SHARE),
    ),
    "ai_cpu_operator": AdviceWords(
        "算子运行在 AI CPU 上",
        f"不少于 {_bound(model.AI_CPU)} 的运行：{{times}}{{count_per_step}} 次，最长 {{longest_ns}}，共有 {{exposed_ns}} 其间没有 AI Core 在工作。换用 AI Core "
        "支持的数据类型或算子（常见的是用 int32、float32 代替 int64、float64），或提前在 Host 上计算。",
        _rule("一个算子在 AI CPU 上至少运行 {}", model.AI_CPU),
    ),
    "format_conversions": AdviceWords(
        "数据格式转换",
        "{times}{count_per_step} 个 kernel 只做格式转换，共 {total_ns}，占计算时间的 {share_of_computing}。{remedy}",
        _rule("此类 kernel 至少占计算时间的 {}", model.CONVERSION_SHARE),
    ),
    "casts": AdviceWords(
        "数据类型转换",
        "{times}{count_per_step} 个 kernel 只做类型转换，共 {total_ns}，占计算时间的 {share_of_computing}。让数据保持前后算子"
        "使用的类型，只转换一次，而不是每次使用都转换。",
        _rule("此类 kernel 至少占计算时间的 {}", model.CONVERSION_SHARE),
    ),
    "core_frequency_low": AdviceWords(
        "AI Core 低于最高频率",
        "kernel 运行时平均频率为 {mean_mhz} MHz，比这个 trace 中 AI Core 达到过的 {maximum_mhz} MHz 低 {share_below}。检查功耗和温度限制"
        "（npu-smi info），并与其他卡比较。",
        _rule("按 kernel 时间加权的平均频率比最高频率低 {} 以上", model.FREQUENCY),
    ),
    "exposed_communication": AdviceWords(
        "通信未掩盖",
        "有 {exposed_ns}（{share_of_window}{of}）Device 只通信不计算。{waiting}{remedy}",
        _rule(
            "未掩盖的通信至少占 Device 时间的 {}，且至少占全部通信的 "
            f"{_bound(model.COMMUNICATION_EXPOSED)}",
            model.COMMUNICATION_SHARE,
        ),
    ),
    "late_ranks": AdviceWords(
        "Device 在等待慢卡",
        "有 {waiting_for_ranks_ns}（{share_waiting}{of}）处于集合通信中，不计算：通信域里有一张卡还没有到。请看那张卡同一个 step 的 trace"
        "（tracetui ranks）。在它提前到达之前，本卡在这样的等待之前省下的时间会变成等待。",
        _rule("未掩盖的通信至少占 Device 时间的 {}，且其中至少一半是等待", model.COMMUNICATION_SHARE),
    ),
    "exposed_copies": AdviceWords(
        "Device 等待拷贝",
        "{times}{count_per_step} 次拷贝共 {total_ns}，其中 {exposed_ns} Device 没有做其他事。拷入 Device：用锁页内存"
        "（pin_memory=True）和 non_blocking=True，并在独立的流上、当前 batch 计算期间拷贝下一个 batch；拷回 Host：把数值留在 "
        "Device 上，最后再读；Device 内部的拷贝：去掉多余的 cat、contiguous、clone，或编译代码使其融合；填充"
        "内存（memset）：先写后读的内存不必填充（用 empty 代替 zeros）。",
        _rule("同一行同一方向的拷贝单独占用至少 {} 的 Device 时间", model.COPY_SHARE),
    ),
    "iteration_gap": AdviceWords(
        "step 开始时 Device 空闲",
        "{devices}{of_steps} 个 step 中有 {steps} 个的第一个任务来得晚：此前 Device 共空闲 {idle_ns}{before}，最长 {longest_ns}。把前向之前的"
        "工作移开：读取 loss、打日志、取数据。",
        _rule("一个 step 的第一个任务之前 Device 空闲超过 {}", model.ITERATION_GAP),
    ),
    "free_time": AdviceWords(
        "Device 大量空闲",
        "{where}{devices}Device 有 {share_free} 的时间既不计算也不通信，共空闲 {idle_ns}，最多的是{causes}。",
        _rule("一个 step（没有 step 时为整个 trace）的 Free 时间超过 {}", model.FREE_SHARE),
    ),
    "collect_host_events": AdviceWords(
        "部分空闲来源不明",
        "有 {unlinked_idle_ns} 的空闲，trace 没有记录 Host 在做什么；{tasks} 个任务中有 {linked_tasks} 个能关联"
        "到算子。采集时打开 Host 侧事件，并先预热一个 step；Ascend 上用 Level1 或 Level2。",
        _rule("来源不明的空闲至少占 Device 时间的 {}", model.MISSING_SHARE),
    ),
    "collect_stacks": AdviceWords(
        "trace 中没有 Python 调用栈",
        "{idle_ns} 的空闲和 {operators} 个算子找不到 Python 代码行。采集时打开 with_stack=True。",
        _rule("没有任何事件带调用栈，且空闲至少占 Device 时间的 {}", model.MISSING_SHARE),
    ),
    "threads_without_a_core": AdviceWords(
        "线程就绪却没有核",
        "有 {idle_ns} 的空闲期间 Host 线程已就绪却没有核；其中已知有 {foreign_ns} 核被其他进程占用{nobody}。有 "
        "{shared_cores} 个核上有 trace 中的多个线程。{remedy}",
        _rule("线程没有核的空闲至少占 Device 时间的 {}", model.PREEMPTED_SHARE),
    ),
    "threads_migrate": AdviceWords(
        "线程在核之间迁移",
        "有 {threads} 个 Host 线程换到别的核上，最多每秒 {migrations_per_s} 次，缓存随之失效。用 {setting} "
        "把它们绑到同一插槽的核上。",
        _rule("一个线程每秒至少换核 {}", model.MIGRATIONS),
    ),
    "threads_change_nodes": AdviceWords(
        "线程在 NUMA 节点之间迁移",
        "有 {threads} 个 Host 线程换到别的 NUMA 节点的核上，最多每秒 {node_migrations_per_s} 次，内存却留在原节点。"
        "让它们留在一个节点，即其 Device 所在的节点：numactl --cpunodebind=N --membind=N。",
        _rule("一个线程每秒至少换 NUMA 节点 {}", model.NODE_MIGRATIONS),
    ),
    "interrupts_on_launching_cores": AdviceWords(
        "中断阻塞下发线程",
        "{cores} 个 Host 线程所在的核上的中断造成 {idle_ns} 的空闲。让中断避开这些核：irqbalance 中禁用它们，或设置 "
        "/proc/irq/N/smp_affinity{saves}。",
        _rule("中断造成的空闲至少占 Device 时间的 {}", model.INTERRUPT_SHARE),
    ),
    "record_the_scheduler": AdviceWords(
        "没有调度器记录",
        "有 {idle_ns} 的空闲是 Host 来得晚。线程当时有没有核没有记录：docs/zh/scheduler.md 用三行说明如何采集，"
        "用 --sched 读取。",
        _rule("Host 来得晚造成的空闲至少占 Device 时间的 {}", model.HOST_BOUND_SHARE),
    ),
    "collect_level_1": AdviceWords(
        "没有下发的记录",
        "有 {launch_idle_ns} 的空闲处于算子下发之中，Level0 无法区分是在编译还是在下发。用 Level1 或 Level2 采集。",
        _rule("没有任何 runtime 调用的记录，且下发至少占 Device 时间的 {}", model.MISSING_SHARE),
    ),
}

_BUCKETS = (
    "其中 {{exposed_in_tail_ns}} 在反向之后，而反向结束之前有 {{forward_backward_computing_alone_ns}} 的计算没有任何通信：更小的"
    "{}让通信更早开始，最多掩盖 {{hidden_at_most_ns}}。"
)
_OF_COMPUTED = "，只计有计算记录的 step"
_SAVES = "：最多省下 {saves_at_most_ns}"
_SAVES_WITH_PEERS = (
    "：除去对晚到对端的等待，最多省下 {saves_at_most_ns}；对端也提前时最多 {saves_with_peers_ns}"
)

#: What stands in the texts above where there is something to say: by the id of the rule and the part.
PARTS = {
    "data_loader_slow.before": "，在它的第一个 kernel 之前还有 {before_window_ns}",
    "data_queue.queues": "Device 前的数据队列在 {batches} 个 batch 中有 {empty} 个为空。",
    "exposed_communication.asynchronous": "{computing_alone_ns} 的计算没有任何通信，最多可掩盖其中 {hidden_at_most_ns}：更早地"
    "异步发起集合通信，用到结果时再等待。",
    "exposed_communication.bucket_cap_mb": _BUCKETS.format("分桶（bucket_cap_mb）"),
    "exposed_communication.buckets": _BUCKETS.format("分桶"),
    "exposed_communication.less": "没有计算可用来掩盖它：减少通信量或通信次数，或使用更快的链路。",
    "exposed_communication.of": _OF_COMPUTED,
    "exposed_communication.on_time": "各卡都没有迟到。",
    "exposed_communication.unsplit": "其中多少是在等待慢卡，这份 trace 看不出；有了各卡的 trace，tracetui ranks 能分出。",
    "exposed_communication.waiting": "其中 {waiting_for_ranks_ns} 在等待慢卡。",
    "free_time.devices": "{of_devices} 个 Device 中有 {devices} 个，",
    "iteration_gap.devices": "{of_devices} 个 Device 中有 {devices} 个，",
    "format_conversions.once": "让张量保持同一格式，或在循环之前只转换一次。",
    "format_conversions.setting": "让张量保持同一格式：{setting}，或在循环之前只转换一次。",
    "free_time.where": "{of_steps} 个 step 中有 {steps} 个，",
    "interrupts_on_launching_cores.saves_at_most_ns": _SAVES,
    "interrupts_on_launching_cores.saves_with_peers_ns": _SAVES_WITH_PEERS,
    "memory_allocation_stalls.settings": "设置 {setting}，各个 step 保持相同的 shape，不要调用 {without}。",
    "memory_allocation_stalls.start_up": "其中一次调用 {longest_ns}，比申请显存所需的长：进程最初的调用还要加载驱动所需的内容。"
    "请采集最初几个 step 之后的 step。",
    "iteration_gap.before": "，其中 {before_window_ns} 在它的第一个 kernel 之前",
    "late_ranks.of": _OF_COMPUTED,
    "small_operators_in_loop.function": "同一个函数",
    "small_operators_in_loop.line": "同一行代码",
    "threads_without_a_core.awake": "核空闲时绑核无济于事：不要让核深度睡眠（cpupower idle-set，governor 设为 performance）。",
    "threads_without_a_core.nobody": "，{nobody_ns} 核空闲、正在唤醒",
    "threads_without_a_core.pinned": "用 {setting} 把进程绑到自己的核上{saves}。",
    "threads_without_a_core.saves_at_most_ns": _SAVES,
    "threads_without_a_core.saves_with_peers_ns": _SAVES_WITH_PEERS,
}

#: The names of the numbers of evidence, by their keys.
FIGURES = {
    "before_window_ns": "第一个 kernel 之前",
    "batches": "batch 数",
    "busy_ns": "排在其他下发之后",
    "calls": "调用次数",
    "calls_per_step": "每个 step 的调用",
    "collectives": "集合通信",
    "communication_ns": "通信",
    "compilations": "编译次数",
    "compilations_per_step": "每个 step 的编译",
    "computing_alone_ns": "单独计算",
    "forward_backward_computing_alone_ns": "前向和反向中单独计算",
    "tail_computing_alone_ns": "拖尾中单独计算",
    "count": "次数",
    "count_per_step": "每个 step 的次数",
    "device": "Device",
    "dry_count": "其中排空",
    "empty": "空队列次数",
    "exposed_idle_ns": "之后的空闲",
    "exposed_in_forward_backward_ns": "前向和反向中未掩盖",
    "exposed_in_tail_ns": "拖尾中未掩盖",
    "exposed_ns": "未掩盖",
    "free_ns": "Free",
    "hidden_at_most_ns": "最多可掩盖",
    "host_queue_empty_share": "Host 队列为空的占比",
    "idle_ns": "空闲",
    "iteration_gap_idle_ns": "step 开始时的空闲",
    "kernels": "kernel 数",
    "kernels_below": "低于最高频率的 kernel",
    "kernels_ns": "kernel 时间",
    "launch_idle_ns": "下发中的空闲",
    "launches": "下发次数",
    "launches_per_step": "每个 step 的下发",
    "launches_saved_per_step": "每个 step 可省的下发",
    "linked_tasks": "已关联的任务",
    "longest_ns": "最长",
    "longest_wait_ns": "最长等待",
    "lowest_mhz": "最低频率 MHz",
    "maximum_mhz": "最高频率 MHz",
    "mean_kernel_ns": "kernel 平均",
    "mean_mhz": "平均频率 MHz",
    "of_steps": "step 总数",
    "operators": "算子数",
    "repeats_per_step": "每个 step 的重复",
    "share_below": "低于最高的比例",
    "share_free": "Free 占比",
    "share_of_computing": "占计算时间",
    "share_of_window": "占 Device 时间",
    "setting": "设置",
    "cores": "核数",
    "foreign_ns": "其他进程占用",
    "nobody_ns": "核在唤醒",
    "migrations_per_s": "每秒迁移",
    "node_migrations_per_s": "每秒跨节点迁移",
    "saves_at_most_ns": "最多省下",
    "saves_with_peers_ns": "对端也提前时最多省下",
    "shared_cores": "共用的核",
    "threads": "线程数",
    "without": "不要调用",
    "graph": "捕获成图的方法",
    "slow_batches": "慢的 batch",
    "slow_steps": "慢的 step",
    "slowest_ns": "最慢",
    "steps": "step 数",
    "tasks": "任务数",
    "total_ns": "总计",
    "unlinked_idle_ns": "来源不明的空闲",
    "wait_ns": "等待",
    "waiting_for_ranks_ns": "等待慢卡",
    "waits": "等待次数",
    "waits_per_step": "每个 step 的等待",
    "wakeup_ns": "等待出队线程唤醒",
    "workers": "worker 数",
}
