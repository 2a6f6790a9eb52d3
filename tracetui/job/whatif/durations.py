"""How long the operations of a job take once something is fixed, and how long they take ideally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.experts import Exchange, exchange_groups, expert_layers
from tracetui.job.job import Job
from tracetui.job.network_links import job_links
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages
from tracetui.job.whatif.fixes import Fix, FixScope, Target
from tracetui.job.whatif.order import COMPUTING, IDLE, PARTS, STAND_IN, Order, cells_in_ranges
from tracetui.language import state
from tracetui.operations.slowdown import ideal_durations
from tracetui.trace.clean import printable

#: Percent of the idle time of a line beyond the median of the others from which on a rank stands out.
_STANDS_OUT = 50
_MOST_PEERS = 63  #: ranks of which the median is taken


class UnknownFix(ValueError):  # noqa: N818 - people are shown its sentence
    """A fix names something that the job does not have; `str()` is a sentence."""


def stage_numbers(job: Job) -> Int64s:
    """Return the number of the stage of each rank, int64[ranks]; 0 of all where there is no pipeline."""
    places = {rank.number: place for place, rank in enumerate(job.ranks)}
    numbers = np.zeros(len(job.ranks), np.int64)
    for stage in job_stages(job, rank_rows(job)):
        numbers[[places[rank] for rank in stage.ranks]] = stage.number
    return numbers


class _Pieces(NamedTuple):
    """Work that is compared: operations of one rank in one step, each of some of them."""

    work: Int64s  #: the operations
    piece: Int64s  #: of each of them its piece, from 0
    first: Int64s  #: the first operation of each piece
    alike: Int64s  #: of each piece a number from 0 of those that it is compared with

    def sums(self, ns: Int64s) -> Floats:
        """Return the ns of each piece, of int64[operations]."""
        return np.bincount(self.piece, ns[self.work], len(self.first)).astype(np.float64)

    def scale(self, ns: Int64s, piece_ns: Floats) -> None:
        """Let pieces take `piece_ns`, in the proportions of their operations; where all are 0, the first."""
        sums = self.sums(ns)
        ns[self.work] = np.rint(ns[self.work] * (piece_ns / np.maximum(sums, 1))[self.piece])
        ns[self.first] += np.where(sums > 0, 0, np.rint(piece_ns)).astype(np.int64)

    def beyond_others(self, ns: Int64s) -> Floats:
        """Return by which share of its time each operation takes longer than the median of others.

        That is the lower median where they are even; 0 where its piece is not longer, -1 without others.
        """
        sums = self.sums(ns)
        order = np.lexsort((sums, self.alike))
        opens, counts = _runs(self.alike[order])
        # the median of the others for all that come after it; those up to it are not longer than theirs
        middle = np.repeat(opens + (counts - 2) // 2, counts)
        sorted_ns = sums[order]
        beyond = np.maximum(sorted_ns - sorted_ns[middle], 0) / np.maximum(sorted_ns, 1)
        found = np.empty(len(sums))
        found[order] = np.where(np.repeat(counts, counts) < 2, -1, beyond)
        return found[self.piece]


def _pieces(work: Int64s, key: Int64s, alike: Int64s) -> _Pieces:
    """Return the pieces of work that have one `key`, compared with those that are `alike`; int64[work]."""
    _, first, piece = np.unique(key, return_index=True, return_inverse=True)
    return _Pieces(work, piece.reshape(-1), work[first], numbered_from_0(alike[first]))


class _Shrink(NamedTuple):
    """What some cells are let take, together, of each part of each operation."""

    cells: dict[int, Int64s]  #: by place of the rank
    allowed_ns: Int64s  #: int64[operations, 3]


class Durations:
    """The durations of the operations of a job: measured, ideal, and with fixes."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.transfer = np.where(order.is_work | (order.rank == STAND_IN), 0, order.duration)
        self.missing = np.where(order.rank == STAND_IN, order.duration, 0)
        self.rank_stage = stage_numbers(order.job)
        self.stage = np.where(order.rank == STAND_IN, -1, self.rank_stage[np.maximum(order.rank, 0)])
        self._steps = max(len(order.steps), 1)

    def whole(self, parts: Int64s, transfer: Int64s) -> Int64s:
        """Return the durations of all operations."""
        whole: Int64s = parts.sum(axis=1) + transfer + self.missing
        return whole

    @cached_property
    def measured(self) -> Int64s:
        """int64[operations]: all durations as they were."""
        return self.whole(self.order.parts, self.transfer)

    # ------------------------------------------------------------------ ideal

    @cached_property
    def _work(self) -> Int64s:
        return np.flatnonzero(self.order.is_work)

    @cached_property
    def _alike(self) -> Int64s:
        """int64[work]: a number from 0 of the same work: between the same collectives of one stage."""
        alike, stage = (column[self._work] for column in (self.order.alike, self.stage))
        return numbered_from_0(alike * (int(self.stage.max(initial=0)) + 1) + stage)

    def _pieces(self, alike: Int64s) -> _Pieces:
        """Return the pieces of work; int64[work] `alike` says of each operation which others it is like."""
        order, work = self.order, self._work
        of_rank = self._alike * len(order.job.ranks) + order.rank[work]
        return _pieces(work, of_rank * self._steps + order.step[work], alike)

    @cached_property
    def _all_pieces(self) -> _Pieces:
        """The pieces of work of all ranks and steps."""
        return self._pieces(self._alike)

    @cached_property
    def _step_pieces(self) -> _Pieces:
        """The pieces of work, alike in one step alone."""
        return self._pieces(self._alike * self._steps + self.order.step[self._work])

    def ideal_of(self, ns: Int64s) -> Int64s:
        """Return the mean of the same work of all ranks and steps, the stages balanced.

        Args:
            ns: int64[operations] of each operation.
        """
        pieces, ideal = self._all_pieces, np.array(ns)
        mean = _means(pieces.alike, pieces.sums(ns))
        pieces.scale(ideal, mean * self._balance(ns)[pieces.first])
        return ideal

    def _balance(self, ns: Int64s) -> Floats:
        """Return by what the work of each operation's stage is to be multiplied to be like that of all."""
        ranks = np.bincount(self.rank_stage)
        of_stage = np.bincount(self.stage[self._work], ns[self._work], minlength=len(ranks))
        mean = of_stage / np.maximum(ranks, 1)
        usual = of_stage.sum() / max(int(ranks.sum()), 1)
        factor = np.where(mean > 0, usual / np.where(mean > 0, mean, 1), 1.0)
        return factor[np.maximum(self.stage, 0)]

    @cached_property
    def ideal_parts(self) -> Int64s:
        """int64[operations, 3]: the parts of work in the ideal job."""
        return np.stack([self.ideal_of(self.order.parts[:, part]) for part in range(len(PARTS))], axis=1)

    @cached_property
    def ideal_transfer(self) -> Int64s:
        """int64[operations]: the median transfer of the same collectives."""
        collective = np.flatnonzero(self.order.collective >= 0)
        return self._median_transfer(collective, self.order.alike[collective])

    def _median_transfer(self, collective: Int64s, key: Int64s) -> Int64s:
        """Return int64[operations]: the median transfer of those of some collectives that share a key."""
        median = np.zeros(len(self.order), np.int64)
        nothing = np.zeros(len(collective), np.int64)
        median[collective] = ideal_durations(numbered_from_0(key), nothing, self.transfer[collective])
        return median

    @cached_property
    def ideal(self) -> Int64s:
        """int64[operations]: all durations in the ideal job."""
        return self.whole(self.ideal_parts, self.ideal_transfer)

    # ------------------------------------------------------------------ with fixes

    def fixed(self, fixes: Sequence[Fix]) -> tuple[Int64s, bool]:
        """Return the durations after some fixes, and whether operations are still delayed as recorded.

        Raises UnknownFix where one names what is not there.
        """
        parts, transfer, delays = self.fixed_parts(fixes)
        return self.whole(parts, transfer), delays

    def fixed_parts(self, fixes: Sequence[Fix]) -> tuple[Int64s, Int64s, bool]:
        """Return the parts of work, int64[operations, 3], and the transfers after some fixes, and whether
        operations are still delayed as recorded.

        Raises UnknownFix where one names what is not there.
        """
        parts, transfer = self.order.parts.copy(), self.transfer.copy()
        fixes = [*dict.fromkeys(fixes)]
        shrinks = [self._line_shrink(fix) for fix in fixes if fix.target is Target.LINE]
        # Of phases in each other the inner one goes first: only what is left of it counts in the outer one.
        phases = [self._phase_shrink(fix) for fix in fixes if fix.target is Target.PHASE]
        shrinks += sorted(phases, key=lambda shrink: sum(map(len, shrink.cells.values())))
        left_ns = {place: cells.ns.copy() for place, cells in self.order.cells.items()}
        for shrink in shrinks:
            self._apply_shrink(shrink, parts, left_ns)
        for part in ("", *PARTS):
            of_part = [fix for fix in fixes if fix.target is Target.RANK and fix.part == part]
            chosen = range(len(PARTS)) if not part else [PARTS.index(part)]
            self._fix_ranks([fix.rank for fix in of_part if fix.rank is not None], parts, chosen)
        without_jitter = any(fix.target is Target.JITTER for fix in fixes)
        if without_jitter:  # first: it replaces transfers, which links and experts then change
            self._remove_jitter(parts, transfer)
        self._fix_stages([fix.stage for fix in fixes if fix.target is Target.STAGE], parts)
        links: dict[frozenset[int], float] = {}
        for fix in fixes:
            if fix.target is Target.LINK:
                links[frozenset(fix.link)] = max(fix.factor, links.get(frozenset(fix.link), 1.0))
        self._fix_links(links, transfer)
        if any(fix.target is Target.EXPERTS for fix in fixes):
            self._balance_experts(parts, transfer)
        return parts, transfer, not without_jitter

    def line_ns(self, fix: Fix) -> Int64s:
        """Return the idle time of each operation that is charged to the line of a fix, int64[operations]."""
        ns = np.zeros(len(self.order), np.int64)
        for place, of_line in self._cells_of_line(fix).items():
            cells = self.order.cells[place]
            np.add.at(ns, cells.operation[of_line], cells.ns[of_line])
        return ns

    def _cells_of_line(self, fix: Fix) -> dict[int, Int64s]:
        """Return by place of the rank its idle cells that are charged to the line of a fix."""
        found = {}
        for place, rank in enumerate(self.order.job.ranks):
            lines = [number for number, line in enumerate(rank.digest.lines) if fix.concerns(line)]
            cells = self.order.cells[place]
            of_line = np.flatnonzero(np.isin(cells.line, lines) & (cells.part == IDLE))
            if len(of_line):
                found[place] = of_line
        if not found:
            raise UnknownFix(
                state("no rank was idle for {file}:{line}", file=printable(fix.file), line=fix.line)
            )
        return found

    def _line_shrink(self, fix: Fix) -> _Shrink:
        """Return what the idle time of a line is let take."""
        ns = self.line_ns(fix)
        chosen = np.ones(len(ns), np.bool_) if fix.rank is None else self._of_rank(fix.rank)
        allowed_ns = np.zeros_like(self.order.parts)
        allowed_ns[:, IDLE] = np.where(chosen, ns - self._gone_of_line(fix, ns, chosen), ns)
        return _Shrink(self._cells_of_line(fix), allowed_ns)

    def _apply_shrink(self, shrink: _Shrink, parts: Int64s, left_ns: dict[int, Int64s]) -> None:
        """Take off `parts`, and off `left_ns`, what cells take beyond what they are let take.

        `left_ns`: by place of the rank the ns that fixes have left of each of its cells.
        """
        for place, chosen in shrink.cells.items():
            cells, left = self.order.cells[place], left_ns[place]
            key = cells.operation[chosen] * len(PARTS) + cells.part[chosen]
            by_key = np.argsort(key, kind="stable")
            chosen, key = chosen[by_key], key[by_key]
            opens, counts = _runs(key)
            ns = left[chosen]
            after = np.cumsum(ns)
            before = after - ns
            first, last = np.repeat(before[opens], counts), np.repeat(after[opens + counts - 1], counts)
            share = np.minimum(shrink.allowed_ns.reshape(-1)[key] / np.maximum(last - first, 1), 1)
            left[chosen] = np.rint((after - first) * share) - np.rint((before - first) * share)
            np.subtract.at(parts.reshape(-1), key, ns - left[chosen])

    def _gone_of_line(self, fix: Fix, ns: Int64s, chosen: Bools) -> Int64s:
        """Return how much of the idle time of a line on each operation is gone; `chosen`: of the fix."""
        if fix.factor > 1:
            return ns - np.rint(ns / fix.factor).astype(np.int64)
        share = np.full(len(ns), -1.0)
        share[self._work] = self._step_pieces.beyond_others(ns)
        beyond = np.rint(ns * np.maximum(share, 0)).astype(np.int64)
        scope, idle = fix.scope, chosen & (ns > 0)
        compared = idle & (share >= 0)
        if scope is None:
            stands_out = int(beyond[compared].sum()) * 100 >= int(ns[compared].sum()) * _STANDS_OUT
            scope = FixScope.PEERS if compared.any() and stands_out else FixScope.ALL
        elif scope is FixScope.PEERS and idle.any() and not compared.any():
            template = "no other rank does the same work as those that are idle for {file}:{line}"
            raise UnknownFix(state(template, file=printable(fix.file), line=fix.line))
        return beyond if scope is FixScope.PEERS else ns

    def _phase_shrink(self, fix: Fix) -> _Shrink:
        """Return what ranges of a name are let take: in a step no longer than the median of the others.

        Those of ranks that are alone with it in their stage stay.
        """
        chosen = cells_in_ranges(self.order, fix.phase)
        inside = np.zeros_like(self.order.parts)
        for place, of_rank in chosen.items():
            cells = self.order.cells[place]
            np.add.at(inside, (cells.operation[of_rank], cells.part[of_rank]), cells.ns[of_rank])
        ns = inside.sum(axis=1)
        phase = repr(printable(fix.phase))
        if not ns.any():
            raise UnknownFix(state("no rank works in a phase {phase}", phase=phase))
        order, working = self.order, np.flatnonzero(ns)
        rank_step, stage_step = (
            column[working] * self._steps + order.step[working] for column in (order.rank, self.stage)
        )
        beyond = _pieces(working, rank_step, stage_step).beyond_others(ns)
        if (beyond < 0).all():
            raise UnknownFix(state("no other rank does the same work in the phase {phase}", phase=phase))
        inside[working] = np.rint(inside[working] * (1 - np.maximum(beyond, 0))[:, None])
        return _Shrink(chosen, inside)

    def _of_rank(self, number: int) -> Bools:
        job = self.order.job
        place = next((place for place, rank in enumerate(job.ranks) if rank.number == number), None)
        if place is None:
            raise UnknownFix(state("there is no rank {number} here", number=number))
        chosen: Bools = self.order.rank == place
        return chosen

    def _fix_ranks(self, ranks: Sequence[int], parts: Int64s, chosen_parts: Sequence[int]) -> None:
        """Let parts of the work of ranks take the median of the same work of all others in the same step.

        The work of experts stays, which is as long as tokens are many: fewer here are more elsewhere.
        """
        if not ranks:
            return
        pieces = self._step_pieces
        chosen = np.any([self._of_rank(rank) for rank in ranks], axis=0)[pieces.first]
        chosen[pieces.piece[self._is_of_experts[pieces.work]]] = False
        peers = np.flatnonzero(self._among_peers(chosen, self.order.rank[pieces.first]))
        opens, counts = _runs(np.sort(pieces.alike[peers]))
        middle = np.full(int(pieces.alike.max(initial=0)) + 1, -1, np.int64)  # of the sorted peers
        middle[np.sort(pieces.alike[peers])[opens]] = opens + (counts - 1) // 2
        like = np.flatnonzero(chosen & (middle[pieces.alike] >= 0))
        if not len(like):
            numbers = ", ".join(map(str, ranks))
            raise UnknownFix(
                state("no other rank does the same work as rank {numbers} in the same steps", numbers=numbers)
            )
        for part in chosen_parts:
            sums = pieces.sums(parts[:, part])
            by_alike = peers[np.lexsort((sums[peers], pieces.alike[peers]))]
            sums[like] = sums[by_alike[middle[pieces.alike[like]]]]
            pieces.scale(parts[:, part], sums)

    @staticmethod
    def _among_peers(chosen: Bools, rank: Int64s) -> Bools:
        """Return which pieces are of ranks that chosen ones are compared with: of many ranks, some."""
        peers = np.unique(rank[~chosen])
        spread = np.linspace(0, len(peers) - 1, _MOST_PEERS).round().astype(np.int64)
        return ~chosen & np.isin(rank, peers[np.unique(spread)] if len(peers) > _MOST_PEERS else peers)

    def _fix_stages(self, stages: Sequence[int], parts: Int64s) -> None:
        """Let the ranks of stages work as long as those of the others do on average; as all where none is."""
        for stage in stages:
            if self.rank_stage.max(initial=0) == 0 or stage not in self.rank_stage:
                raise UnknownFix(state("there is no stage {number} here", number=stage))
        ranks = np.bincount(self.rank_stage)
        work_ns = np.bincount(self.stage[self._work], parts[self._work, COMPUTING], len(ranks))
        is_other = ~np.isin(np.arange(len(ranks)), stages)
        if not ranks[is_other].any():
            is_other[:] = True
        usual = work_ns[is_other].sum() / ranks[is_other].sum()
        for stage in stages:
            if work_ns[stage] > 0:
                chosen = self.stage == stage
                scaled = np.rint(parts[chosen, COMPUTING] * (usual / (work_ns[stage] / ranks[stage])))
                parts[chosen, COMPUTING] = scaled.astype(np.int64)

    def _fix_links(self, factors: Mapping[frozenset[int], float], transfer: Int64s) -> None:
        """Let links move their bytes faster: what two ranks exchange, and what waits for their exchange.

        A collective of more ranks is as slow as its slowest recorded link.
        `factors`: by the two ranks of each link.
        """
        job = self.order.job
        speeds: dict[frozenset[int], float] = {}
        for link in job_links(job):
            src, dst = link.ends.src, link.ends.dst
            if src is not None and dst is not None and link.gb_per_s:
                pair = frozenset((src, dst))
                speeds[pair] = min(link.gb_per_s, speeds.get(pair, link.gb_per_s))
        shared: set[frozenset[int]] = set()
        used: set[frozenset[int]] = set()
        for number, matched in enumerate(job.channels):
            members = self._members(number)
            fixed = {pair: factor for pair, factor in factors.items() if pair <= members}
            shared |= fixed.keys()
            inside: dict[frozenset[int], float] = {}
            if not matched.channel.pair and len(members) > 2:
                inside = {pair: speed for pair, speed in speeds.items() if pair <= members}
                fixed = {pair: factor for pair, factor in fixed.items() if pair in inside}
            used |= fixed.keys()
            if not fixed:
                continue
            factor = min(fixed.values())
            if inside:
                slowest = min(speed * fixed.get(pair, 1.0) for pair, speed in inside.items())
                factor = slowest / min(inside.values())
            chosen = self.order.channel == number
            transfer[chosen] = np.rint(transfer[chosen] / factor).astype(np.int64)
        for first, second in map(sorted, factors.keys() - used):
            template = "ranks {first} and {second} have no collective in common here"
            if frozenset((first, second)) in shared:
                template = "how fast ranks {first} and {second} exchange data is not recorded"
            raise UnknownFix(state(template, first=first, second=second))

    def _members(self, number: int) -> set[int]:
        """Return the numbers in the job of the ranks of a channel."""
        channel = self.order.job.channels[number].channel
        here = {self.order.job.ranks[place].number for place in channel.ranks}
        return here if channel.pair else here | set(next((g.global_ranks for g in channel.groups), ()))

    def _balance_experts(self, parts: Int64s, transfer: Int64s) -> None:
        """Let all ranks compute as long between two all-to-alls, and move as long in them."""
        if not self._exchanges:
            raise UnknownFix(state("no rank exchanges tokens with others: there is no pair of all-to-alls"))
        for exchanges in self._exchanges:
            self._balance_exchanges(exchanges, parts, transfer)

    @cached_property
    def _exchanges(self) -> list[list[Exchange]]:
        """What the ranks of a group exchange in one layer and step, for each of these."""
        groups = exchange_groups(self.order.job)
        together: dict[tuple[int, int, int], list[Exchange]] = {}
        for layer in expert_layers(self.order.job):
            for exchange in layer.exchanges:
                key = (layer.number, groups.get(exchange.rank, -1), exchange.step)
                together.setdefault(key, []).append(exchange)
        return [*together.values()]

    def _balance_exchanges(self, exchanges: Sequence[Exchange], parts: Int64s, transfer: Int64s) -> None:
        """Balance what the ranks of a group do in one layer and step."""
        dispatched = _unevenness([exchange.dispatched for exchange in exchanges])
        combined = _unevenness([exchange.combined for exchange in exchanges])
        work = []
        for exchange in exchanges:
            dispatch, combine, between = self._exchanged(exchange)
            transfer[dispatch] = round(int(transfer[dispatch]) / dispatched)
            transfer[combine] = round(int(transfer[combine]) / combined)
            work.append(between)
        mean = sum(int(parts[places, COMPUTING].sum()) for places in work) / len(work)
        for places in work:
            whole, idle = parts[places, COMPUTING].sum(), parts[places, IDLE].sum()
            if whole:
                scaled = np.rint(parts[places, COMPUTING] * (mean / whole))
                parts[places, COMPUTING] = scaled.astype(np.int64)
            if idle:  # the host runs ahead as far as the device computes longer
                left = max(float(idle) - max(mean - float(whole), 0.0), 0.0) / float(idle)
                parts[places, IDLE] = np.rint(parts[places, IDLE] * left).astype(np.int64)

    @cached_property
    def _is_of_experts(self) -> Bools:
        """bool[operations]: whether they are work between two all-to-alls that give ranks unequal tokens."""
        of_experts = np.zeros(len(self.order), np.bool_)
        for exchanges in self._exchanges:
            if _unevenness([exchange.tokens for exchange in exchanges]) > 1:
                of_experts[np.concatenate([self._exchanged(exchange)[2] for exchange in exchanges])] = True
        return of_experts

    def _exchanged(self, exchange: Exchange) -> tuple[int, int, Int64s]:
        """Return the operations of two all-to-alls of a rank, and its work between them."""
        order, place = self.order, exchange.rank
        first, stop = np.searchsorted(self._here, np.array([place, place + 1])).tolist()
        stop -= len(order.job.ranks[place].collectives)
        dispatch, combine = stop + exchange.dispatch, stop + exchange.combine
        start = order.start[first:stop]
        is_between = (start >= order.end[dispatch]) & (start < order.start[combine])
        return dispatch, combine, first + np.flatnonzero(is_between)

    @cached_property
    def _here(self) -> Int64s:
        """int64[operations of ranks that are here]: the place of the rank of each, ascending."""
        here: Int64s = self.order.rank[self.order.rank != STAND_IN]
        return here

    def _remove_jitter(self, parts: Int64s, transfer: Int64s) -> None:
        """Let each rank take its own mean of all steps for the same work, and collectives their median.

        Delays, which are no work, go as well: `fixed_parts` says so.
        """
        pieces = self._pieces(self._alike * len(self.order.job.ranks) + self.order.rank[self._work])
        for part in range(len(PARTS)):
            pieces.scale(parts[:, part], _means(pieces.alike, pieces.sums(parts[:, part])))
        transfer[:] = np.where(self.transfer > 0, self._usual_transfer, transfer)

    @cached_property
    def _usual_transfer(self) -> Int64s:
        """int64[operations]: the median transfer of the same collectives in one channel."""
        collective = np.flatnonzero(self.order.channel >= 0)
        key = self.order.alike[collective] * (int(self.order.channel.max(initial=0)) + 1)
        return self._median_transfer(collective, key + self.order.channel[collective])


def _unevenness(amounts: Sequence[int | None]) -> float:
    """Return the largest amount divided by the mean; 1 where all are 0, or one is not known."""
    known = [amount for amount in amounts if amount is not None]
    return max(known) * len(known) / sum(known) if sum(known) and len(known) == len(amounts) else 1.0


def _means(key: Int64s, values: Floats) -> Floats:
    """Return the mean of the values that have each key, one per value."""
    if not len(key):
        return values
    return (np.bincount(key, values) / np.maximum(np.bincount(key), 1))[key]


def numbered_from_0(key: Int64s) -> Int64s:
    """Return a number from 0 for each distinct key, int64[n]."""
    return np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _runs(ordered: Int64s) -> tuple[Int64s, Int64s]:
    """Return where the runs of equal numbers begin, and how long they are."""
    opens = np.flatnonzero(np.diff(ordered, prepend=-1))
    return opens, np.diff(np.append(opens, len(ordered)))
