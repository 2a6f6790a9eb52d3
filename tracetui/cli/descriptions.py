"""What --help says of each command. Text only: nothing is imported, so that help answers at once."""

from __future__ import annotations

_PATHS = """PATH is a trace file (trace_view.json or another Chrome trace, plain or .gz), or
a directory that holds one. Write ./summary for a file named like a command, and
-- before a name that starts with -."""

MAIN = f"""Show a profiler trace of model training on Ascend NPUs (or GPUs) in the
terminal. Without a terminal on stdin and stdout, print the summary.

{_PATHS}"""

MAIN_MORE = """commands:
  tracetui summary PATH   what the devices did, why they idled, the worst gaps
  tracetui gaps PATH      the AICore gaps, most idle first, each with its cause
  tracetui hotspots PATH  the idle time by line of Python
  tracetui advice PATH    what the trace says could be done about it
  tracetui check PATH     compare shares of time with limits, for scripts and CI
  tracetui export PATH    the events of a window of time, as CSV
  tracetui cache list     what is kept of traces that were read before
Each has its own --help.

exit status:
  0 done    1 error    2 wrong arguments, or a terminal without the viewer
  3 no readable trace  4 check: a limit is passed  5 check: nothing to check
  130 cancelled"""

SUMMARY = f"""Print what each device of a trace did: computing, communication, free, idle,
why it was idle, the table of steps, the worst gaps, and the first advice.

--step and --window pick the steps and gaps that are listed: a step is in a
window if its device part starts in it, a gap if it starts in it; the gaps of a
step start in its device part. The totals and causes of a device, and the
advice, are always those of the whole trace. --csv writes the table of steps.

{_PATHS}"""

GAPS = f"""Print the AICore gaps of a trace, most idle first: how much of each the device
idled and why, what ended it, and the Python line behind that: of the cause with
the most time, the line with the most of it.

--step picks the gaps that start in the device part of a step, --window those
that start in the window. --csv writes the columns of --json, one gap a row.

{_PATHS}"""

HOTSPOTS = f"""Print the idle time of all devices by line of Python: the line in your own code
that ran, or that launched what the device waited for. All idle time is in the
table; what no stack tells the line of has a row of its own, "(no stack)".

"saves at most" is not the idle time of a line, but the time that it held up the
whole run, through other gaps too; bounds of several lines do not add up.

Below stand the calls that made the host wait for a device, with the line of
each, and the idle time that they expose: that began while the host waited, and
went on until it had launched the next work. It is charged above to what the
host did in it, so a line above may pay for a call of another line below.

--step and --window leave only the gaps that start there (see tracetui gaps):
the idle times are then those of these gaps, and add up to theirs. "saves at
most" is then of that step; of a window it is not known. Calls are listed that
start there, or expose idle time of these gaps. --csv writes the lines.

{_PATHS}"""

ADVICE = f"""Print what the trace says could be done about idle time, most time first, each
with the evidence it follows from. There is none without evidence.

{_PATHS}"""

CHECK = f"""Compare how the devices of a trace spend their time with limits, for scripts and
CI. A limit is a time (3ms) or a share (10%) of the time between the first and
the last work of a device; each device is held to it by itself, and with
--each-step each step on it too.

Prints one line for each limit that is passed, and nothing else on stdout.
Causes are those of idle time, as in the summary, like host.python; "host" is
all of the host's together.

exit status:
  0 no limit is passed   4 one is   5 no work of a device in the trace to check

{_PATHS}"""

EXPORT = f"""Write the events of a window of time as CSV, one slice a row, by start.

A slice is written, whole, if any part of it lies in the window; one without
length, if it starts there. --step is the window from the step's start on the
host to its end, there or on a device, whichever is later; with --window too,
what both have in common. Without either, all slices are written.

The column step is, for what starts on a device, the step in whose device part
it starts, for all else the ProfilerStep#N of the host around it. Text that a
spreadsheet would take for a formula gets an apostrophe in front.

{_PATHS}"""

CACHE = """Show or remove what is kept of large traces so that they open at once the next
time: the columns, some 15 % of the trace, in $XDG_CACHE_HOME/tracetui/traces
(~/.cache/tracetui/traces).

What is kept counts only as long as the trace and tracetui are unchanged. All
together take at most 10 GB and a fifth of the free space, or as many MB as
TRACETUI_CACHE_MB says (0: keep nothing); the least recently used go first."""
