"""What reports on a trace say around their tables, in Chinese, by the English: advice, gaps, lines, links."""

REPORTS = {
    # -- how parts follow each other --------------------------------------------------------------------
    "{name}, {name}": "{name}、{name}",
    "{clause}, {clause}": "{clause}，{clause}",
    "{sentence} {sentence}": "{sentence}{sentence}",
    "{this}; {that}": "{this}；{that}",
    "{sentence}.": "{sentence}。",
    "{fact}.": "{fact}。",
    "{title}.": "{title}。",
    "{device}: {what}": "{device}：{what}",
    "{name}: {what}": "{name}：{what}",
    "reading {share}{done} of {total}  {events} events": "正在读取 {share}{done} / {total}  {events} 个事件",
    "reading {share}{done} of {total}  {events} events, nothing for {seconds} s": (
        "正在读取 {share}{done} / {total}  {events} 个事件，已有 {seconds} s 没有新数据"
    ),
    "reading the scheduler {share}{done}": "正在读取调度器记录 {share}{done}",
    "reading {share}ranks: {done} of {ranks}  {size} of {total}": (
        "正在读取 {share}{done} / {ranks} 张卡  {size} / {total}"
    ),
    "{what} at {line}": "{line} 处的 {what}",
    "{names} and {count} more": "{names}，另有 {count} 个",
    "{count} more": "另有 {count} 个",
    # -- counts -----------------------------------------------------------------------------------------
    "1 gap": "1 个间隙",
    "{count} gaps": "{count} 个间隙",
    "1 slice": "1 个 slice",
    "{count} slices": "{count} 个 slice",
    "{count} tasks": "{count} 个任务",
    "1 event": "1 个事件",
    "{count} events": "{count} 个事件",
    "1 call": "1 次调用",
    "{count} calls": "{count} 次调用",
    "1 step": "1 个 step",
    "{count} steps": "{count} 个 step",
    "{count} steps of ranks": "{count} 个各 rank 的 step",
    "{count} lines": "{count} 行代码",
    "step {number}": "step {number}",
    # -- advice -----------------------------------------------------------------------------------------
    "{count} pieces of advice": "{count} 条建议",
    "{pieces} by lost time{last}; some are about the same time": "{pieces}，损失时间最多的在前{last}；几条可能说的是同一段时间",
    ", notes last": "，关于采集的说明在最后",
    "Advice, by the time it is about": "建议，按涉及的时间排序",
    "Advice: the {most} of {all} about the most time (tracetui advice shows all)": (
        "建议：{all} 条中涉及时间最多的 {most} 条（tracetui advice 显示全部）"
    ),
    "Nothing in this trace calls for advice.": "这个 trace 没有需要建议的地方。",
    "{advice}: {place}": "{advice}：{place}",
    "{cost}, {mean} a step": "{cost}，每个 step {mean}",
    "note": "说明",
    "at": "位置",
    "of": "对象",
    "if": "规则",
    "At {place}.": "位置：{place}。",
    "Of {names}.": "对象：{names}。",
    "Rule: {rule}": "规则：{rule}",
    # -- summary ----------------------------------------------------------------------------------------
    "JSON; --from db reads the database beside it": "JSON；用 --from db 读取旁边的数据库",
    "database; --from json reads the JSON beside it": "数据库；用 --from json 读取旁边的 JSON",
    "database; the JSON beside it is cut off": "数据库；旁边的 JSON 不完整",
    "{kind} trace of {time}": "{kind} trace，时长 {time}",
    "{events} events in {files} files": "{files} 个文件中的 {events} 个事件",
    "{count} skipped": "略去 {count} 个",
    "cut off at its end": "末尾被截断",
    "Run: {facts}": "运行：{facts}",
    "The tables beside it agree: {tables}": "与旁边的表一致：{tables}",
    "No known device in this trace: no task of one is recognised.": "这个 trace 中没有可识别的 Device：没有识别出 Device 的任务。",
    "{length}, from {start} to {end}": "{length}，从 {start} 到 {end}",
    "1 task, which neither computes nor communicates": "1 个任务，既不计算也不通信",
    "{count} tasks, none of which computes or communicates": "{count} 个任务，都不是计算或通信",
    "computing": "计算",
    "exposed communication": "未掩盖的通信",
    "waiting": "等待",
    "moving": "传输",
    "waiting or moving": "等待或传输",
    "copies": "拷贝",
    "In all: {parts}": "总计：{parts}",
    "communication {time} ms ({share})": "通信 {time} ms（{share}）",
    "free {time} ms ({share})": "Free {time} ms（{share}）",
    "{tasks}; {share} lead back to an operator": "{tasks}；{share} 能关联回算子",
    "{tasks}: {kinds}": "{tasks}：{kinds}",
    "{count} compute": "计算 {count} 个",
    "{count} communication": "通信 {count} 个",
    "{count} copies": "拷贝 {count} 个",
    "{count} waits and the like": "等待及其他 {count} 个",
    "the trace's own Overlap Analysis says otherwise:": "trace 自带的 Overlap Analysis 与此不同：",
    "it leaves out {time} between iterations": "它不计迭代之间的 {time}",
    "Why {device} was idle for {time}": "{device} 为什么空闲 {time}",
    "Why it was idle for {time}": "为什么空闲 {time}",
    "Why preparing steps took {time}": "准备 step 为什么用了 {time}",
    "copies on the device": "Device 上的拷贝",
    "Preparing steps took {time}: {causes}": "准备 step 共 {time}：{causes}",
    "Preparing steps took {time}, of which copies {copies}": "准备 step 共 {time}，其中拷贝 {copies}",
    "the rest: {causes}": "其余：{causes}",
    "Steps, in ms": "各 step，单位 ms",
    "of a mean step on the host: {phases}": "平均一个 step 在 Host 上：{phases}",
    "{count} more steps: --top 0": "另有 {count} 个 step：--top 0",
    "{count} more steps are not shown.": "另有 {count} 个 step 未列出。",
    "{count} ranks with less are not shown.": "另有 {count} 张用时更少的卡未列出。",
    # -- gaps and lines ---------------------------------------------------------------------------------
    "lost time": "损失的时间",
    "idle time": "空闲",
    "lost": "损失",
    "idle": "空闲",
    "No gaps.": "没有间隙。",
    "No known device works in this trace: whether one is idle is not known.": (
        "这个 trace 中没有可识别的 Device 在计算或通信：是否有空闲未知。"
    ),
    "No idle time.": "没有空闲。",
    "The {shown} of {total} {units} gaps with the most {measure}": "{total} 个 {units} 间隙中{measure}最多的 {shown} 个",
    "1 {units} gap, most {measure} first": "1 个 {units} 间隙，{measure}多的在前",
    "{total} {units} gaps, most {measure} first": "{total} 个 {units} 间隙，{measure}多的在前",
    "for {rank}": "等待 {rank}",
    "exposed by {line}": "由 {line} 的同步引起",
    "until {task}": "直到 {task}",
    "until the end": "直到结束",
    "Idle time by Python line: {time}, {lines}": "按 Python 代码行统计的空闲：{time}，{lines}",
    "{causes}; in {names}": "{causes}；在 {names} 中",
    "{count} more, {left} together: --top 0": "另有 {count} 行，共 {left}：--top 0",
    "{count} with less are not shown.": "另有 {count} 个更少的未列出。",
    "A line can save more than its idle time: what the host does while the device is still busy delays "
    "later launches too.": "一行能省的可能比它的空闲更多：Device 还在忙的时候，Host 上花的时间同样会推迟后面的下发。",
    "This rank waits {time} for late peers, longest for {rank}: what a line saves before such a wait becomes "
    "waiting first, and only what is beyond it counts, until those peers come sooner.": (
        "本卡为等待晚到的对端用了 {time}，最久的是等待 {rank}：在这样的等待之前省下的时间先变成等待，"
        "只有超出等待的部分才计入，除非那些对端提前到达。"
    ),
    "Synchronisations: {count}, the host waited {waited}, exposed {exposed} of idle time": (
        "同步：{count} 次，Host 共等待 {waited}，其后空闲 {exposed}"
    ),
    "{count} more, exposing {left}: --top 0": "另有 {count} 个，其后空闲 {left}：--top 0",
    # -- modules, frames, scopes ------------------------------------------------------------------------
    "Idle time by nn.Module: {idle}": "按 nn.Module 统计的空闲：{idle}",
    "Idle time by frame of Python: {idle}": "按 Python 栈帧统计的空闲：{idle}",
    "Idle time by operator of the host: {idle}": "按 Host 算子统计的空闲：{idle}",
    "Time by scope: {computing} of computing tasks, {idle} of idle time before it": (
        "按 scope 统计的时间：计算任务 {computing}，紧挨在它之前的空闲 {idle}"
    ),
    "{count} more with less: --top 0": "另有 {count} 个更少的：--top 0",
    "No nn.Module is recorded in this trace: the profiler records them with with_stack=True.": (
        "这个 trace 中没有 nn.Module 的记录：采集时打开 with_stack=True 才有。"
    ),
    "No scope is recorded in this trace: MindSpore calls tasks by them (Default/network/fc1/MatMul-op9).": (
        "这个 trace 中没有 scope 的记录：MindSpore 的任务以 scope 命名（Default/network/fc1/MatMul-op9）。"
    ),
    "Own times add up; the idle time of each holds that of all that is inside it.": (
        "“自身”之和等于总数；每一项的“空闲”包含其内部的一切。"
    ),
    "Own times add up. A scope has the time of those inside it, and the idle time before its tasks.": (
        "“自身”之和等于总数。一个 scope 包含其内部各 scope 的时间，以及它的任务之前的空闲。"
    ),
    # -- groups, late ranks, links ----------------------------------------------------------------------
    "{name} group": "{name} 通信域",
    "group {key}": "通信域 {key}",
    "no group": "无通信域",
    "rank {number}": "rank {number}",
    "rank {number} of {group}": "rank {number}（{group}）",
    "rank {number} of {group}, or a rank before it": "rank {number} 或它之前的卡（{group}）",
    "peer {number} of {group}": "peer {number}（{group}）",
    "peer {number} of {group}, or a rank before it": "peer {number} 或它之前的卡（{group}）",
    "rank {src} to {dst}": "rank {src} 到 {dst}",
    "rank {src} to {dst} of {group}": "rank {src} 到 {dst}（{group}）",
    "peer {src} to {dst} of {group}": "peer {src} 到 {dst}（{group}）",
    "Late ranks: waited {waited} for them, {exposed} of it exposed": (
        "慢卡：为等待它们共用 {waited}，其中未掩盖的 {exposed}"
    ),
    "Links: {count}, most time first": "链路：{count} 条，耗时多的在前",
    "{count} with less": "另有 {count} 个更少的",
    # -- the page of HTML -------------------------------------------------------------------------------
    "{device} was idle {share} of {time}.": "{device} 在 {time} 中有 {share} 空闲。",
    "The largest cause is {cause}, {share} of it.": "最大的原因是 {cause}，占其中的 {share}。",
    "The worst line is {place}: {time}.": "最严重的一行是 {place}：{time}。",
    "{count} are digests already": "{count} 个已是摘要",
    "Idle time by cause and step": "空闲时间，按原因和 step",
    "Idle time by cause and time": "空闲时间，按原因和时间",
    "Operators of the devices, most time first": "Device 上的算子，耗时多的在前",
    "outside steps": "step 之外",
    "darkest: {share} of the time of a cell": "最深的颜色：一格时间的 {share}",
    "What the ranks did over time, all together": "所有卡合计：时间花在哪里",
    "Why they were idle for {time}, all together": "为什么合计空闲 {time}",
    "Memory, at most on any rank": "显存：占用最多的卡",
    "Who held memory at the peak of the ranks": "各卡显存峰值时由谁占用",
    "What is wrong or doubtful in the recordings of ranks": "各卡的采集中有误或可疑之处",
    "The steps of both, as high as they are long": "两边的 step，高度即时长",
    "What devices waited for, by step": "每个 step 中 Device 在等什么",
    "{base} compared with {other}": "{base} 与 {other} 的比较",
    "Operators of the devices by type, most time first": "各 Device 的算子，按类型，耗时多的在前",
    "Operators of the devices by name, most time first": "各 Device 的算子，按名称，耗时多的在前",
    "Operators of the host by type, most own time first": "Host 算子，按类型，自身耗时多的在前",
    "Operators of the host by name, most own time first": "Host 算子，按名称，自身耗时多的在前",
    "Types of kernels and the shapes of their inputs, most time first": "kernel 的类型及其输入 shape，耗时多的在前",
    "In the viewer: {command}": "在查看器中：{command}",
    "Kernels, the longest first": "各 kernel，最长的在前",
    "{title}: none.": "{title}：没有。",
}
