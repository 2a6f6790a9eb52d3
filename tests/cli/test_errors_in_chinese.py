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
        (["gaps"], ExitCode.USAGE, "缺少必需的参数：PATH；见 tracetui gaps --help"),
        (["gaps", "text", "more"], ExitCode.USAGE, "无法识别的参数：more；见 tracetui gaps --help"),
        (["gaps", "text", "--csv"], ExitCode.USAGE, "参数 --csv：后面需要一个值；见 tracetui gaps --help"),
        (["gaps", "text", "--md=1"], ExitCode.USAGE, "参数 --md：不接受值 '1'；见 tracetui gaps --help"),
        (
            ["gaps", "text", "--window", "2s..1s"],
            ExitCode.USAGE,
            "参数 --window：窗口的结束必须晚于开始；见 tracetui gaps --help",
        ),
        (
            ["gaps", "text", "--jobs", "0"],
            ExitCode.USAGE,
            "参数 --jobs：进程数是 1 到 64 的整数；见 tracetui gaps --help",
        ),
        (
            ["ranks", "empty"],
            ExitCode.UNREADABLE,
            "empty：这个目录中没有 trace：没有 trace_view.json、msprof_*.json，也没有数据库",
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
    Path("empty").mkdir()
    assert main([*words, "--lang", "zh"]) == code
    assert capsys.readouterr().err == f"tracetui: {sentence}\n"


def test_an_unknown_choice_is_said_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    """Pythons differ in how they list the choices."""
    assert main(["gaps", "text", "--by", "length", "--lang", "zh"]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("tracetui: 参数 --by：没有 'length' 这个选项（可选：")
