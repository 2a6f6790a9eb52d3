"""What kernel_details.csv says of kernels, and that nothing in it can fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tracetui.siblings.kernel_details import KernelDetails, kernel_details

HEAD = "Step Id,Name,Type,Start Time(us),Duration(us),Input Shapes,aicore_time(us),aic_mac_time(us)"


def details(directory: Path, text: str) -> KernelDetails | None:
    (directory / "kernel_details.csv").write_bytes(text.encode())
    return kernel_details(directory / "trace_view.json")


def test_kernels_by_their_start_and_name(tmp_path: Path) -> None:
    lines = (
        HEAD,
        '50,Conv2D1,Conv2D,"1736412474730135.222\t",55.1,"""32,3;64""",0.5,0.1',
        "50,Mul_3,Mul,1736412474730135.222,5,N/A,0.0,0.0",
        "50,Cast,Cast,9,5,,0,N/A",
    )
    found = details(tmp_path, "\n".join(lines) + "\n")
    assert found is not None
    assert found.start.tolist() == [9000, 1736412474730135222, 1736412474730135222]
    assert found.type == ("Cast", "Conv2D", "Mul")
    assert found.shapes == ("", "32,3;64", "")
    assert found.cube.tolist() == [False, True, False]
    at = np.array([1736412474730135222, 9000, 9001, 1736412474730135222], np.int64)
    assert found.places(at, ["Mul_3", "Cast", "Cast", "Add"]).tolist() == [2, 0, -1, -1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Name,Type\na,b\n",
        HEAD + "\n",
        HEAD + "\n50,a,Mul,soon,1,N/A,0,0\n",
        HEAD + "\n50,a,N/A,5,1,N/A,0,0\n",
        HEAD + "\n50,a\n",
        HEAD + "\n50,a,Mul," + "9" * 40 + ",1,N/A,0,0\n",
        HEAD + "\n50,a,Mul,5,1,N/A,much,0\n",
        "\x00" * 50,
    ],
)
def test_what_cannot_be_read_is_left_out(tmp_path: Path, text: str) -> None:
    assert details(tmp_path, text) is None


def test_what_was_read_before_the_damage_stays(tmp_path: Path) -> None:
    found = details(tmp_path, f'{HEAD}\n50,a,Mul,5,1,N/A,0,0\n50,"{"x" * 200_000}')
    assert found is not None
    assert found.name == ("a",)


def test_without_the_file(tmp_path: Path) -> None:
    assert kernel_details(tmp_path / "trace_view.json") is None
