"""The tables of what is counted over time, as the counters of a text export; those that it lacks as well.

A table is data here: which process shows it, which of its columns say what is counted, and which are counted.
Series that text exports have too are called as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int64s
from tracetui.reader.database.assembly import Assembly, has_time
from tracetui.reader.database.device import DeviceTables
from tracetui.reader.database.layers import (
    ACCELERATORS,
    CORES,
    CPU,
    DDR,
    DISK,
    FREQUENCY,
    HBM,
    HCCS,
    HOST_MEMORY,
    HOST_NETWORK,
    LLC,
    MEMORY,
    NETWORK,
    NIC,
    PCIE,
    QOS,
    ROCE,
    SIO,
    SOC,
    UB,
    ProcessLayer,
    layer_pid,
)
from tracetui.reader.database.table_reader import TableColumns, TableQuery, TableReader, groups_of


class CounterSeries(NamedTuple):
    """A column that is counted."""

    column: str
    name: str  #: with {} for each of the columns that say what is counted
    key: str  #: of its samples, as the arguments of an event are called
    per: float = 1.0  #: so many of what is stored are one of what the key says


class CounterTable(NamedTuple):
    """A table of samples."""

    table: str
    layer: ProcessLayer
    series: tuple[CounterSeries, ...]
    #: Columns that say what is counted: of numbers, "text:" and of texts, "die:" and of dies, if there are.
    keys: tuple[str, ...] = ()
    time: str = "timestampNs"
    on_device: bool = True

    @property
    def query(self) -> TableQuery:
        """What is wanted of it."""
        keys = (column.rpartition(":")[2] for column in self.keys)
        device = ("deviceId",) if self.on_device else ()
        return TableQuery(
            self.table, (self.time, *device, *keys), tuple(series.column for series in self.series)
        )


_NO_DIE = 65534  # and what is above: 65535 and 4294967295 mean none too
_MEGA = 1 << 20  # speeds are stored in bytes a second, and shown in MB/s as text exports have them


def _speed(column: str, name: str, key: str) -> CounterSeries:
    return CounterSeries(column, name, f"{key}(MB/s)", _MEGA)


def _counts(unit: str, *columns: str) -> tuple[CounterSeries, ...]:
    return tuple(CounterSeries(column, column, f"{column}({unit})") for column in columns)


def _port(name: str) -> tuple[CounterSeries, ...]:
    """Return what is counted of a port of a network card."""
    found = [_speed("bandwidth", f"{name} Port {{}}/Bandwidth", "Bandwidth")]
    units = {"Packets": "packets", "Bytes": "B", "Errors": "packets", "Dropped": "packets"}
    for way in ("Rx", "Tx"):
        port, column = f"{name} Port {{}}/{way}", way.lower()
        found.append(_speed(f"{column}ByteRate", port, "Byte Rate"))
        found.append(CounterSeries(f"{column}PacketRate", port, "Packet Rate(packets/s)"))
        found += [
            CounterSeries(f"{column}{quantity}", port, f"{quantity}({unit})")
            for quantity, unit in units.items()
        ]
    return tuple(found)


def _usage(name: str) -> CounterSeries:
    return CounterSeries("usage", name, "Usage(%)")


#: What PCIE tells of each quantity, by the end of its column; text exports have the mean only.
_PCIE_ENDS = {"Avg": "", "Min": "Least", "Max": "Most"}
_PCIE = (
    *(
        _speed(f"{way}{kind}{end}", f"PCIe_{kind.lower()}/{way.title()}", extreme or way.title())
        for kind in ("Post", "Nonpost", "Cpl")
        for way in ("tx", "rx")
        for end, extreme in _PCIE_ENDS.items()
    ),
    *(
        CounterSeries(f"txNonpostLatency{end}", "PCIe_nonpost_latency/Tx", f"{extreme or 'Tx'}(us)", 1e3)
        for end, extreme in _PCIE_ENDS.items()
    ),
)
TABLES = (
    CounterTable(
        "AICORE_FREQ", FREQUENCY, (CounterSeries("freq", "AI Core Freq{}", "MHz"),), keys=("die:dieId",)
    ),
    CounterTable("HBM", HBM, (_speed("bandwidth", "HBM {}/{}", "{}"),), keys=("hbmId", "text:type")),
    CounterTable("DDR", DDR, (_speed("read", "DDR/Read", "Read"), _speed("write", "DDR/Write", "Write"))),
    CounterTable(
        "LLC",
        LLC,
        (
            _speed("throughput", "LLC {} {}/Throughput", "Throughput"),
            CounterSeries("hitRate", "LLC {} {}/Hit Rate", "Hit Rate(%)", 100),
        ),
        keys=("llcId", "text:mode"),
    ),
    CounterTable(
        "NPU_MEM",
        MEMORY,
        (CounterSeries("ddr", "{}/DDR", "KB", 1024), CounterSeries("hbm", "{}/HBM", "KB", 1024)),
        keys=("text:type",),
    ),
    CounterTable(
        "SOC_BANDWIDTH_LEVEL",
        SOC,
        (
            CounterSeries("l2BufferBwLevel", "L2 Buffer Bw Level", "L2 Buffer Bw Level"),
            CounterSeries("mataBwLevel", "Mata Bw Level", "Mata Bw Level"),
        ),
    ),
    CounterTable(
        "ACC_PMU",
        ACCELERATORS,
        (
            CounterSeries("readBwLevel", "read_bandwidth", "value"),
            CounterSeries("writeBwLevel", "write_band_width", "value"),
            CounterSeries("readOstLevel", "read_ost", "value"),
            CounterSeries("writeOstLevel", "write_ost", "value"),
        ),
    ),
    CounterTable(
        "QOS", QOS, (CounterSeries("bandwidth", "QoS {}{}", "value"),), keys=("text:eventName", "die:dieId")
    ),
    CounterTable(
        "HCCS", HCCS, (_speed("txThroughput", "HCCS/Tx", "Tx"), _speed("rxThroughput", "HCCS/Rx", "Rx"))
    ),
    CounterTable("PCIE", PCIE, _PCIE),
    CounterTable(
        "SIO",
        SIO,
        tuple(
            CounterSeries(f"{way}{what}", f"SIO {{}}/{way.title()} {what}", "value")
            for way in ("rx", "tx")
            for what in ("Req", "Rsp", "Snp", "Dat")
        ),
        keys=("text:name",),
    ),
    CounterTable(
        "UB",
        UB,
        tuple(
            CounterSeries(f"{way}UdmaBind", f"UB Port {{}}/{way.title()}", "value") for way in ("rx", "tx")
        ),
        keys=("portId",),
    ),
    CounterTable("NIC", NIC, _port("NIC"), keys=("funcId",)),
    CounterTable("ROCE", ROCE, _port("RoCE"), keys=("funcId",)),
    CounterTable(
        "NETDEV_STATS",
        NETWORK,
        (
            *(
                _speed(f"{column}Bandwidth", f"{column}Bandwidth", f"{column}Bandwidth")
                for column in ("macTx", "macRx", "nicTx", "nicRx")
            ),
            *_counts("packets", "macTxPfcPkt", "macRxPfcPkt", "roceTxErrPkt", "roceRxErrPkt"),
            *_counts("packets", "roceTxCnpPkt", "roceRxCnpPkt", "roceNewPktRty", "roceTxPkt", "roceRxPkt"),
            *_counts("B", "macTxBadByte", "macRxBadByte", "macTxByte", "macRxByte", "nicTxByte", "nicRxByte"),
        ),
    ),
    CounterTable(
        "SAMPLE_PMU_TIMELINE",
        CORES,
        (
            CounterSeries("usage", "{} core {}/Usage", "Usage(%)"),
            CounterSeries("freq", "{} core {}/Frequency", "MHz"),
        ),
        keys=("text:coreType", "coreId"),
    ),
    CounterTable("CPU_USAGE", CPU, (_usage("CPU {}"),), keys=("cpuId",), on_device=False),
    CounterTable("HOST_MEM_USAGE", HOST_MEMORY, (_usage("Memory"),), on_device=False),
    CounterTable(
        "HOST_DISK_USAGE",
        DISK,
        (
            _speed("readRate", "Disk/Read", "Read"),
            _speed("writeRate", "Disk/Write", "Write"),
            _usage("Disk"),
        ),
        on_device=False,
    ),
    CounterTable(
        "HOST_NETWORK_USAGE",
        HOST_NETWORK,
        (_speed("speed", "Network/Speed", "Speed"), _usage("Network")),
        on_device=False,
    ),
)


def read_counters(reader: TableReader, assembly: Assembly, devices: DeviceTables) -> None:
    """Read all tables of samples that there are, and hand over their series."""
    for counted in TABLES:
        if not reader.database.has(counted.table, counted.time):
            continue
        rows = reader.columns(counted.query)
        if rows.count:
            _add_series(counted, rows, assembly, devices)


def _add_series(counted: CounterTable, rows: TableColumns, assembly: Assembly, devices: DeviceTables) -> None:
    assembly.left_out += int(np.count_nonzero(~has_time(rows[counted.time])))
    keys = [column.rpartition(":")[2] for column in counted.keys]
    kinds = [column.rpartition(":")[0] for column in counted.keys]
    device = rows["deviceId"] if counted.on_device else np.zeros(rows.count, np.int64)
    for places, (own_device, *values) in groups_of(device, *(rows[column] for column in keys)):
        names = [_part_of_name(assembly, kind, value) for kind, value in zip(kinds, values)]
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
    series: CounterSeries,
    names: list[str],
    thread: int,
    rows: TableColumns,
    places: Int64s,
    time: str,
    assembly: Assembly,
) -> None:
    values: NDArray[np.float64] = rows.floats[series.column][places]
    is_number = np.isfinite(values)
    if is_number.any():
        key = series.key.format(names[-1] if names else "")
        shown = values[is_number] / series.per
        assembly.add_samples(thread, series.name.format(*names), key, rows[time][places[is_number]], shown)


def _add_sums(counted: CounterTable, rows: TableColumns, assembly: Assembly, devices: DeviceTables) -> None:
    """Add the memory of both kinds, as text exports do; DDR may not be told."""
    total = (np.nan_to_num(rows.floats["ddr"]) + rows.floats["hbm"]) / 1024
    rows = rows.at(np.isfinite(total))
    total = total[np.isfinite(total)]
    for places, (device, kind) in groups_of(rows["deviceId"], rows["type"]):
        thread = assembly.thread(devices.pid(counted.layer, device), 0)
        name = f"{_text(assembly, kind)}/Memory"
        assembly.add_samples(thread, name, "KB", rows[counted.time][places], total[places])


def _part_of_name(assembly: Assembly, kind: str, value: int) -> str:
    """Return what a column says of what is counted."""
    if kind == "text":
        return _text(assembly, value)
    if kind == "die":
        return f" Die {value}" if 0 <= value < _NO_DIE else ""
    return str(value) if value >= 0 else "unknown"


_WRITTEN = {"app": "APP", "device": "Device", "read": "Read", "write": "Write"}  #: in text exports


def _text(assembly: Assembly, id_: int) -> str:
    number = int(assembly.texts.names(np.array([id_]))[0])
    text = assembly.texts.all()[number]
    return _WRITTEN.get(text, text)
