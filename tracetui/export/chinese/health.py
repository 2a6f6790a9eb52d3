"""Whether a recording can be believed, in Chinese, by the English: findings, remedies, verdicts and marks."""

HEALTH = {
    # -- lost tasks -------------------------------------------------------------------------------------
    "the first {count} kernel launches have no task on the device, later ones do: its recording began late": (
        "最初 {count} 次 kernel 下发在 Device 上没有任务，之后的都有：Device 的采集开始得晚"
    ),
    "the last {count} kernel launches have no task on the device: recording stopped before the device was done": (
        "最后 {count} 次 kernel 下发在 Device 上没有任务：Device 还没做完，采集就停止了"
    ),
    "{count} of the first {span} kernel launches have no task on the device, later ones do: its recording began late": (
        "最初 {span} 次 kernel 下发中有 {count} 次在 Device 上没有任务，之后的都有：Device 的采集开始得晚"
    ),
    "{count} of the last {span} kernel launches have no task on the device: recording stopped before the device was done": (
        "最后 {span} 次 kernel 下发中有 {count} 次在 Device 上没有任务：Device 还没做完，采集就停止了"
    ),
    "{count} of {span} kernel launches in a row have no task on the device, those before and after have": (
        "连续 {span} 次 kernel 下发中有 {count} 次在 Device 上没有任务，前后的都有"
    ),
    "{count} kernel launches in a row have no task on the device, those before and after have": (
        "连续 {count} 次 kernel 下发在 Device 上没有任务，前后的都有"
    ),
    "{count} kernel launches here and there have no task on the device, those between them have": (
        "零散的 {count} 次 kernel 下发在 Device 上没有任务，其间的都有"
    ),
    "none of {count} kernel launches has a kernel on the device": (
        "{count} 次 kernel 下发在 Device 上都没有 kernel"
    ),
    "none of {count} kernel launches has a kernel on the device: counters were recorded instead": (
        "{count} 次 kernel 下发在 Device 上都没有 kernel：采集的是计数器"
    ),
    "Record without profiler_metrics to see when kernels run. Do not read the idle time.": (
        "不带 profiler_metrics 采集，才能看到 kernel 何时运行。空闲时间不可用。"
    ),
    "1 of {launches} kernel launches has no task on the device": (
        "{launches} 次 kernel 下发中有 1 次在 Device 上没有任务"
    ),
    "{count} of {launches} kernel launches have no task on the device": (
        "{launches} 次 kernel 下发中有 {count} 次在 Device 上没有任务"
    ),
    "So few may be an accident of the recorder; do not read the idle time right there.": (
        "这么少可能只是采集的偶然；那里的空闲时间不可用。"
    ),
    "{count} kernel launches in {stretches} stretches have no task on the device, others have": (
        "分布在 {stretches} 段中的 {count} 次 kernel 下发在 Device 上没有任务，其余的都有"
    ),
    "1 of {steps} steps neither computes nor communicates on the device, others do": (
        "{steps} 个 step 中有 1 个在 Device 上既没有计算也没有通信，而其他 step 有"
    ),
    "{count} of {steps} steps neither compute nor communicate on the device, others do": (
        "{steps} 个 step 中有 {count} 个在 Device 上既没有计算也没有通信，而其他 step 有"
    ),
    "only communication is recorded of 1 of {steps} steps, the others compute": (
        "{steps} 个 step 中有 1 个只采集到通信，其余的都有计算"
    ),
    "only communication is recorded of {count} of {steps} steps, the others compute": (
        "{steps} 个 step 中有 {count} 个只采集到通信，其余的都有计算"
    ),
    (
        "only communication is recorded of {count} of {steps} steps and of a part of step {cut}, "
        "the others compute"
    ): "{steps} 个 step 中有 {count} 个只采集到通信，step {cut} 也有一部分如此，其余的都有计算",
    (
        "only communication is recorded of {count} of {steps} steps and of parts of steps {cut}, "
        "the others compute"
    ): "{steps} 个 step 中有 {count} 个只采集到通信，step {cut} 也各有一部分如此，其余的都有计算",
    "1 of {operations} collectives lacks tasks on the device that others have": (
        "{operations} 个集合通信中有 1 个缺少其他集合通信都有的 Device 任务"
    ),
    "{count} of {operations} collectives lack tasks on the device that others have": (
        "{operations} 个集合通信中有 {count} 个缺少其他集合通信都有的 Device 任务"
    ),
    "{count} tasks end after a call that waited for them returned, by {time} at most: the clocks of host and device are apart by that or more": (
        "{count} 个任务在等待它们的调用返回之后才结束，最多晚 {time}：Host 与 Device 的时钟至少相差这么多"
    ),
    "Nothing is shifted. Take {time} or more off the times of the device before you compare them with the host's; what the device did, and for how long, stands.": (
        "没有移动任何时间。与 Host 的时间比较之前，先从 Device 的时间减去 {time} 或更多；Device 做了什么、用了多久，仍然可信。"
    ),
    "the numbers of {count} tasks in a row are left out on a stream that counts one by one": (
        "某条流的任务逐一编号，但其中连续缺少 {count} 个编号"
    ),
    "the numbers of {count} tasks are left out, in {stretches} stretches, on streams that count one by one": (
        "各条流的任务逐一编号，但在 {stretches} 段中共缺少 {count} 个编号"
    ),
    "the profiler logged that it dropped 1 record of the device": "profiler 的日志称它丢弃了 1 条 Device 记录",
    "the profiler logged that it dropped {count} records of the device": (
        "profiler 的日志称它丢弃了 {count} 条 Device 记录"
    ),
    "the profiler logged that its buffers were full, and recorded no more of the device": (
        "profiler 的日志称其缓冲区已满，此后不再记录 Device"
    ),
    "Leave these steps out, or record with a warm-up step before the active ones (schedule(wait=1, warmup=1)).": (
        "不要使用这些 step，或在正式采集之前先预热一个 step（schedule(wait=1, warmup=1)）。"
    ),
    "Leave the last step out, or synchronise the device before the profiler stops.": (
        "不要使用最后一个 step，或在 profiler 停止之前同步 Device。"
    ),
    "Leave these steps out: what they computed counts as idle, and no communication is overlapped.": (
        "不要使用这些 step：其中的计算被计为空闲，通信也都算作未掩盖。"
    ),
    "Leave these steps out: the profiler lost what the device did in them.": (
        "不要使用这些 step：profiler 丢失了 Device 在其中做的事。"
    ),
    "The profiler lost tasks: record fewer steps at once, at a lower level, or with larger buffers. "
    "Do not read the idle time there.": (
        "profiler 丢失了任务：一次少采集几个 step，降低采集级别，或加大缓冲区。那里的空闲时间不可用。"
    ),
    # -- graphs -----------------------------------------------------------------------------------------
    "the device is idle for {time} in or right before 1 of {replays} graph launches: kernels may be missing": (
        "{replays} 次图下发中有 1 次，Device 在其中或紧接其前空闲 {time}：可能缺少其中的 kernel"
    ),
    "the device is idle for {time} in or right before {count} of {replays} graph launches: kernels may be missing": (
        "{replays} 次图下发中有 {count} 次，Device 在其中或紧接其前空闲 {time}：可能缺少其中的 kernel"
    ),
    "Read this time as unknown, not as idle: record kernels inside of graphs, or time a run without graphs.": (
        "这段时间应视为未知而不是空闲：采集图内的 kernel，或测一次不用图的运行。"
    ),
    "1 of {replays} graph launches has no kernels on the device": (
        "{replays} 次图下发中有 1 次在 Device 上没有 kernel"
    ),
    "1 of {replays} graph launches has fewer kernels than others of the same graph": (
        "{replays} 次图下发中有 1 次的 kernel 比同一个图的其他下发少"
    ),
    "{empty} of {replays} graph launches have no kernels on the device": (
        "{replays} 次图下发中有 {empty} 次在 Device 上没有 kernel"
    ),
    "{partial} of {replays} graph launches have fewer kernels than others of the same graph": (
        "{replays} 次图下发中有 {partial} 次的 kernel 比同一个图的其他下发少"
    ),
    "{count} of {replays} graph launches have no kernels on the device, or fewer than others of the same graph": (
        "{replays} 次图下发中有 {count} 次在 Device 上没有 kernel，或比同一个图的其他下发少"
    ),
    "The device was busy where it seems idle: record kernels inside of graphs (CUPTI node tracing; on an NPU "
    "level 1 or 2), or time a run without graphs.": (
        "看似空闲处 Device 其实在工作：采集图内的 kernel（CUPTI 的节点级采集；NPU 上用 Level1 或 Level2），或测量不用图的一次运行。"
    ),
    # -- work that is not recorded ----------------------------------------------------------------------
    "the main stream of the device begins {time} after its first task was launched: "
    "it was busy with work from before the recording": (
        "第一个任务下发 {time} 之后 Device 的主 stream 才开始：它在做采集之前的工作"
    ),
    "the main streams of {count} devices begin up to {time} after their first task was launched: "
    "they were busy with work from before the recording": (
        "{count} 个 Device 的主 stream 在第一个任务下发之后最多 {time} 才开始：它们在做采集之前的工作"
    ),
    "all tasks begin {lag} or more after their launch: the device was busy with work from before "
    "the recording, or its clock is late": (
        "所有任务都在下发 {lag} 或更久之后才开始：Device 在做采集之前的工作，或者它的时钟偏晚"
    ),
    "for {time} launched tasks did not start on an idle device while the host waited for them: "
    "it was busy with work that is not recorded": (
        "共有 {time}，已下发的任务没有在空闲的 Device 上开始，而 Host 在等待它们：Device 在做没有采集到的工作"
    ),
    "Read this time as unknown, not as idle. Synchronise the device before the profiler starts, "
    "and record every stream and process that uses it.": (
        "这段时间是未知，不是空闲。在 profiler 启动之前同步 Device，并采集使用它的每条流和每个进程。"
    ),
    # -- the host ---------------------------------------------------------------------------------------
    "1 call of the host was never closed": "Host 有 1 次调用没有结束",
    "{count} calls of the host were never closed: they end where the recording stops or their caller does": (
        "Host 有 {count} 次调用没有结束：它们到采集停止或调用者结束时为止"
    ),
    "Lines, modules and stacks after the first of them may be wrong: let the profiler stop outside of the calls "
    "it records, or use a version that closes them (pytorch/pytorch#193440).": (
        "从第一次这样的调用起，代码行、模块和调用栈可能有误：让 profiler 在它采集的调用之外停止，或使用会结束它们的版本（pytorch/pytorch#193440）。"
    ),
    "while devices waited for the host {frames} calls of Python and {operators} operators were recorded: "
    "an estimated {least} to {most} of {bound} of host-bound idle time is due to that": (
        "Device 等待 Host 期间采集了 {frames} 次 Python 调用和 {operators} 个算子：在 {bound} 由 Host 造成的空闲中，"
        "估计有 {least} 到 {most} 由此产生"
    ),
    "Record once more without stacks (with_stack=False) and let tracetui compare measure the difference; "
    "read lines from this recording and times from that one.": (
        "不带调用栈（with_stack=False）再采集一次，用 tracetui compare 测出差别；代码行看这一次采集，时间看那一次。"
    ),
    "no calls of the runtime were recorded (level 0): launches are known by their arrows only": (
        "没有采集 runtime 调用（Level0）：只能通过连线得知下发关系"
    ),
    "no operators of the host were recorded: which of them launched tasks cannot be known": (
        "没有采集 Host 的算子：无法得知任务由哪些算子下发"
    ),
    "no stacks of Python were recorded: idle time leads to operators, not to lines": (
        "没有采集 Python 调用栈：空闲时间只能归到算子，不能归到代码行"
    ),
    "stacks cover less than half of the time of the operators: they were recorded for a part only": (
        "调用栈覆盖的时间不到算子的一半：只有一部分时间采集了调用栈"
    ),
    "no shapes of inputs were recorded: calls of one operator cannot be told apart by them": (
        "没有采集输入的 shape：无法据此区分同一算子的各次调用"
    ),
    "Record with record_shapes=True.": "采集时用 record_shapes=True。",
    "Record at profiler level 1 or 2.": "采集时用 Level1 或 Level2。",
    "Record stacks for the whole time.": "全程采集调用栈。",
    "Record the host too (PyTorch: ProfilerActivity.CPU).": "同时采集 Host（PyTorch：ProfilerActivity.CPU）。",
    "Record with with_stack=True.": "采集时用 with_stack=True。",
    # -- clocks -----------------------------------------------------------------------------------------
    "threads have no core at {share} of their calls: the clock of the scheduler may be off, or cores are not recorded": (
        "线程的调用中有 {share} 发生在它没有核时：调度器记录的时钟可能不对，或者有核没有采集"
    ),
    "Record all cores that they use, with the clock mono_raw. Do not read the causes that the scheduler tells: preempted, "
    "interrupted, disk and blocked.": "请用 mono_raw 时钟采集它们所用的所有核。不要采信调度器给出的原因：被抢占、被中断、磁盘和阻塞。",
    "{count} of {tasks} tasks begin more than {jitter} before their launch, most of them by {time} or more: "
    "the clocks of host and device are apart by that or more": (
        "{tasks} 个任务中有 {count} 个比其下发早 {jitter} 以上开始，其中多数至少早 {time}：Host 与 Device 的时钟至少相差这么多"
    ),
    "Nothing is shifted. Add {time} or more to the times of the device before you compare them with the host's; "
    "what the device did, and for how long, stands.": (
        "没有移动任何时间。与 Host 的时间比较之前，先给 Device 的时间加上 {time} 或更多；Device 做了什么、用了多久，仍然可信。"
    ),
    "{tracks} tracks go back by about {time} at once, {at} after the start: a clock was set": (
        "开始后 {at}，{tracks} 条轨道同时后退约 {time}：时钟被调整过"
    ),
    "{tracks} tracks leap by about {time} at once, {at} after the start: a clock was set": (
        "开始后 {at}，{tracks} 条轨道同时前跳约 {time}：时钟被调整过"
    ),
    "Read the parts before and after on their own; record again while nothing sets the clock.": (
        "前后两部分要分开看；在不调整时钟的情况下重新采集。"
    ),
    "{count} parts of the recording lie up to {days} days apart, and some tracks are in several: "
    "a clock was set, or two were mixed": (
        "采集的 {count} 个部分最多相隔 {days} 天，有的轨道分在几个部分中：时钟被调整过，或混用了两个时钟"
    ),
    "No time passed between the parts: read each on its own; record again while nothing sets the clock.": (
        "各部分之间没有经过时间：要分开看；在不调整时钟的情况下重新采集。"
    ),
    "{count} parts of the recording lie up to {days} days apart, each with tracks of its own: "
    "they are timed by different clocks": (
        "采集的 {count} 个部分最多相隔 {days} 天，各有自己的轨道：它们的时间来自不同的时钟"
    ),
    "Nothing is shifted. Compare no time of one part with one of another; "
    "what happened within a part, and for how long, stands.": (
        "没有移动任何时间。不要比较不同部分的时间；一个部分之内做了什么、用了多久，仍然可信。"
    ),
    # -- tasks ------------------------------------------------------------------------------------------
    "tasks of one stream overlap for {time}, {share} % of its time, which a stream cannot": (
        "同一条流的任务重叠了 {time}，占其时间的 {share} %，而一条流上的任务不会重叠"
    ),
    "tasks of {streams} streams overlap for {time}, {share} % of their time, which streams cannot": (
        "{streams} 条流的任务各自重叠了 {time}，占其时间的 {share} %，而一条流上的任务不会重叠"
    ),
    "Sums of operators count this time more than once. Look whether files of several devices or runs were joined, "
    "or streams renumbered.": (
        "算子的合计把这段时间算了不止一次。看看是否合并了多个 Device 或多次运行的文件，或流被重新编号。"
    ),
    "{count} arrows end at ids that several unrelated starts share": (
        "{count} 条连线的编号由几个无关的起点共用"
    ),
    "{count} tasks share the id of a launch with others that it did not launch": (
        "{count} 个任务与并非由同一次下发产生的任务共用一个编号"
    ),
    "What launched these tasks is not certain: convert the recording again with a newer profiler.": (
        "这些任务由什么下发并不确定：用较新的 profiler 重新转换。"
    ),
    # -- steps ------------------------------------------------------------------------------------------
    "1 step was recorded: nothing can be said of how steps differ": "只采集了 1 个 step：无从得知 step 之间的差别",
    "{count} steps were recorded: nothing can be said of how steps differ": (
        "只采集了 {count} 个 step：无从得知 step 之间的差别"
    ),
    "Record five steps or more after a warm-up.": "预热之后采集五个以上 step。",
    "the first step lasts {first}, the median of the others is {median}: it warmed up": (
        "第一个 step 用时 {first}，其余的中位数为 {median}：它在预热"
    ),
    "Compare steps without the first one, or record after a warm-up.": "比较时去掉第一个 step，或预热之后再采集。",
    # -- files ------------------------------------------------------------------------------------------
    "the file is cut off: it ends in the middle of its events": "文件被截断：在事件中间结束",
    "1 table is read in part or not at all": "有 1 个表只读取了一部分或完全未读取",
    "{count} tables are read in part or not at all": "有 {count} 个表只读取了一部分或完全未读取",
    "1 event of {events} could not be read": "{events} 个事件中有 1 个无法读取",
    "{count} events of {events} could not be read": "{events} 个事件中有 {count} 个无法读取",
    "Copy or export it again; what is missing may be of any time and any track.": (
        "重新复制或导出；缺少的可能是任何时间、任何轨道的内容。"
    ),
    "the file holds {count} processes that were recorded one after the other": (
        "文件中有 {count} 个先后采集的进程"
    ),
    "the file holds {count} processes in {parts} parts that were recorded one after the other": (
        "文件中有 {count} 个进程，分为先后采集的 {parts} 部分"
    ),
    "the file holds {count} processes with steps of their own": "文件中有 {count} 个各有 step 的进程",
    "Numbers of all of them are added up: open the recording of one process at a time.": (
        "所有进程的数字会加在一起：一次只打开一个进程的采集。"
    ),
    "the JSON and the database of this run differ in 1 number: {measure}, {json} and {database}": (
        "本次运行的 JSON 与数据库有 1 处数字不一致：{measure}，分别为 {json} 与 {database}"
    ),
    "the JSON and the database of this run differ in {count} numbers, first in {measure}: {json} and {database}": (
        "本次运行的 JSON 与数据库有 {count} 处数字不一致，首先是 {measure}：分别为 {json} 与 {database}"
    ),
    "They may be of two runs, or one is damaged: check --same-exports prints what differs.": (
        "两者可能来自两次运行，或其一已损坏：check --same-exports 列出所有差别。"
    ),
    # -- verdicts and marks -----------------------------------------------------------------------------
    "good": "可信",
    "doubtful": "存疑",
    "wrong": "有误",
    "Idle time is overstated: {finding}": "空闲时间偏大：{finding}",
    "Idle time and steps are wrong: {finding}": "空闲时间与 step 有误：{finding}",
    "Idle time may be overstated: {finding}": "空闲时间可能偏大：{finding}",
    "Not certain ({numbers}): {finding}": "不确定（{numbers}）：{finding}",
    "{finding} ({steps})": "{finding}（{steps}）",
    "{headline}; {more}": "{headline}；{more}",
    "{count} findings more": "另有 {count} 项发现",
    "(?) may be wrong, (!) is wrong: tracetui doctor tells why": "(?) 可能有误，(!) 有误：tracetui doctor 说明原因",
    "left out of means: {steps}, not to be believed (--all-steps takes all)": (
        "平均值不含不可信的 {steps}（--all-steps 包含全部）"
    ),
    "step {steps}": "step {steps}",
    "steps {steps}": "step {steps}",
    "{recordings}, each judged on its own: none is in doubt.": "{recordings}，各自单独判断：没有存疑的。",
    "{recordings}, each judged on its own: {doubted} in doubt. Name one to see all that is found.": (
        "{recordings}，各自单独判断：{doubted} 个存疑或有误。指定其中一个可看全部发现。"
    ),
    "{count} recordings": "{count} 个采集",
    "This recording can be believed.": "这次采集可信。",
    "Nothing of this recording is judged: no device and no framework is recognised.": (
        "没有对这次采集作任何判断：没有识别出 Device 或框架。"
    ),
    "These recordings can be believed.": "这些采集可信。",
    "Not all of these recordings can be believed. {parts}.": "这些采集并非全部可信。{parts}。",
    "This recording can be believed; {notes}.": "这次采集可信；{notes}。",
    "Not all of this recording can be believed. {parts}.": "这次采集并非全部可信。{parts}。",
    "Where: {windows}": "时间：{windows}",
    "{start} to {end}": "{start} 到 {end}",
    "{runs} cannot be believed in all: changes of {numbers} are not certain.": (
        "{runs} 并非全部可信：{numbers} 的变化不确定。"
    ),
    "clocks of ranks are not aligned": "各卡时钟没有对齐",
    "ranks may be missing": "可能缺少一些卡",
    "not trusted: {numbers} {verdict}: {finding}": "不可信：{numbers} {verdict}：{finding}",
    # -- the screen -------------------------------------------------------------------------------------
    "Whether the recording can be believed": "这次采集是否可信",
    "go: health": "前往：采集可信度",
    "health": "可信度",
    "Health": "可信度",
    "This finding has no place in the timeline: it is about the whole recording.": (
        "这项发现在时间线上没有位置：它说的是整个采集。"
    ),
}
