"""What is said of the scheduler of the operating system, in Chinese, by the English."""

SCHEDULER = {
    # -- the recording ----------------------------------------------------------------------------------
    "--sched-offset": "--sched-offset",
    "start_info of the profiler": "Profiler 的 start_info",
    "as the converter of the recording has set it": "由记录的转换工具设定",
    "fitted to what the threads do": "按线程的行为拟合",
    "Clock: {source}.": "时钟：{source}。",
    "Clock: {source}, to within {error}.": "时钟：{source}，误差不超过 {error}。",
    "Drift: {drift} ppm.": "漂移：{drift} ppm。",
    "The recording of the scheduler is not used: {problem}.": "没有使用调度器记录：{problem}。",
    "The recording of the scheduler is cut or damaged, and read up to there": (
        "调度器记录不完整或已损坏，只读到该处"
    ),
    "Lines of the scheduler that cannot be read, and are skipped: {count}.": (
        "调度器记录中无法读取而跳过的行：{count}。"
    ),
    "Events of the scheduler that stood after later ones, and are sorted: {count}.": (
        "调度器记录中次序颠倒、已重新排序的事件：{count}。"
    ),
    "The kernel lost events. Threads are unknown meanwhile: give it a larger buffer.": (
        "内核丢失了事件。其间线程状态未知：请加大缓冲区。"
    ),
    "Events that the kernel lost: {count}. Threads are unknown meanwhile: give it a larger buffer.": (
        "内核丢失的事件：{count}。其间线程状态未知：请加大缓冲区。"
    ),
    "The scheduler is recorded for {time} of {whole} of the trace: it explains no idle time outside.": (
        "trace 共 {whole}，调度器只记录了其中的 {time}：此外的空闲时间它无法解释。"
    ),
    "Wake-ups are not recorded: whether a thread slept or waited for a core is not known. Record sched_waking, too.": (
        "没有记录唤醒：不知道线程是在睡眠还是在等待核。请同时采集 sched_waking。"
    ),
    "Threads of the scheduler are matched by what they do: their numbers are others.": (
        "调度器记录中的线程是按其行为对应的：它们的编号不同。"
    ),
    "Threads have a core at only {share} of their calls: the clock may be off, or cores are not recorded. "
    "Record all cores that they use, with the clock mono_raw.": (
        "线程的调用中只有 {share} 发生在它占有核时：时钟可能不对，或者有核没有采集。请用 mono_raw 时钟采集它们所用的所有核。"
    ),
    # -- tasks ------------------------------------------------------------------------------------------
    "nobody (wake-up)": "无（核在唤醒）",
    "unknown": "未知",
    "this process": "本进程",
    "another process": "其他进程",
    "had its core: {tasks}": "占用其核的：{tasks}",
    "{task} for {time}": "{task} {time}",
    "came to another NUMA node: {count}": "换到别的 NUMA 节点：{count}",
    # -- the viewer -------------------------------------------------------------------------------------
    "its reading was stopped": "读取已停止",
    "reading the scheduler, {share} % of {size}": "正在读取调度器记录，{size} 的 {share} %",
    "No scheduler is recorded: --sched FILE gives it; docs/scheduler.md tells how to record it.": (
        "没有调度器记录：用 --sched FILE 给出；采集方法见 docs/zh/scheduler.md。"
    ),
    "threads over {time}; idle: the part that kept the device idle": "{time} 内的线程；空闲：其中使设备空闲的部分",
    "who had the cores that threads waited for in idle time": "空闲期间线程等待的核被谁占着",
    "cores over {time}": "{time} 内的核",
    "This thread cost no idle time that the timeline could show.": "这个线程没有造成可在时间线中显示的空闲时间。",
    "A core has no one place: the timeline says who has it, in Cores of the host.": (
        "一个核没有单一的位置：时间线的“主机的核”显示谁占用它。"
    ),
    "No thread waited for a core in idle time.": "空闲期间没有线程在等核。",
    "Scheduler": "调度器",
    "scheduler": "调度器",
    "go: scheduler": "前往：调度器",
    "Which threads had no core, and who had it": "哪些线程没有核，核被谁占着",
    "threads": "线程",
    "states": "状态",
    "Pinned to cores of its own the host saves {time} at most.": "绑到自己的核上，Host 最多省下 {time}。",
    "Pinned to cores of its own the host saves {time} at most beyond waits for late peers, {more} if they "
    "come sooner too.": "绑到自己的核上，除去对晚到对端的等待，Host 最多省下 {time}；对端也提前时最多 {more}。",
    "Cores of the host": "主机的核",
    "core {number}": "核 {number}",
    "no core": "没有核",
    "who had the cores": "谁占着核",
    "cores": "核",
    "{thread} was ready for {time} and had no core; it was with {tasks}. {remedy}": (
        "{thread} 就绪了 {time} 却没有核；当时核上是 {tasks}。{remedy}"
    ),
    "Pin the process: {setting}.": "请绑核：{setting}。",
    "Pinning does not help: keep cores from sleeping deeply, cpupower idle-set.": (
        "绑核无济于事：不要让核深度睡眠，cpupower idle-set。"
    ),
    " Other threads likewise: {time}.": "其他线程同样：{time}。",
    " Other sleep: {time}.": "其他睡眠：{time}。",
    " It waited in {call}.": "它在 {call} 中等待。",
    "{thread} slept for {time}.": "{thread} 睡眠了 {time}。",
    "{thread} slept for {time}, until {waker} woke it.": "{thread} 睡眠了 {time}，直到 {waker} 唤醒它。",
    "{thread} slept for {time}, until {waker} woke it, which was ready for {ready} of that "
    "and had no core; it was with {tasks}.": (
        "{thread} 睡眠了 {time}，直到 {waker} 唤醒它；其间 {waker} 就绪了 {ready} 却没有核；当时核上是 {tasks}。"
    ),
    "{thread} waited {time} for a disk, a page of memory or a driver.": "{thread} 等待磁盘、内存页或驱动 {time}。",
    "The core of {thread} served interrupts for {time}.": "{thread} 的核处理中断 {time}。",
    # -- the report -------------------------------------------------------------------------------------
    "The scheduler explains none of the idle time: where it was recorded, threads had their cores.": (
        "空闲时间与调度器无关：在采集到的时间里，线程都有核可用。"
    ),
    "The scheduler explains {ns} of idle time ({share}): {parts}.": (
        "调度器解释了 {ns} 的空闲时间（{share}）：{parts}。"
    ),
    "{cause} {ns}": "{cause} {ns}",
    "Threads, those to blame for the most idle time first": "线程，造成空闲最多的在前",
    "Who had the core that a thread waited for, most idle time first": "线程等核时占用该核的任务，空闲最多的在前",
    "Cores, those of these threads first": "CPU 核，这些线程所在的在前",
}
