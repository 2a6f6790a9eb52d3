"""What tables become: counters with units, calls of the system, marks, devices, kinds of files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tracetui
from tests.databases.handmade import (
    API_TYPES,
    KERNEL,
    MAIN,
    NONE,
    PID,
    START,
    TASK,
    Rows,
    Texts,
    joined,
    kernels,
    write,
)
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.counter_tracks import of_counter
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.databases.tables import UNKNOWN, whole_numbers
from tracetui.job.load import load_ranks
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.joined import open_trace
from tracetui.siblings.database_tables import table_in_database
from tracetui.siblings.formats import KERNEL_DETAILS, MEMORY_RECORD, OPERATOR_MEMORY
from tracetui.siblings.metadata import parallel_groups
from tracetui.siblings.of_run import has_of_run, read_of_run, source_of
from tracetui.trace.build import build_trace
from tracetui.trace.model import Activity, Family, Layer

MSPROF = "msprof_20250101010101.db"
TIMES = [(1_000_000 * number, 1_000_000 * number + 400_000) for number in range(1, 6)]
AT = [START + 1_000_000, START + 2_000_000]
OPERATIONS = (
    "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,"
    " opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER,"
    " count NUMERIC, opType INTEGER"
)
PARTS = (
    "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER,"
    " notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER,"
    " size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER"
)
MARKS = (
    "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER,"
    " globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER"
)


def loaded(path: Path, text: Texts, tables: dict[str, Rows]) -> Analysis:
    write(path, {"ENUM_API_TYPE": API_TYPES, **tables, "STRING_IDS": text.rows()})
    return tracetui.load(path, cache=False)


def samples(columns: str, *values: object, device: bool = True) -> Rows:
    """Two samples of the same values: times first, after the device where there is one."""
    first = "deviceId, timestampNs, " if device else "timestampNs, "
    return Rows(first + columns, [((0,) if device else ()) + (at, *values) for at in AT])


MB = 1 << 20  # as msprof makes bytes of megabytes
_PORT = "bandwidth, rxPacketRate, rxByteRate, rxPackets, rxBytes, rxErrors, rxDropped, funcId"
_PCIE = "txPostMin, txPostMax, txPostAvg, rxCplAvg, txNonpostLatencyAvg"
_NETDEV = "macTxPfcPkt, macTxBandwidth, roceRxCnpPkt, roceNewPktRty, nicRxByte"


@pytest.mark.parametrize(
    ("table", "columns", "values", "expected"),
    [
        ("HBM", "bandwidth, hbmId, type", (23_464 * MB, 1, "read"), {"HBM 1/Read": (23464, "MB/s")}),
        ("DDR", "read, write", (2 * MB, 3 * MB), {"DDR/Read": (2, "MB/s"), "DDR/Write": (3, "MB/s")}),
        (
            "LLC",
            "llcId, hitRate, throughput, mode",
            (0, 85.1, 33_697 * MB / 2, "write"),
            {"LLC 0 Write/Hit Rate": (85.1, "%"), "LLC 0 Write/Throughput": (16848.5, "MB/s")},
        ),
        ("AICORE_FREQ", "freq", (800,), {"AI Core Freq": (800, "MHz")}),
        ("AICORE_FREQ", "freq, dieId", (800, 1), {"AI Core Freq Die 1": (800, "MHz")}),
        ("AICORE_FREQ", "freq, dieId", (800, 65535), {"AI Core Freq": (800, "MHz")}),
        (
            "NPU_MEM",
            "type, ddr, hbm",
            ("app", 1024, 4096),
            {"APP/DDR": (1024, "B"), "APP/HBM": (4096, "B"), "APP/Memory": (5120, "B")},
        ),
        (
            "NPU_MEM",
            "type, ddr, hbm",
            ("app", None, 4096),
            {"APP/HBM": (4096, "B"), "APP/Memory": (4096, "B")},
        ),
        (
            "PCIE",
            _PCIE,
            (0, 9000 * MB, 5 * MB, 7 * MB, 2500),
            {
                "PCIe_post/Tx": (5, "MB/s"),
                "PCIe_post/Tx Least": (0, "MB/s"),
                "PCIe_post/Tx Most": (9000, "MB/s"),
                "PCIe_cpl/Rx": (7, "MB/s"),
                "PCIe_nonpost_latency/Tx": (2.5, "us"),
            },
        ),
        (
            "HCCS",
            "txThroughput, rxThroughput",
            (4 * MB, 5 * MB),
            {"HCCS/Tx": (4, "MB/s"), "HCCS/Rx": (5, "MB/s")},
        ),
        (
            "ROCE",
            _PORT,
            (12 * MB, 5, 3 * MB, 100, 2048, 1, 2, 0),
            {
                "RoCE Port 0/Bandwidth": (12, "MB/s"),
                "RoCE Port 0/Rx Byte Rate": (3, "MB/s"),
                "RoCE Port 0/Rx Packet Rate": (5, "packets/s"),
                "RoCE Port 0/Rx Packets": (100, "packets"),
                "RoCE Port 0/Rx Bytes": (2048, "B"),
                "RoCE Port 0/Rx Errors": (1, "packets"),
                "RoCE Port 0/Rx Dropped": (2, "packets"),
            },
        ),
        (
            "NETDEV_STATS",
            _NETDEV,
            (3, 25_000 * MB, 4, 5, 4096),
            {
                "macTxPfcPkt": (3, "packets"),
                "macTxBandwidth": (25000, "MB/s"),
                "roceRxCnpPkt": (4, "packets"),
                "roceNewPktRty": (5, "packets"),
                "nicRxByte": (4096, "B"),
            },
        ),
        ("SOC_BANDWIDTH_LEVEL", "l2BufferBwLevel", (3,), {"L2 Buffer Bw Level": (3, "")}),
        ("QOS", "eventName, bandwidth", ("OTHERS", 1908), {"QoS OTHERS": (1908, "")}),
        ("CPU_USAGE", "cpuId, usage", (7, 12.5), {"CPU 7 Usage": (12.5, "%")}),
        ("HOST_MEM_USAGE", "usage", (40,), {"Memory Usage": (40, "%")}),
        (
            "HOST_DISK_USAGE",
            "readRate, usage",
            (8 * MB, 3.5),
            {"Disk/Read": (8, "MB/s"), "Disk Usage": (3.5, "%")},
        ),
        (
            "HOST_NETWORK_USAGE",
            "usage, speed",
            (2, MB),
            {"Network Usage": (2, "%"), "Network/Speed": (1, "MB/s")},
        ),
    ],
)
def test_counters_have_the_names_and_units_of_text_exports(
    tmp_path: Path, table: str, columns: str, values: tuple[object, ...], expected: dict[str, object]
) -> None:
    text = Texts()
    of_host = table.startswith(("HOST_", "CPU_"))
    cells = [text(value) if isinstance(value, str) else value for value in values]
    rows = samples(columns, *cells, device=not of_host)
    analysis = loaded(tmp_path / MSPROF, text, {**kernels(text, TIMES), table: rows})
    found = {}
    for track in analysis.trace.tracks:
        if track.layer is Layer.COUNTER:
            counter = of_counter(analysis.trace, track)
            assert counter.series.time.tolist() == AT
            assert analysis.trace.report.warnings == ()
            assert (counter.device is None) == of_host
            found[counter.name] = (pytest.approx(counter.series.value[-1]), counter.unit)
    assert found == expected


def test_a_sample_without_a_time_is_one_row_that_is_left_out(tmp_path: Path) -> None:
    """However many series are made of a row."""
    text = Texts()
    rows = Rows("deviceId, timestampNs, read, write", [(0, AT[0], 2e6, 3e6), (0, None, 2e6, 3e6)])
    analysis = loaded(tmp_path / MSPROF, text, {**kernels(text, TIMES), "DDR": rows})
    assert analysis.trace.report.warnings == ("rows without usable times: 1, left out",)
    (found,) = (finding for finding in analysis.health.findings if finding.id == "file.damaged")
    assert found.english == f"1 event of {analysis.trace.report.events} could not be read"


def test_memory_of_devices_alone_is_none_of_the_process(tmp_path: Path) -> None:
    for type_, is_told in (("device", False), ("app", True)):
        text = Texts()
        memory = samples("type, ddr, hbm", text(type_), 0, 4096)
        path = write(tmp_path / type_ / MSPROF, {"NPU_MEM": memory, "STRING_IDS": text.rows()})
        assert has_of_run(path, MEMORY_RECORD) is is_told
        assert (read_of_run(path, MEMORY_RECORD) is not None) is is_told


def test_calls_of_the_system_are_tracks_of_their_threads(tmp_path: Path) -> None:
    text, other = Texts(), PID << 32 | 77
    calls = [
        (text("futex"), MAIN, START + 10, START + 500),
        (text("ioctl"), other, START + 20, START + 30),
        (text("pthread_cond_wait"), MAIN, START + 600, START + 900),
    ]
    tables = {**kernels(text, TIMES), "OSRT_API": Rows("name, globalTid, startNs, endNs", calls)}
    trace = loaded(tmp_path / MSPROF, text, tables).trace
    threads = [track for track in trace.tracks if track.process == "OS Runtime API"]
    assert [(track.name, track.family, track.device) for track in threads] == [
        ("Thread 77", Family.CALLS, None),
        (f"Thread {PID}", Family.CALLS, None),
    ]
    assert [trace.name(row) for row in threads[1].rows] == ["futex", "pthread_cond_wait"]
    assert trace.slices.dur[list(threads[1].rows)].tolist() == [490, 300]


def test_ranges_of_users_are_told_apart_by_their_domains(tmp_path: Path) -> None:
    text = Texts()
    marks = [
        (START + 100, START + 4_000_000, 2, 1, 0, text("epoch"), MAIN, MAIN, text("default"), 4_000_000_000),
        (START + 200, START + 900, 1, 2, 7, text("load"), MAIN, MAIN, text("data"), 4_000_000_000),
        (START + 300, START + 300, 0, 3, 0, text("tick"), MAIN, MAIN, text("data"), 4_000_000_001),
    ]
    types = Rows("id INTEGER PRIMARY KEY, name TEXT", [(0, "marker"), (1, "push/pop"), (2, "start/end")])
    of_device = (
        AT[0] + 500_000,
        AT[0] + 500_100,
        0,
        4_000_000_001,
        70,
        PID,
        text("EVENT_RECORD"),
        NONE,
        2,
        70,
    )
    other = (AT[1] + 500_000, AT[1] + 500_100, 0, 4_000_000_000, 71, PID, text("EVENT_RECORD"), NONE, 2, 71)
    tables = {
        **joined(kernels(text, TIMES), {"TASK": Rows(TASK, [(*of_device, NONE), (*other, NONE)])}),
        "MSTX_EVENTS": Rows(MARKS, marks),
        "ENUM_MSTX_EVENT_TYPE": types,
    }
    trace = loaded(tmp_path / MSPROF, text, tables).trace
    tracks = {track.name: track for track in trace.tracks if track.layer is Layer.MARKS}
    names = {name: [trace.name(row) for row in track.rows] for name, track in tracks.items()}
    assert names == {f"Thread {PID} · default": ["epoch"], f"Thread {PID} · data": ["load", "tick"]}
    flows = trace.flows
    ends = [
        (trace.name(source), int(trace.slices.start[target]))
        for kind, source, target in zip(flows.category.tolist(), flows.source.tolist(), flows.target.tolist())
        if trace.string(kind) == "MsTx"
    ]
    assert ends == [("tick", of_device[0])]
    with open_trace(tmp_path / MSPROF) as file:
        trace = build_trace(file.read())
        load = next(row for row in range(len(trace.slices)) if trace.name(row) == "load")
        assert file.args(int(trace.slices.event[load])) == {
            "domain": "data",
            "event": "push/pop",
            "range": 2,
            "category": 7,
        }


def test_several_devices_of_one_file_are_told_apart(tmp_path: Path) -> None:
    """Each has its tasks, collectives, counters and gaps, though streams and tasks have equal numbers."""
    text = Texts()
    later = [(start + 200_000, end + 300_000) for start, end in TIMES]
    both = joined(kernels(text, TIMES, 0), kernels(text, later, 1, first=100))
    group = text("11978775601474615865")
    both["COMMUNICATION_OP"] = Rows(
        OPERATIONS + ", deviceId INTEGER",
        [
            (
                text(f"hcom_allReduce__865_{device}_1"),
                begin,
                begin + 500000,
                2000 + device,
                group,
                device,
                0,
                0,
                4,
                text("NA"),
                8,
                text("hcom_allReduce_"),
                device,
            )
            for device, begin in ((0, START + 7_000_000), (1, START + 7_100_000))
        ],
    )
    both["AICORE_FREQ"] = Rows("deviceId, timestampNs, freq", [(0, AT[0], 800), (1, AT[1], 1800)])
    analysis = loaded(tmp_path / MSPROF, text, both)
    assert analysis.trace.devices == ("NPU 0", "NPU 1")
    assert [device.computing_ns for device in analysis.devices] == [5 * 400_000, 5 * 500_000]
    assert [device.communication_ns for device in analysis.devices] == [500_000, 500_000]
    assert np.bincount(analysis.gaps.device).tolist() == [5, 5]
    found = [
        (track.device, of_counter(analysis.trace, track).series.value.tolist())
        for track in analysis.trace.tracks
        if track.layer is Layer.COUNTER
    ]
    assert found == [("NPU 0", [800.0]), ("NPU 1", [1800.0])]


def test_collectives_of_files_without_their_devices_are_on_those_of_their_tasks(tmp_path: Path) -> None:
    """Schema 1.0.0 at level 0: an operation has no device and no parts, its tasks have its connection."""
    text = Texts()
    tables = joined(kernels(text, TIMES, 0), kernels(text, TIMES, 1, first=100))
    group, kind = text("11978775601474615865"), text("hcom_allReduce_")
    operations, tasks = [], []
    for number, device in enumerate((1, 0, 1)):
        begin = START + 7_000_000 + 1_000_000 * number
        name, connection = text(f"hcom_allReduce__865_{number}_1"), 2000 + number
        ids = (connection, group, number, 0, 0, None, text("NA"), 8, kind)
        operations.append((name, begin, begin + 500_000, *ids))
        task = (device, connection, 500 + number, PID, text("MEMCPY_ASYNC"), NONE, 4, 50 + number, NONE)
        tasks.append((begin, begin + 400_000, *task))
    of_no_connection = (text("hcom_send__865_3_1"), START + 11_000_000, START + 11_100_000, NONE)
    operations.append((*of_no_connection, group, 3, 0, 0, None, text("NA"), 8, text("hcom_send_")))
    tables["COMMUNICATION_OP"] = Rows(OPERATIONS, operations)
    tables["TASK"] = Rows(TASK, [*tables["TASK"].rows, *tasks])
    analysis = loaded(tmp_path / MSPROF, text, tables)
    assert [device.communication_ns for device in analysis.devices] == [600_000, 1_000_000]
    assert analysis.trace.report.warnings == ("collectives without a device: 1, shown on the first device",)
    assert not (analysis.trace.slices.activity == Activity.COPY).any()


def test_groups_are_told_by_the_file_beside_a_database_that_has_other_metadata(tmp_path: Path) -> None:
    metadata = Rows("name TEXT, value TEXT", [("SCHEMA_VERSION_MAJOR", "1"), ("parallel_group_info", "{}")])
    database = write(tmp_path / MSPROF, {"META_DATA": metadata})
    assert parallel_groups(database) == ()
    (tmp_path / "profiler_metadata.json").write_text('{"parallel_group_info": {"a": {"group_name": "tp"}}}')
    assert [group.name for group in parallel_groups(database)] == ["tp"]


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("StepTraceTime", "step_trace_time.csv"),
        ("CommAnalyzerTime", "communication.json"),
        ("CommAnalyzerMatrix", "communication_matrix.json"),
    ],
)
def test_the_file_that_told_the_sums_is_named(tmp_path: Path, table: str, name: str) -> None:
    """A database that has none of them, as MindSpore's has no steps, is not it."""
    trace = tmp_path / "ascend_mindspore_profiler_0.db"
    sums = tmp_path / "communication_analyzer.db"
    write(sums, {table: Rows("step TEXT", [])})
    assert source_of(trace, name) == name
    assert source_of(tmp_path / "trace_view.json", name) == name
    sums.unlink()
    write(sums, {table: Rows("step TEXT", [("1",)])})
    assert source_of(trace, name) == sums.name
    assert source_of(trace, "op_statistic.csv") == "op_statistic.csv"


def test_msmonitor_records_no_steps_and_no_framework(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Texts()
    tables = kernels(text, TIMES)
    ranks = {}
    for rank in (-1, 3):
        path = tmp_path / f"msmonitor_4242_20250101010101000_{rank}.db"
        ranks[rank] = loaded(path, text, tables)
    for analysis in ranks.values():
        assert analysis.devices[0].computing_ns == 5 * 400_000
        assert analysis.steps == ()
    job = load_ranks([tmp_path], cache=False, jobs=1)
    assert 3 in [rank.number for rank in job.ranks]
    for command in ("summary", "gaps", "hotspots", "operators", "advice", "memory"):
        path = tmp_path / "msmonitor_4242_20250101010101000_-1.db"
        assert main([command, str(path), "--no-cache"]) == ExitCode.OK
    assert "5 compute" in capsys.readouterr().out


def test_parts_of_collectives_at_level_0_hold_nothing(tmp_path: Path) -> None:
    """Nor do the types of kernels: those of their tasks count."""
    text = Texts()
    tables = kernels(text, TIMES, task_type="N/A")
    begin = START + 7_000_000
    operation = (text("hcom_allReduce__865_0_1"), begin, begin + 500_000, 2000, text("865"), 1)
    tables["COMMUNICATION_OP"] = Rows(
        OPERATIONS, [(*operation, 0, 0, 4, text("NA"), 8, text("hcom_allReduce_"))]
    )
    dummy = (text("hcom_allReduce__865_0_1"), 50, text("N/A"), NONE, text("865"), 0, 65535, NONE, NONE)
    tables["COMMUNICATION_TASK_INFO"] = Rows(PARTS, [(*dummy, 65534, -1, 65534, 65534, 1)])
    task = (begin, begin + 400_000, 0, 2000, 50, PID, text("Memcpy"), NONE, 4, 50, NONE)
    tables["TASK"] = Rows(TASK, [*tables["TASK"].rows, task])
    analysis = loaded(tmp_path / MSPROF, text, tables)
    assert not [track for track in analysis.trace.tracks if track.family is Family.PLANE]
    assert analysis.devices[0].communication_ns == 500_000
    activity = analysis.trace.slices.activity
    assert int((activity == Activity.COMPUTE).sum()) == 5


def test_kernels_that_draw_random_numbers_at_level_0_are_work(tmp_path: Path) -> None:
    """Their own type is that of the scheduler, of which all other tasks are no work."""
    text = Texts()
    tables = kernels(text, TIMES, task_type="N/A")
    columns, rows = tables["TASK"]
    kind = columns.split(", ").index("taskType INTEGER")
    tables["TASK"] = Rows(columns, [(*row[:kind], text("STARS_COMMON"), *row[kind + 1 :]) for row in rows])
    tables["COMPUTE_TASK_INFO"] = Rows(KERNEL, tables["COMPUTE_TASK_INFO"].rows[:2])
    activity = loaded(tmp_path / MSPROF, text, tables).trace.slices.activity
    assert int((activity == Activity.AICPU).sum()) == 2


def test_tasks_that_only_hold_others_are_not_drawn(tmp_path: Path) -> None:
    """FFTS+: a task without a context, of the stream, number and connection of tasks that have one."""
    text = Texts()
    tables = kernels(text, TIMES)
    kind = text("KERNEL_AICORE")
    held = [
        (START + 8_000_000, START + 8_900_000, 0, 3000, 90, PID, kind, NONE, 5, 9, NONE),
        (START + 8_100_000, START + 8_200_000, 0, 3000, 91, PID, kind, 0, 5, 9, NONE),
        (START + 8_300_000, START + 8_400_000, 0, 3000, 92, PID, kind, 1, 5, 9, NONE),
        (START + 9_000_000, START + 9_100_000, 0, 3001, 93, PID, kind, NONE, 5, 9, NONE),
    ]
    tables["TASK"] = Rows(TASK, [*tables["TASK"].rows, *held])
    trace = loaded(tmp_path / MSPROF, text, tables).trace
    track = next(track for track in trace.tracks if track.name == "Stream 5")
    assert trace.slices.start[list(track.rows)].tolist() == [row[0] for row in held[1:]]


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("ClusterStepTraceTime", "is the result of msprof-analyze, not a trace"),
        ("StepTraceTime", "holds the profiler's own sums of a run, not its trace"),
        ("songs", "is a database, but none of a profiler: its tables are songs ..."),
    ],
)
def test_databases_under_other_names_are_told_for_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, what: str
) -> None:
    path = write(tmp_path / "saved.db", {table: Rows("step INTEGER", [(1,)])})
    assert main(["summary", str(path), "--no-cache"]) == ExitCode.UNREADABLE
    assert capsys.readouterr().err == f"tracetui: {path}: {what}\n"


def test_a_directory_tells_of_the_databases_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "cluster_analysis.db", {"ClusterStepTraceTime": Rows("step INTEGER", [(1,)])})
    assert main([str(tmp_path), "--no-cache"]) == ExitCode.UNREADABLE
    assert capsys.readouterr().err == (
        f"tracetui: {tmp_path}: no trace in this directory: "
        "cluster_analysis.db is the result of msprof-analyze, not a trace\n"
    )


def test_a_database_that_was_renamed_is_the_trace_of_its_directory(tmp_path: Path) -> None:
    text = Texts()
    write(tmp_path / "analysis.db", {"StepTraceTime": Rows("step INTEGER", [(1,)])})
    write(tmp_path / "saved.db", {**kernels(text, TIMES), "STRING_IDS": text.rows()})
    assert tracetui.load(tmp_path, cache=False).trace.path.endswith("saved.db")
    write(tmp_path / "again.db", {"TASK": Rows("startNs INTEGER", [(1,)])})
    with pytest.raises(UnreadableTrace, match=r"name one of them: again\.db, saved\.db"):
        tracetui.load(tmp_path, cache=False)


@pytest.mark.parametrize("number", [0, -1, 1 << 40, (1 << 63) - 1024, -(1 << 63)])
def test_whole_numbers_of_64_bits_are_read_however_they_are_written(number: int) -> None:
    assert whole_numbers([number, str(number), float(number), None]).tolist() == [number] * 3 + [UNKNOWN]


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 2048])
def test_numbers_of_more_bits_are_unknown(number: int) -> None:
    for cells in ([str(number)], [float(number)], [str(number), None, 1.5, "x", b"1"]):
        assert whole_numbers(cells).tolist() == [UNKNOWN] * len(cells)


def test_a_kernel_waits_since_the_one_before_it_on_its_device(tmp_path: Path) -> None:
    """The kernels of both devices alternate, and each waits for what ran on its own."""
    text = Texts()
    first = kernels(text, [(1_000, 2_000), (5_000, 6_000)])
    second = kernels(text, [(2_500, 3_000), (6_500, 7_000)], device=1, first=2)
    path = write(tmp_path / MSPROF, {**joined(first, second), "STRING_IDS": text.rows()})
    table = table_in_database(path, KERNEL_DETAILS)
    assert table is not None
    assert (table.numbers["start"] - START).tolist() == [1_000, 2_500, 5_000, 6_500]
    assert table.numbers["wait"].tolist() == [0, 0, 3_000, 3_500]


def test_a_kernel_without_an_end_lasts_an_unknown_time(tmp_path: Path) -> None:
    """Nor is known how long the next one waited; a kernel without a start is left out."""
    text = Texts()
    path = write(
        tmp_path / MSPROF,
        {**kernels(text, [(1_000, 2_000), (5_000, 6_000), (8_000, 9_000)]), "STRING_IDS": text.rows()},
        ["UPDATE TASK SET endNs = NULL WHERE taskId = 0", "UPDATE TASK SET startNs = NULL WHERE taskId = 2"],
    )
    table = table_in_database(path, KERNEL_DETAILS)
    assert table is not None
    assert table.numbers["dur"].tolist() == [-1, 1_000]
    assert table.numbers["wait"].tolist() == [0, -1]


def test_a_block_of_memory_whose_device_is_not_known_has_none(tmp_path: Path) -> None:
    text = Texts()
    columns = "name INTEGER, size INTEGER, allocationTime INTEGER, deviceId INTEGER"
    blocks = [(text("aten::mm"), 512, START + number, device) for number, device in enumerate((1, None, 0))]
    tables = {"OP_MEMORY": Rows(columns, blocks), "STRING_IDS": text.rows()}
    table = table_in_database(write(tmp_path / MSPROF, tables), OPERATOR_MEMORY)
    assert table is not None
    assert [table.text("device", row) for row in range(3)] == ["NPU:1", None, "NPU:0"]


def test_msprof_alone_tells_of_the_memory_of_the_graph_engine(tmp_path: Path) -> None:
    text = Texts()
    columns = "timestampNs INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC"
    samples = Rows(f"{columns}, component INTEGER, deviceId INTEGER", [(START + 5, 512, 1024, text("GE"), 0)])
    path = write(tmp_path / MSPROF, {"NPU_OP_MEM": samples, "STRING_IDS": text.rows()})
    assert has_of_run(path, MEMORY_RECORD)
    table = table_in_database(path, MEMORY_RECORD)
    assert table is not None
    assert (table.text("component", 0), table.text("device", 0)) == ("GE", "NPU:0")
    numbers = {key: column.tolist() for key, column in table.numbers.items()}
    assert numbers == {"time": [START + 5], "allocated": [512], "reserved": [1024], "active": [-1]}
