"""`tracetui compare`, and `check` against a baseline, as they are called."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.generate import main as generate
from simulator.job.directory import write_job
from simulator.job.layout import Layout
from simulator.job.scenarios import JOBS
from simulator.job.truth import simulate_truth
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two runs of two steps that differ by chance: a gzipped file and a directory."""
    directory = tmp_path_factory.mktemp("pair")
    paths = directory / "base.json", directory / "other" / "trace_view.json"
    paths[1].parent.mkdir()
    for path, seed in zip(paths, ("1", "2")):
        generate(["--scenario", "stalls", "--steps", "2", "--seed", seed, "--out", str(path)])
    packed = directory / "base.json.gz"
    packed.write_bytes(gzip.compress(paths[0].read_bytes()))
    return str(packed), str(paths[1].parent)


@pytest.fixture(autouse=True)
def _quiet(capsys: pytest.CaptureFixture[str], pair: tuple[str, str]) -> None:
    capsys.readouterr()


def test_a_gzipped_file_and_a_directory(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *pair]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("BASE   ")
    assert "2 steps (50 to 51)" in out
    assert "A step, by what its time went into, ms" in out


def test_json_and_a_step_of_each(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *pair, "--json", "--step", "50", "--base-step", "51"]) == ExitCode.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["base"]["steps"], answer["other"]["steps"]) == ([51], [50])
    assert main(["compare", *pair, "--json", "--window", "1ms..3ms"]) == ExitCode.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["base"]["step_ns"], answer["other"]["step_ns"]) == (2_000_000, 2_000_000)
    assert main(["compare", *pair, "--step", "7"]) == ExitCode.USAGE
    assert "there is no step 7 in this trace: its steps are 50, 51" in capsys.readouterr().err


def test_files(pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "x.csv"
    assert main(["compare", *pair, "--csv", str(table), "--by", "operator"]) == ExitCode.OK
    assert table.read_text().startswith("name,status,base_ns,base_count,")
    out, err = capsys.readouterr()
    assert out == ""
    assert f"rows written to {table}: " in err
    assert main(["compare", *pair, "--csv", str(table)]) == ExitCode.USAGE
    assert main(["compare", *pair, "--csv", pair[0], "--force"]) == ExitCode.USAGE
    assert capsys.readouterr().err.endswith("is the trace itself, which stays as it is\n")
    assert main(["compare", *pair, "--json", "--md"]) == ExitCode.USAGE


def test_a_workbook(pair: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xlsxwriter")
    book = tmp_path / "x.xlsx"
    assert main(["compare", *pair, "--xlsx", str(book)]) == ExitCode.OK
    assert book.read_bytes().startswith(b"PK")


def test_a_workbook_needs_its_writer(
    pair: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["compare", *pair, "--xlsx", str(tmp_path / "x.xlsx")]) == ExitCode.USAGE
    assert "pip install tracetui[xlsx]" in capsys.readouterr().err


def test_no_trace(pair: tuple[str, str], tmp_path: Path) -> None:
    assert main(["compare", str(tmp_path / "none.json"), pair[1]]) == ExitCode.UNREADABLE
    assert main(["compare", pair[0]]) == ExitCode.USAGE


def test_two_paths_without_a_terminal_are_compared(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *pair]) == 0
    compared = capsys.readouterr().out
    assert main([*pair]) == 0
    assert capsys.readouterr().out == compared


def test_a_command_that_does_not_exist_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["comapre", "a", "b"]) == 2
    assert "there is no command or file comapre; did you mean tracetui compare?" in capsys.readouterr().err
    assert main(["frobnicate", "a", "b"]) == 2
    assert "there is no file frobnicate, and no command of that name" in capsys.readouterr().err
    (tmp_path / "comapre").write_text("[]")
    assert main(["comapre"]) == 3, "a file of that name is one"


def test_check_against_a_baseline(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    base, other = pair
    assert main(["check", base, "--baseline", base, "--max-regression", "0%"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert (out, err.split(":")[:2]) == ("", ["tracetui", " Nothing changed"])
    main(["compare", base, other, "--json"])
    answer = json.loads(capsys.readouterr().out)
    took = {path: answer[run]["step_ns"] for path, run in ((base, "base"), (other, "other"))}
    for one, two in ((base, other), (other, base)):
        slower = took[two] > took[one]
        code = main(["check", two, "--baseline", one, "--max-regression", "0%", "--json"])
        assert code == (ExitCode.LIMIT if slower else ExitCode.OK)
        regressions = json.loads(capsys.readouterr().out)["regressions"]
        assert [found["measure"] for found in regressions] == ["step"] * slower
    assert main(["check", base, "--baseline", other, "--max-free", "1%", "--max-regression", "9s"]) == 4


def test_a_trace_is_compared_by_the_same_steps_beside_another_limit(
    real_traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a trace with an outlier step."""
    (path,) = (real_traces / "gpu" / "workers4").glob("*.gz")
    limits = ["--max-regression", "computing=1us", "--max-idle", "100%"]
    for options in ([], ["--all-steps"]):
        assert main(["check", str(path), "--baseline", str(path), *limits, *options]) == ExitCode.OK
        assert "Nothing changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--baseline", "x"],
        ["--max-regression", "5%"],
        ["--max-free", "5%", "--baseline", "x"],
        ["--baseline", "x", "--max-regression", "fast=5%"],
    ],
)
def test_what_belongs_together(
    pair: tuple[str, str], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", pair[0], *arguments]) == ExitCode.USAGE
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A job whose rank 1 is late, and the same without what makes it so: their traces, and their digests."""
    late = replace(JOBS["late"], layout=Layout(tp=1, dp=2), steps=2, extra={1: JOBS["late"].extra[5]})
    truth, directory = simulate_truth(late), tmp_path_factory.mktemp("jobs")
    for name, outcome in (("base", truth.plain), ("other", truth.outcome)):
        write_job(outcome, directory / name, 1)
    for name, digests in (("base", "kept"), ("other", "told")):
        assert main(["digest", str(directory / name), "-o", str(directory / digests)]) == ExitCode.OK
    return {name: directory / name for name in ("base", "other", "kept", "told")}


def test_a_job_and_the_digests_of_another(jobs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for base in ("base", "kept"):
        assert main(["compare", str(jobs[base]), str(jobs["other"]), "--json"]) == ExitCode.OK
        found.append(json.loads(capsys.readouterr().out))
        found[-1]["base"].pop("path")
    assert found[0] == found[1]
    assert [row["rank"] for row in sorted(found[0]["ranks"], key=lambda row: row["rank"])] == [0, 1]
    assert found[0]["roots"][0]["rank"] == 1
    assert main(["compare", str(jobs["kept"]), str(jobs["told"]), "--by", "rank"]) == ExitCode.OK
    assert "rank 1, " in capsys.readouterr().out
    assert main(["compare", str(jobs["kept"]), str(jobs["told"]), "--step", "51"]) == ExitCode.USAGE
    assert "these need traces, one by one" in capsys.readouterr().err


def test_beside_a_digest_rules_of_whose_code_it_is_do_not_count(
    jobs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (trace,) = (path for path in jobs["base"].iterdir() if (path / "profiler_info_0.json").exists())
    digest, rules = jobs["kept"] / "rank0.rank.json.gz", ["--json", "--skip-frame", "/workspace/"]
    for paths in ([digest, trace], [trace, digest], [jobs["base"], jobs["kept"]], [trace, trace]):
        assert main(["compare", *map(str, paths), *rules]) == ExitCode.OK
        answer = json.loads(capsys.readouterr().out)
        assert all(line["delta_ns"] == 0 for line in answer["lines"])
        said = any("--skip-frame do not count" in note for note in answer["warnings"])
        assert said == (paths[0] != paths[1])
    assert main(["compare", str(digest), str(trace), "--json"]) == ExitCode.OK
    assert "--skip-frame" not in capsys.readouterr().out


def test_check_against_a_digest(
    jobs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the digest is called: of a rank or of a whole job."""
    (rank,) = (path for path in jobs["other"].iterdir() if (path / "profiler_info_1.json").exists())
    kept = tmp_path / "good.gz"
    shutil.copy(jobs["kept"] / "rank1.rank.json.gz", kept)
    for base, other in ((kept, rank), (jobs["kept"], rank), (jobs["kept"], jobs["other"])):
        limits = ["--max-regression", "5%", "--max-regression", "computing=5%"]
        assert main(["check", str(other), "--baseline", str(base), *limits]) == ExitCode.LIMIT
        out, err = capsys.readouterr()
        assert out.startswith("step: ")
        assert out.count("\n") == 1
        assert "slower" in err
    job = ["--baseline", str(jobs["base"]), "--max-regression"]
    for limit, code in (("5%", ExitCode.LIMIT), ("900%", ExitCode.OK)):
        assert main(["check", str(rank), *job, limit, "--max-idle", "100%"]) == code
    waits = ["--max-regression", "wait=1ms"]
    assert main(["check", str(jobs["told"]), "--baseline", str(jobs["kept"]), *waits]) == ExitCode.LIMIT
    assert main(["check", str(rank), "--baseline", str(kept), *waits]) == ExitCode.UNCHECKED
    assert main(["check", str(kept), "--baseline", str(kept), "--max-free", "1%", *waits]) == ExitCode.USAGE
    assert "need its trace" in capsys.readouterr().err
    cut = tmp_path / "x.gz"
    cut.write_bytes(kept.read_bytes()[:300])
    assert main(["compare", str(cut), str(rank)]) == ExitCode.UNREADABLE
    assert "damaged" in capsys.readouterr().err
