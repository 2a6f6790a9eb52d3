"""The tables of what is counted over time, as the counters of a text export; those that it lacks as well.

A table is data here: which process shows it, which of its columns say what is counted, and which are counted.
Series that text exports have too are called as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int64s
from tracetui.reader.database.assembly import Assembly
from tracetui.reader.database.device import DeviceTables, _groups
from tracetui.reader.database.layers import (
    ACCELERATORS,
    BUSES,
    CORES,
    FREQUENCY,
    HBM,
    HOST,
    LLC,
    MEMORY,
    NETWORK,
    QOS,
    SOC,
    Layer,
    layer_pid,
)
from tracetui.reader.database.reading import Columns, TableReader

_BYTES_PER_SECOND = "B/s"


class Series(NamedTuple):
    """A column that is counted."""

    column: str
    name: str  #: with {} for each of the columns that say what is counted
    key: str  #: of its samples, as the arguments of an event are called
    scale: float = 1.0  #: from what is stored to what the key says


class Counted(NamedTuple):
    """A table of samples."""

    table: str
    layer: Layer
    series: tuple[Series, ...]
    of: tuple[str, ...] = ()  #: columns that say what is counted: numbers, or "text:" and those of texts
    time: str = "timestampNs"
    on_device: bool = True


def _speeds(*names: str) -> tuple[Series, ...]:
    return tuple(Series(name, name, f"{name}({_BYTES_PER_SECOND})") for name in names)


def _counts(*names: str) -> tuple[Series, ...]:
    return tuple(Series(name, name, "value") for name in names)


def _port(prefix: str) -> tuple[Series, ...]:
    speeds = [Series("bandwidth", f"{prefix} {{}} bandwidth", f"bandwidth({_BYTES_PER_SECOND})")]
    rates = [
        Series(f"{way}ByteRate", f"{prefix} {{}} {way}ByteRate", f"{way}ByteRate({_BYTES_PER_SECOND})")
        for way in ("rx", "tx")
    ]
    counts = [
        Series(f"{way}{what}", f"{prefix} {{}} {way}{what}", "value")
        for way in ("rx", "tx")
        for what in ("PacketRate", "Packets", "Bytes", "Errors", "Dropped")
    ]
    return (*speeds, *rates, *counts)


_PCIE = tuple(
    Series(f"{name}Avg", f"PCIe {name}", f"{name}({'ns' if 'Latency' in name else _BYTES_PER_SECOND})")
    for name in ("txPost", "txNonpost", "txCpl", "txNonpostLatency", "rxPost", "rxNonpost", "rxCpl")
)
TABLES = (
    Counted("AICORE_FREQ", FREQUENCY, (Series("freq", "AI Core Freq", "MHz"),)),
    Counted(
        "HBM",
        HBM,
        (Series("bandwidth", "HBM {}/{}", f"{{}}({_BYTES_PER_SECOND})"),),
        of=("hbmId", "text:type"),
    ),
    Counted("DDR", HBM, (*_speeds("read", "write"),)),
    Counted(
        "LLC",
        LLC,
        (
            Series("throughput", "LLC {} {}/Throughput", f"Throughput({_BYTES_PER_SECOND})"),
            Series("hitRate", "LLC {} {}/Hit Rate", "Hit Rate(%)", 0.01),
        ),
        of=("llcId", "text:mode"),
    ),
    Counted(
        "NPU_MEM",
        MEMORY,
        (Series("ddr", "{}/DDR", "KB", 1 / 1024), Series("hbm", "{}/HBM", "KB", 1 / 1024)),
        of=("text:type",),
    ),
    Counted(
        "SOC_BANDWIDTH_LEVEL",
        SOC,
        (
            Series("l2BufferBwLevel", "L2 Buffer Bw Level", "L2 Buffer Bw Level"),
            Series("mataBwLevel", "Mata Bw Level", "Mata Bw Level"),
        ),
    ),
    Counted(
        "ACC_PMU",
        ACCELERATORS,
        (
            Series("readBwLevel", "read_bandwidth", "value"),
            Series("writeBwLevel", "write_band_width", "value"),
            Series("readOstLevel", "read_ost", "value"),
            Series("writeOstLevel", "write_ost", "value"),
        ),
    ),
    Counted("QOS", QOS, (Series("bandwidth", "QoS {}", "value"),), of=("text:eventName",)),
    Counted("HCCS", BUSES, (*_speeds("txThroughput", "rxThroughput"),)),
    Counted("PCIE", BUSES, _PCIE),
    Counted(
        "SIO",
        BUSES,
        tuple(
            Series(f"{way}{what}", f"SIO {{}} {way}{what}", "value")
            for way in ("rx", "tx")
            for what in ("Req", "Rsp", "Snp", "Dat")
        ),
        of=("text:name",),
    ),
    Counted(
        "UB",
        BUSES,
        tuple(Series(f"{way}UdmaBind", f"UB {{}} {way}UdmaBind", "value") for way in ("rx", "tx")),
        of=("portId",),
    ),
    Counted("NIC", NETWORK, _port("NIC"), of=("funcId",)),
    Counted("ROCE", NETWORK, _port("RoCE"), of=("funcId",)),
    Counted(
        "NETDEV_STATS",
        NETWORK,
        (
            *_speeds("macTxBandwidth", "macRxBandwidth", "nicTxBandwidth", "nicRxBandwidth"),
            *_counts("macTxPfcPkt", "macRxPfcPkt", "macTxBadByte", "macRxBadByte"),
            *_counts("roceTxErrPkt", "roceRxErrPkt", "roceTxCnpPkt", "roceRxCnpPkt", "roceNewPktRty"),
            *_counts("macTxByte", "macRxByte", "roceTxPkt", "roceRxPkt", "nicTxByte", "nicRxByte"),
        ),
    ),
    Counted(
        "SAMPLE_PMU_TIMELINE",
        CORES,
        (Series("usage", "{} core {} usage", "usage(%)"), Series("freq", "{} core {} frequency", "MHz")),
        of=("text:coreType", "coreId"),
    ),
    Counted("CPU_USAGE", HOST, (Series("usage", "CPU {}", "usage(%)"),), of=("cpuId",), on_device=False),
    Counted("HOST_MEM_USAGE", HOST, (Series("usage", "Memory", "usage(%)"),), on_device=False),
    Counted(
        "HOST_DISK_USAGE",
        HOST,
        (
            Series("readRate", "Disk read", f"read({_BYTES_PER_SECOND})"),
            Series("writeRate", "Disk write", f"write({_BYTES_PER_SECOND})"),
            Series("usage", "Disk", "usage(%)"),
        ),
        on_device=False,
    ),
    Counted(
        "HOST_NETWORK_USAGE",
        HOST,
        (
            Series("speed", "Network speed", f"speed({_BYTES_PER_SECOND})"),
            Series("usage", "Network", "usage(%)"),
        ),
        on_device=False,
    ),
)


def read_counters(reader: TableReader, assembly: Assembly, devices: DeviceTables) -> None:
    """Read all tables of samples that there are, and hand over their series."""
    for counted in TABLES:
        if not reader.database.has(counted.table, counted.time):
            continue
        of = [column.rpartition(":")[2] for column in counted.of]
        rows = reader.columns(
            counted.table,
            [counted.time, *(["deviceId"] if counted.on_device else []), *of],
            [series.column for series in counted.series],
        )
        if rows.count:
            _add_series(counted, rows, assembly, devices)


def _add_series(counted: Counted, rows: Columns, assembly: Assembly, devices: DeviceTables) -> None:
    of = [column.rpartition(":")[2] for column in counted.of]
    is_text = [column.startswith("text:") for column in counted.of]
    device = rows["deviceId"] if counted.on_device else np.zeros(rows.count, np.int64)
    for places, (own_device, *values) in _groups(device, *(rows[column] for column in of)):
        names = [_text(assembly, value) if text else str(value) for value, text in zip(values, is_text)]
        if counted.on_device:
            pid = devices.pid(counted.layer, own_device)
        else:
            pid = layer_pid(next(iter(devices.processes.values()), 0), counted.layer)
            assembly.process(pid, counted.layer.name, "CPU", counted.layer.number)
        thread = assembly.thread(pid, 0)
        for series in counted.series:
            _add_samples(series, names, thread, rows, places, counted.time, assembly)
    if counted.table == "NPU_MEM":
        _add_sums(counted, rows, assembly, devices)


def _add_samples(
    series: Series,
    names: list[str],
    thread: int,
    rows: Columns,
    places: Int64s,
    time: str,
    assembly: Assembly,
) -> None:
    values: NDArray[np.float64] = rows.floats[series.column][places]
    known = np.isfinite(values)
    if known.any():
        key = series.key.format(names[-1] if names else "")
        scaled = values[known] * series.scale
        assembly.add_samples(thread, series.name.format(*names), key, rows[time][places[known]], scaled)


def _add_sums(counted: Counted, rows: Columns, assembly: Assembly, devices: DeviceTables) -> None:
    """Add the memory of both kinds, as text exports do."""
    total = (rows.floats["ddr"] + rows.floats["hbm"]) / 1024
    for places, (device, kind) in _groups(rows["deviceId"], rows["type"]):
        thread = assembly.thread(devices.pid(counted.layer, device), 0)
        name = f"{_text(assembly, kind)}/Memory"
        assembly.add_samples(thread, name, "KB", rows[counted.time][places], total[places])


_WRITTEN = {"app": "APP", "device": "Device", "read": "Read", "write": "Write"}  #: in text exports


def _text(assembly: Assembly, id_: int) -> str:
    number = int(assembly.texts.names(np.array([id_]))[0])
    text = assembly.texts.all()[number]
    return _WRITTEN.get(text, text)
