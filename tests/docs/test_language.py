"""docs/language.md says what the compiler does: its examples compile, its tables are whole.

A fence with `#pragma scop` is a whole file. The comment before it says what is expected:
    <!-- notes: CODE … -->     these notes and no others (no comment: none at all)
    <!-- error: CODE -->       it is refused with these errors
    <!-- prints: TEXT -->      the printed region has this text in it
A fence after `<!-- prints -->` is a part of what is printed for the region before it, one after `<!-- says -->` is
what a refused one says on standard error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.cli.main import cli
from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.text.codes import ERRORS, NOTES
from polyc.model.program import Compiled, InputOptions, Options
from polyc.pipeline import compile_region

from .pages import ROOT, Fence, codes_in, fences, sections

LANGUAGE = ROOT / "docs" / "language.md"
FENCES = fences(LANGUAGE)
REGIONS = [fence for fence in FENCES if fence.is_region]


def compiled(fence: Fence, folder: Path) -> tuple[list[Compiled], list[str]]:
    """The regions of an example, and the codes of its notes."""
    file = folder / "example.c"
    file.write_text(fence.text)
    regions = read(str(file), InputOptions()).regions
    notes = sorted({note.code for region in regions for note in region.scop.notes})
    return [compile_region(region, Options()) for region in regions], notes


@pytest.mark.parametrize("fence", REGIONS, ids=lambda f: f"line{f.line}")
def test_examples_compile(fence: Fence, tmp_path: Path) -> None:
    refused = fence.wished("error")
    if refused is not None:
        with pytest.raises(UserError) as caught:
            compiled(fence, tmp_path)
        assert sorted({d.code for d in caught.value.diagnostics}) == sorted(refused.split())
        return
    results, notes = compiled(fence, tmp_path)
    assert all(result.verified for result in results)
    assert notes == sorted((fence.wished("notes") or "").split())
    printed = fence.wished("prints")
    assert printed is None or printed in results[0].text


def test_what_is_printed(tmp_path: Path) -> None:
    shown = 0
    for before, fence in pairwise(FENCES):
        if fence.wish == "prints":
            (result,), _ = compiled(before, tmp_path)
            assert fence.text in without_conditions(result.text), f"line {fence.line} of {LANGUAGE.name}"
            shown += 1
    assert shown > 0


def test_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = 0
    for before, fence in pairwise(FENCES):
        if fence.wish == "says":
            file = Path(fence.text.partition(":")[0])
            file.write_text(before.text)
            result = CliRunner().invoke(cli, ["compile", str(file)])
            assert (result.exit_code, result.stderr) == (1, fence.text)
            shown += 1
    assert shown > 0


def without_conditions(text: str) -> str:
    """The printed code as the page shows it: without the `#ifdef _OPENMP` around each pragma."""
    return re.sub(r"^#(ifdef|endif).*\n", "", text, flags=re.MULTILINE)


def test_every_error_and_note_stands_in_a_table() -> None:
    page = sections(LANGUAGE)
    assert sorted(codes_in(page["What is refused"])) == sorted(ERRORS)
    assert sorted(codes_in(page["What is approximated"])) == sorted(NOTES)


def codes_of(function: str, files: list[Path]) -> set[str]:
    """The codes that calls of a function are made with; where it is a variable, all that are assigned to it."""
    found: set[str] = set()
    for file in files:
        tree, calls = calls_in(file)
        for node in calls.get(function, ()):
            first = node.args[0]
            if isinstance(first, ast.Constant):
                found.add(str(first.value))
            elif isinstance(first, ast.Name):
                found |= set(assigned(tree, first.id))
    return found


@cache
def calls_in(file: Path) -> tuple[ast.AST, dict[str, list[ast.Call]]]:
    """A file, and its calls with arguments by the functions' names."""
    tree = ast.parse(file.read_text())
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            found.setdefault(called(node), []).append(node)
    return tree, found


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def assigned(tree: ast.AST, name: str) -> Iterator[str]:
    """The texts that a variable of this name gets, alone or in a tuple."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            pairs = zip(node.targets[0].elts, node.value.elts, strict=True)
        elif isinstance(node, ast.Assign):
            pairs = zip(node.targets, [node.value], strict=False)
        else:
            continue
        for target, value in pairs:
            if isinstance(target, ast.Name) and target.id == name and isinstance(value, ast.Constant):
                yield str(value.value)
