"""The causes of idle time in Chinese: what `CauseFacts` says in English, by the label of the cause."""

from __future__ import annotations

from typing import NamedTuple


class CauseWords(NamedTuple):
    """What replaces the fields of the same names of `CauseFacts`."""

    name: str
    brief: str
    meaning: str
    doing: str
    doing_unknown: str = ""


CAUSES = {
    "host.gc": CauseWords("垃圾回收", "Python 垃圾回收", "Python 正在进行垃圾回收。", "垃圾回收"),
    "host.sync": CauseWords(
        "同步",
        "Host 等待 Device",
        "Host 在等待 Device：.item()、synchronize()。",
        "{} 等待 Device",
        "等待 Device",
    ),
    "host.dataloader": CauseWords("取数据", "Host 等待数据", "Host 在等待数据。", "{} 等待数据", "等待数据"),
    "host.copy": CauseWords(
        "H2D 拷贝",
        "Host 向 Device 拷贝",
        "Host 正在向 Device 拷贝数据。",
        "{} 拷贝到 Device",
        "拷贝到 Device",
    ),
    "host.communication": CauseWords(
        "集合通信", "Host 准备集合通信", "Host 正在准备集合通信。", "{} 准备集合通信", "准备集合通信"
    ),
    "host.compile": CauseWords("编译", "Host 编译", "Host 正在编译算子或图。", "{} 编译", "编译"),
    "host.operator": CauseWords("算子", "框架在算子内部", "框架正在执行 Host 侧算子。", "{}", "某个算子"),
    "host.profiler": CauseWords(
        "采集", "Profiler 自身", "Profiler 自身的开销，随采集而来。", "Profiler 自身的开销"
    ),
    "host.python": CauseWords("Python", "算子之间的 Python", "两个算子之间运行的是 Python。", "Python"),
    "host.unrecorded": CauseWords("未记录", "Host 无算子记录", "该线程没有算子记录。", "线程上无算子记录"),
    "host.preempted": CauseWords(
        "被抢占", "已就绪，没有 CPU 核", "线程已就绪，却没有 CPU 核。", "已就绪而没有 CPU 核"
    ),
    "host.interrupted": CauseWords("被中断", "所在核在处理中断", "线程所在的核在处理中断。", "被中断"),
    "host.disk": CauseWords("磁盘", "等待磁盘或内存页", "线程在等待磁盘或内存页。", "等待磁盘或内存页"),
    "host.blocked": CauseWords(
        "阻塞", "睡眠，原因不是已知的等待", "线程在睡眠：锁、GIL 或另一个线程。", "{} 睡眠", "睡眠"
    ),
    "queue.busy": CauseWords(
        "队列忙", "排队，前面在下发", "在任务队列中，出队线程正在下发其他任务。", "出队线程在下发其他任务"
    ),
    "queue.wakeup": CauseWords(
        "队列", "排队，尚未取出", "在任务队列中，出队线程空闲却还没有取走它。", "出队线程唤醒"
    ),
    "launch.compile": CauseWords("算子编译", "下发时编译", "正在下发：编译算子。", "编译"),
    "launch.dispatch": CauseWords("下发", "正在下发", "正在下发：tiling、申请 workspace、调度。", "下发"),
    "device.stream_wait": CauseWords("流等待", "已下发，流在等待", "已下发；所在的流在等待事件。", "等待"),
    "device.graph": CauseWords(
        "图", "同一图的任务之间", "与前一个任务作为同一张图下发：图内部的间隙。", "同一图的任务之间"
    ),
    "device.latency": CauseWords("时延", "已下发，正常时延", "已下发；任务启动前的正常时延。", "正常时延"),
    "device.unknown": CauseWords("未知", "已下发，原因未知", "已下发却没有运行，原因未知。", "原因不明"),
    "device.unseen": CauseWords(
        "未采集", "没有采集到的工作", "Device 在做、或可能在做没有采集到的工作。", "可能在做没有采集到的工作"
    ),
    "unlinked": CauseWords("无关联", "没有下发记录", "trace 中没有记录是什么下发了该任务。", ""),
}
