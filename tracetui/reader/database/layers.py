"""The layers that an Ascend profiler numbers in its traces: `OS pid << 10 | layer << 5 | device`."""

from __future__ import annotations

from typing import NamedTuple

_DEVICES = 32  #: that fit the number


class ProcessLayer(NamedTuple):
    """A layer as text exports call it."""

    number: int
    name: str


PYTHON = ProcessLayer(0, "Python")
COLLECTOR = ProcessLayer(1, "Python GC")
MARKS = ProcessLayer(5, "msTX")
CANN = ProcessLayer(7, "CANN")
OS_CALLS = ProcessLayer(9, "OS Runtime API")
HARDWARE = ProcessLayer(13, "Ascend Hardware")
FREQUENCY = ProcessLayer(14, "AI Core Freq")
COMMUNICATION = ProcessLayer(15, "HCCL")
HBM = ProcessLayer(17, "HBM")
LLC = ProcessLayer(18, "LLC")
MEMORY = ProcessLayer(19, "NPU MEM")
SOC = ProcessLayer(20, "Stars Soc Info")
ACCELERATORS = ProcessLayer(21, "Acc PMU")
QOS = ProcessLayer(22, "QoS")
OVERLAP = ProcessLayer(23, "Overlap Analysis")
CORES = ProcessLayer(2, "AI Core Utilization")
CPU = ProcessLayer(3, "CPU Usage")
HOST_MEMORY = ProcessLayer(4, "Memory Usage")
DISK = ProcessLayer(6, "Disk Usage")
HOST_NETWORK = ProcessLayer(8, "Network Usage")
DDR = ProcessLayer(16, "DDR")
HCCS = ProcessLayer(24, "HCCS")
NIC = ProcessLayer(25, "NIC")
ROCE = ProcessLayer(26, "RoCE")
PCIE = ProcessLayer(27, "PCIe")
SIO = ProcessLayer(28, "SIO")
UB = ProcessLayer(29, "UB")
NETWORK = ProcessLayer(30, "Network")


def layer_pid(os_pid: int, layer: ProcessLayer, device: int = 0) -> int:
    """Return the pid of a layer of an OS process, on a device where it is of one."""
    beyond_32 = (
        max(device, 0) // _DEVICES
    ) << 40  # no machine has so many devices: they are told apart all the same
    return (max(os_pid, 0) + beyond_32) << 10 | layer.number << 5 | max(device, 0) % _DEVICES
