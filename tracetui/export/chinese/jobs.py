"""What is said of a job, in Chinese, by the English: who was late, and why."""

JOBS = {
    "1 rank": "1 张卡",
    "{count} ranks": "{count} 张卡",
    "{here} of {world} ranks": "{world} 张卡中的 {here} 张",
    "Whether ranks are missing that came later still is not known.": "是否还缺少来得更晚的卡，未知。",
    "{here} of an unknown number of ranks": "{here} 张卡（总数未知）",
    "{here} of at least {world} ranks": "至少 {world} 张卡中的 {here} 张",
    "{count} collectives in common": "共有 {count} 次集合通信",
    "clocks {aligned}": "时钟{aligned}",
    "clocks {aligned} in {parts} parts": "时钟分 {parts} 组，{aligned}",
    "aligned within {time}": "对齐误差不超过 {time}",
    "aligned with unknown error": "对齐误差未知",
    # -- the verdict ------------------------------------------------------------------------------------
    "No rank waits for another one.": "没有卡在等待别的卡。",
    "Waiting for each other took the ranks {time}: {share} of their time.": (
        "各卡因互相等待共损失 {time}，占它们时间的 {share}。"
    ),
    "Waiting for each other took the ranks {time}, at least: {share} of their time.": (
        "各卡因互相等待至少损失 {time}，占它们时间的 {share}。"
    ),
    "1 more rank cost the others at least {worth} % of their time.": (
        "另有 1 张卡让别的卡损失了至少 {worth} % 的时间。"
    ),
    "{count} more ranks cost the others at least {worth} % of their time each.": (
        "另有 {count} 张卡各让别的卡损失了至少 {worth} % 的时间。"
    ),
    "The ranks are balanced: no rank, link or stage costs {worth} % of their time.": (
        "各卡均衡：没有哪张卡、哪条链路或哪个 stage 造成 {worth} % 的时间损失。"
    ),
    "The ranks are balanced: no rank or stage costs {worth} % of their time.": (
        "各卡均衡：没有哪张卡或哪个 stage 造成 {worth} % 的时间损失。"
    ),
    "No rank or stage is seen to cost the ranks here {worth} % of their time.": (
        "没有看到哪张卡或哪个 stage 给这里的卡造成 {worth} % 的时间损失。"
    ),
    "No rank, link or stage is seen to cost the ranks here {worth} % of their time.": (
        "没有看到哪张卡、哪条链路或哪个 stage 给这里的各卡造成 {worth} % 的时间损失。"
    ),
    "One rank is here: there is nothing to compare it with.": "这里只有一张卡：没有可比较的对象。",
    "Stage {stage} computes {time} a step, {share} longer than the mean of the {count} stages.": (
        "stage {stage} 每个 step 计算 {time}，比 {count} 个 stage 的平均值长 {share}。"
    ),
    "The link {link} is slow: it moves at {share} of the usual speed, and took {time} longer.": (
        "链路 {link} 慢：速度只有同类链路的 {share}，多花了 {time}。"
    ),
    "{count} links are slow, most of all {link}: it moves at {share} of the usual speed, and took {time} longer.": (
        "有 {count} 条慢链路，最慢的是 {link}：速度只有同类链路的 {share}，多花了 {time}。"
    ),
    "{rank} cost {others} others {time} each on average, {most} at most, in {collectives}": (
        "{rank} 在 {collectives}中让另外 {others} 张卡平均各等了 {time}，最多 {most}"
    ),
    "{rank} cost {others} ranks here {time} each on average, {most} at most, in {collectives}": (
        "{rank} 在 {collectives}中让这里的 {others} 张卡平均各等了 {time}，最多 {most}"
    ),
    "rank {src} to peer {dst} of {group}": "rank {src} 到 {group} 的 peer {dst}",
    "peer {src} of {group} to rank {dst}": "{group} 的 peer {src} 到 rank {dst}",
    "{link} ({transport})": "{link}（{transport}）",
    "{count} slow": "{count} 条慢",
    "uneven": "不均衡",
    "differ": "有差异",
    "{count} collectives": "{count} 次集合通信",
    "{rank} cost one other rank {time} in {collectives}": "{rank} 在 {collectives}中让另一张卡等了 {time}",
    "{rank} cost {others} others {time} each in {collectives}": (
        "{rank} 在 {collectives}中让另外 {others} 张卡各等了 {time}"
    ),
    "{rank} cost {others} ranks here {time} each in {collectives}": (
        "{rank} 在 {collectives}中让这里的 {others} 张卡各等了 {time}"
    ),
    "{said}; only its own trace tells why.": "{said}；原因只有它自己的 trace 才知道。",
    "{said}; why is not known, as their clocks are not aligned.": "{said}；它们的时钟没有对齐，原因不明。",
    "{said}; why is not known, as none of its collectives matches.": "{said}；它没有与之匹配的集合通信，原因不明。",
    "{said}; why is not known, as not all ranks of its collectives can be compared.": (
        "{said}；它的集合通信并非所有卡都能比较，原因不明。"
    ),
    "{said}; most of that they would have waited for other ranks instead.": (
        "{said}；否则其中大部分时间它们会改为等待别的卡。"
    ),
    "{said}, because it waited itself, longest for {rank}.": "{said}，因为它自己也在等待，等 {rank} 最久。",
    "{said}, mostly because it waited itself, longest for {rank}.": (
        "{said}，主要因为它自己也在等待，等 {rank} 最久。"
    ),
    "{said}: {what} ({time} of waiting).": "{said}，原因是{what}（共造成等待 {time}）。",
    "{said}: {what} ({time} of waiting with what others pass on).": (
        "{said}，原因是{what}（连同其他卡的传递，共造成等待 {time}）。"
    ),
    # -- ranks, and what they did longer ----------------------------------------------------------------
    "ranks {number}": "rank {number}",
    "every rank": "每张卡",
    "a missing rank": "一张缺失的卡",
    "rank {number} ({state})": "rank {number}（{state}）",
    "a rank ({state})": "一张卡（{state}）",
    "a rank of {group} ({state})": "一张卡（{group}，{state}）",
    "missing": "缺失",
    "not read": "未读取",
    "peer {number}": "peer {number}",
    "peer {number} ({state})": "peer {number}（{state}）",
    "peer {number} of {group} ({state})": "peer {number}（{group}，{state}）",
    "idle, {cause}": "因{cause}而空闲",
    "computing {type}": "计算 {type}",
    "computing others": "计算其他",
    "copying": "拷贝",
    "difference of clocks": "时钟之差",
    "began the step later": "step 开始得晚",
    "its recording began later": "记录开始得晚",
    "not known: its trace is not read": "未知：它的 trace 未读取",
    "not known: its trace is missing": "未知：没有它的 trace",
    "not known: its clock is not aligned": "未知：它的时钟没有对齐",
    "not known: none of its collectives matches": "未知：它没有与之匹配的集合通信",
    "{rank}, {why}": "{rank}，{why}",
    "{rank}, {why} at {line}": "{rank}，{why}，位于 {line}",
    "{rank}, {why} at {line} (backward)": "{rank}，{why}，位于 {line}（反向）",
    "{why} at {line}": "{why}，位于 {line}",
    "mostly because it waited itself": "主要因为它自己也在等待",
    "mostly {why}": "主要是{why}",
    # -- tables -----------------------------------------------------------------------------------------
    "Roots: why the late ranks were late, summed over all that waited": (
        "根因：慢卡为什么慢，对所有等待的卡求和"
    ),
    "{count} more: {time}": "另有 {count} 项：{time}",
    "Late ranks: how long others waited; exposed: without other work": (
        "慢卡：别的卡等待它们的时间；未掩盖：其间没有做别的工作"
    ),
    "Steps: all waits, also with other work": "各 step：全部等待，含其间做别的工作的时间",
    "Idle lines, preparing included, all ranks together": "空闲的代码行，含准备时间，所有卡合计",
    "Lines that ranks were idle for, preparing included, all ranks together": "让各卡空闲的代码行，含准备时间，所有卡合计",
    "(no line)": "（无代码行）",
    "Ranks, ms of a mean step (lost and cost: all waits of all steps)": (
        "各卡，平均一个 step，单位 ms（损失、代价：全部 step 的全部等待）"
    ),
    "Ranks, ms": "各卡，单位 ms",
    "by {measure}": "按 {measure} 排序",
    "{title}; differ in {measures}": "{title}；差异在 {measures}",
    "Links, most time first": "链路，耗时多的在前",
    "Links of all steps, most time first": "全部 step 的链路，耗时多的在前",
    "slow": "慢链路",
    "Stages of the pipeline": "流水线的各 stage",
    "communicates much": "通信多",
    "Notes": "说明",
    # -- pipeline ---------------------------------------------------------------------------------------
    "No pipeline is seen: no two stages here send forward and backward to each other.": (
        "没有看到流水线：这里没有两个 stage 互相发送前向和反向的数据。"
    ),
    "an unknown schedule": "未知的调度",
    "{count} stages follow {schedule} with {batches} micro-batches.": (
        "{count} 个 stage 采用 {schedule}，有 {batches} 个微批次。"
    ),
    "A stage is in a bubble for {bubble} ({share}) of a step of {step}, {schedule} by the schedule.": (
        "在 {step} 的 step 里，一个 stage 有 {bubble}（{share}）是气泡，其中 {schedule} 来自调度本身。"
    ),
    "Delays of no known reason are {share} of the longest chain: only no-jitter shortens them.": (
        "最长链的 {share} 是 trace 里没有原因的延迟：只有 no-jitter 会缩短它们。"
    ),
    "Waiting for {ranks} is {share} of the longest chain: no fix makes them earlier.": (
        "最长链的 {share} 是在等待{ranks}：任何修复都不会让它们早到。"
    ),
    "Critical are {ranks}: {share} of the longest chain.": "关键的是{ranks}：占最长链的 {share}。",
    "Critical then are {ranks}: {share} of the longest chain.": "此后关键的是{ranks}：占最长链的 {share}。",
    "{ranks} are critical": "关键的是{ranks}",
    "missing ranks": "缺失的卡",
    "ranks that cannot be compared": "无法比较的卡",
    "A stage is in a bubble for {bubble} ({share}) of a step of {step}.": (
        "在 {step} 的 step 里，一个 stage 有 {bubble}（{share}）是气泡。"
    ),
    "{count} of {all} stages are here: which schedule they follow is not known.": (
        "{all} 个 stage 中有 {count} 个在这里：不知道它们采用哪种调度。"
    ),
    "{count} stages follow {schedule} with 1 micro-batch.": "{count} 个 stage 采用 {schedule}，有 1 个微批次。",
    "1F1B or GPipe": "1F1B 或 GPipe",
    "In theory the schedule costs {time}: {formula}.": "理论上该调度的代价是 {time}：{formula}。",
    "Work spread evenly saves {time} of a step; the replay is off by {error}.": (
        "同样的工作均分到各 stage，一个 step 可省 {time}；重放的误差是 {error}。"
    ),
    "Stages, one step: F forward, B backward": "各 stage 的一个 step：F 前向，B 反向",
    "Stages, one step: F forward, B backward (of weights alone W), FB both at once": (
        "各 stage 的一个 step：F 前向，B 反向（仅权重为 W），FB 两者同时"
    ),
    "Stages, of a mean step": "各 stage，平均一个 step",
    # -- experts ----------------------------------------------------------------------------------------
    "There is no all-to-all: how many tokens the experts work at is not known.": (
        "没有 all-to-all：各专家处理了多少 token 未知。"
    ),
    "No rank exchanges tokens with others: there is no pair of all-to-alls.": (
        "没有卡与别的卡交换 token：没有成对的 all-to-all。"
    ),
    "How many tokens the experts work at is not known.": "不知道各专家处理多少 token。",
    "No two ranks of a group are here: how uneven its experts are is not known.": (
        "同一个组里没有两张卡在这里：不知道它的专家有多不均衡。"
    ),
    "The experts are balanced: on average over steps no rank has 1 % more tokens than the mean.": (
        "各专家均衡：对各 step 平均，没有哪张卡的 token 比平均值多 1 %。"
    ),
    "The experts of the ranks here are balanced: on average over steps none has 1 % more tokens "
    "than their mean.": "这里各卡的专家均衡：对各 step 平均，没有哪张卡的 token 比它们的平均值多 1 %。",
    "1 rank of their groups is missing, and may have more tokens.": "它们的组里缺 1 张卡，那张卡的 token 可能更多。",
    "{count} ranks of their groups are missing, and may have more tokens.": (
        "它们的组里缺 {count} 张卡，那些卡的 token 可能更多。"
    ),
    "Layer {layer} is the least balanced: the fullest rank of a step has {ratio} times the mean, "
    "and {ranks} most tokens of all steps.": (
        "第 {layer} 层最不均衡：一个 step 中最满的卡是平均值的 {ratio} 倍，所有 step 合计 {ranks} 的 token 最多。"
    ),
    "No layer is less balanced than layer {layer}: the fullest rank of a step has {ratio} times the "
    "mean, and {ranks} most tokens of all steps.": (
        "没有比第 {layer} 层更不均衡的层：一个 step 中最满的卡是平均值的 {ratio} 倍，所有 step 合计 {ranks} 的 token 最多。"
    ),
    "Balanced experts and sends save {time} ({share}) of a step of {step}; the replay is off by "
    "{error}.": "专家与发送量均衡可以让 {step} 的 step 省下 {time}（{share}）；重放的误差是 {error}。",
    "Layers of experts, all ranks and steps together": "各专家层，所有卡和 step 合计",
    # -- phases -----------------------------------------------------------------------------------------
    "No marked ranges (msTX, NVTX, record_function) are known.": "没有已知的标记区间（msTX、NVTX、record_function）。",
    "The digests of {ranks} are too old to know ranges: make them again.": (
        "{ranks} 的摘要太旧，没有区间：请重新生成。"
    ),
    "{phase} waits {time} for {other}.": "{phase} 等待 {other} 共 {time}。",
    "{count} elements": "{count} 个元素",
    "Phases: marked ranges, and all that devices do meanwhile, summed over ranks": (
        "阶段：程序标记的区间，以及 Device 在此期间做的一切，对各卡求和"
    ),
    # -- what if ----------------------------------------------------------------------------------------
    "A step takes {now}; its replay is off by {error} at most.": "一个 step 用 {now}；重放的误差至多 {error}。",
    "The replay of a step as it was is off by {error} at most.": "按原样重放一个 step，误差至多 {error}。",
    "What of the order of its operations is not in the traces is not modelled.": (
        "trace 里没有的那部分操作次序未被建模。"
    ),
    "Whether ranks are missing is not known: where one was late, no fix here makes it earlier.": (
        "是否缺少一些卡未知：如果缺少的某张卡来得晚，这里的任何修复都不能让它提前。"
    ),
    "The clocks of {count} parts of the job are not aligned: their waits for each other stay.": (
        "作业的 {count} 个部分时钟没有对齐：它们彼此的等待保持不变。"
    ),
    "With {fixes} fixed a step takes {then} instead of {now}: {saved} ({share}) less.": (
        "修好 {fixes} 之后，一个 step 用 {then}，而不是 {now}：少 {saved}（{share}）。"
    ),
    "With {fixes} fixed a step of {now} gains nothing.": "修好 {fixes} 之后，{now} 的 step 没有收益。",
    "Rank {rank} is critical: {share} of the longest chain, mostly {reason}.": (
        "关键的卡是 rank {rank}：占最长链的 {share}，主要是{reason}。"
    ),
    "Rank {rank} is critical then: {share} of the longest chain, mostly {reason}.": (
        "此后关键的卡是 rank {rank}：占最长链的 {share}，主要是{reason}。"
    ),
    "Without delays, and with each operation as long as usual, a step would take {time}: slowdown {slowdown}.": (
        "若没有延迟，且每个操作都像通常那样长，一个 step 用 {time}：减速比 {slowdown}。"
    ),
    "Without delays a step would take {plain}, and {time} with each operation as long as usual: slowdown "
    "{slowdown}.": "若没有延迟，一个 step 用 {plain}；若每个操作也都像通常那样长，则用 {time}：减速比 {slowdown}。",
    "No steps are recorded: a step is the whole recording here.": "没有记录 step：这里的 step 是整个记录。",
    "The ranks waited {time} for each other, {exposed} of it without other work: {share} of their time.": (
        "各卡互相等待共 {time}，其中 {exposed} 没有同时做别的工作：占它们时间的 {share}。"
    ),
    "The ranks waited at least {time} for each other, {exposed} of it without other work: "
    "{share} of their time.": "各卡互相等待至少 {time}，其中 {exposed} 没有同时做别的工作：占它们时间的 {share}。",
    "{said}, {exposed} of it in all without other work": "{said}，其中共 {exposed} 没有同时做别的工作",
    "{said}: as far as clocks are aligned, {what} ({time} of waiting).": (
        "{said}：就时钟已对齐的卡而言，{what}（等待 {time}）。"
    ),
    "{said}: as far as its collectives match, {what} ({time} of waiting).": (
        "{said}：就匹配的集合通信而言，{what}（等待 {time}）。"
    ),
    "No collective of the ranks can be compared: who waited for whom is not known.": (
        "各卡没有可比较的集合通信：谁等待谁无从得知。"
    ),
    "Slowdown by one kind alone: {kinds}.": "单独一类造成的减速比：{kinds}。",
    "Single fixes, by what a step gains as replayed": "各项单独的修复，按重放后一个 step 省下的时间排列",
    # -- causes
    "{cause} ({label})": "{cause}（{label}）",
    # -- notes ------------------------------------------------------------------------------------------
    "only {run} has {ranks}: not compared": "只有 {run} 有 {ranks}：不作比较",
    "a job of {count} ranks is not believed: {most} are the most": "{count} 张卡的作业不可信：最多 {most} 张",
    "the ranks are profiled at different levels: {levels}": "各卡的采集级别不同：{levels}",
    "nothing that {ranks} and rank {rank} have in common tells how far their clocks are apart": (
        "{ranks} 与 rank {rank} 共有的操作都不能说明它们的时钟相差多少"
    ),
    "the clock of rank {rank} is {time} behind that of rank {other}: its times are shifted by that": (
        "rank {rank} 的时钟比 rank {other} 慢 {time}：它的时间已按此平移"
    ),
    "the clock of rank {rank} is {time} ahead of that of rank {other}: its times are shifted by that": (
        "rank {rank} 的时钟比 rank {other} 快 {time}：它的时间已按此平移"
    ),
    "rank {rank} ran other collectives in group {group} than the others: number {number} is {ran} "
    "there, and {elsewhere} elsewhere": (
        "rank {rank} 在通信域 {group} 中执行的集合通信与别的卡不同：第 {number} 个在它那里是 {ran}，在别处是 {elsewhere}"
    ),
    "rank {rank} ran other collectives in group {group} than the others: number {number} of step "
    "{step} is {ran} there, and {elsewhere} elsewhere": (
        "rank {rank} 在通信域 {group} 中执行的集合通信与别的卡不同：step {step} 的第 {number} 个在它那里是 {ran}，"
        "在别处是 {elsewhere}"
    ),
    "nothing more": "没有更多",
    "{count} more sequences of collectives differ": "另有 {count} 个集合通信序列不同",
    "not compared are {count} collectives that look alike on several ranks and do not end together": (
        "有 {count} 次集合通信在几张卡上看似相同但不同时结束，不作比较"
    ),
    "not compared are {count} collectives that look alike on several ranks and do not end together, "
    "or whose ranks are not aligned": (
        "有 {count} 次集合通信在几张卡上看似相同但不同时结束，或者各卡没有对齐，不作比较"
    ),
    "in {count} collectives planes and clocks name different late ranks: the clocks count, {aligned}": (
        "在 {count} 次集合通信中，plane 与时钟给出的慢卡不同：以时钟为准，{aligned}"
    ),
    "1 collective has no planes, and ranks of its group may be missing: its waits are lower bounds": (
        "1 次集合通信没有 plane，其通信域中可能缺卡：它的等待是下界"
    ),
    "not compared is 1 send or receive, as nothing tells its peer: waiting in it is not counted": (
        "有 1 次发送或接收未比较，因为对端未知：其中的等待没有计入"
    ),
    "not compared are {count} sends and receives, as nothing tells their peers: waiting in them is "
    "not counted": "有 {count} 次发送和接收未比较，因为对端未知：其中的等待没有计入",
    "{count} collectives have no planes, and ranks of their groups may be missing: their waits are "
    "lower bounds": "{count} 次集合通信没有 plane，其通信域中可能缺卡：它们的等待是下界",
    "With {phase} as fast on each rank as on its peers a step takes {time} ({share}) less; the replay is"
    " off by {error}.": "若每张卡的 {phase} 都与其他卡一样快，一个 step 少 {time}（{share}）；重放的误差是 {error}。",
    "rank {rank} is critical, mostly {reason}": "关键的卡是 rank {rank}，主要是{reason}",
    "Phases: marked ranges, and all that the device does meanwhile": "阶段：程序标记的区间，以及 Device 在此期间做的一切",
}
