"""The commands, a module each with its arguments, its help and its run. To add one, write it and list it."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.commands import (
    advice,
    cache,
    check,
    compare,
    digest,
    doctor,
    experts,
    export,
    gaps,
    hotspots,
    mcp,
    memory,
    notes,
    operators,
    phases,
    pipeline,
    ranks,
    report,
    scheduler,
    show,
    skill,
    sql,
    summary,
    view,
    whatif,
)

#: `tracetui PATH`
VIEW: Command = view.COMMAND
#: `tracetui NAME …`, as --help lists them
_COMMANDS: tuple[Command, ...] = (
    summary.COMMAND,
    gaps.COMMAND,
    hotspots.COMMAND,
    memory.COMMAND,
    operators.COMMAND,
    advice.COMMAND,
    scheduler.COMMAND,
    doctor.COMMAND,
    compare.COMMAND,
    check.COMMAND,
    ranks.COMMAND,
    whatif.COMMAND,
    phases.COMMAND,
    pipeline.COMMAND,
    experts.COMMAND,
    digest.COMMAND,
    report.COMMAND,
    show.COMMAND,
    notes.COMMAND,
    export.COMMAND,
    sql.COMMAND,
    cache.COMMAND,
)
_FOR_AGENTS = (*_COMMANDS, mcp.mcp_command(_COMMANDS))
COMMANDS = (*_FOR_AGENTS, skill.skill_command(_FOR_AGENTS))
