"""What a scatter adds up is made in its loop, strip by strip."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
SIZES = (1, 2, 7, 33, 1100)


def of(nests: str, lead: str = "") -> str:
    """A region with two arguments of one dimension, one of two, and a table of counts."""
    return f"""
void f(int n, const int x[n], int a[n], int b[n], const int in[3][n], int c[3][n], const double w[n], double *net)
{{
    int count[16];
#pragma polyc live-out(a, b, c, count, net)
#pragma scop
    {lead}
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    {nests}
#pragma endscop
}}
"""


ONE = "for (int i = 0; i < n; i++) a[i] = x[i] & 15;"
COUNT = "for (int i = 0; i < n; i++) count[a[i] & 15]++;"
TWO = "for (int y = 0; y < 3; y++) for (int i = 0; i < n; i++) c[y][i] = in[y][i] & 15;"
COUNTS = "for (int y = 0; y < 3; y++) for (int i = 0; i < n; i++) count[c[y][i] & 15] += 2;"
FED = {
    "one loop": of(ONE + COUNT),
    "two loops": of(TWO + COUNTS),
    "what is read before the table is set": of(COUNT, ONE),
    "two that count": of(ONE + COUNT + TWO + COUNTS),
    "another reader": of(ONE + COUNT + "for (int i = 1; i < n; i++) b[i] = a[i] - a[i - 1];"),
    "several statements": of(
        "for (int i = 0; i < n; i++) { a[i] = x[i] & 15; b[i] = a[i] + 1; }"
        "for (int i = 0; i < n; i++) { count[a[i] & 15]++; count[b[i] & 15] += a[i]; }"
    ),
}
NOT_FED = {
    "another iteration": of(ONE + "for (int i = 1; i < n; i++) count[a[i - 1] & 15]++;"),
    "other bounds": of(ONE + "for (int i = 0; i < n - 1; i++) count[a[i] & 15]++;"),
    "something between needs both": of(
        ONE
        + "for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];"
        + "for (int i = 0; i < n; i++) count[(a[i] + b[i]) & 15]++;"
    ).replace("a[i] + b[i]", "b[n - 1 - i] + a[i]"),
    "no parallel loop": of("for (int i = 1; i < n; i++) a[i] = a[i - 1] + x[i];" + COUNT),
    "nothing of it": of("for (int i = 0; i < n; i++) b[i] = x[i] & 15;" + COUNT),
    "the scatter stays sequential": of(
        "for (int i = 0; i < n; i++) a[i] = x[i] & 15; for (int i = 0; i < n; i++) net[a[i] & 15] += w[i];"
    ),
}


def compiled(text: str, folder: Path, options: Options) -> Compiled:
    region = region_of(text, folder)
    result = compile_region(region, options)
    assert result.verified
    assert not {r.code for r in result.program.remarks} & FAILURES
    assert check(region, result, sizes=SIZES) == []
    return result


@pytest.mark.parametrize("name", FED)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_fed(name: str, target: str, tmp_path: Path) -> None:
    result = compiled(FED[name], tmp_path, Options(target=target))
    told = [r for r in result.program.remarks if r.code == "scatter-fed"]
    assert len(told) == (2 if "two that" in name else 1)
    assert result.text.count(" += 1024)") == len(told)
    assert all(any(set(r.statements) <= set(g.statements) for g in result.program.groups) for r in told)


@pytest.mark.parametrize("name", NOT_FED)
def test_not_fed(name: str, tmp_path: Path) -> None:
    result = compiled(NOT_FED[name], tmp_path, Options())
    assert "scatter-fed" not in {r.code for r in result.program.remarks}
    assert "t += 1024" not in result.text


@pytest.mark.parametrize("options", [Options(fuse="min"), Options(tile_sizes=(8,)), Options(tile_sizes=None)], ids=str)
def test_not_where_the_user_wants_it_otherwise(options: Options, tmp_path: Path) -> None:
    result = compiled(FED["two loops"], tmp_path, options)
    assert "scatter-fed" not in {r.code for r in result.program.remarks}


def test_the_loop_that_is_cut_keeps_its_copies(tmp_path: Path) -> None:
    """A single loop runs in parallel strip by strip, each thread with a copy."""
    result = compiled(FED["one loop"], tmp_path, Options())
    lines = [line.strip() for line in result.text.splitlines()]
    at = next(k for k, line in enumerate(lines) if line.endswith("+= 1024) {"))
    assert lines[at - 2].startswith("#pragma omp parallel for")
    assert lines[at - 2].endswith("reduction(+: count[:16])")


PACKED = (Path(__file__).parents[1] / "remarks" / "remarks" / "packed.c").read_text()
COPIED = PACKED.replace("double y[n])", "double y[n], int kind[n], int count[16])").replace(
    "#pragma endscop",
    "for (int i = 0; i < n; i++) kind[i] = x[i] > 0.5;\nfor (int i = 0; i < n; i++) count[kind[i]]++;\n#pragma endscop",
)


def test_copies_stay_before_what_reads_them(tmp_path: Path) -> None:
    """What an extension adds is no nest, which could change places with others."""
    result = compile_region(region_of(COPIED, tmp_path), Options())
    assert result.verified
    codes = {r.code for r in result.program.remarks}
    assert "packed" in codes
    assert not codes & FAILURES
    assert check(region_of(COPIED, tmp_path), result, sizes=(1, 2, 7, 33)) == []
