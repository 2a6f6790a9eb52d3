"""The sides and the rows of a comparison in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tracetui.comparison.collective_sums import TRANSFER, WAIT
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.compared_run import Run
from tracetui.comparison.job_part import ComparedRank, ComparedRoot
from tracetui.comparison.line_rows import LineRow
from tracetui.comparison.memory_rows import MemoryRow
from tracetui.comparison.waterfall import AICORE, AICPU
from tracetui.export.sentences.advice import advice_title
from tracetui.export.sentences.roots import compared_root_words
from tracetui.language import clauses, counted, names, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_bytes, format_count, format_duration, format_ms

LONGEST_NAME = 300
_BACKWARD = " (backward)"  #: ends the name of a line of which only the backward pass ran
#: What parts of names of rows are called on screen and in text; data keep their names.
#: What a name of collectives says of their ranks, and of the sizes that they are between.
_RANKS = re.compile(r"(?<=, )(\d+) ranks?(?=,|$)")
_SIZES = re.compile(r"(?<=, )([\d.]+(?: [kMGT]?B)?) to ([\d.]+ [kMGT]?B)")
#: The same where a side ran on a GPU: beginnings and ends of classes, and terms.
_CLASSES_ON_GPU = {"Vector": "Other kernels"}
_PARTS_ON_GPU = {" (Cube)": " (matrix)", " (Vector)": " (other)"}
_TERMS_ON_GPU = {AICORE: "kernels", AICPU: "other compute"}
_MOST_NUMBERS = 8  #: of ranks that are listed
_OF_JOBS = "These are of jobs: of directories of several ranks, or of their digests."
#: Why a table may have no row, by what it compares.
_ABSENCE = {
    "module": "Both sides need frames of nn.Module: with_modules=True, or with_stack=True on a GPU.",
    "phase": "Both sides need marked ranges: msTX, NVTX or record_function.",
    "kernel": "Both sides need kernels that compute, on devices of one make: see the operators.",
    "communication": "Neither side communicates.",
    "line": "Both sides need stacks of Python, with_stack=True, and idle time at a line.",
    "advice": "There is no advice for either side.",
    "memory": "Both sides need recorded memory: profile_memory=True.",
    "rank": _OF_JOBS,
    "root": _OF_JOBS,
}


def run_words(run: Run) -> str:
    """Return "gpu, 6 steps (5 to 10) of 177.6 ms, 174.1 to 181.3; in all computing 591.5 ms, free 402 ms"."""
    if not len(run.wall_ns):
        return translate("{kind}, no work of a device", kind=run.kind.value)
    mean, low, high = lengths(run)
    steps = counted(run.steps, "1 step", "{count} steps" if run.common is None else "{count} steps of ranks")
    if len(run.numbers) == 1:
        steps = translate("{steps} ({number})", steps=steps, number=run.numbers[0])
    elif 0 < len(run.numbers) <= min(_MOST_NUMBERS, run.numbers[-1] - run.numbers[0]):
        steps = translate("{steps} ({numbers})", steps=steps, numbers=names(map(str, run.numbers)))
    elif run.numbers:
        steps = translate(
            "{steps} ({first} to {last})", steps=steps, first=run.numbers[0], last=run.numbers[-1]
        )
    facts = [run.kind.value, *([_rank_numbers(run.members)] if run.members else [])]
    facts.append(translate("{steps} of {mean} ms", steps=steps, mean=mean))
    facts += [translate("{low} to {high}", low=low, high=high)] if low != high else []
    if run.totals is None:
        return clauses(facts)
    totals = run.totals
    parts = [translate("computing {time}", time=format_duration(totals.computing_ns))]
    exposed = totals.communication_not_overlapped_ns
    parts += [translate("exposed communication {time}", time=format_duration(exposed))] if exposed else []
    parts.append(translate("free {time}", time=format_duration(totals.free_ns)))
    in_all = translate("in all {time}: {parts}", time=format_duration(totals.window_ns), parts=clauses(parts))
    return semicolon_list([clauses(facts), in_all])


def absence_sentence(by: str) -> str:
    """Return why a table may have no row. `by`: what the table compares, as `--by` takes it."""
    return translate(_ABSENCE.get(by, "Neither side has any."))


def lengths(run: Run) -> list[str]:
    """Return the mean, the shortest and the longest step, in ms."""
    if not len(run.wall_ns):
        return ["-", "-", "-"]
    return [
        format_ms(round(run.step_ns)),
        *(format_ms(int(ns) // run.ranks) for ns in (run.wall_ns.min(), run.wall_ns.max())),
    ]


def changed_words(row: ComparedRow) -> str:
    """Return whether a row changed, and in how many of OTHER's steps: "yes 6/6", "", "?"."""
    if not row.changed:
        return "?" if row.changed is None else ""
    steps = steps_count(row)
    return (
        translate("{changed} {steps}", changed=translate("yes"), steps=steps) if steps else translate("yes")
    )


def steps_count(row: ComparedRow) -> str:
    """Return how many steps of OTHER are beyond the median step of BASE, as the mean is: "6/6"."""
    test = row.test
    if test is None or not row.delta_ns:
        return ""
    return f"{test.slower if row.delta_ns > 0 else test.faster}/{test.steps}"


def shift_words(row: ComparedRow) -> str:
    """Return the shift of the steps and the interval around it in ms: "+6.120 (+5.980 to +6.311)"."""
    test = row.test
    if test is None or not row.delta_ns:
        return ""
    low, high = signed_ms(test.low_ns), signed_ms(test.high_ns)
    return translate("{shift} ({low} to {high})", shift=signed_ms(test.shift_ns), low=low, high=high)


def steps_sentence(row: ComparedRow) -> str:
    """Return what the steps tell of a row; "" where they are too few.

    "6 of 6 steps are slower than the median of BASE, shift +6.120 ms, 95 % interval +5.980 to +6.311 ms, …"
    """
    test = row.test
    if test is None or not row.delta_ns:
        return ""
    template = "{count} of {steps} steps are slower than the median of BASE"
    if row.is_sampled:
        template = "{count} of {steps} tested steps are slower than the median of BASE"
    if row.delta_ns < 0:
        template = "{count} of {steps} steps are faster than the median of BASE"
        if row.is_sampled:
            template = "{count} of {steps} tested steps are faster than the median of BASE"
    count = test.slower if row.delta_ns > 0 else test.faster
    interval = translate(
        "{share} % interval {low} to {high} ms",
        share=f"{100 * test.confidence:.3g}",
        low=signed_ms(test.low_ns),
        high=signed_ms(test.high_ns),
    )
    parts = (
        translate(template, count=count, steps=test.steps),
        translate("shift {shift} ms", shift=signed_ms(test.shift_ns)),
        interval,
        translate("p = {p}", p=f"{test.p:.2g}"),
    )
    return translate("{said}.", said=clauses(parts))


def row_name(row: ComparedRow) -> str:
    """Return the name; of a line that moved both numbers: "train.py(88) -> (93) forward"."""
    if isinstance(row, ComparedRank):
        largest = max(row.waterfall, key=lambda term: abs(term.delta_ns))
        return (
            clauses((row.name, f"{vendor_name(largest)} {signed_ms(largest.delta_ns)}"))
            if largest.delta_ns
            else row.name
        )
    if isinstance(row, ComparedRoot):
        return printable(compared_root_words(row), LONGEST_NAME)
    if isinstance(row, MemoryRow) and row.holder is not None and row.holder.frame is not None:
        file, line, _ = row.holder.frame
        place = translate("{what} at {line}", what=row.holder.operator, line=f"{path_end(file)}({line})")
        return printable(place, LONGEST_NAME)
    if isinstance(row, LineRow):
        name = row.name.removesuffix(_BACKWARD)
        if row.moved and row.frame is not None:
            name = f"{row.frame.file}({row.base_line}) -> ({row.frame.line}) {row.frame.function}"
        elif row.frame is None:
            name = translate(name)
        return printable(translate("{line} (backward)", line=name) if row.backward else name, LONGEST_NAME)
    return printable(vendor_name(row), LONGEST_NAME)


def vendor_name(row: ComparedRow) -> str:
    """Return the name of a row; of GPUs without the words that only NPUs have: "Matmul (matrix)"."""
    if not row.scale.on_gpu:
        return row.name
    name = _replace_ending(row.name, _PARTS_ON_GPU)
    for beginning, shown in _CLASSES_ON_GPU.items():
        if name == beginning or name.startswith(f"{beginning} ("):
            return shown + name[len(beginning) :]
    return _TERMS_ON_GPU.get(name, name)


def _replace_ending(name: str, parts: Mapping[str, str]) -> str:
    """Return a name with another end, if it ends in one of these: "Matmul (Cube)" as "Matmul (matrix)"."""
    for ending, shown in parts.items():
        if name.endswith(ending):
            return name[: -len(ending)] + shown
    return name


def collective_name(row: ComparedRow) -> str:
    """Return the name of a row of collectives, its ranks and sizes in the language chosen.

    The name is as `CollectiveSums.by_name` makes it: "allreduce, 8 ranks, FP32, 8.39 to 16.8 MB (wait)".
    """
    name = whole_collective_name(row)
    if row.name.endswith(WAIT):
        name = translate("{name} (waiting)", name=name)
    elif row.name.endswith(TRANSFER):
        name = translate("{name} (moving)", name=name)
    return name


def whole_collective_name(row: ComparedRow) -> str:
    """Return the name of a row of collectives without the part of them that it is of."""
    name = row.name.removesuffix(WAIT).removesuffix(TRANSFER)
    name = _RANKS.sub(lambda match: counted(int(match[1]), "1 rank", "{count} ranks"), name)
    name = _SIZES.sub(lambda match: translate("{low} to {high}", low=match[1], high=match[2]), name)
    return printable(names(name.split(", ")), LONGEST_NAME)


def advice_name(row: ComparedRow) -> str:
    """Return the title of a row of advice, in the language chosen."""
    return printable(advice_title(row.name), LONGEST_NAME)


def ratio_words(row: ComparedRow) -> str:
    """Return OTHER / BASE: "1.250"; "new" or "gone" where one has none."""
    if row.status != "matched":
        return translate(row.status)
    return "-" if row.ratio is None else f"{row.ratio:,.3f}"


def mean_count(mean: Fraction) -> int | float:
    """Return a mean number of times, whole where it is."""
    return mean.numerator if mean.denominator == 1 else float(mean)


def count_words(mean: Fraction | float) -> str:
    """Return a mean number of times: "12", "1.5"."""
    return format_count(int(mean)) if mean == int(mean) else f"{float(mean):,.1f}"


def signed_ms(ns: Fraction) -> str:
    """Return a change in ms: "+1.234"; what rounds to nothing has no sign."""
    text = format_ms(round(abs(ns)))
    if not any(digit in "123456789" for digit in text):
        return text
    return f"{'+' if ns > 0 else '-'}{text}"


def signed_size(size: Fraction) -> str:
    """Return a change in bytes: "+1.24 GB"."""
    return f"{'+' if size > 0 else ''}{format_bytes(round(size))}"


def _rank_numbers(numbers: Sequence[int]) -> str:
    """Return "8 ranks (0 to 7)", "3 ranks (0, 2, 5)"."""
    if len(numbers) < 2:
        return translate("rank {number}", number=numbers[0])
    listed = translate("{low} to {high}", low=numbers[0], high=numbers[-1])
    if numbers[-1] - numbers[0] != len(numbers) - 1:
        listed = names(
            [*map(str, numbers[:_MOST_NUMBERS]), *(["..."] if len(numbers) > _MOST_NUMBERS else [])]
        )
    return translate("{count} ranks ({numbers})", count=format_count(len(numbers)), numbers=listed)
