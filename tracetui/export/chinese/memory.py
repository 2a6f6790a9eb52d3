"""What is said of memory, in Chinese, by the English."""

MEMORY = {
    "Nothing is known of the memory: profile with profile_memory=True (before PyTorch 1.11 it leaves no "
    "addresses of blocks, which are needed), and on an NPU keep the tables of this rank, and of no other, "
    "beside the trace.": (
        "没有可用的显存记录：采集时打开 profile_memory=True（PyTorch 1.11 之前的记录没有内存块地址，无法分析）；NPU 上还要把本 rank（且只有本 rank）的各表保留在 trace 旁边。"
    ),
    "Events are told by their numbers, not by times.": "没有记录时间：事件以编号表示。",
    "No curve tells how much is held.": "没有曲线说明占用了多少。",
    "{device}: peak {size}": "{device}：峰值 {size}",
    "{peak} at {time}": "{peak}，在 {time}",
    "{peak} in step {step}": "{peak}，step {step}",
    "{peak}: {size} of it allocated at {line}": "{peak}：其中 {size} 由 {line} 申请",
    "{size} of it is in no recorded block: allocated before, or left out": (
        "其中 {size} 不在任何记录的块中：在采集之前申请，或没有记录"
    ),
    "{size} more was reserved: cached, or lost between blocks": "另外预留了 {size}：被缓存，或成为块之间的碎片",
    "{size} of the process lay outside: workspace, communication, others": (
        "进程另有 {size} 在 PyTorch 之外：workspace、通信等"
    ),
    "Of one step nothing can be said about growth.": "只有一个 step，无法判断是否增长。",
    "There are no steps to compare.": "没有可以比较的 step。",
    "No curve tells of growth.": "没有曲线说明增长。",
    "From step to step: {parts}": "逐 step 变化：{parts}",
    "{size} in {step}": "step {step} {size}",
    "grows {size} a step": "每个 step 增长 {size}",
    "may grow {size} a step": "可能每个 step 增长 {size}",
    "{grows}: {parts}": "{grows}：{parts}",
    "grows": "增长",
    "may grow": "可能增长",
    "{nth} of {count}": "第 {nth}/{count} 次",
    "{some} of {count}": "{some}/{count} 次",
    "{calls} at {line}": "{line} 的 {calls}",
    "the only call": "唯一一次调用",
    "the {nth} of {count} calls": "{count} 次调用中的第 {nth} 次",
    "{some} of {count} calls": "{count} 次调用中的 {some} 次",
    "after {name}": "在 {name} 之后",
    "before {name}": "在 {name} 之前",
    "alive since steps {steps}": "从 step {steps} 起一直存活",
    "No operator holds more after every step.": "没有哪个算子在每个 step 之后都占用得更多。",
    "Which blocks are held is not recorded.": "没有采集哪些块仍被占用。",
    "All that was allocated in this time was released before the recording ended.": (
        "这段时间申请的显存在采集结束之前都已释放。"
    ),
    "{count} blocks": "{count} 个块",
    "Nothing was allocated in this time.": "这段时间没有申请显存。",
    "Of what was allocated in this time, {size} in {blocks} is alive at the end, which by itself is no leak.": (
        "这段时间申请的显存中，结束时仍存活（本身不等于泄漏）：{blocks}，共 {size}。"
    ),
    "Components": "组件",
    "Components, of the whole recording": "组件（整个采集）",
    "Memory of the host, in no sum of a device": "主机内存，不计入 Device",
    "Static memory of graphs, given before they run": "图的静态内存，运行之前分配",
    "Blocks, the largest first": "各块，最大的在前",
    "Blocks by size, most in all first": "按大小统计的块，总量多的在前",
    "Operators and lines, those first that allocate most": "算子和代码行，分配多的在前",
    "Operators and lines, those first that hold most at the peak": "算子和代码行，峰值时占用多的在前",
    "{count} more: --top 0": "另有 {count} 个：--top 0",
    "{count} more with --json": "另有 {count} 个：--json",
    # -- the story of a block ---------------------------------------------------------------------------
    "at {time}": "在 {time}",
    "by event {number}": "事件 {number}",
    "One of {count} blocks: ": "{count} 个块之一：",
    "The only block: ": "唯一的块：",
    "The only block held at the peak: ": "峰值时唯一存活的块：",
    "The largest of {count} blocks: ": "{count} 个块中最大的：",
    "The largest of {count} blocks held at the peak: ": "峰值时存活的 {count} 个块中最大的：",
    "{size} allocated {start}, {call} of that line": "{size}，{start}，由该行的{call}申请",
    "{size} allocated {start} by {call} of that line": "{size}，{start} 由该行的{call}申请",
    "{allocation} in step {number}": "{allocation}，step {number}",
    "{allocation}, {life}.": "{allocation}，{life}。",
    "{grows}. The last {size} allocated {start}, {life}.": "{grows}。最后一个 {size} {start}申请，{life}。",
    "never released: alive until the end": "一直没有释放，存活到最后",
    "never released: alive until the end, through 1 more step": "一直没有释放，又经过 1 个 step，存活到最后",
    "never released: alive until the end, through {count} more steps": (
        "一直没有释放，又经过 {count} 个 step，存活到最后"
    ),
    "released after {time}": "{time} 之后释放",
    "released after {time} in step {number}": "{time} 之后在 step {number} 释放",
    "The device runs {task} for it": "Device 为它执行 {task}",
    "On the device it lies {where}.": "在 Device 上，它{where}。",
}
