"""Why a command or a file is refused, in Chinese, by the English that errors are raised with."""

ERRORS = {
    # -- around others ----------------------------------------------------------------------------------
    "{path}: {error}": "{path}：{error}",
    "{path}: {files}": "{path}：{files}",
    "{path}: {meaning}": "{path}：{meaning}",
    "{path}: {reason}": "{path}：{reason}",
    "{path}: {refusal}": "{path}：{refusal}",
    "{source}: {refusal}": "{source}：{refusal}",
    "--fix: {error}": "--fix：{error}",
    # -- files ------------------------------------------------------------------------------------------
    "{path}: no such file": "{path}：没有这个文件",
    "{path}: no such file or directory": "{path}：没有这个文件或目录",
    "{path}: no such directory": "{path}：没有这个目录",
    "{sched}: there is no such file": "{sched}：没有这个文件",
    "{path}: is a directory": "{path}：是一个目录",
    "{path}: is not a directory": "{path}：不是目录",
    "{directory} is not a directory": "{directory} 不是目录",
    "{path}: is not a regular file": "{path}：不是普通文件",
    "{path}: is neither a file nor a directory": "{path}：既不是文件，也不是目录",
    "{path}: no permission to read it": "{path}：没有读取权限",
    "{path}: no permission to look at it": "{path}：没有访问权限",
    "{path}: no permission to list the directory": "{path}：没有列出该目录的权限",
    "{path}: cannot be opened: {reason}": "{path}：无法打开：{reason}",
    "{path}: cannot be read: {reason}": "{path}：无法读取：{reason}",
    "{path}: the file is empty": "{path}：文件为空",
    "{path}: a part of it is gone: {error}": "{path}：它的一部分已不存在：{error}",
    "{path}: is named as gzip by its first bytes, but nothing can be inflated": (
        "{path}：开头的字节表明是 gzip，但无法解压出任何内容"
    ),
    "{path}: is a database, but none of a profiler: {contents}": (
        "{path}：是数据库，但不是 profiler 的数据库：{contents}"
    ),
    "{path}: the database holds no events{problem}": "{path}：数据库中没有事件{problem}",
    "{file}: there is no {exports} of this run beside it": "{file}：旁边没有这次运行的 {exports}",
    "{path} is the trace itself, which stays as it is": "{path} 就是 trace 本身，不会被改写",
    "{path} exists; {advice}": "{path} 已存在；{advice}",
    "is no snapshot of PyTorch's allocator": "不是 PyTorch 内存分配器的快照",
    "is damaged: it is no whole pickle": "已损坏：不是完整的 pickle",
    "is not read: it asks for more memory than its size accounts for": "未读取：它要求的内存超出其大小所能解释的",
    "is refused: it asks for code to be run, which no snapshot does": "被拒绝：它要求执行代码，快照不会这样做",
    "is refused: it asks for objects from elsewhere, which no snapshot does": (
        "被拒绝：它引用外部对象，快照不会这样做"
    ),
    "{path}: the file holds nothing but white space": "{path}：文件中只有空白",
    '{path}: is not a trace: its JSON object has no "traceEvents" array': (
        '{path}：不是 trace：它的 JSON 对象没有 "traceEvents" 数组'
    ),
    "{path}: is not a trace: the file holds {contents}": "{path}：不是 trace：文件内容是{contents}",
    "a pickle; where it is a snapshot of memory, tracetui memory shows it": (
        "pickle；如果是内存快照，可用 tracetui memory 查看"
    ),
    "binary data": "二进制数据",
    "HTML or XML": "HTML 或 XML",
    "a pointer of Git LFS only: git lfs pull fetches the file itself": (
        "Git LFS 的指针：用 git lfs pull 取得文件本身"
    ),
    "no JSON array or object": "非 JSON 的文本（没有数组或对象）",
    "{path}: is not a trace: none of its {count} elements is an event": (
        "{path}：不是 trace：它的 {count} 个元素都不是事件"
    ),
    "{path}: is not a trace: its array holds no readable event": "{path}：不是 trace：数组中没有可读的事件",
    "{path}: the file is cut off before the end of its first event": "{path}：文件在第一个事件结束之前就被截断",
    "{path}: the trace holds no events": "{path}：trace 中没有事件",
    "{path}: no trace in this directory can be read": "{path}：这个目录中没有可以读取的 trace",
    "no trace in this directory: no JSON of a run": "这个目录中没有 trace：没有某次运行的 JSON",
    "no trace in this directory: no database of a run": "这个目录中没有 trace：没有某次运行的数据库",
    "no trace in this directory: {databases}": "这个目录中没有 trace：{databases}",
    "no trace in this directory: no {name}, no msprof_*.json, no database": (
        "这个目录中没有 trace：没有 {name}、msprof_*.json，也没有数据库"
    ),
    "{path}: holds {count} traces, name one of them: {names}": (
        "{path}：其中有 {count} 个 trace，请指定一个：{names}"
    ),
    "{path}: holds {count} traces, name one of them: {names} and {more} more": (
        "{path}：其中有 {count} 个 trace，请指定一个：{names}，另有 {more} 个"
    ),
    "{path}: is MindInsight's diagram of a pipeline's stages, not a trace: open the "
    "timeline_display_<rank>.json beside it": (
        "{path}：是 MindInsight 的流水线 stage 图，不是 trace：请打开旁边的 timeline_display_<rank>.json"
    ),
    "it is not a file": "它不是文件",
    "--force replaces it": "--force 会替换它",
    # -- recordings of the scheduler --------------------------------------------------------------------
    "there is no recording of the scheduler beside this trace: name one with --sched FILE": (
        "这个 trace 旁边没有调度器记录：请用 --sched FILE 指定"
    ),
    "--sched is of one trace or job: the operating system of others is not told": (
        "--sched 只用于一个 trace 或作业：其他 trace 的操作系统情况未知"
    ),
    "holds no events of the scheduler": "没有调度事件",
    "holds no events of the scheduler that `trace-cmd report` tells of": (
        "其中没有 `trace-cmd report` 能输出的调度事件"
    ),
    "holds no recording that is plainly of this rank: call it rank0.txt, or like its host, or put it into a "
    "directory with the name of the rank's": (
        "其中没有明确属于这张卡的记录：请命名为 rank0.txt 或主机名，或放入与这张卡的目录同名的目录"
    ),
    "is a file of trace-cmd, which is not installed here: run `trace-cmd report` where it is, and give the "
    "text": "是 trace-cmd 的文件，而本机没有安装 trace-cmd：请在装有它的机器上运行 `trace-cmd report`，并提供输出的文本",
    "cannot be laid beside the trace, which has no threads of the host with a number": (
        "无法与 trace 对齐：trace 中没有带编号的 Host 线程"
    ),
    "cannot be laid on the clock of the trace: no start_info of the profiler fits, and what the threads do "
    "tells no offset; give one with --sched-offset NS": (
        "无法对齐到 trace 的时钟：没有匹配的 start_info，从线程的行为也得不出偏移；请用 --sched-offset NS 给出"
    ),
    "does not overlap the trace with that offset": "用这个偏移时与 trace 没有重叠",
    # -- arguments --------------------------------------------------------------------------------------
    "{message}; see {prog} --help": "{message}；见 {prog} --help",
    "there is no command or file {word}; did you mean tracetui {alike}? See tracetui --help": (
        "没有命令或文件 {word}；是否想用 tracetui {alike}？见 tracetui --help"
    ),
    "there is no file {word}, and no command of that name; see tracetui --help": (
        "没有文件 {word}，也没有同名的命令；见 tracetui --help"
    ),
    "argument {argument}: {refusal}": "参数 {argument}：{refusal}",
    "the following arguments are required: {arguments}": "缺少必需的参数：{arguments}",
    "unrecognized arguments: {arguments}": "无法识别的参数：{arguments}",
    "expected one argument": "后面需要一个值",
    "ignored explicit argument {value}": "不接受值 {value}",
    "invalid choice: {value} (choose from {choices})": "没有 {value} 这个选项（可选：{choices}）",
    "a prefix has at least one character, like /home/me/lib/": "前缀至少有一个字符，例如 /home/me/lib/",
    "a step is a whole number, like 3": "step 是一个整数，例如 3",
    "a time is a number of seconds above 0, like 30": "时间是大于 0 的秒数，例如 30",
    "a number of rows is a whole number, 0 for all": "行数是一个整数，0 表示全部",
    "a number of processes is a whole number from 1 to {most}": "进程数是 1 到 {most} 的整数",
    "an offset is a whole number of nanoseconds, like -1500000": "偏移是整数纳秒，例如 -1500000",
    "a palette is one of {names}, or two, like 256,light": "配色可取 {names} 之一，或其中两个，例如 256,light",
    "a limit is a share or a time, like 10% or 3ms": "上限是比例或时间，例如 10% 或 3ms",
    "a limit is a share or a time, like 5%, 2ms, idle=2ms or Matmul=3%": (
        "上限是比例或时间，例如 5%、2ms、idle=2ms 或 Matmul=3%"
    ),
    "a limit is a share or a size, like memory=5% or memory=500MB": (
        "上限是比例或大小，例如 memory=5% 或 memory=500MB"
    ),
    "a limit on a cause is CAUSE=SHARE or CAUSE=TIME, like host.sync=5%": (
        "原因的上限写作 CAUSE=SHARE 或 CAUSE=TIME，例如 host.sync=5%"
    ),
    "a limit on a phase is NAME=TIME, like generate=2.1s": "阶段的上限写作 NAME=TIME，例如 generate=2.1s",
    "a share is at most 100%": "比例最多为 100%",
    "a size is a number with a unit, like 60GB, 1.5MB or 512MiB": "大小是带单位的数，例如 60GB、1.5MB 或 512MiB",
    "no such cause; there are {causes}": "没有这个原因；可用的有 {causes}",
    "{measure} is not measured; there are {measures}": "没有 {measure} 这个指标；可用的有 {measures}",
    # -- times, places and notes ------------------------------------------------------------------------
    "a time is a number with a unit (s, ms, us or ns), like 1.35s": (
        "时间是带单位的数（s、ms、us 或 ns），例如 1.35s"
    ),
    "a time needs a unit: s, ms, us or ns": "时间需要单位：s、ms、us 或 ns",
    "a time this large is in no trace": "没有 trace 会有这么大的时间",
    "a window ends after it starts": "窗口的结束必须晚于开始",
    "a window is START..END, like 1.2s..1.35s, 350ms.. or ..900us": (
        "窗口写作 START..END，例如 1.2s..1.35s、350ms.. 或 ..900us"
    ),
    "a place begins with a screen, like gaps@1.2s..1.35s#gap=NPU:1.236211": (
        "位置以页面开头，例如 gaps@1.2s..1.35s#gap=NPU:1.236211"
    ),
    "a place has at most {count} characters": "位置最多 {count} 个字符",
    "before the : of a place stands the number of a rank": "位置中冒号之前是 rank 的编号",
    "the parts of a place after # are NAME=VALUE, with commas between them": (
        "位置中 # 之后的各项写作 NAME=VALUE，用逗号分隔"
    ),
    "the side of a place is base or other": "位置的 side 为 base 或 other",
    "the step of a place is a whole number": "位置的 step 是一个整数",
    "the time of a place ends after it starts": "位置的时间段，结束必须晚于开始",
    "the time of a place is START..END, like 1.2s..1.35s": "位置的时间段写作 START..END，例如 1.2s..1.35s",
    "the trace of a place is a fingerprint of 12 hexadecimal digits": "位置的 trace 是 12 位十六进制的指纹",
    "times in a place are seconds from the start of the trace, like 1.236211": (
        "位置中的时间是从 trace 开始算起的秒数，例如 1.236211"
    ),
    "a % in a place is followed by the two hexadecimal digits of a byte of UTF-8": (
        "位置中的 % 之后是 UTF-8 字节的两位十六进制数"
    ),
    "{name} stands twice in this place": "{name} 在这个位置中出现了两次",
    "a note has a text": "笔记要有内容",
    "a note has at most {count} characters": "笔记最多 {count} 个字符",
    # -- queries and fixes ------------------------------------------------------------------------------
    "a query begins with select, with or from: tables are only read": (
        "查询以 `select`、`with` 或 `from` 开头：表只能读取"
    ),
    "a query is one statement, and this is {count}": "查询是一条语句，这里有 {count} 条",
    "the query took longer than {seconds} s: --timeout allows more": (
        "查询超过了 {seconds} s：可用 --timeout 放宽"
    ),
    "the query was stopped": "查询已停止",
    "{text} names nothing: a fix is one of {forms}": "{text} 没有指明任何对象：修复可写作 {forms}",
    "a line is as fast as it was at 1x: more than that fixes it": "1x 表示该行速度不变：请给出更大的倍数",
    "a link is as fast as it was at 1x: more than that fixes it": "1x 表示该链路速度不变：请给出更大的倍数",
    "the clocks of its stages are not aligned": "它的各 stage 的时钟没有对齐",
    "a link is between two ranks": "链路在两张卡之间",
    "no rank was idle for {file}:{line}": "没有卡因 {file}:{line} 而空闲",
    "no rank works in a phase {phase}": "没有卡在名为 {phase} 的阶段中工作",
    "there is no rank {number} here": "这里没有 rank {number}",
    "there is no stage {number} here": "这里没有 stage {number}",
    "no other rank does the same work as those that are idle for {file}:{line}": (
        "没有其他卡与因 {file}:{line} 而空闲的卡做相同的工作"
    ),
    "no other rank does the same work in the phase {phase}": "没有其他卡在名为 {phase} 的阶段中做相同的工作",
    "no other rank does the same work as rank {numbers} in the same steps": (
        "同样的 step 中没有其他卡与 rank {numbers} 做相同的工作"
    ),
    "no rank exchanges tokens with others: there is no pair of all-to-alls": (
        "没有卡与其他卡交换 token：没有成对的 all-to-all"
    ),
    "how fast ranks {first} and {second} exchange data is not recorded": (
        "没有记录 {first} 号卡与 {second} 号卡交换数据的速度"
    ),
    "ranks {first} and {second} have no collective in common here": (
        "rank {first} 和 rank {second} 在这里没有共同的集合通信"
    ),
    "nothing tells which rank of one job is which of the other: BASE has {base}, OTHER {other}, numbered by name where no trace tells a number": (
        "无法得知两个作业的卡如何对应：BASE 有 {base}，OTHER 有 {other}，trace 没有给出编号的卡按名字编号"
    ),
    "the jobs have no rank in common: BASE has {base}, OTHER {other}": (
        "两个作业没有共同的卡：BASE 有 {base}，OTHER 有 {other}"
    ),
    # -- settings, options and their values -------------------------------------------------------------
    "{path}: there is no setting {name}: they are {settings}": "{path}：没有设置项 {name}：可用的有 {settings}",
    "{path}: {name} is {words}": "{path}：{name} 应为 {words}",
    "--{first} and --{second} cannot both write to stdout": "--{first} 和 --{second} 不能同时写到标准输出",
    "--brief goes with --json; see tracetui --help": "--brief 要与 --json 一起使用；见 tracetui --help",
    "--baseline BASE and --max-regression LIMIT belong together": (
        "--baseline BASE 和 --max-regression LIMIT 必须一起使用"
    ),
    "--same-exports reads both exports of a run, and goes with no limits": (
        "--same-exports 读取一次运行的两种导出，不能与上限一起使用"
    ),
    "{options} are of jobs, and go with no limits of a device": "{options} 用于作业，不能与 Device 的上限一起使用",
    "no limit is given, like --max-free 10%; see tracetui check --help": (
        "没有给出上限，例如 --max-free 10%；见 tracetui check --help"
    ),
    "a digest is held to --max-regression alone: other limits need its trace": (
        "摘要只能用 --max-regression 检查：其他上限需要它的 trace"
    ),
    "there is no step {step} in this trace: {known}": "这个 trace 中没有 step {step}：{known}",
    "there is no step {step} in this snapshot: {known}": "这个快照中没有 step {step}：{known}",
    "there is no step {step} in this job: {known}": "这个作业中没有 step {step}：{known}",
    "a window ends after it starts; this trace {since}": "窗口的结束必须晚于开始；这个 trace {since}",
    "the window ends before the start of {path}, which is {span} long and {since}": (
        "窗口在 {path} 开始之前就结束了；这个 trace 长 {span}，{since}"
    ),
    "the window starts after the end of {path}, which is {span} long and {since}": (
        "窗口在 {path} 结束之后才开始；这个 trace 长 {span}，{since}"
    ),
    "no track of this trace has {tracks} in its name": "这个 trace 中没有名称含 {tracks} 的轨道",
    "--by {by} is of devices: --host has types and names": "--by {by} 用于 Device：--host 有类型和名称",
    "--by is one of {names}": "--by 可取 {names}",
    "no row is called {name} here: ids begin with {kinds}": "这里没有名为 {name} 的行：id 以 {kinds} 开头",
    "no row is called {name} here: --json of the commands shows the ids that there are": (
        "这里没有名为 {name} 的行：各命令的 --json 会列出已有的 id"
    ),
    "a place is on one of {screens}, not on {screen}": "位置所在的页面应为 {screens} 之一，而不是 {screen}",
    "this terminal (TERM) cannot show the viewer; tracetui summary PATH prints text": (
        "这个终端（TERM）无法显示查看器；tracetui summary PATH 会输出文本"
    ),
    "several traces are for the viewer, which needs a terminal; give one or two": (
        "多个 trace 只能在查看器中打开，而查看器需要终端；请给出一个或两个"
    ),
    "a snapshot of memory is viewed alone: give one path": "显存快照只能单独查看：请给出一个路径",
    "a snapshot has no times: --window is for traces": "快照没有时间：--window 用于 trace",
    "memory is told of the steps of one process, and step {step} is none of them": (
        "显存只按一个进程的 step 统计，step {step} 不在其中"
    ),
    "memory_block.csv has no times: --step and --window leave nothing of it": (
        "memory_block.csv 没有时间：用 --step 或 --window 后不剩任何内容"
    ),
    "nothing is recorded of the memory: there is no table to write": "没有采集显存：没有可写的表",
    "a query is missing, like 'select count(*) from gaps'; --tables lists the tables": (
        "缺少查询，例如 'select count(*) from gaps'；--tables 列出所有表"
    ),
    "--at goes with --add: it says where the note is": "--at 要与 --add 一起使用：它说明笔记的位置",
    "the note cannot be kept: {reason}": "笔记无法保存：{reason}",
    "{name} is no file of notes": "{name} 不是笔记文件",
    "its steps are {numbers}": "它的 step 有 {numbers}",
    "its step is {numbers}": "它的 step 是 {numbers}",
    "--each-step goes with limits on the time of a device, like --max-idle 10%": (
        "--each-step 要与设备时间的限制一起使用，例如 --max-idle 10%"
    ),
    "--all-steps goes with --baseline, or with limits on a job": (
        "--all-steps 要与 --baseline 或作业的限制一起使用"
    ),
    "--at is for the viewer, which needs a terminal": "--at 用于界面，界面需要终端",
    "--window is of one trace: these are several ranks": "--window 只用于单个 trace：这里有多张卡",
    "--tables lists names: as text, or with --json": "--tables 列出名称：以文本，或用 --json",
    "it has no ProfilerStep": "其中没有 ProfilerStep",
    "starts at {time}": "从 {time} 开始",
    "it shows {count} repetitions": "其中有 {count} 次重复",
    "nothing is repeated in it": "其中没有重复",
    # -- jobs and comparisons ---------------------------------------------------------------------------
    "the job cannot be replayed: {error}": "作业无法重放：{error}",
    "its collectives wait for each other": "它的集合通信互相等待",
    "its collectives wait for each other: their clocks are not aligned": "它的集合通信互相等待：各卡的时钟没有对齐",
    "no device works in it": "其中没有设备在工作",
    "the JSON and the database agree: {tasks}, {gaps}, their times, steps and causes": (
        "JSON 与数据库一致：{tasks}、{gaps}，以及它们的时间、step 和原因"
    ),
    "the JSON and the database agree: {tasks}, {gaps}, their times and steps; causes are not compared, "
    "as {json} and {database} tasks lead to an operator": (
        "JSON 与数据库一致：{tasks}、{gaps}，以及它们的时间和 step；原因没有比较，因为分别有 {json} 和 {database} 个任务能追溯到算子"
    ),
    "{measure} is {json} in the JSON and {database} in the database": (
        "{measure} 在 JSON 中是 {json}，在数据库中是 {database}"
    ),
    "{measure} are {json} in the JSON and {database} in the database": (
        "{measure} 在 JSON 中是 {json}，在数据库中是 {database}"
    ),
    "{path}: no trace of a rank in it matches {only}": "{path}：其中没有哪张卡的 trace 与 {only} 匹配",
    "no two of the {ranks} traces are of one job; name one ({names})": (
        "{ranks} 个 trace 中没有两个属于同一作业；请指定一个（{names}）"
    ),
    "it is no digest of tracetui": "不是 tracetui 的摘要",
    "it is of another version of tracetui: make it again": "它由另一版本的 tracetui 生成：请重新生成",
    "it is damaged ({name})": "已损坏（{name}）",
    "{what} holds all steps together, and no shapes: these need traces, one by one": (
        "{what} 只有所有 step 的合计，也没有 shape：这些需要逐个给出 trace"
    ),
    "{what} holds no outlier steps: --all-steps needs traces, one by one": (
        "{what} 不含离群的 step：--all-steps 需要逐个给出 trace"
    ),
    "there is not enough memory for this trace": "内存不足，无法读取这个 trace",
    # -- packages ---------------------------------------------------------------------------------------
    "--xlsx needs XlsxWriter: pip install tracetui[xlsx]": "--xlsx 需要 XlsxWriter：pip install tracetui[xlsx]",
    "tracetui mcp needs the package mcp: pip install tracetui[mcp]": (
        "tracetui mcp 需要软件包 mcp：pip install tracetui[mcp]"
    ),
    "tracetui sql needs DuckDB: pip install tracetui[sql]": "tracetui sql 需要 DuckDB：pip install tracetui[sql]",
    "Dask is not installed: pip install 'tracetui[dask]'": "没有安装 Dask：pip install 'tracetui[dask]'",
}
