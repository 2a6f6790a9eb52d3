"""What is said of two runs, in Chinese, by the English."""

COMPARISONS = {
    # -- the verdict ------------------------------------------------------------------------------------
    "{run} has no work of a device to compare.": "{run} 中没有可以比较的 Device 任务。",
    "All {time} of {run} count as one step.": "{run} 全部的 {time} 算作一个 step。",
    "Outlier steps, which are left out, take {base} in BASE and {other} in OTHER.": (
        "离群的 step 未参与比较，它们在 BASE 中为 {base}，在 OTHER 中为 {other}。"
    ),
    "Nothing changed: a step takes {time} in both.": "没有变化：两边每个 step 都是 {time}。",
    "a step takes {base} in BASE and {other} in OTHER": "每个 step 在 BASE 中 {base}，在 OTHER 中 {other}",
    "OTHER is {difference}: {reasons}.": "OTHER {difference}：{reasons}。",
    "{took}, but {reasons}.": "{took}，但 {reasons}。",
    "{took}, but most steps are {time} faster: a few make the mean.": (
        "{took}，但多数 step 快 {time}：均值由少数几个决定。"
    ),
    "{took}, but most steps are {time} slower: a few make the mean.": (
        "{took}，但多数 step 慢 {time}：均值由少数几个决定。"
    ),
    "OTHER is {difference}, and no part of it alone by more than chance.": (
        "OTHER {difference}，其中没有哪一部分的变化单独超出偶然。"
    ),
    "Nothing changed by more than 1 % of a step: {took}.": "没有超过一个 step 的 1 % 的变化：{took}。",
    "Nothing changed by more than chance and 1 % of a step: {took}.": (
        "没有超出偶然且超过一个 step 的 1 % 的变化：{took}。"
    ),
    "in {count} of {steps} steps": "{steps} 个 step 中的 {count} 个如此",
    "in {count} of {steps} tested steps": "{steps} 个受检 step 中的 {count} 个如此",
    "{change} {steps}": "{change}（{steps}）",
    "{changed} {steps}": "{changed} {steps}",
    "{shift} ({low} to {high})": "{shift}（{low} 到 {high}）",
    "{count} of {steps} steps are slower than the median of BASE": "{steps} 个 step 中有 {count} 个慢于 BASE 的中位数",
    "{count} of {steps} tested steps are slower than the median of BASE": (
        "{steps} 个受检 step 中有 {count} 个慢于 BASE 的中位数"
    ),
    "{count} of {steps} steps are faster than the median of BASE": "{steps} 个 step 中有 {count} 个快于 BASE 的中位数",
    "{count} of {steps} tested steps are faster than the median of BASE": (
        "{steps} 个受检 step 中有 {count} 个快于 BASE 的中位数"
    ),
    "shift {shift} ms": "偏移 {shift} ms",
    "{share} % interval {low} to {high} ms": "{share} % 置信区间 {low} 到 {high} ms",
    "p = {p}": "p = {p}",
    "{steps} ({numbers})": "{steps}（{numbers}）",
    "shift (interval)": "偏移（置信区间）",
    "{time} ({share}) a step slower": "每个 step 慢了 {time}（{share}）",
    "{time} ({share}) a step faster": "每个 step 快了 {time}（{share}）",
    "; so few steps cannot tell whether that is chance": "；step 太少，无从判断是否偶然",
    ", against {change}": "，但{change}",
    "{time} more idle": "空闲多 {time}",
    "{time} less idle": "空闲少 {time}",
    "{time} more computing": "计算多 {time}",
    "{time} less computing": "计算少 {time}",
    "{time} more exposed communication": "未掩盖的通信多 {time}",
    "{time} less exposed communication": "未掩盖的通信少 {time}",
    "{time} more exposed copies": "未掩盖的拷贝多 {time}",
    "{time} less exposed copies": "未掩盖的拷贝少 {time}",
    " (free {time} more in all {count} steps)": "（{count} 个 step 的 Free 共多 {time}）",
    " (free {time} less in all {count} steps)": "（{count} 个 step 的 Free 共少 {time}）",
    ", {cause} ({label})": "，{cause}（{label}）",
    ", but {time} more of {cause} ({label})": "，而{cause}（{label}）多 {time}",
    ", but {time} less of {cause} ({label})": "，而{cause}（{label}）少 {time}",
    ", {cause} ({label}) alone {time}": "，仅{cause}（{label}）就有 {time}",
    ", {time} of it {cause} ({label})": "，其中 {time} 是{cause}（{label}）",
    "{story} at {line}": "{story}，位于 {line}",
    "{story}, {time} of that at {line}": "{story}，其中 {time} 位于 {line}",
    "{story}, {line} alone {time}": "{story}，仅 {line} 就有 {time}",
    ", {kind} in {operator}": "，{operator} 中的 {kind}",
    ", {what}": "，{what}",
    ", {what} of {name}": "，{name} 的 {what}",
    " of {name}": "，{name}",
    "{said}.": "{said}。",
    "{said}: {reasons}.": "{said}：{reasons}。",
    "Waiting for each other costs the ranks {time} a step in all, and {base} in BASE, but for another reason: {more} instead of {less}.": (
        "各卡因互相等待每个 step 共损失 {time}，在 BASE 中是 {base}，但原因变了：{more}，而不是 {less}。"
    ),
    "Waiting for each other costs the ranks {time} a step in all, as in BASE.": (
        "各卡因互相等待每个 step 共损失 {time}，与 BASE 相同。"
    ),
    "Waiting for each other costs the ranks {time} a step in all, and {base} in BASE.": (
        "各卡因互相等待每个 step 共损失 {time}，在 BASE 中是 {base}。"
    ),
    "Waiting for each other costs the ranks {time} a step in all, {change} more than in BASE": (
        "各卡因互相等待每个 step 共损失 {time}，比 BASE 多 {change}"
    ),
    "Waiting for each other costs the ranks {time} a step in all, {change} less than in BASE": (
        "各卡因互相等待每个 step 共损失 {time}，比 BASE 少 {change}"
    ),
    # -- both sides -------------------------------------------------------------------------------------
    "{kind}, no work of a device": "{kind}，没有 Device 任务",
    "{steps} ({number})": "{steps}（{number}）",
    "{steps} ({first} to {last})": "{steps}（{first} 到 {last}）",
    "{steps} of {mean} ms": "{steps}，平均 {mean} ms",
    "{low} to {high}": "{low} 到 {high}",
    "{name} (waiting)": "{name}（等待）",
    "{name} (moving)": "{name}（传输）",
    "{count} ranks ({numbers})": "{count} 张卡（{numbers}）",
    "in all {time}: {parts}": "总计 {time}：{parts}",
    "computing {time}": "计算 {time}",
    "exposed communication {time}": "未掩盖的通信 {time}",
    "free {time}": "Free {time}",
    # -- tables -----------------------------------------------------------------------------------------
    "{title}, {unit}": "{title}，{unit}",
    "ms": "单位 ms",
    "ms a step": "每个 step，单位 ms",
    "rank-ms a step": "每个 step，单位 卡·ms",
    "A step, by what its time went into": "一个 step 的时间去向",
    "Phases: marked ranges, by time of the device": "阶段：标记的区间，按 Device 时间",
    "Both sides need marked ranges: msTX, NVTX or record_function.": (
        "两边都需要标记的区间：msTX、NVTX 或 record_function。"
    ),
    "Classes of operators, by device time": "各类算子，按 Device 时间",
    "Operators of level 1, by device time": "最外层算子，按 Device 时间",
    "Modules, by device time with what is inside": "模块，按 Device 时间，包含其内部",
    "Kernels": "Kernel",
    "Lines of Python, by idle time": "Python 代码行，按空闲",
    "Causes of idle time, preparing included": "空闲的原因，包含准备时间",
    "Collectives": "集合通信",
    "Operators of the host, by their time there": "Host 算子，按 Host 时间",
    "Advice on all steps, by the time that it explains": "所有 step 的建议，按它所解释的时间",
    "Memory": "显存",
    "Ranks, by their mean step, and what changed most in it": "各卡，按平均一个 step，以及其中变化最大的部分",
    "Why ranks waited for each other, of all that waited": "各卡为什么互相等待，对所有等待的卡求和",
    "new": "新增",
    "gone": "消失",
    "yes": "是",
    "only in {run}: {what}": "只在 {run} 中：{what}",
    "only in {run}: 1 more stretch, {time} ms a step": "只在 {run} 中：另有 1 段，每个 step {time} ms",
    "only in {run}: {count} more stretches, {time} ms a step": "只在 {run} 中：另有 {count} 段，每个 step {time} ms",
    "{first} … {last} ({count} operators)": "{first} … {last}（{count} 个算子）",
    "{what}, {times} times and {time} ms a step": "{what}，每个 step {times} 次，{time} ms",
    "{count} more: --by {table} --top 0": "另有 {count} 个：--by {table} --top 0",
    "{line} (backward)": "{line}（反向）",
    "Neither side has any.": "两边都没有。",
    "Both sides need frames of nn.Module: with_modules=True, or with_stack=True on a GPU.": (
        "两边都需要 nn.Module 的栈帧：with_modules=True，GPU 上用 with_stack=True。"
    ),
    "Both sides need kernels that compute, on devices of one make: see the operators.": (
        "两边都需要计算类 kernel，且设备来自同一厂家：请看算子。"
    ),
    "Both sides need recorded memory: profile_memory=True.": "两边都需要显存的记录：profile_memory=True。",
    "Neither side communicates.": "两边都没有通信。",
    "Both sides need stacks of Python, with_stack=True, and idle time at a line.": (
        "两边都要有 Python 调用栈（with_stack=True），并且在某一代码行上有空闲时间。"
    ),
    "There is no advice for either side.": "两边都没有建议。",
    "These are of jobs: of directories of several ranks, or of their digests.": (
        "这张表用于作业：多卡的目录，或它们的摘要。"
    ),
    # -- the viewer -------------------------------------------------------------------------------------
    "a step {base} {arrow} {other} ms, {change} ms ({share})": "每个 step {base} {arrow} {other} ms，{change} ms（{share}）",
    "less": "减少",
    "more": "增加",
    "{time} ms a step": "每个 step {time} ms",
    "{mean} ({low} to {high})": "{mean}（{low} 到 {high}）",
    "once": "1 次",
    "{count} times": "{count} 次",
    "No change.": "没有变化。",
    "Changed by {change}: {why}": "变化 {change}：{why}",
    "the steps do not overlap, and too few tell of chance.": "各 step 不重叠，但太少，无从判断是否偶然。",
    "{change}: nothing tells whether that is chance.": "{change}：无从判断是否偶然。",
    "{change}: at most 1 % of a step of BASE.": "{change}：不超过 BASE 一个 step 的 1 %。",
    "{change}: at most 1 % of a step of all ranks of BASE.": "{change}：不超过 BASE 所有卡一个 step 的 1 %。",
    "{change}, perhaps by chance: {why}": "{change}，可能是偶然：{why}",
    "the steps overlap.": "各 step 重叠。",
    "{count} steps, shift {shift} ms ({share} %: {low} to {high}).": (
        "{count} 个 step，偏移 {shift} ms（{share} % 置信区间 {low} 到 {high}）。"
    ),
    "Changed by {change}: more than 1 % of the peak of BASE.": "变化 {change}：超过 BASE 峰值的 1 %。",
    "{change}: at most 1 % of the peak of BASE.": "{change}：不超过 BASE 峰值的 1 %。",
    "no device": "没有 Device",
    # -- both stacked -----------------------------------------------------------------------------------
    "BASE and OTHER without steps: both begin at once": "BASE 和 OTHER 都没有 step：两边同时开始",
    "{run} without steps: both begin at once": "{run} 没有 step：两边同时开始",
    "before the first step: it begins at once in both": "第一个 step 之前：两边的第一个 step 同时开始",
    "step {number}: {run} has no such step to compare": "step {number}：{run} 没有可比较的这个 step",
    "step {number} and {other}": "step {number} 与 {other}",
    "{steps}: not on both devices": "{steps}：不是两边的 Device 都有",
    "{steps}: {base} {arrow} {other} ms": "{steps}：{base} {arrow} {other} ms",
    "as long": "一样长",
    "{change} ms ({share})": "{change} ms（{share}）",
    "Compared are the steps of devices: their idle time, operators and communication. A trace of the host "
    "alone has none of that, and is looked at alone.": (
        "比较的是 Device 的各个 step：空闲、算子和通信。只有 Host 的 trace 没有这些，只能单独查看。"
    ),
    "{key} compares with the next open trace.": "{key} 与下一个打开的 trace 比较。",
    "tracetui A B opens two other traces.": "tracetui A B 打开另外两个 trace。",
    "bytes": "单位字节",
    "selected in both": "两边所选",
    "Nothing is selected: arrows go from slice to slice, x to the worst gap.": (
        "没有选中任何对象：方向键在 slice 间移动，x 跳到最严重的间隙。"
    ),
    "the device has no gap there": "那里 Device 没有间隙",
    "nothing there matches it": "那里没有与它对应的",
    "looking for what matches it": "正在查找与它对应的",
    "OTHER takes {time} longer": "OTHER 长 {time}",
    "OTHER takes {time} shorter": "OTHER 短 {time}",
    "OTHER takes as long": "OTHER 一样长",
    "begins {time} later in its step": "在其 step 中晚开始 {time}",
    "begins {time} earlier in its step": "在其 step 中早开始 {time}",
    "begins at the same time in its step": "在其 step 中同时开始",
    "{length} and {begin}": "{length}，{begin}",
    "{time} into step {number}": "step {number} 开始后 {time}",
    "step {number} is over": "step {number} 已结束",
    "gap, idle {time}": "间隙，空闲 {time}",
    "of {operator}": "由 {operator} 下发",
    "{time} less": "少 {time}",
}
