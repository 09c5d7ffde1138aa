"""Parallel loops directly inside of each other that share their threads: a batch of one image is enough for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.reread.concurrent import collapsed
from polyc.runtime import compare
from tests.programs import compiled, region_of

HEAD = """void f(int b, int m, int h, int w,
    float (*restrict in)[m][h][w], float (*restrict out)[m][h][w], float *restrict s)"""


def nest(statement: str, n: str = "b", row: str = "y < h", more: str = "", size: str = "m") -> str:
    return f"""{HEAD}
{{
#pragma scop
    for (int n = 0; n < {n}; n++) {{{more}
        for (int k = 0; k < {size}; k++)
            for (int y = 0; {row}; y++)
                for (int x = 0; x < w; x++)
                    {statement}
    }}
#pragma endscop
}}
"""


PLAIN = "out[n][k][y][x] = in[n][k][y][x] * 2 + s[k];"
CASES = {
    "a batch": (nest(PLAIN), 2),
    "rows of other lengths": (nest(PLAIN, row="y < h - k"), 2),
    "planes of other lengths": (nest(PLAIN, size="n"), 1),
    "many images": (nest(PLAIN, n="100"), 1),
    "several images": (nest(PLAIN, n="10"), 2),
    "something between": (nest(PLAIN, more=" s[n + 8] = 1;"), 1),
    "sums of planes": (nest("out[n][0][y][x] += in[n][k][y][x];"), 2),
}


@pytest.mark.parametrize("name", CASES)
def test_which_loops_share_threads(name: str, tmp_path: Path) -> None:
    text, loops = CASES[name]
    found = compiled(text, tmp_path, tile_sizes=None, threads="always")
    assert found.certificate is not None
    assert (found.certificate.tree, found.certificate.text) == ("shown", "shown")
    assert (f"collapse({loops})" in found.text) if loops > 1 else ("collapse" not in found.text)
    assert found.text.count("omp parallel") == 1 + ("between" in name)


def test_tiles_share_threads(tmp_path: Path) -> None:
    """One loop inside is enough, since a tile is long."""
    text = """
void f(int n, int m, const double (*restrict a)[m], double (*restrict c)[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[j][i] = a[i][j];
#pragma endscop
}
"""
    found = compiled(text, tmp_path, tile_sizes=(16, 16))
    assert "collapse(2)" in found.text
    assert found.certificate is not None
    assert found.certificate.text == "shown"


def test_the_third_loop_depends_on_the_first(tmp_path: Path) -> None:
    text = """
void f(int n, double (*restrict d)[n][n])
{
#pragma scop
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                if (l + i >= n - 1)
                    d[i][j][l] = 0.3;
#pragma endscop
}
"""
    found = compiled(text, tmp_path, tile_sizes=(2,), threads="always")
    assert "collapse(2)" in found.text
    assert found.certificate is not None
    assert (found.certificate.tree, found.certificate.text) == ("shown", "shown")


@pytest.mark.slow
def test_the_same_values(tmp_path: Path) -> None:
    region = region_of(nest(PLAIN), tmp_path)
    result = compile_region(region, Options(tile_sizes=None, threads="always"))
    report = compare(region, result, (1, 3, 20))
    assert report.rows
    assert not report.differences


def loop(name: str, body: c.Stmt, end: str = "n", pragmas: tuple[str, ...] = ()) -> c.For:
    counter = c.Name(name)
    start = c.Decl("int", name, (), c.Literal("0"))
    return c.For(start, c.Binary("<", counter, c.Name(end)), c.Postfix("++", counter), body, pragmas)


def test_what_is_between_is_seen() -> None:
    """As compilers ask for it, and so that no private copy is shared."""
    shared = ("omp parallel for collapse(2)",)
    store = c.ExprStmt(c.Assign("=", c.Name("t"), c.Literal("1")))
    inner = loop("j", store)
    assert collapsed(loop("i", c.Block((inner,)), pragmas=shared)) == [inner]
    assert collapsed(loop("i", c.Block((store, inner)), pragmas=shared)) is None
    assert collapsed(loop("i", store, pragmas=shared)) is None
    assert collapsed(loop("i", loop("j", store, end="i"), pragmas=shared)) is None
    assert collapsed(loop("i", loop("j", store, pragmas=("omp simd",)), pragmas=shared)) is None
    assert collapsed(loop("i", store)) == []
