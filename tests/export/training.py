"""A small training run on one device, with names as hostile as JSON allows, for all tests of tables."""

from __future__ import annotations

from typing import Any

from tests.synthetic import flow, piece, process, thread

PYTHON, CANN, NPU, HCCL = 10, 20, 30, 40
MAIN = 1
START_US = 1_736_412_474_000_000

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "  =1", "＝1", "－1")
ESCAPES = (
    "\x1b[31mred\x1b[0m", "two\r\nlines", "\ttab", "[bold]markup[/bold]",
    "a,b;c\"d'e", "\x9b2J", "\u202eevil", "\x00", "lone \ud800",
)  # fmt: skip
PLAIN = ("aclnnMatmul_MatMulV2", "矩阵乘法", "Mul")
NAMES = (*FORMULAS, *ESCAPES, *PLAIN)


def training_events(names: tuple[str, ...] = NAMES, steps: int = 2) -> list[dict[str, Any]]:
    """Per step one kernel per name, launched by an operator of the same name, then one all-reduce."""
    events = [
        *process(PYTHON, "Python", "CPU", 0),
        *process(CANN, "CANN", "CPU", 7),
        *process(NPU, "Ascend Hardware", "NPU", 13),
        *process(HCCL, "HCCL", "NPU", 15),
        *thread(PYTHON, MAIN, "Thread 1"),
        *thread(NPU, 2, "Stream 2"),
        *thread(HCCL, 0, "Group 0 Communication"),
    ]
    connection = 100
    length = 100 * (len(names) + 2)
    for step in range(steps):
        begin = START_US + step * length
        events.append(piece(PYTHON, MAIN, f"ProfilerStep#{step + 5}", begin, length - 1, "cpu_op"))
        for place, name in enumerate(names):
            at = begin + 100 * place + 10
            connection += 1
            stack = f"/home/u/=train {place % 3}.py({place}): forward;\r\n/home/u/main.py(7): <module>"
            events += [
                piece(PYTHON, MAIN, name, at, 40, "cpu_op", **{"Call stack": stack}),
                piece(CANN, MAIN, "Node@launch", at + 5, 20, connection_id=connection),
                piece(
                    NPU, 2, name, f"{at + 30}.{place:03d}", 50 + place / 1000, connection_id=connection,
                    **{"Task Type": "AI_CORE"},
                ),
                flow("s", "async_npu", connection, PYTHON, MAIN, at),
                flow("f", "async_npu", connection, NPU, 2, f"{at + 30}.{place:03d}"),
            ]  # fmt: skip
        at = begin + 100 * len(names) + 30
        events.append(piece(HCCL, 0, "hcom_allReduce__1", at, 90.125, connection_id=connection + 1000))
    return events
