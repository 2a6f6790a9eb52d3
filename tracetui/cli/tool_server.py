"""A server of the Model Context Protocol over stdin and stdout: each tool is a command, run as a process.

A process of its own for each call: one that fails, or takes too long, ends alone, and one whose call is
cancelled is stopped as ctrl+c stops the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.tools import Tool, ToolRefusal
from tracetui.export.brief import quoted_json
from tracetui.reader.locate import traces_below
from tracetui.version import __version__

MOST_CALLS = 2  #: that run at once; more wait
LONGEST_ANSWER = 400_000  #: bytes of a whole answer, which a client has to hold
MOST_TRACES = 200  #: that are listed
_LONGEST_ERROR = 1000  #: characters
_ANSWERED = (ExitCode.OK, ExitCode.LIMIT, ExitCode.UNCHECKED)
_PATIENCE_S = 3.0  #: for a command to end in order, before it is killed
#: Runs tracetui without looking for modules in the working directory, which may hold anything.
_RUN = "import sys; sys.path[:] = filter(None, sys.path); from tracetui.cli import main; sys.exit(main())"
_READ_ONLY = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_PREFACE = """Each tool is the command of tracetui that has its name: where the text below says
`tracetui gaps PATH --json --brief --top 3`, call `gaps` with `path` and `top`. Answers are brief unless
`full` is true. `traces` lists the traces that can be asked about; `memory` takes a snapshot of PyTorch's
allocator, too.

"""
_TRACES = types.Tool(
    name="traces",
    description="List the traces below the directories that this server may read, with their sizes.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    annotations=_READ_ONLY,
)

Context = ServerRequestContext[Any]
ToolAnswer = types.CallToolResult


class ToolServer:
    """Answers calls of tools about what lies below some directories."""

    def __init__(
        self, tools: Mapping[str, Tool], roots: Sequence[Path], timeout_s: float, knowledge: str
    ) -> None:
        self._tools = tools
        self._roots = tuple(roots)
        self._timeout_s = timeout_s
        self._calls = anyio.CapacityLimiter(MOST_CALLS)
        self.server: Server[Any] = Server(
            "tracetui",
            version=__version__,
            instructions=_PREFACE + knowledge,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def serve(self) -> None:
        """Answer until stdin ends."""
        anyio.run(self._serve)

    async def _serve(self) -> None:
        async with stdio_server() as (read_stream, write_stream):
            await self.server.run(read_stream, write_stream, self.server.create_initialization_options())

    async def _list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        listed = [
            types.Tool(
                name=name,
                description=tool.description,
                input_schema=tool.input_schema(),
                annotations=_READ_ONLY,
            )
            for name, tool in self._tools.items()
        ]
        return types.ListToolsResult(tools=[_TRACES, *listed])

    async def _call_tool(self, _context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
        call = params.arguments or {}
        if params.name == _TRACES.name:
            return await anyio.to_thread.run_sync(self._traces)
        tool = self._tools.get(params.name)
        if tool is None:
            return _error(f"there is no tool {params.name[:80]!r}")
        try:
            words = tool.command_line(call, self._roots)
        except ToolRefusal as refusal:
            return _error(str(refusal))
        async with self._calls:
            with anyio.move_on_after(self._timeout_s):
                return await self._run(tool, words)
        return _error(f"{params.name} took longer than {self._timeout_s:g} s and was stopped")

    async def _run(self, tool: Tool, words: Sequence[str]) -> ToolAnswer:
        """Run a command; stop it where the call is cancelled. What it said on stderr follows its answer."""
        process = await anyio.open_process(
            [sys.executable, "-c", _RUN, *words],
            stdin=subprocess.DEVNULL,
            cwd=self._roots[0],
            start_new_session=True,
        )
        try:
            outputs: dict[str, bytes] = {}
            async with anyio.create_task_group() as group:
                group.start_soon(_read, process.stdout, outputs, "answer", LONGEST_ANSWER)
                group.start_soon(_read, process.stderr, outputs, "error", _LONGEST_ERROR)
            await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await _stop(process)
        if len(outputs["answer"]) > LONGEST_ANSWER:
            narrowing = [f"`{name}`" for name in ("top", "step", "window") if name in tool.arguments]
            less = f", or for less by {' or '.join(narrowing)}" if narrowing else ""
            return _error(f"the answer is longer than {LONGEST_ANSWER:,} bytes: ask without `full`{less}")
        said = outputs["error"][:_LONGEST_ERROR].decode("utf-8", "replace").strip()
        if process.returncode not in _ANSWERED or not outputs["answer"]:
            return _error(said or f"{words[0]} ended with status {process.returncode}")
        answer = _quoted(outputs["answer"].decode("utf-8", "replace"))
        return _text(answer, quoted_json({"notes": said.splitlines()})) if said else _text(answer)

    def _traces(self) -> ToolAnswer:
        """Return the files below the directories that may be traces."""
        traces = [path for root in self._roots for path in traces_below(root)]
        document = {
            "directories": [str(root) for root in self._roots],
            "traces": [{"path": str(path), "size_bytes": _size(path)} for path in traces[:MOST_TRACES]],
            "left_out": max(len(traces) - MOST_TRACES, 0),
        }
        return _text(json.dumps(document))


async def _read(stream: Any, outputs: dict[str, bytes], name: str, limit: int) -> None:
    """Read a stream to its end, and keep a little more than the most that is wanted."""
    kept = bytearray()
    async for chunk in stream:
        if len(kept) <= limit:
            kept += chunk
    outputs[name] = bytes(kept)


async def _stop(process: Any) -> None:
    """End a process that still runs, and what it has started: in order, then at once."""
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with anyio.move_on_after(_PATIENCE_S):
            await process.wait()
        if process.returncode is None:
            _signal_group(process.pid, signal.SIGKILL)
    await process.aclose()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _quoted(answer: str) -> str:
    """Return an answer in which texts of the trace can neither hide anything nor fill the context."""
    try:
        return quoted_json(json.loads(answer))
    except (ValueError, RecursionError):  # lists that a query nests deep
        return answer.encode("ascii", "backslashreplace").decode()


def _text(*texts: str) -> ToolAnswer:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text) for text in texts])


def _error(sentence: str) -> ToolAnswer:
    return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)
