"""`tracetui memory`: who holds the memory of the devices, and what is never given back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tracetui.cli.command import Command
from tracetui.cli.parser import Parser, Request, usage_error
from tracetui.cli.terminal import is_file, text_width
from tracetui.language import state

if TYPE_CHECKING:
    from tracetui.analysis.memory.analyse import Memory, MemoryPart

_DESCRIPTION = """Print who holds the memory of the devices: the peak, the lines of Python that
had allocated what was held then, and what every step leaves behind. It is read
from operator_memory.csv and memory_record.csv beside the trace of an NPU, from
the [memory] events in that of a GPU (profile_memory=True), or from a snapshot.

What is alive at the end is no leak by itself: the state of an optimizer is.
Blocks alike in operator, line and size "grow" where at least three consecutive
steps up to the last leave some behind, each more than the one before; in a
recording of two steps they "may grow". Where blocks of no one size grow, those
of all sizes are taken together. The report names the call of the line that
leaves them, and what the device did before and after it.

--step and --window leave the peak of that time, and the lines of what was
alive at it or allocated in it; components and growth are always those of the
whole recording.
--csv writes the lines, or with --by the blocks by size, or single ones.
Text quotes the line that keeps a block, if its file lies below the directory of
the trace, the working directory or --source; Markdown, and text that is written
to a file, do with --source only.

PATH is a trace, a directory that holds one, or a snapshot of PyTorch's
allocator (torch.npu.memory._dump_snapshot, a pickle: it is read without running
anything in it)."""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument(
        "--by",
        choices=("line", "size", "block"),
        default="line",
        help="a row per operator and line (default), per size of blocks, or per block",
    )
    parser.add_outputs("list N rows; 0: all (default: 20 as text or Markdown, all as JSON or CSV)")
    parser.add_restrictions("only the memory of step N", "only the memory of this window of time")
    parser.add_rules()
    parser.add_sources("quote source from below DIR, in reports too; may be repeated")


def _run(request: Request) -> None:
    print_memory(request, request.by)


def print_memory(request: Request, by: str) -> None:
    """Print or write the memory of the trace or snapshot, by "line", "size" or "block"."""
    from tracetui.cli.output import answer, say
    from tracetui.export.memory.text import memory_markdown, memory_text
    from tracetui.reader.locate import locate_trace
    from tracetui.trace.clean import printable
    from tracetui.trace.source_files import SourceFiles

    memory, part, origin = _opened(request)
    source = SourceFiles(locate_trace(request.path, request.export), request.sources).line
    report_source = source if request.sources else None
    text_source = report_source if is_file(sys.stdout) else source
    if memory is not None and not request.json:
        for problem in memory.recorded.problems:
            say(printable(problem))
    answer(
        request,
        what={"line": "lines", "size": "sizes", "block": "blocks"}[by],
        csv=lambda stream: _write_csv(stream, memory, part, by, request.top),
        document=lambda: _document(memory, part, by, request.top),
        markdown=lambda: memory_markdown(memory, part, by, request.top, origin, report_source),
        text=lambda: memory_text(memory, part, by, request.top, origin, text_width(), text_source),
    )


def _opened(request: Request) -> tuple[Memory | None, MemoryPart | None, int]:
    """Return the memory, the part of it asked for, and when the trace starts, ns."""
    from tracetui.analysis.memory.model import steps_numbered
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.siblings.snapshot import is_pickle

    if is_pickle(Path(request.path)):
        memory_of_snapshot = _snapshot(request)
        return memory_of_snapshot, memory_of_snapshot.part(request.step, None, None), 0
    analysis, selection = open_analysis(request)
    memory, origin = analysis.memory, analysis.trace.start_ns
    if memory is None:
        return None, None, origin
    if not memory.recorded.timed and not (selection.step is None and selection.window is None):
        raise usage_error("memory_block.csv has no times: --step and --window leave nothing of it")
    if selection.step is not None and not steps_numbered(memory.recorded.steps, selection.step):
        sentence = "memory is told of the steps of one process, and step {step} is none of them"
        raise usage_error(sentence, step=selection.step)
    start, end = selection.window or (None, None)
    return memory, memory.part(selection.step, start, end), origin


def _snapshot(request: Request) -> Memory:
    """Return the memory that a snapshot tells of."""
    from tracetui.api import load_snapshot
    from tracetui.cli.output import refuse_early
    from tracetui.cli.reading_options import rules_of

    if request.window is not None:
        raise usage_error("a snapshot has no times: --window is for traces")
    refuse_early(request, request.path)
    memory = load_snapshot(request.path, rules_of(request))
    steps = [step.number for step in memory.recorded.steps]
    if request.step is not None and request.step not in steps:
        known = state("nothing is repeated in it")
        if steps:
            known = state("it shows {count} repetitions", count=len(steps))
        raise usage_error("there is no step {step} in this snapshot: {known}", step=request.step, known=known)
    return memory


def _document(memory: Memory | None, part: MemoryPart | None, by: str, top: int | None) -> dict[str, Any]:
    from tracetui.export.memory.document import memory_document
    from tracetui.export.tables.column import records
    from tracetui.export.tables.memory import BLOCKS, SIZES, BlockRows, MemoryRows

    document = memory_document(memory, part, top or 0)
    if memory is not None and part is not None and by == "size":
        document["sizes"] = records(SIZES, MemoryRows(memory.recorded, part.sizes, top or 0))
    elif memory is not None and part is not None and by == "block":
        document["blocks"] = records(BLOCKS, BlockRows(memory, part, top or 0))
    return document


def _write_csv(
    stream: BinaryIO, memory: Memory | None, part: MemoryPart | None, by: str, top: int | None
) -> int:
    from tracetui.export.data_frame import write_frames
    from tracetui.export.memory import frames

    if memory is None:
        raise usage_error("nothing is recorded of the memory: there is no table to write")
    frame_of = {
        "line": frames.memory_lines_frame,
        "size": frames.memory_sizes_frame,
        "block": frames.memory_blocks_frame,
    }[by]
    return write_frames(stream, [frame_of(memory, part, top or 0)])


COMMAND = Command(
    "memory", "PATH", "who holds the memory, and what is never given back", _DESCRIPTION, _add_arguments, _run
)
