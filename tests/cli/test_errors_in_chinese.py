"""Why a command is refused, in the language that was chosen."""

from pathlib import Path

import pytest

from tracetui.cli.entry import main
from tracetui.cli.exit_codes import ExitCode


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["summary", "none.json"], ExitCode.UNREADABLE, "none.json：没有这个文件或目录"),
        (
            ["summary", "text"],
            ExitCode.UNREADABLE,
            "text：不是 trace：文件内容是非 JSON 的文本（没有数组或对象）",
        ),
        (["summary", "text", "--brief"], ExitCode.USAGE, "--brief 要与 --json 一起使用；见 tracetui --help"),
    ],
)
def test_a_refusal_is_said_in_chinese_with_its_names(
    words: list[str],
    code: ExitCode,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("no json")
    assert main([*words, "--lang", "zh"]) == code
    assert capsys.readouterr().err == f"tracetui: {sentence}\n"
