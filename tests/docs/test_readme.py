"""README.md shows what polyc prints today (`pytest --update-golden tests/docs` writes it anew)."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

from .pages import README, ROOT, fences

CONV = ROOT / "benchmarks" / "demo" / "conv.c"


def before() -> str:
    """The text between the pragmas."""
    text = CONV.read_text()
    return text[text.index("#pragma scop\n") : text.index("#pragma endscop\n")] + "#pragma endscop\n"


def after() -> str:
    (region,) = read(str(CONV), InputOptions()).regions
    result = compile_region(region, Options())
    assert result.verified
    return result.text.strip("\n") + "\n"


def explain(*words: str) -> str:
    result = CliRunner(env={"COLUMNS": None}).invoke(cli, ["explain", str(CONV), *words])
    assert result.exit_code == 0, result.output
    return result.stdout.replace(str(CONV), "conv.c").strip("\n") + "\n"


def why() -> str:
    return explain("--why", "14")


SHOWN = {"before": before, "after": after, "explain": explain, "why": why}


def test_readme_shows_what_is_printed(request: pytest.FixtureRequest) -> None:
    text = README.read_text()
    seen = []
    for fence in reversed(fences(README)):
        name = fence.wished("from")
        if name is not None:
            seen.append(name)
            text = text[: fence.start] + SHOWN[name]() + text[fence.start + len(fence.text) :]
    assert sorted(seen) == sorted(SHOWN)
    if request.config.getoption("--update-golden"):
        README.write_text(text)
    assert text == README.read_text(), "README.md is stale: run pytest --update-golden tests/docs, and read the diff"
