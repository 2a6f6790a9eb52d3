"""What must be known to read a trace, a comparison or a job, in Chinese, by the English that is kept of it."""

NOTES = {
    # -- around others ----------------------------------------------------------------------------------
    "{run}: {note}": "{run}：{note}",
    "{name} {refusal}": "{name} {refusal}",
    "{note} (left out)": "{note}（已略去）",
    "1 link to a rank is not followed: name {link} itself": "有 1 个指向卡的链接没有跟随：请直接写出 {link}",
    "{count} links to ranks are not followed: name each itself, such as {link}": (
        "有 {count} 个指向卡的链接没有跟随：请逐个写出，例如 {link}"
    ),
    "{finding} ({numbers}: {verdict})": "{finding}（{numbers}：{verdict}）",
    "BASE and OTHER": "BASE 和 OTHER",
    "all ranks": "所有卡",
    "rank {numbers}": "rank {numbers}",
    "ranks {numbers}": "rank {numbers}",
    "{table} ({words})": "{table}（{words}）",
    "not compared: {error}": "未比较：{error}",
    # -- what a trace lacks -----------------------------------------------------------------------------
    "The trace has no slices and no counters.": "trace 中没有 slice，也没有计数器。",
    "No device layer: this trace has host events only, so there are no gaps to show.": (
        "没有 Device 层：这个 trace 只有 Host 事件，因此没有间隙可以显示。"
    ),
    "Nothing of a device or a framework is recognised: events are shown as they are, and nothing is analysed.": (
        "没有识别出任何 Device 或框架：事件按原样显示，不作分析。"
    ),
    "No device layer up to where the file is cut off, so there are no gaps to show.": (
        "到文件被截断处为止没有 Device 层，因此没有间隙可以显示。"
    ),
    "The file has grown since it was read: open it again to see all of it.": (
        "文件在读取之后变大了：请重新打开以查看全部内容。"
    ),
    "No device tasks: only counters or sums of a device are there, so there are no gaps to show.": (
        "没有 Device 任务：只有 Device 的计数器或汇总，因此没有间隙可以显示。"
    ),
    "No framework layer: this trace has no operators, so device tasks cannot be linked to them.": (
        "没有框架层：这个 trace 中没有算子，因此 Device 任务无法关联到算子。"
    ),
    "Level 0: no CANN slices; launches are found through flows.": (
        "采集级别 Level0：没有 CANN 层的 slice；下发关系通过连线得到。"
    ),
    "No CANN slices and no flows to tasks: their launches are not recorded.": (
        "没有 CANN 层的 slice，也没有指向任务的连线：没有记录任务的下发。"
    ),
    "No Python stacks: collect with with_stack=True to see lines of code.": (
        "没有 Python 调用栈：采集时设置 with_stack=True 才能看到代码行。"
    ),
    "Process names are missing or not known, and were told from what is in them: {processes}.": (
        "缺少进程名或进程名未知，已根据进程中的内容推断：{processes}。"
    ),
    "Task types unknown to this program count as no work: {names}.": (
        "本程序不认识的任务类型不计为工作：{names}。"
    ),
    "1 call of Python was never closed: it ends where its caller ends or calls the next.": (
        "有 1 次 Python 调用没有记录到结束：按其调用者结束或开始下一次调用的时刻计。"
    ),
    "{count} calls of Python were never closed: they end where their caller ends or calls the next.": (
        "有 {count} 次 Python 调用没有记录到结束：按各自的调用者结束或开始下一次调用的时刻计。"
    ),
    "Of its {count} devices the first {most} are analysed.": "共 {count} 个 Device，只分析前 {most} 个。",
    # -- what is unusual about its steps ----------------------------------------------------------------
    "1 task belongs to no step: it starts outside of all of them": (
        "1 个任务不属于任何 step：它在所有 step 之外开始"
    ),
    "{count} tasks belong to no step: they start outside of all of them": (
        "{count} 个任务不属于任何 step：它们在所有 step 之外开始"
    ),
    "In {count} of {steps} steps only communication is recorded: what they computed counts as idle": (
        "{steps} 个 step 中有 {count} 个只记录了通信：其中的计算被计为空闲"
    ),
    "In {count} of {steps} steps the device starts before the host does, by {time} at most: their clocks disagree": (
        "{steps} 个 step 中有 {count} 个的 Device 早于 Host 开始，最多早 {time}：两者的时钟不一致"
    ),
    "{name} {listed}, not {computed}": "{name} 为 {listed}，而不是 {computed}",
    "the trace's own Overlap Analysis says otherwise: {sums}": "trace 自带的 Overlap Analysis 与此不同：{sums}",
    "the trace's own Overlap Analysis says otherwise: {sums}: it leaves out {time} between iterations": (
        "trace 自带的 Overlap Analysis 与此不同：{sums}：它略去了迭代之间的 {time}"
    ),
    # -- comparisons ------------------------------------------------------------------------------------
    "no known device computes or communicates in it, or not in what was asked for": (
        "其中没有可识别的 Device 在计算或通信，或者不在所选的范围内"
    ),
    "it has no ProfilerStep: the whole time of its device counts as one step": (
        "没有 ProfilerStep：Device 的全部时间计为一个 step"
    ),
    "it has {count} devices: times of steps are their mean, device times in tables their sum": (
        "有 {count} 个 Device：step 的时间是它们的平均值，各表中的 Device 时间是它们的总和"
    ),
    "one step tells nothing of chance: ranges are compared": "只有一个 step，无从判断是否偶然：改为比较取值范围",
    "memory is compared of {ranks} alone: of others not both sides tell": (
        "显存只比较 {ranks}：其余的卡并非两边都有记录"
    ),
    "what is alive at the peak of memory is told of rank {rank}": "显存峰值时存活的内存取自 rank {rank}",
    "its ranks kept different steps: means are of all, chance is judged by the {count} that all kept": (
        "各 rank 保留的 step 不同：均值取自全部，是否偶然由共同保留的 {count} 个判断"
    ),
    "{count} steps tell nothing of chance: ranges are compared": (
        "只有 {count} 个 step，无从判断是否偶然：改为比较取值范围"
    ),
    "step {number} ({time})": "step {number}（{time}）",
    "{note} (--all-steps keeps all)": "{note}（--all-steps 保留全部）",
    "{steps} is left out: the others take {time}": "已略去 {steps}：其余 step 的用时为 {time}",
    "{steps} are left out: the others take {time}": "已略去 {steps}：其余 step 的用时为 {time}",
    "step {steps} is not to be believed and left out: tracetui doctor tells why": (
        "step {steps} 不可信，已略去：原因见 tracetui doctor"
    ),
    "steps {steps} are not to be believed and left out: tracetui doctor tells why": (
        "step {steps} 不可信，已略去：原因见 tracetui doctor"
    ),
    "its last step is {time} long, the others {others}: it lasts until the device is done": (
        "最后一个 step 长 {time}，其余的长 {others}：它持续到 Device 做完为止"
    ),
    "some ranks of {run} do not tell waiting from moving: both stand together as {cause} on both sides": (
        "{run} 中有的卡不区分等待与传输：两边都合并为 {cause}"
    ),
    "{run} does not tell waiting from moving: both stand together as {cause} on both sides": (
        "{run} 不区分等待与传输：两边都合并为 {cause}"
    ),
    "{run} has no calls of the runtime (profiler level 0): compiling and the latency of the device stand as {launch} "
    "and {operator} on both sides": (
        "{run} 没有 runtime 调用（采集级别 Level0）：两边的编译和 Device 延迟都计入 {launch} 和 {operator}"
    ),
    "{run} does not tell what ran on the cube units: classes are not cut by that": (
        "{run} 没有记录哪些算子在 Cube 单元上执行：类别不按此划分"
    ),
    "The runs are of different makes of devices: their kernels are not compared by name": (
        "两次运行的 Device 不是同一家厂商的：不按名称比较 kernel"
    ),
    "The runs were recorded at different levels: {base} and {other}": "两次运行的采集级别不同：{base} 和 {other}",
    "Only {run} records calls of the runtime: its host may be slower by what recording them takes": (
        "只有 {run} 采集了 runtime 调用：采集它们的开销可能使它的 Host 变慢"
    ),
    "Only {run} records the scheduler: idle time that it explains has other causes in the other run": (
        "只有 {run} 记录了调度器：它所解释的空闲时间在另一次运行中归于别的原因"
    ),
    "Only {run} records stacks of Python: its devices do not wait longer for the host: what recording them costs does "
    "not show": "只有 {run} 采集了 Python 调用栈：它的 Device 等待 Host 的时间并未变长，看不出采集的开销",
    "Only {run} records stacks of Python: its devices wait {time} longer for the host in a step, which is what "
    "recording costs if nothing else differs": (
        "只有 {run} 采集了 Python 调用栈：它的 Device 每个 step 多等 Host {time}；若没有其他差别，这就是采集的开销"
    ),
    "The runs are of different versions: {versions}": "两次运行的软件版本不同：{versions}",
    "it tells no shapes of operators (record_shapes=True): they are matched by name alone": (
        "没有记录算子的 shape（record_shapes=True）：算子只按名称匹配"
    ),
    "no step of {ranks} is to be believed in both: not compared": (
        "{ranks} 没有两边都可信的 step：不参与比较"
    ),
    "--user-frame and --skip-frame do not count: digests and jobs are made without them": (
        "--user-frame 和 --skip-frame 不起作用：摘要和作业生成时不使用它们"
    ),
    "operators are compared by name alone: a digest does not keep their order": (
        "算子只按名称比较：摘要不保存算子的顺序"
    ),
    "its digest is of an older version of tracetui, which kept less to compare: make it again": (
        "它的摘要由旧版 tracetui 生成，可供比较的内容较少：请重新生成"
    ),
    "a digest keeps of long tables what takes most time: the rest stands as (others)": (
        "对于很长的表，摘要只保留用时最多的行：其余合并为“（其他）”"
    ),
    # -- jobs -------------------------------------------------------------------------------------------
    "1 more finding puts numbers of a rank in doubt: tracetui doctor tells of each rank": (
        "另有 1 项发现使一张卡的数字存疑：各卡的详情见 tracetui doctor"
    ),
    "{count} more findings put numbers of ranks in doubt: tracetui doctor tells of each rank": (
        "另有 {count} 项发现使一些卡的数字存疑：各卡的详情见 tracetui doctor"
    ),
    "steps of {ranks} that are not to be believed count here, too": "{ranks} 的不可信 step 在这里也计入",
    "means of {ranks} leave out steps that are not to be believed (--all-steps takes all)": (
        "{ranks} 的平均值不含不可信的 step（--all-steps 计入全部）"
    ),
    "rank {rank} is there twice: {newer} is looked at, {older} is not": (
        "rank {rank} 有两份采集：使用 {newer}，不使用 {older}"
    ),
    "rank {rank} is there {count} times: {newer} is looked at, {older} are not": (
        "rank {rank} 有 {count} 份采集：使用 {newer}，不使用 {older}"
    ),
    "means are of the steps that all ranks have (--all-steps takes all)": (
        "平均值只取所有卡都有的 step（--all-steps 取全部）"
    ),
    "1 rank is a copy of another one, with times that are the same to the ns ({names})": (
        "有 1 张卡是另一张卡的副本，时间完全相同，精确到 ns（{names}）"
    ),
    "{count} ranks are copies of others, with times that are the same to the ns ({names})": (
        "有 {count} 张卡是其他卡的副本，时间完全相同，精确到 ns（{names}）"
    ),
    "1 rank is of another recording than the others and not looked at ({names})": (
        "有 1 张卡属于另一次采集，未查看（{names}）"
    ),
    "{count} ranks are of another recording than the others and not looked at ({names})": (
        "有 {count} 张卡属于另一次采集，未查看（{names}）"
    ),
    "1 rank is of another job and not looked at ({names}); --only chooses": (
        "有 1 张卡属于另一个作业，不予分析（{names}）；可用 --only 选择"
    ),
    "{count} ranks are of another job and not looked at ({names}); --only chooses": (
        "有 {count} 张卡属于另一个作业，不予分析（{names}）；可用 --only 选择"
    ),
    "{count} ranks are of {jobs} other jobs and not looked at ({names}); --only chooses": (
        "有 {count} 张卡属于另外 {jobs} 个作业，不予分析（{names}）；可用 --only 选择"
    ),
    "one rank has no valid number: numbered by name": "有 1 张卡没有有效编号：按名称编号",
    "{count} ranks have no valid number: numbered by name": "有 {count} 张卡没有有效编号：按名称编号",
    "the trace is cut": "trace 不完整",
    "no known device computes or communicates in it": "其中没有可识别的 Device 在计算或通信",
    "of its {count} devices only the one that works most is looked at": (
        "共 {count} 个 Device，只分析工作最多的一个"
    ),
    "only {count} reasons and lines are told apart: the digest would be too large": (
        "只区分 {count} 个原因和代码行：否则摘要过大"
    ),
    "marked ranges are left out: the digest would be too large": "已略去标记的区间：否则摘要过大",
    "{count} marked ranges are left out, as a digest keeps {most}: {names}": (
        "已略去 {count} 个标记的区间，因为摘要只保留 {most} 个：{names}"
    ),
    "only the first {count} collectives are kept: the digest would be too large": (
        "只保留前 {count} 个集合通信：否则摘要过大"
    ),
    "worker {name} is left out: {reason}": "已略去 worker {name}：{reason}",
    "stopped without reading {count} of {ranks} ranks": "已停止：{ranks} 张卡中有 {count} 张未读取",
    # -- damaged files ----------------------------------------------------------------------------------
    "a file of another export beside it is not read": "旁边另一次导出的 1 个文件未读取",
    "{count} files of other exports beside it are not read": "旁边其他导出的 {count} 个文件未读取",
    "{count} more such sentences about its files": "关于其中的文件还有 {count} 条类似的提示",
    "reading stopped: {count} of {files} files are missing": "读取已停止：{files} 个文件中缺少 {count} 个",
    "events with times beyond reason: {count}, skipped": "时间不合理的事件：{count} 个，已跳过",
    "begin events without an end: {count}, drawn to the end of the trace": (
        "只有开始没有结束的事件：{count} 个，画到 trace 末尾"
    ),
    "end events without a begin: {count}, left out": "只有结束没有开始的事件：{count} 个，已略去",
    "{count} more tables are read in part or not at all": "另有 {count} 张表只读取了一部分或完全未读取",
    "collectives without a device: {count}, shown on the first device": "未记录所在 Device 的集合通信：{count} 个，显示在第一个 Device 上",
    "links, copies or data types are unknown where tables do not name them: {tables}": (
        "表中未给出名称的链路、拷贝方向或数据类型未知：{tables}"
    ),
    "rows without usable times: {count}, left out": "没有可用时间的行：{count} 行，已略去",
    "rows with times beyond reason: {count}, skipped": "时间不合理的行：{count} 行，已跳过",
    "reading stopped: later tables are missing": "读取已停止：缺少后面的表",
    "the file changed while it was read: read it again": "文件在读取期间有变动：请重新读取",
    "the gzip stream is cut off": "gzip 数据流不完整",
    "the gzip stream is damaged": "gzip 数据流已损坏",
    "the gzip stream has a wrong check sum": "gzip 数据流的校验和不符",
    "bytes behind the gzip stream are left out": "已略去 gzip 数据流之后的字节",
    "the file cannot be read beyond byte {offset}: {reason}": "文件在第 {offset} 字节之后无法读取：{reason}",
    "the file has become shorter while it was read": "文件在读取期间变短了",
    "file incomplete: {events} read up to byte {offset}; the end of the array is missing": (
        "文件不完整：读到第 {offset} 字节，共 {events}；缺少数组的结尾"
    ),
    "file incomplete: {events} read up to byte {offset}; the rest is cut off": (
        "文件不完整：读到第 {offset} 字节，共 {events}；其余部分被截断"
    ),
    "reading stopped: {events} read up to byte {end}; later ones are missing": (
        "读取已停止：读到第 {end} 字节，共 {events}；缺少后面的事件"
    ),
    "reading stopped: {events} read from byte {start} to byte {end}; others are missing": (
        "读取已停止：读了第 {start} 到第 {end} 字节，共 {events}；缺少其他的事件"
    ),
    "reading stopped: {events} read up to byte {end} and from byte {last} on; those between are missing": (
        "读取已停止：读到第 {end} 字节，又从第 {last} 字节读起，共 {events}；缺少两者之间的事件"
    ),
    "skipped 1 place: {reason}": "跳过了 1 处：{reason}",
    "skipped 1 place: {reason}, the first at byte {offset}": "跳过了 1 处：{reason}，位于第 {offset} 字节",
    "skipped {count} places: {reason}": "跳过了 {count} 处：{reason}",
    "skipped {count} places: {reason}, the first at byte {offset}": (
        "跳过了 {count} 处：{reason}，第一处位于第 {offset} 字节"
    ),
    "{events} left out: a phase, an id or a time in µs, below 146 years, is missing": (
        "略去了 {events}：缺少 phase、id 或 146 年以内的时间（µs）"
    ),
    "{events} of no duration that can be, taken as 0: below 0, no number or above 146 years": (
        "{events}的 duration 无效，按 0 处理：小于 0、不是数字或超过 146 年"
    ),
    "{events} left out: of a phase that is not shown ({phases})": "略去了 {events}：不显示其 phase（{phases}）",
    "the compiled scanner is of other sources, so reading takes longer: install tracetui again": (
        "编译好的扫描器与源码不符，读取会更慢：请重新安装 tracetui"
    ),
    "{count} of {jobs} worker processes could not be started ({reason})": (
        "{jobs} 个工作进程中有 {count} 个无法启动（{reason}）"
    ),
    "1 of {jobs} worker processes ended early ({reason}); its part was read again": (
        "{jobs} 个工作进程中有 1 个提前结束（{reason}）；已重新读取它的部分"
    ),
    "{count} of {jobs} worker processes ended early ({reason}); their parts were read again": (
        "{jobs} 个工作进程中有 {count} 个提前结束（{reason}）；已重新读取它们的部分"
    ),
    "a writer is at work on it, or died: read is what it had written when it was opened": (
        "有程序正在写入，或写入中途退出：读取的是打开时已写入的内容"
    ),
    "the database is damaged: what is left of it is read": "数据库已损坏：读取其余的内容",
    "the file is cut: what is left of it is read": "文件被截断：读取其余的内容",
    "table {name}: damaged, and left out": "表 {name}：已损坏，略去",
    "table {name}: is a view or a virtual table, and left out": "表 {name}：是视图或虚拟表，略去",
    "table {name}: damaged, {count} rows of it are read": "表 {name}：已损坏，读取了其中 {count} 行",
    "table {name}: too large for the memory there is, {count} rows of it are read": (
        "表 {name}：内存容纳不下，读取了其中 {count} 行"
    ),
    "the snapshot has no history of allocations: its peak is what is known to be held": (
        "快照中没有申请的历史：它的峰值是已知占用的量"
    ),
    "{count} events of the snapshot cannot be read": "快照中有 {count} 个事件无法读取",
    # -- tables and documents beside a trace ------------------------------------------------------------
    "cannot be read: {reason}": "无法读取：{reason}",
    "is not a file": "不是文件",
    "is empty": "为空",
    "is damaged: it holds no JSON": "已损坏：内容不是 JSON",
    "is damaged: it holds no JSON object": "已损坏：内容不是 JSON 对象",
    "is damaged: its first line is no header": "已损坏：第一行不是表头",
    "is not read: it has {size}, more than {largest}": "未读取：大小为 {size}，超过 {largest}",
    "is not read: it has no column {name}": "未读取：缺少 {name} 列",
    "{name} is not read: there is not enough memory for it": "{name} 未读取：内存不足",
    "{name}: column {column} stands there twice, the first is read": "{name}：{column} 列出现了两次，读取第一列",
    "{name}: {count} of {rows} rows are left out: cells are missing or damaged, like {example}": (
        "{name}：{rows} 行中略去了 {count} 行：有单元格缺失或已损坏，例如 {example}"
    ),
    "{name}: {count} of {rows} rows are left out, what they must hold is missing": (
        "{name}：{rows} 行中略去了 {count} 行，其中缺少必需的内容"
    ),
    # -- what the tables beside a trace say ---------------------------------------------------------------
    "{table} agrees: {words}": "{table} 一致：{words}",
    "{table} differs: {words}": "{table} 不一致：{words}",
    "{count} of {kernels} kernels are not in the trace": "{kernels} 个 kernel 中有 {count} 个不在 trace 中",
    "{missing}, {longer}": "{missing}、{longer}",
    "{count} of {kernels} kernels last another time there": "{kernels} 个 kernel 中有 {count} 个在表中的时长不同",
    "{name}: {listed} of {time} there, {computed} of {total} in the trace": (
        "{name}：表中 {listed} 个共 {time}，trace 中 {computed} 个共 {total}"
    ),
    "{listed} there, {computed} in the trace": "表中为 {listed}，trace 中为 {computed}",
    "it {refusal}": "它{refusal}",
    "none of its rows can be read": "它的行都无法读取",
    "1 kernel": "1 个 kernel",
    "{count} kernels": "{count} 个 kernel",
    "1 operation": "1 次通信操作",
    "{count} operations": "{count} 次通信操作",
    "1 link": "1 条链路",
    "{count} links": "{count} 条链路",
    "{words}, and 1 more type": "{words}，另有 1 个类型",
    "{words}, and {count} more types": "{words}，另有 {count} 个类型",
    "{words}, and 1 more call": "{words}，另有 1 次调用",
    "{words}, and {count} more calls": "{words}，另有 {count} 次调用",
    "{words}, and 1 more time": "{words}，另有 1 个时间",
    "{words}, and {count} more times": "{words}，另有 {count} 个时间",
    "{words}, and 1 more link": "{words}，另有 1 条链路",
    "{words}, and {count} more links": "{words}，另有 {count} 条链路",
    # -- limits that are exceeded, and where there is nothing to check --------------------------------------
    "{device}: {measure} is {time}, more than {most}": "{device}：{measure} 为 {time}，超过 {most}",
    "{device}: {measure} is {share} ({time} of {whole}), more than {most}": (
        "{device}：{measure} 为 {share}（{whole} 中的 {time}），超过 {most}"
    ),
    "{device}: memory is {size}, more than {most}": "{device}：显存为 {size}，超过 {most}",
    "{device}: memory grows by {size} or more in step {steps}, more than {most}": (
        "{device}：显存在 step {steps} 中至少增长 {size}，超过 {most}"
    ),
    "{device}: memory grows by {size} or more in each of steps {steps}, more than {most}": (
        "{device}：显存在 step {steps} 中每个 step 至少增长 {size}，超过 {most}"
    ),
    "{device}: {share} of the idle time has no known cause (unlinked), and is in no limit on another cause": (
        "{device}：空闲时间的 {share} 原因未知（unlinked），不计入其他原因的上限"
    ),
    "rank {rank}: {measure} is {share} ({time} of {whole}), more than {most}": (
        "rank {rank}：{measure} 为 {share}（{whole} 中的 {time}），超过 {most}"
    ),
    "rank {rank}: {measure} is {share} ({time} above a mean of {whole}), more than {most}": (
        "rank {rank}：{measure} 为 {share}（比平均值 {whole} 多 {time}），超过 {most}"
    ),
    "rank {rank}: {measure} takes {time}, more than {most}": "rank {rank}：{measure} 用时 {time}，超过 {most}",
    "{measure}: {value} a step, {more} more than in BASE, allowed is {allowed}": (
        "{measure}：每个 step {value}，比 BASE 多 {more}，上限为 {allowed}"
    ),
    "{measure}: {value} at the peak, {more} more than in BASE, allowed is {allowed}": (
        "{measure}：峰值 {value}，比 BASE 多 {more}，上限为 {allowed}"
    ),
    "{measure}: {value} a step of all ranks, {more} more than in BASE, allowed is {allowed}": (
        "{measure}：所有卡合计每个 step {value}，比 BASE 多 {more}，上限为 {allowed}"
    ),
    "{line}; the steps do not tell it from chance": "{line}；各 step 的差异不足以排除偶然",
    "{line}; so few steps cannot tell whether that is chance": "{line}；step 太少，无从判断是否偶然",
    "nothing recorded tells of {measure}: there is nothing to check": "没有采集 {measure}：没有可检查的内容",
    "nothing tells of {measure} in both: there is nothing to check": "{measure} 并非两边都有：没有可检查的内容",
    "no step is recorded: there is nothing to check": "没有采集到 step：没有可检查的内容",
    "no range marked as {name} is known: there is nothing to check": "没有名为 {name} 的标记区间：没有可检查的内容",
    "no known device computes or communicates in this trace: there is nothing to check": (
        "这个 trace 中没有可识别的 Device 在计算或通信：没有可检查的内容"
    ),
    "no known device computes or communicates in these traces: there is nothing to check": (
        "这些 trace 中没有可识别的 Device 在计算或通信：没有可检查的内容"
    ),
    "no known device computes or communicates in {run}: there is nothing to compare": (
        "{run} 中没有可识别的 Device 在计算或通信：无从比较"
    ),
    "{path}: there is no JSON of this run beside it to compare with": "{path}：旁边没有这次运行的 JSON 可以对照",
    "{path}: there is no database of this run beside it to compare with": "{path}：旁边没有这次运行的数据库可以对照",
}
