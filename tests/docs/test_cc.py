"""docs/cc.md: its examples are found, printed and told of as the page says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli

from .pages import ROOT, Fence, fences
from .test_language import without_conditions

PAGE = ROOT / "docs" / "cc.md"
EXAMPLES = [(one, two) for one, two in pairwise(fences(PAGE)) if one.wish.startswith("detect")]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda pair: f"line {pair[0].line}")
def test_what_is_found(example: tuple[Fence, Fence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, answer = example
    Path("t.c").write_text(code.text)
    words = ["compile", "--detect", "-v", "t.c", "-o", "-", *code.wish.split()[1:]]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    assert ": region in " in result.stderr
    shown = without_conditions(result.stdout) if answer.wish == "prints" else result.stderr
    assert answer.text in shown


def test_there_are_examples_of_both_kinds() -> None:
    assert {answer.wish for _, answer in EXAMPLES} == {"prints", "says"}
