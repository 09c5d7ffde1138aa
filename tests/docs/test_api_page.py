"""The examples of docs/api.md run, in a copy of docs/example."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest

import polyc

from .pages import ROOT, fences

PAGE = ROOT / "docs" / "api.md"


@pytest.mark.slow
def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "example"
    shutil.copytree(ROOT / "docs" / "example", folder, ignore=shutil.ignore_patterns("build"))
    monkeypatch.chdir(folder)
    shown = [fence for fence in fences(PAGE) if fence.language == "python"]
    assert shown
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    names: dict[str, object] = {}
    told: list[str] = []
    for fence in shown:
        test = doctest.DocTestParser().get_doctest(fence.text, names, PAGE.name, str(PAGE), fence.line - 1)
        runner.run(test, out=told.append, clear_globs=False)
        names |= test.globs
    assert runner.failures == 0, "".join(told)


def test_every_keyword_and_field_is_told() -> None:
    text = PAGE.read_text()
    for kind in (polyc.Group, polyc.Buffer, polyc.Result):
        for name in kind.__annotations__:
            assert name.startswith("_") or f"`{name}" in text, f"{kind.__name__}.{name} is missing in docs/api.md"
    for name in polyc.__all__:
        assert name in text or name in ("__version__", "Diagnostic", "InternalError", "Span")
