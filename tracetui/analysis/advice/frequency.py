"""Advice about the clock of the AI cores: whether they run as fast as they can while kernels do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import FREQUENCY, Advice
from tracetui.analysis.series import Series, counter_series
from tracetui.arrays import Floats, Int64s
from tracetui.trace.model import Activity, Trace
from tracetui.trace.quantity import is_core_frequency

_NO_FREQUENCY = 1e6  #: MHz


def core_frequency(evidence: Evidence) -> Iterator[Advice]:
    """Find AI cores that run below their maximum frequency while kernels do.

    Each kernel counts with the mean frequency of its time, weighted by that time; the frequency between
    kernels does not count. The maximum is the highest that any AI core of the trace ran at. Several dies of a
    device count with their mean.
    """
    slices = evidence.trace.slices
    maximum = max((series.bounds[1] for series in _frequencies(evidence.trace)), default=0.0)
    if maximum <= 0:
        return
    for activity in evidence.analysis.devices:
        kernels = activity.work[slices.activity[activity.work] == Activity.COMPUTE]
        mhz = _mean_mhz(evidence, activity.device, kernels)
        measured = ~np.isnan(mhz)
        kernels, mhz = kernels[measured], mhz[measured]
        durations = slices.dur[kernels]
        total = int(durations.sum())
        lost = durations * (1.0 - mhz / maximum)
        cost = round(float(lost.sum()))
        if not FREQUENCY.exceeded(cost, total):
            continue
        slowed = kernels[mhz < maximum]
        mean = float(np.average(mhz, weights=durations))
        yield Advice(
            id="core_frequency_low",
            cost_ns=cost,
            evidence={
                "device": activity.device,
                "mean_mhz": mean,
                "maximum_mhz": maximum,
                "lowest_mhz": float(mhz.min()),
                "share_below": cost / total,
                "kernels_below": len(slowed),
                "kernels": len(kernels),
                "kernels_ns": total,
            },
            subjects=evidence.names(slowed),
            per_step_ns=evidence.step_ns(cost),
            rows=kernels[np.argsort(-lost, kind="stable")][: len(slowed)],
        )


def _mean_mhz(evidence: Evidence, device: str, kernels: Int64s) -> Floats:
    """Return the mean frequency of a device while each kernel ran, MHz; NaN where it is unknown."""
    slices = evidence.trace.slices
    means = [
        series.mean_between(slices.start[kernels], slices.end[kernels])
        for series in _frequencies(evidence.trace, device)
    ]
    return np.mean(means, axis=0) if means else np.full(len(kernels), np.nan)


def _frequencies(trace: Trace, device: str | None = None) -> list[Series]:
    """Return the frequency (MHz over ns) of each AI core of a device, or of all devices."""
    frequencies = []
    for track in trace.tracks:
        if len(track.samples) and is_core_frequency(track) and device in (None, track.device):
            series = counter_series(trace, track)
            real = (series.value > 0) & (series.value < _NO_FREQUENCY)
            frequencies.append(Series(series.time[real], series.value[real]))
    return frequencies
