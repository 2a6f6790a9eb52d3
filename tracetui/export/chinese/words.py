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

from tracetui.export.chinese.advice import ADVICE, FIGURES, PARTS
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


WORDS: dict[str, str] = {
    **{label: words.name for label, words in CAUSES.items()},
    **dict(_keyed("", CAUSES)),
    **dict(_keyed("advice.", ADVICE)),
    "advice.per_step": "每个 step ",  # what counts are of: `{times}` in the text of a piece of advice
    "advice.in_all": "总共 ",
    **{f"advice.{part}": words for part, words in PARTS.items()},
    **{f"figure.{key}": words for key, words in FIGURES.items()},
    **{f"title.{title}": words for title, words in TITLES_OF_COLUMNS.items()},
    **{english: words for table in TABLES for english, words in table.items()},
}
