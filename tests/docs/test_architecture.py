"""The worked example of docs/add-a-pass.md is a pass that works; what docs/architecture.md names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from polyc.model.program import Program
from polyc.model.tree import Band, walk
from polyc.pipeline import Options, passes_for
from polyc.verify import check
from tests.programs import after, region_of

from .pages import ROOT, fences

PAGE = ROOT / "docs" / "architecture.md"
WORKED = ROOT / "docs" / "add-a-pass.md"

SHORT = """
void channels(int n, double out[3][n], double in[3][n])
{
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 1; i < n; i++)
            out[c][i] = out[c][i - 1] + in[c][i];
#pragma endscop
}
"""


def parallel_loops(program: Program) -> list[str]:
    bands = [node for node in walk(program.tree.child) if isinstance(node, Band)]
    return [member.name for band in bands for member in band.members if member.parallel]


def test_the_worked_example_is_a_pass(tmp_path: Path) -> None:
    (text,) = [fence.text for fence in fences(WORKED) if fence.language == "python"]
    module: dict[str, Any] = {}
    exec(compile(text, str(WORKED), "exec", dont_inherit=True), module)
    before = after(region_of(SHORT, tmp_path), "parallel")
    assert parallel_loops(before) == ["c"]
    short = module["serialise_short_loops"](before)
    assert parallel_loops(short) == []
    assert [remark.code for remark in short.remarks][-1] == "short-loop"
    assert check(short) == []
    long = after(region_of(SHORT.replace("3", "30"), tmp_path), "parallel")
    assert module["serialise_short_loops"](long) is long


def test_the_passes_of_the_page_are_those_of_the_pipeline() -> None:
    named = re.findall(r"^\| \d+ \| `(\w+)` \|", PAGE.read_text(), flags=re.MULTILINE)
    assert named == [name for name, _ in passes_for(Options())]


def test_folders_exist() -> None:
    for path in re.findall(r"^\| `((?:polyc|tests)/[\w/.]+)` \|", PAGE.read_text(), flags=re.MULTILINE):
        assert (ROOT / path).exists(), path
