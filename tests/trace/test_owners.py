"""Ranks and devices of merged files, told from process names, labels and pids."""

from __future__ import annotations

import pytest

from tracetui.trace.owners import Process, devices_told_apart, origin, owner_by_pid, set_ranks


def layer(os_pid: int, sort_index: int, device: int = 0) -> str:
    """The pid of a profiler's layer: OS pid << 10 | sort index << 5 | device."""
    return str(os_pid << 10 | sort_index << 5 | device)


def ranked(*names: str | None) -> list[str | None]:
    """The ranks found of processes with these names."""
    processes = [Process(str(place), name) for place, name in enumerate(names)]
    set_ranks(processes)
    return [process.rank for process in processes]


@pytest.mark.parametrize(
    ("names", "ranks"),
    [
        (("CANN_3", "worker_1"), ("rank 3", "rank 1")),
        (("CANN_003", "Python rank12"), ("rank 3", "rank 12")),
        (("HCCL Rank3", "trainer"), ("rank 3", None)),
        (("CANN_3", "worker_1", "trainer"), ("rank 3", "rank 1", None)),
        (("trainer_0", "trainer_1"), ("rank 0", "rank 1")),
        (("trainer_0", "trainer_1", None), ("rank 0", "rank 1", None)),
        (("trainer_0", "trainer_1", "other"), (None, None, None)),
        (("trainer_0",), (None,)),
        (("trainer_0", None), (None, None)),
        (("CANN", "trainer_0"), (None, None)),
    ],
)
def test_a_number_behind_a_name_is_a_rank_where_producers_or_all_names_have_one(
    names: tuple[str | None, ...], ranks: tuple[str | None, ...]
) -> None:
    assert tuple(ranked(*names)) == ranks


def test_the_rank_before_a_pid_is_taken_as_it_stands() -> None:
    both = Process("[TP03] 77", "CANN_5")
    set_ranks([both])
    assert (both.rank, both.name_without_rank) == ("TP03", None)


def test_a_process_with_a_rank_holds_what_its_name_without_it_says() -> None:
    process = Process("1", "HCCL_4")
    set_ranks([process])
    assert (process.name_without_rank, process.known_name, process.title) == ("HCCL", "HCCL", "HCCL_4")


def test_a_process_without_a_name_is_called_by_what_it_holds_or_its_pid() -> None:
    assert Process("7").title == "Process 7"
    assert Process("7", inferred="CANN").title == "CANN"
    assert Process("7", "trainer", inferred="CANN").title == "trainer"
    assert Process("7", "trainer", inferred="CANN").known_name == "CANN"


@pytest.mark.parametrize(
    ("pid", "found"),
    [
        ("1024", "1"),
        ("1023", None),
        (layer(77, 31, 31), "77"),
        ("", None),
        ("-1024", None),
        ("x1024", None),
        ("²", None),
        ("9" * 19, str((10**19 - 1) >> 10)),
        ("9" * 20, None),
    ],
)
def test_the_os_pid_of_a_layer_is_what_stands_above_its_last_ten_bits(pid: str, found: str | None) -> None:
    assert origin(pid) == found


def test_the_layers_that_a_profiler_numbers_belong_to_their_os_process() -> None:
    processes = [
        Process("77", "Python"),
        Process(layer(77, 7), "CANN"),
        Process(layer(77, 13), "Ascend Hardware"),
        Process(layer(77, 20)),  # cut: its name is lost
        Process(layer(77, 3), "trainer"),  # a name that no profiler numbers
        Process("5", "CANN"),  # of an older version, which numbers nothing
    ]
    found = owner_by_pid(processes)
    assert [found[process.pid] for process in processes] == ["77", "77", "77", "77", layer(77, 3), "5"]


def test_a_layer_without_a_name_has_the_rank_behind_its_pid() -> None:
    """Tools that merge ranks write the rank behind names and pids; where names are cut, the pid is left."""
    processes = [
        Process(layer(77, 7) + "3", "CANN_3"),
        Process(layer(78, 7) + "12", "CANN_12"),
        Process(layer(77, 13) + "3"),
        Process(layer(78, 13) + "12"),
        Process(layer(79, 13) + "3"),  # of another OS process
        Process(layer(77, 14) + "3", "trainer"),  # with a name, and no rank in it
        Process(f"[TP07] {layer(77, 15)}3"),
    ]
    set_ranks(processes)
    found = owner_by_pid(processes)
    other, named = processes[4], processes[5]
    assert [found[process.pid] for process in processes] == [
        "rank 3",
        "rank 12",
        "rank 3",
        "rank 12",
        origin(other.pid),
        named.pid,
        "TP07",
    ]


def test_a_pid_without_the_rank_of_its_name_says_nothing_about_others() -> None:
    processes = [Process("81234560", "CANN_3"), Process("81234563")]
    set_ranks(processes)
    assert owner_by_pid(processes) == {"81234560": "rank 3", "81234563": origin("81234563")}


def hardware(os_pid: int, device: int, label: str = "") -> Process:
    return Process(layer(os_pid, 13, device), "Ascend Hardware", label)


def told_apart(*processes: Process) -> list[str | None]:
    names = devices_told_apart(processes)
    return [names.get(process.pid) for process in processes]


@pytest.mark.parametrize(
    ("of", "names"),
    [
        (((77, 0, ""), (77, 3, "")), ["NPU 0", "NPU 3"]),
        (((77, 0, ""), (78, 0, "")), ["NPU 0 (77)", "NPU 0 (78)"]),
        (((77, 0, "NPU"), (78, 0, "NPU")), ["NPU (77)", "NPU (78)"]),
        (((77, 0, "NPU"), (77, 3, "NPU")), ["NPU 0", "NPU 3"]),
        (((77, 0, "NPU"), (77, 3, "NPU"), (78, 3, "NPU")), ["NPU 0 (77)", "NPU 3 (77)", "NPU 3 (78)"]),
        (((77, 0, "NPU 0"), (77, 1, "NPU 1")), [None, None]),
        (((77, 0, "NPU"),), [None]),
        (((77, 0, "NPU"), (0, 5, "NPU")), [None, None]),  # a pid that says nothing
    ],
)
def test_hardware_of_one_label_is_told_apart_by_os_process_and_number(
    of: tuple[tuple[int, int, str], ...], names: list[str | None]
) -> None:
    assert told_apart(*(hardware(*one) for one in of)) == names


def test_two_hardware_layers_of_one_place_are_one_device() -> None:
    assert told_apart(hardware(77, 0), Process(layer(77, 14), "Ascend Hardware")) == [None, None]


def test_other_layers_have_the_name_of_the_hardware_of_their_place_and_label() -> None:
    found = told_apart(
        hardware(77, 0, "NPU"),
        hardware(78, 0, "NPU"),
        Process(layer(78, 15), "HCCL", "NPU"),
        Process(layer(78, 16), "HCCL", "NPU 1"),  # another label
        Process(layer(79, 15), "HCCL", "NPU"),  # another place
        Process("78", "Python", "CPU"),
    )
    assert found == ["NPU (77)", "NPU (78)", "NPU (78)", None, None, None]


def test_devices_of_several_ranks_have_the_rank_behind_their_label() -> None:
    processes = [
        Process("1", "Ascend Hardware_0", "NPU"),
        Process("2", "Ascend Hardware_1"),
        Process("3", "HCCL_1", "NPU"),
        Process("4", "Ascend Hardware", "NPU"),
        Process("5", "Python_0", "CPU"),
    ]
    set_ranks(processes)
    assert told_apart(*processes) == ["NPU (rank 0)", "NPU (rank 1)", "NPU (rank 1)", None, None]


def test_devices_of_one_rank_keep_their_label() -> None:
    processes = [Process("1", "Ascend Hardware_0", "NPU"), Process("5", "CANN_0", "NPU")]
    set_ranks(processes)
    assert told_apart(*processes) == [None, None]


def test_each_process_of_a_gpu_is_one_where_several_have_its_label() -> None:
    processes = [Process("0", "python", "GPU 0"), Process("8", "python", "GPU 0"), Process("1", "x", "GPU 1")]
    assert told_apart(*processes) == ["GPU 0 (0)", "GPU 0 (8)", None]
