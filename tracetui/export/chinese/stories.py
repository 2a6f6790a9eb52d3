"""What the viewer says of what is selected, in Chinese, by the English."""

STORIES = {
    "{key} does nothing here: ? shows the keys that do": "{key} 在这里没有作用：? 显示可用的按键",
    # -- advice -----------------------------------------------------------------------------------------
    "1 finding, {cost}: {title}": "1 处可以改进，{cost}：{title}",
    "{count} findings, first {cost}: {title}; costs may overlap": (
        "{count} 处可以改进，首先 {cost}：{title}；时间可能重叠"
    ),
    "{time} ({share})": "{time}（{share}）",
    "{answer}; {notes}": "{answer}；{notes}",
    "No advice about lost time; {notes}": "没有关于损失时间的建议；{notes}",
    "Looking for advice.": "正在查找建议。",
    "No known device in this trace: there is no lost time to advise on.": "这个 trace 中没有可识别的 Device，也就没有损失的时间。",
    "This advice blames no line of Python.": "这条建议没有指向 Python 代码行。",
    "{gaps} and {slices}": "{gaps}和 {slices}",
    "{places} to look at": "可查看 {places}",
    "no place to look at": "没有可查看的位置",
    "There is no place to look at: the numbers are all there is.": "没有可查看的位置，只有这些数字。",
    "gap {nth} of {count}": "第 {nth} 个间隙，共 {count} 个",
    "slice {nth} of {count}": "第 {nth} 个 slice，共 {count} 个",
    "{time}, idle {idle},": "{time}，空闲 {idle}，",
    "{which}: {what} at {time}; enter goes there": "{which}：{what} 在 {time}；enter 跳到那里",
    "line": "代码行",
    "names": "对象",
    "Rule {id}: {rule}": "规则 {id}：{rule}",
    # -- a gap ------------------------------------------------------------------------------------------
    "Gap {position} of {count}": "第 {position} 个间隙，共 {count} 个",
    "{device} idle {idle}": "{device} 空闲 {idle}",
    "{device} idle {idle} of {whole}": "{device} 空闲 {idle}，全长 {whole}",
    "{device} lost {lost}, idle {idle}": "{device} 损失 {lost}，空闲 {idle}",
    "{device} lost {lost} of {whole}, idle {idle}": "{device} 损失 {lost}，全长 {whole}，空闲 {idle}",
    "the {device}": "{device}",
    "why": "原因",
    "why lost": "损失原因",
    "{time} of idle time by operator: no Python stack is recorded": "空闲 {time}，按算子分：没有记录 Python 调用栈",
    "{time} of idle time by scope: no Python stack is recorded": "空闲 {time}，按 scope 分：没有记录 Python 调用栈",
    "No Python stack is recorded: --by scope ranks scopes of the network instead.": "没有记录 Python 调用栈：用 --by scope 按网络的 scope 排名。",
    "No Python stack is recorded: --by frame ranks operators of the host instead.": "没有记录 Python 调用栈：用 --by frame 按 Host 算子排名。",
    "{device} computes {share} of {time}": "{device} 在 {time} 中有 {share} 在计算",
    "the devices compute {share} of their time": "各 Device 有 {share} 的时间在计算",
    "{count} operators of the host": "Host 上 {count} 个算子",
    "{operators}, {time} of idle time; no Python stack is recorded": "{operators}，空闲 {time}；没有记录 Python 调用栈",
    "lost, whole trace": "损失，整个 trace",
    "{device} was idle {time} before {task}.": "{device} 在 {task} 之前空闲了 {time}。",
    "{device} was idle {time} in {count} stretches, the longest before {task}.": (
        "{device} 空闲了 {time}，分 {count} 段，最长的一段在 {task} 之前。"
    ),
    "{device} was never idle in this gap.": "{device} 在这个间隙中没有空闲。",
    "the next task": "下一个任务",
    "the launching thread {doing}": "下发线程{doing}",
    "For {time} it waited for the host": "有 {time} 它在等待 Host",
    "For {time} the tasks waited for the host": "有 {time} 这些任务在等待 Host",
    "For {time} it was in the task queue": "有 {time} 它在任务队列中",
    "For {time} the tasks were in the task queue": "有 {time} 这些任务在任务队列中",
    "It then waited {time} in the task queue": "它随后在任务队列中等了 {time}",
    "The tasks then waited {time} in the task queue": "这些任务随后在任务队列中等了 {time}",
    "Launching it took {time}": "下发它用了 {time}",
    "Launching the tasks took {time}": "下发这些任务用了 {time}",
    "For {time} it was launched and not yet running": "有 {time} 它已下发但尚未执行",
    "For {time} the tasks were launched and not yet running": "有 {time} 这些任务已下发但尚未执行",
    "For {time} it waited for the device": "有 {time} 它在等待 Device",
    "For {time} the tasks waited for the device": "有 {time} 这些任务在等待 Device",
    "For {time} the trace does not tell what the host did": "有 {time} trace 中没有 Host 在做什么的记录",
    "{opening}: {why}.": "{opening}：{why}。",
    "{opening} ({why}).": "{opening}（{why}）。",
    "{doing} at {line}": "{doing}，位于 {line}",
    " (backward of it)": "（它的反向）",
    "; and 1 more piece, {time}": "；另有 1 段，{time}",
    "; and {count} more pieces, {time}": "；另有 {count} 段，{time}",
    "no launch of it is recorded": "没有它的下发记录",
    "no launch of the tasks is recorded": "没有这些任务的下发记录",
    "{why}. Collect CPU and NPU activities at level 1 to know": "{why}。用 Level1、CPU 和 NPU activity 采集才能知道",
    "{why}. Collect CPU activities too, to know": "{why}。同时采集 CPU activity 才能知道",
    "{why}; perhaps work from before the recording. Synchronise before the profiler starts, to know": (
        "{why}；可能是采集开始之前的工作。在 profiler 启动前同步才能知道"
    ),
    "A synchronisation": "一次同步",
    "{call} at {line}": "{line} 处的 {call}",
    "{call} began before {device} went idle: the host could not work ahead.": (
        "{call} 在 {device} 空闲之前就已开始：Host 无法提前下发。"
    ),
    "The rest of the gap: {parts}.": "间隙的其余部分：{parts}。",
    "The rest of the gap, {time}: {parts}.": "间隙的其余部分 {time}：{parts}。",
    "an event": "一个 event",
    "waiting for {name}": "等待 {name}",
    "waiting on {stream} for {name}": "在 {stream} 上等待 {name}",
    "comm": "通信",
    "copy": "拷贝",
    "ran before": "之前执行",
    "ended by": "结束于",
    "not known: no stack leads to it": "未知：没有调用栈",
    "{function}, of the backward pass": "{function}，反向",
    "The task that ended it is not linked to the host.": "结束它的任务没有关联到 Host。",
    "began": "开始",
    "took": "时长",
    "to next": "到下一跳",
    "operator": "算子",
    "enqueue": "入队",
    "dequeue": "出队",
    "launch": "下发",
    "task": "任务",
    "{hop} not found: the trace does not tell": "没有找到{hop}：trace 中没有记录",
    "no {hop} found": "没有找到{hop}",
    "backward pass: the stack of its forward operator": "反向：用的是对应前向算子的调用栈",
    "1 frame of {package}": "{package} 的 1 帧",
    "{count} frames of {package}": "{package} 的 {count} 帧",
    "The host was {tasks} ({work}) ahead; it lost that when it enqueued nothing for {pause} from "
    "{start} on": "Host 曾领先 {tasks}（{work}）；从 {start} 起 {pause} 没有入队，丢掉了领先",
    "{sentence}: {why}": "{sentence}：{why}",
    "{sentence} at {line} {function}": "{sentence}，位于 {line} {function}",
    "{sentence} in {function}": "{sentence}，在 {function} 中",
    "after": "之后",
    "no task": "没有任务",
    " until {task}": " 直到 {task}",
    "communication": "通信",
    "from": "来自",
    "in {function}": "在 {function} 中",
    "stack": "调用栈",
    "launched": "下发于",
    # -- communication of a gap -------------------------------------------------------------------------
    "{device} {did}: {name}.": "{device} {did}：{name}。",
    "waited {time} for {rank}": "用 {time} 等待 {rank}",
    ", then ": "，然后",
    "moved {size} in {time}, {speed} GB/s": "用 {time} 传输了 {size}，{speed} GB/s",
    "moved data for {time}": "传输数据用了 {time}",
    "communicated for {time}, waiting or moving (the trace does not tell)": (
        "通信用了 {time}，是等待还是传输 trace 中没有记录"
    ),
    "{name} at {line}": "{name}，位于 {line}",
    "{count} more operations took {time}.": "另有 {count} 个操作共 {time}。",
    # -- a line, a synchronisation, a module ------------------------------------------------------------
    "idle {time}": "空闲 {time}",
    "idle {time} in {gaps}": "空闲 {time}，{gaps}",
    "longest {time}": "最长 {time}",
    "others": "其他",
    "(between operators)": "（算子之间）",
    "in {some} of {steps} steps; min {least}, median {median}, max {most}": (
        "{steps} 个 step 中有 {some} 个；最小 {least}，中位数 {median}，最大 {most}"
    ),
    "{time}, outside of all steps": "{time}，不在任何 step 中",
    "; {time} in none": "；不在任何 step 中 {time}",
    "{time} of idle exposed": "同步后空闲 {time}",
    "no idle exposed": "同步后没有空闲",
    "{exposed} by {call}, which waits once, {time}": "{exposed}：{call} 等待 1 次，{time}",
    "{exposed} by {call}, which waits {count} times, {time}": "{exposed}：{call} 等待 {count} 次，{time}",
    "Saves nothing: no step waits for what the host does in it.": "省不了时间：没有 step 在等 Host 做这些。",
    "Saves at most {time} if the host spent no time on it": ("如果 Host 不在它上面花时间，最多可省 {time}"),
    "Saves at most {time}: host time beside a busy device counts too": (
        "最多可省 {time}：Device 忙时 Host 的时间也计入"
    ),
    "Saves at most {time} beyond waits for late peers, {more} if they come sooner too": (
        "除去对晚到对端的等待，最多可省 {time}；对端也提前时最多 {more}"
    ),
    "Saves nothing beyond waits for late peers, at most {more} if they come sooner too": (
        "除去对晚到对端的等待，省不了时间；对端也提前这么多时最多可省 {more}"
    ),
    "step": "step",
    "mean step": "平均 step",
    "all": "全部",
    "(nothing saved)": "（省不了）",
    "{what} {times} {share} if this line's host time were nothing; assumes that queue order and device "
    "durations stay as they are": (
        "{what} {times} {share}，如果这一行不占用 Host 时间；假定队列顺序和 Device 时长不变"
    ),
    "{what} {times} {share} if this line's host time were nothing and late peers came when they came; "
    "{more} if they came as much sooner": (
        "{what} {times} {share}，如果这一行不占用 Host 时间，而晚到的对端仍在原来的时刻到达；如果它们也提前同样多，则为 {more}"
    ),
    "{what} {times} {share} if this line's host time were halved and late peers came when they "
    "came; {more} if they came as much sooner": (
        "{what} {times} {share}，如果这一行的 Host 时间减半，而晚到的对端仍在原来的时刻到达；如果它们也提前同样多，则为 {more}"
    ),
    "{what} {times} at no host time; {more} if peers come sooner too": (
        "{what} {times}，不占用 Host 时间；对端也提前则为 {more}"
    ),
    "{what} {times} at half its host time; {more} if peers come sooner too": (
        "{what} {times}，Host 时间减半；对端也提前则为 {more}"
    ),
    "{what} {times} {share} if this line's host time were halved; assumes that queue order and "
    "device durations stay as they are": (
        "{what} {times} {share}，如果这一行的 Host 时间减半；假定队列顺序和 Device 时长不变"
    ),
    "{what} {times} {share} at no host time; device times kept": (
        "{what} {times} {share}，Host 时间为 0，Device 时间不变"
    ),
    "{what} {times} {share} at half its host time; device times kept": (
        "{what} {times} {share}，Host 时间减半，Device 时间不变"
    ),
    "{call} {line}": "{call} {line}",
    "The host waited {time} in {calls}": "Host 等待 {time}，{calls}",
    "The host waited {time} in {calls} ({often} a step)": "Host 等待 {time}，{calls}（每个 step {often} 次）",
    "exposes {idle}, {share} of all, in {gaps}": "其后{idle}，占全部的 {share}，{gaps}",
    "{time} of idle": "空闲 {time}",
    "It exposes no idle time.": "它没有暴露任何空闲。",
    "No Python stack is recorded: its line is not known.": "没有 Python 调用栈的记录：代码行未知。",
    "No idle time is charged to this line itself.": "没有空闲算在这一行本身上。",
    "Charged to the line: {time} of idle": "算在这一行上：空闲 {time}",
    "own {time}": "自身 {time}",
    "in {gaps}": "{gaps}",
    "computing {computing} in {tasks}": "{tasks}，计算 {computing}",
    "idle before them {idle} in {gaps}": "其前空闲 {idle}，{gaps}",
    "backward {time}": "反向 {time}",
    "holds {names}": "包含 {names}",
    "from {names}": "来自 {names}",
    "calls {names}": "调用 {names}",
    # -- answers of screens -----------------------------------------------------------------------------
    "worst gaps by {measure}: a click, a digit or x goes there": "{measure}最多的间隙：点击、数字或 x 跳到那里",
    "the run, then the worst gaps by {measure}: a click, a digit or x goes there": (
        "这次运行，以及{measure}最多的间隙：点击、数字或 x 跳到那里"
    ),
    "{gaps} by {measure}, {time} of {window} ({share})": "{gaps}，按{measure}，{window} 中的 {time}（{share}）",
    "most {cause} {share}": "最多的是 {cause} {share}",
    "the worst 10 hold {share}": "最严重的 10 个占 {share}",
    "{count} devices": "{count} 个 Device",
    "{devices} idle {time} of {window} ({share})": "{devices} 在 {window} 中空闲 {time}（{share}）",
    "1 line holds {percent} %": "1 行代码占 {percent} %",
    "{count} lines hold {percent} %": "{count} 行代码占 {percent} %",
    "{share} has no stack": "{share} 没有调用栈",
    "{count} signatures": "{count} 类",
    "{signatures} of {gaps}, {time} of idle time; {holding} holds {percent} %": (
        "{signatures}，{gaps}，空闲 {time}；其中 {holding} 类占 {percent} %"
    ),
    "{signatures} of {gaps}, {time} of idle time; {holding} hold {percent} %": (
        "{signatures}，{gaps}，空闲 {time}；其中 {holding} 类占 {percent} %"
    ),
    "{calls}, {waited} waited; no idle time exposed": "{calls}，共等待 {waited}；其后没有空闲",
    "{calls}, {waited} waited; {exposed} of idle exposed ({share})": (
        "{calls}，共等待 {waited}；其后空闲 {exposed}（{share}）"
    ),
    "{count} frames of all stacks": "全部调用栈中的 {count} 个栈帧",
    "{frames}, {time} of idle time": "{frames}，空闲 {time}",
    "{count} scopes": "{count} 个 scope",
    "{scopes}, {computing} of computing tasks, {idle} of idle time before their tasks": (
        "{scopes}，计算任务 {computing}，任务之前的空闲 {idle}"
    ),
    "1 module holds {time} of {idle} of idle time ({share})": "1 个模块占空闲 {idle} 中的 {time}（{share}）",
    "{count} modules hold {time} of {idle} of idle time ({share})": (
        "{count} 个模块占空闲 {idle} 中的 {time}（{share}）"
    ),
    "wait": "等待",
    "transfer": "传输",
    "unsplit": "通信",
    "{word} {time} for {rank}": "{word} {rank} {time}",
    # -- the flame view ---------------------------------------------------------------------------------
    "{time} of idle time by stack": "按调用栈统计的空闲 {time}",
    "{answer}; below {name}: {time} ({share})": "{answer}；{name} 之下：{time}（{share}）",
    "in {callers}": "在 {callers} 中",
    " ({share} of all)": "（占全部的 {share}）",
    ", own {time}": "，自身 {time}",
    "; {share} of {name}": "；占 {name} 的 {share}",
    ", in {count} gaps": "，{count} 个间隙",
}
