"""The catalogue: all that is shown in Chinese, by its English text, or by a key where that does not do.

Users of Ascend read it: one word for a thing, and that of their tools where there is one.

| English | Chinese | English | Chinese |
|---|---|---|---|
| trace, step, slice | trace, step, slice | task | 任务 |
| host, device | Host, Device | kernel, stream | kernel, 流 |
| machine | 主机 | operator | 算子 |
| rank (one; its number) | 卡; rank 3 | launch, to launch | 下发 |
| late rank | 慢卡 | enqueue, dequeue | 入队, 出队 |
| peer (one; its number) | 对端; peer 3 | call of the runtime | runtime 调用 |
| job | 作业 | synchronisation | 同步 |
| group | 通信域 | critical path | 关键路径 |
| collective | 集合通信 | gap | 间隙 |
| exposed communication | 未掩盖（的）通信 | idle | 空闲 |
| overlapped | 已掩盖 | idle exposed by a sync | 同步后空闲 |
| waiting, moving | 等待, 传输 | lost | 损失 |
| link | 链路 | saves at most | 最多可省 |
| free, stage, bubble (columns) | Free, Stage, Bubble | cause; root | 原因; 根因 |
| stage, bubble (of a pipeline) | stage, 气泡 | lead of the host | 领先 |
| micro-batch | 微批次 | line (of source) | 代码行 |
| forward, backward | 前向, 反向 | stack, frame | 调用栈, 栈帧 |
| iteration gap, tail | 迭代间隙, 拖尾 | name | 名称 |
| preparing | 准备 | track, lane | 轨道, 泳道 |
| phase | 阶段 | flow, arrow | 连线 |
| expert | 专家 | screen | 页面 |
| memory of a device, of a host | 显存, 内存 | viewer | 查看器 |
| allocate, reserve, release | 申请, 预留, 释放 | advice | 建议 |
| recording, to record | 采集 | note (of a result; of a user) | 说明; 笔记 |
| digest | 摘要 | limit | 上限 |
| scheduler (of the system) | 调度器 | schedule (of a pipeline) | 调度 |
| what if, fix, replay | 假设分析, 修复, 重放 | interval (of statistics) | 置信区间 |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tracetui.export.chinese.advice import ADVICE, FIGURES
from tracetui.export.chinese.causes import CAUSES
from tracetui.export.chinese.comparisons import COMPARISONS
from tracetui.export.chinese.errors import ERRORS
from tracetui.export.chinese.health import HEALTH
from tracetui.export.chinese.jobs import JOBS
from tracetui.export.chinese.keys import KEYS
from tracetui.export.chinese.memory import MEMORY
from tracetui.export.chinese.notes import NOTES
from tracetui.export.chinese.reports import REPORTS
from tracetui.export.chinese.scheduler import SCHEDULER
from tracetui.export.chinese.screens import SCREENS
from tracetui.export.chinese.stories import STORIES
from tracetui.export.chinese.titles import TITLES_OF_COLUMNS

TABLES = (REPORTS, HEALTH, JOBS, MEMORY, COMPARISONS, STORIES, KEYS, SCREENS, SCHEDULER, NOTES, ERRORS)


def _keyed(prefix: str, rows: Mapping[str, NamedTuple]) -> Iterator[tuple[str, str]]:
    """Yield the fields of rows as entries of the catalogue: "host.gc.name", "advice.casts.text"."""
    for name, row in rows.items():
        for field, words in row._asdict().items():
            yield f"{prefix}{name}.{field}", words


_BUCKETS = (
    "其中 {{exposed_in_tail_ns}} 在反向之后，而反向结束之前有 {{backward_computing_alone_ns}} 的计算没有任何通信：更小的{}让通信"
    "更早开始，最多掩盖 {{hidden_at_most_ns}}。"
)

WORDS: dict[str, str] = {
    **{label: words.name for label, words in CAUSES.items()},
    **dict(_keyed("", CAUSES)),
    **dict(_keyed("advice.", ADVICE)),
    "advice.per_step": "每个 step ",  # what counts are of: `{times}` in the text of a piece of advice
    "advice.in_all": "总共 ",
    # of `{before}` in two texts: time before the device first computes
    "advice.data_loader_slow.before": "，在它的第一个 kernel 之前还有 {before_window_ns}",
    "advice.iteration_gap.before": "，其中 {before_window_ns} 在它的第一个 kernel 之前",
    # of `{waiting}` and `{remedy}` in another text: whether waiting is known, and what hides communication
    "advice.exposed_communication.on_time": "各卡都没有迟到。",
    "advice.exposed_communication.waiting": "其中 {waiting_for_ranks_ns} 在等待慢卡。",
    "advice.exposed_communication.unsplit": "其中多少是在等待慢卡，这份 trace 看不出；有了各卡的 trace，tracetui ranks 能分出。",
    "advice.exposed_communication.buckets": _BUCKETS.format("分桶"),
    "advice.exposed_communication.bucket_cap_mb": _BUCKETS.format("分桶（bucket_cap_mb）"),
    "advice.exposed_communication.asynchronous": "{computing_alone_ns} 的计算没有任何通信，最多可掩盖其中 {hidden_at_most_ns}：更早地异步"
    "发起集合通信，用到结果时再等待。",
    "advice.exposed_communication.less": "没有计算可用来掩盖它：减少通信量或通信次数，或使用更快的链路。",
    **{f"figure.{key}": words for key, words in FIGURES.items()},
    **{f"title.{title}": words for title, words in TITLES_OF_COLUMNS.items()},
    **{english: words for table in TABLES for english, words in table.items()},
}
