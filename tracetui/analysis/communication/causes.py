"""What exposed communication is: waiting for a late rank, moving data, or not told apart."""

from __future__ import annotations

from enum import IntEnum


class CommunicationCause(IntEnum):
    """Why a device did nothing but communicate for a stretch."""

    WAIT = 0  #: a rank of the group had not come yet
    TRANSFER = 1  #: all had come: data moved
    UNSPLIT = 2  #: the trace has no planes that tell the two apart

    @property
    def label(self) -> str:
        """The dotted name: "communication.wait"."""
        return f"communication.{self.name.lower()}"
