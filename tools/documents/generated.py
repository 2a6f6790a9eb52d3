"""The parts of the documents that are made of tables in the code: `python -m tools.documents` renews them."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import tracetui
from tests.job.planted import job
from tracetui.analysis.advice.rules import RULES
from tracetui.analysis.idle.cause import Cause
from tracetui.cli.commands import COMMANDS
from tracetui.cli.exit_codes import ExitCode
from tracetui.export.chinese.advice import ADVICE as CHINESE_ADVICE
from tracetui.export.chinese.words import WORDS
from tracetui.export.sentences.causes import micro
from tracetui.export.tables import memory
from tracetui.export.tables.advice import ADVICE
from tracetui.export.tables.column import Form, Table
from tracetui.export.tables.communication import LINKS, PEERS
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.export.tables.events import EVENTS
from tracetui.export.tables.gaps import GAPS
from tracetui.export.tables.hotspots import LINES
from tracetui.export.tables.kernels import KERNELS
from tracetui.export.tables.nested import FRAMES, MODULES, SCOPES
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS
from tracetui.export.tables.signatures import SIGNATURES
from tracetui.export.tables.steps import STEPS
from tracetui.export.tables.syncs import SYNCS
from tracetui.export.tables.whatif import TRIALS
from tracetui.ui.actions import ACTIONS, GROUPS, merge_actions
from tracetui.ui.screen_specs import shown_name


def causes_markdown() -> str:
    """Return the table of docs/method.md: the causes, their rules, and what helps."""
    lines = ["| | cause | the rule | what helps |", "|---|---|---|---|"]
    for facts in (cause.facts for cause in Cause):
        cells = (f"`{facts.letter}`", f"`{facts.label}`", facts.rule, facts.remedy)
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines)


def keys_markdown() -> str:
    """Return the table of docs/keys.md, by group: keys, what they do, and on which screens."""
    lines = ["| keys | | | on |", "|---|---|---|---|"]
    for group in GROUPS:
        lines.append(f"| **{group}** | | | |")
        for keys, action in merge_actions(action for action in ACTIONS if action.group == group):
            shown = " ".join(f"`{key}`" for key in keys).replace("|", "\\|")
            where = ", ".join(dict.fromkeys(map(shown_name, action.screens))) or "all"
            lines.append(f"| {shown} | {action.title} | {action.help} | {where} |")
    return "\n".join(lines) + "\n"


def commands_markdown() -> str:
    """Return the table of commands."""
    rows = (f"| `tracetui {command.usage}` | {command.brief} |" for command in COMMANDS)
    return "\n".join(("| command | |", "|---|---|", *rows))


def statuses_markdown() -> str:
    """Return the table of exit statuses."""
    rows = (f"| `{code.value}` | {code.meaning} |" for code in ExitCode)
    return "\n".join(("| status | |", "|---|---|", *rows))


def advice_markdown() -> str:
    """Return the table of the rules of advice: what each looks for."""
    rows = (f"| {rule.__name__.replace('_', ' ')} | {_sentence(rule)} |" for rule in RULES)
    return "\n".join(("| rule | looks for |", "|---|---|", *rows))


def chinese_advice_markdown() -> str:
    """Return the table of advice in Chinese: the title of each piece, and its rule with its threshold."""
    rows = (f"| {words.title} | {micro(words.rule)} |" for words in CHINESE_ADVICE.values())
    return "\n".join(("| 建议 | 规则 |", "|---|---|", *rows))


def chinese_keys_markdown() -> str:
    """Return the table of keys in Chinese; commands have the names that the viewer finds them by."""
    lines = ["| 按键 | 命令 | 作用 | 页面 |", "|---|---|---|---|"]
    for group in GROUPS:
        lines.append(f"| **{WORDS[group]}** | | | |")
        for keys, action in merge_actions(action for action in ACTIONS if action.group == group):
            shown = " ".join(f"`{key}`" for key in keys).replace("|", "\\|")
            where = (
                "、".join(WORDS[screen] for screen in dict.fromkeys(map(shown_name, action.screens)))
                or "全部"
            )
            lines.append(f"| {shown} | {WORDS[action.title]} | {WORDS[action.help]} | {where} |")
    return "\n".join(lines) + "\n"


def columns_markdown() -> str:
    """Return the tables that scripts get: of each what a row is, and the names of its columns."""
    return "\n\n".join(
        f"### `{name}`\n\n{_rows_of(getattr(tracetui, name))}\n\n{_names(table)}"
        for name, table in TABLES.items()
    )


def job_columns_markdown() -> str:
    """Return the tables of a job that scripts get, of one that has all of them."""
    made = job("loader")
    frames = (
        tracetui.ranks_frame,
        tracetui.roots_frame,
        tracetui.job_lines_frame,
        tracetui.job_links_frame,
        tracetui.phases_frame,
        tracetui.experts_frame,
    )
    return "\n\n".join(
        f"### `{frame.__name__}`\n\n{_rows_of(frame)}\n\n{_listed(frame(made).columns)}" for frame in frames
    )


def csv_columns_markdown() -> str:
    """Return the tables of commands that no DataFrame has; of a comparison also what tables have more."""
    parts = [
        f"### `{command} --csv`\n\n{rows}\n\n{_names(table)}" for command, rows, table in TABLES_OF_COMMANDS
    ]
    usual = set(_keys(WATERFALL.table))
    more = [
        f"- `--by {table.by}` has " + " ".join(f"`{key}`" for key in _keys(table.table) if key not in usual)
        for table in EVERY
        if not usual.issuperset(_keys(table.table))
    ]
    heading = "Some tables have more; that of memory has bytes in place of times, and no test:"
    return "\n\n".join((*parts, heading, "\n".join(more)))


def _rows_of(frame: Callable[..., object]) -> str:
    """Return what the documentation of a frame says of its rows: "One row per gap ..."."""
    return (inspect.getdoc(frame) or "").replace("Return a row per", "One row per", 1)


def _names(table: Table[Any]) -> str:
    return _listed(_keys(table))


def _keys(table: Table[Any]) -> list[str]:
    return [column.key for column in table.of(Form.FRAME)]


def _listed(keys: Iterable[str]) -> str:
    names = " ".join(f"`{key}`" for key in keys)
    return "\n".join(textwrap.wrap(names, 125, break_on_hyphens=False))


def _sentence(rule: Callable[..., object]) -> str:
    return " ".join(inspect.getdoc(rule).partition("\n\n")[0].split())  # type: ignore[union-attr]


#: The DataFrames whose columns are the same for every trace, and what they are made of.
TABLES: dict[str, Table[Any]] = {
    "steps_frame": STEPS,
    "gaps_frame": GAPS,
    "hotspots_frame": LINES,
    "modules_frame": MODULES,
    "frames_frame": FRAMES,
    "scopes_frame": SCOPES,
    "signatures_frame": SIGNATURES,
    "syncs_frame": SYNCS,
    "operators_frame": OPERATORS,
    "kernels_frame": KERNELS,
    "links_frame": LINKS,
    "late_peers_frame": PEERS,
    "scheduler_threads_frame": THREADS,
    "culprits_frame": CULPRITS,
    "cores_frame": CORES,
    "advice_frame": ADVICE,
    "events_frame": EVENTS,
    "memory_lines_frame": memory.LINES,
    "memory_sizes_frame": memory.SIZES,
    "memory_blocks_frame": memory.BLOCKS,
    "memory_curve_frame": memory.SAMPLES,
}
#: Of the commands whose table is no DataFrame: what a row is, and the columns.
TABLES_OF_COMMANDS: tuple[tuple[str, str, Table[Any]], ...] = (
    (
        "pipeline",
        "One row per stage; times are means of its ranks and steps. The last four sum to `bubble_ns`.",
        PIPELINE_STAGES,
    ),
    ("whatif", "One row per single fix, most saved first; `step_ns` is a mean step then.", TRIALS),
    (
        "compare",
        "One row per part of a mean step, or of the table of `--by`; `delta_ns` is OTHER less BASE.\n\n"
        "From `shift_ns` to `p` they are of the rank test of the steps, and empty of fewer than three.",
        WATERFALL.table,
    ),
)
#: (page, name of the block) -> what stands between `<!-- name: … -->` and `<!-- /name -->`
GENERATED: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/keys.md", "keys"): keys_markdown,
    ("docs/zh/keys.md", "keys"): chinese_keys_markdown,
    ("docs/method.md", "causes"): causes_markdown,
    ("docs/scripts.md", "commands"): commands_markdown,
    ("docs/scripts.md", "statuses"): statuses_markdown,
    ("docs/advice.md", "advice"): advice_markdown,
    ("docs/zh/advice.md", "advice"): chinese_advice_markdown,
    ("docs/columns.md", "columns"): columns_markdown,
    ("docs/columns.md", "columns of jobs"): job_columns_markdown,
    ("docs/columns.md", "columns of commands"): csv_columns_markdown,
}


def block(text: str, name: str) -> str:
    """Return what stands in a page between the marks of a block."""
    return _marked(name).search(text)[2].strip()  # type: ignore[index]


def renewed(text: str, name: str, content: str) -> str:
    """Return a page with the block made anew."""
    return _marked(name).sub(lambda found: f"{found[1]}\n\n{content.strip()}\n\n{found[3]}", text)


def _marked(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: [^>]*-->)(.*?)(<!-- /{name} -->)", re.DOTALL)
