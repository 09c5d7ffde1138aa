"""The worked example of docs/add-a-pass.md is a pass that works; what docs/architecture.md names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from polyc.pipeline import Options, passes_for
from tests.passes.on_trees import rewritten
from tests.programs import region_of

from .pages import ROOT, fences

PAGE = ROOT / "docs" / "architecture.md"
WORKED = ROOT / "docs" / "add-a-pass.md"


def test_the_worked_example_is_a_pass(tmp_path: Path) -> None:
    """On the tree of the page; and a loop that runs thirty times is not short."""
    (text,) = [fence.text for fence in fences(WORKED) if fence.wished("save") == "polyc/passes/loops/short_loops.py"]
    (tree,) = [fence.text for fence in fences(WORKED) if fence.wished("save") == "tests/passes/trees/short_loops.c"]
    module: dict[str, Any] = {}
    exec(compile(text, str(WORKED), "exec", dont_inherit=True), module)
    passes = {"short-loops": module["serialise_short_loops"]}
    assert rewritten(tree, region_of(tree, tmp_path), passes) == tree
    long = tree.replace("3", "30")
    assert rewritten(long, region_of(long, tmp_path), passes).endswith("stays\n*/\n")


def test_the_passes_of_the_page_are_those_of_the_pipeline() -> None:
    named = re.findall(r"^\| \d+ \| `([\w-]+)` \|", PAGE.read_text(), flags=re.MULTILINE)
    assert named == [name for name, _ in passes_for(Options())]


def test_folders_exist() -> None:
    for path in re.findall(r"^\| `((?:polyc|tests)/[\w/.]+)` \|", PAGE.read_text(), flags=re.MULTILINE):
        assert (ROOT / path).exists(), path
