"""Code that is nested deeply is compiled or refused at the place where it gets too deep, and never crashes Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.text.depth import DEEPEST_BRACKETS, DEEPEST_NEST, DEEPEST_TREE
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

SHAPES: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: f"a[0] = {'(' * n}a[1]{')' * n};",
    "opening": lambda n: f"a[0] = {'(' * n};",
    "sum": lambda n: f"a[0] = {' + '.join(['a[1]'] * n)};",
    "minus": lambda n: f"a[0] = {'- ' * n}a[1];",
    "ternary": lambda n: f"a[0] = {'n ? 1 : ' * n}2;",
    "subscripts": lambda n: f"a[0] = {'a[' * n}0{']' * n};",
    "casts": lambda n: f"a[0] = {'(double)' * n}a[1];",
    "assignments": lambda n: f"{'a[1] = ' * n}2;",
    "blocks": lambda n: f"{'{' * n} a[0] = 1; {'}' * n}",
    "if": lambda n: f"{'if (n > 5) ' * n} a[0] = 1;",
    "else": lambda n: "".join(f"if (n > {k}) a[0] = {k}; else " for k in range(n)) + "a[0] = 1;",
    "conditions": lambda n: f"if ({' && '.join(f'n > {k}' for k in range(n))}) a[0] = 1;",
    "while": lambda n: f"{'while (a[0] > 0) ' * n} a[0] = 1;",
    "for": lambda n: "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(n)) + "a[0] = 1;",
}


def text(shape: str, count: int) -> str:
    return f"void f(int n, double *a)\n{{\n#pragma scop\n  {SHAPES[shape](count)}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("count", [20, DEEPEST_BRACKETS // 2, DEEPEST_TREE + 1, 30_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_depth_breaks_anything(shape: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "deep.c"
    file.write_text(text(shape, count))
    before = sys.getrecursionlimit()
    try:
        (region,) = read(str(file), InputOptions()).regions
    except UserError as problem:
        (diagnostic,) = problem.diagnostics
        assert diagnostic.span is not None
        assert diagnostic.code == "too-large" or (shape, diagnostic.code) == ("opening", "syntax")
        if diagnostic.message == "this is nested too deeply to be read":
            assert diagnostic.span.line == 4
        assert count > min(DEEPEST_BRACKETS, DEEPEST_NEST) or shape == "opening"
    else:
        assert count < DEEPEST_TREE
        if count <= DEEPEST_BRACKETS:  # the deeper ones take seconds
            assert compile_region(region, Options()).verified
    assert sys.getrecursionlimit() == before
