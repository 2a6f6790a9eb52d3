"""The layers that an Ascend profiler numbers in its traces: `OS pid << 10 | layer << 5 | device`."""

from __future__ import annotations

from typing import NamedTuple

_DEVICES = 32  #: that fit the number


class Layer(NamedTuple):
    """A layer as text exports call it."""

    number: int
    name: str


PYTHON = Layer(0, "Python")
COLLECTOR = Layer(1, "Python GC")
MARKS = Layer(5, "msTX")
CANN = Layer(7, "CANN")
OS_CALLS = Layer(9, "OS Runtime API")
HARDWARE = Layer(13, "Ascend Hardware")
FREQUENCY = Layer(14, "AI Core Freq")
COMMUNICATION = Layer(15, "HCCL")
HBM = Layer(17, "HBM")
LLC = Layer(18, "LLC")
MEMORY = Layer(19, "NPU MEM")
SOC = Layer(20, "Stars Soc Info")
ACCELERATORS = Layer(21, "Acc PMU")
QOS = Layer(22, "QoS")
OVERLAP = Layer(23, "Overlap Analysis")
CORES = Layer(2, "AI Core Utilization")
CPU = Layer(3, "CPU Usage")
HOST_MEMORY = Layer(4, "Memory Usage")
DISK = Layer(6, "Disk Usage")
HOST_NETWORK = Layer(8, "Network Usage")
DDR = Layer(16, "DDR")
HCCS = Layer(24, "HCCS")
NIC = Layer(25, "NIC")
ROCE = Layer(26, "RoCE")
PCIE = Layer(27, "PCIe")
SIO = Layer(28, "SIO")
UB = Layer(29, "UB")
NETWORK = Layer(30, "Network")


def layer_pid(os_pid: int, layer: Layer, device: int = 0) -> int:
    """Return the pid of a layer of an OS process, on a device where it is of one."""
    far = (
        max(device, 0) // _DEVICES
    ) << 40  # no machine has so many devices: they are told apart all the same
    return (max(os_pid, 0) + far) << 10 | layer.number << 5 | max(device, 0) % _DEVICES
