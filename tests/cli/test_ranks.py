"""The commands on many ranks, as text, JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.analysis.real import npu_output
from tests.job.files import rank_directory
from tracetui.cli import main


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of two ranks."""
    directory = tmp_path_factory.mktemp("ranks")
    for rank in (0, 1):
        rank_directory(directory / "run", rank, world=4)
    return directory / "run"


@pytest.fixture(scope="module")
def digests(top: Path) -> Path:
    """Their digests, which are read like traces, and faster."""
    return digested(top, top.with_name("digests"))


@pytest.fixture(scope="module")
def real(real_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digests of two ranks of a real job."""
    return digested(npu_output(real_traces, "level2/rank0").parents[1], tmp_path_factory.mktemp("real") / "x")


def digested(run: Path, digests: Path) -> Path:
    assert main(["digest", str(run), "-o", str(digests)]) == 0
    return digests


def test_text_says_what_is_there(digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(digests), "--ascii"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("2 of 4 ranks, step 50, 0 collectives in common\n")  # both are number 0 of a group
    assert text.isascii()
    assert "Ranks, ms" in text


def test_json_and_csv_agree(digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(digests), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) >= {"schema", "job", "ranks", "collectives", "waits", "links", "stages"}
    assert document["job"]["missing"] == [2, 3]
    assert document["job"]["hosts"] == {"node1": [0, 1]}
    waits = document["waits"]
    assert sum(root["lost_ns"] for root in waits["roots"]) == waits["total_ns"]
    assert main(["ranks", str(digests), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 2
    for row, rank in zip(rows, document["ranks"]):
        for name, cell in row.items():
            assert cell == ("" if rank[name] is None else str(rank[name])), name


def test_markdown_has_the_same_tables(digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(digests), "--md"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("## 2 of 4 ranks")
    assert "| rank | stage |" in text


def test_digests_are_read_like_traces(top: Path, digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(path.name for path in digests.iterdir()) == ["rank0.rank.json.gz", "rank1.rank.json.gz"]
    assert main(["digest", str(top), "-o", str(digests)]) == 2  # they are there already
    assert "exists; --force replaces it" in capsys.readouterr().err
    assert main(["digest", str(digests), "-o", str(digests)]) == 0
    assert "2 are digests already" in capsys.readouterr().err
    answers = []
    for path in (top, digests):
        assert main(["ranks", str(path), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        for row in document["ranks"]:
            del row["path"]
        copy = document["job"]["warnings"].pop(0)  # it names the file
        assert copy.startswith("1 rank is a copy of another one")
        answers.append(document)
    assert answers[0] == answers[1]


def test_wrong_arguments(digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(digests), "--by", "luck"]) == 2
    assert main(["ranks", str(digests), "--step", "7"]) == 2
    assert "there is no step 7 in this job: its step is 50" in capsys.readouterr().err
    assert main(["ranks", str(digests / "nowhere")]) == 3
    assert main(["check", str(digests), "--max-wait", "1%", "--max-free", "1%"]) == 2
    assert main(["check", str(digests), "--max-cause", "wait=1%"]) == 2


def test_by_and_step(digests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(digests), "--by", "computing", "--step", "50"]) == 0
    assert "by computing" in capsys.readouterr().out


def test_limits_of_a_job(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ranks wait for the missing rank 5: rank 0 95.5 ms, and 91.7 of 130 ms without other work."""
    assert main(["check", str(real), "--max-wait", "80%", "--max-imbalance", "1%"]) == 0
    assert main(["check", str(real), "--max-wait", "70%"]) == 4
    assert capsys.readouterr().out.startswith("rank 0: wait is 70.6 % (91.7 ms of 130 ms), more than 70 %")


def test_real_ranks(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(real), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (late,) = document["waits"]["late"]
    assert (late["rank"], late["group"], late["group_rank"], late["collectives"]) == (None, "271", 5, 3)
    assert abs(document["job"]["offsets_ns"]["1"] + 78_500) < 1000
    assert main(["ranks", str(real)]) == 0
    assert capsys.readouterr().out.startswith("2 of 8 ranks, step 50, 4 collectives in common")


@pytest.mark.parametrize("rank", [0, 1])
def test_links_are_those_of_communication_matrix(
    real_traces: Path, capsys: pytest.CaptureFixture[str], rank: int
) -> None:
    """Each transfer counts once: bytes and time by link are the sums over the operations of the rank."""
    output = npu_output(real_traces, f"level2/rank{rank}")
    step = json.loads((output / "communication_matrix.json").read_text())["step50"]["collective"]
    assert main(["ranks", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expected: dict[str, list[float]] = {}
    for name, links in step.items():
        for pair, link in links.items() if name.startswith("allreduce-total") else ():
            if link["Transport Type"] != "LOCAL":
                total = expected.setdefault(pair, [0.0, 0.0])
                total[0] += link["Transit Size(MB)"]
                total[1] += link["Transit Time(ms)"]
    assert expected
    found = {f"{link['group_src']}-{link['group_dst']}": link for link in document["links"]}
    for pair, (size, time) in expected.items():
        assert found[pair]["bytes"] == pytest.approx(size * 1e6, abs=1)
        assert found[pair]["ns"] == pytest.approx(time * 1e6, abs=2)
