"""Loops that scatter ask ahead for the lines of what they go through in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
SIZES = (1, 15, 272, 273, 1100)


def of(nests: str, arguments: str = "") -> str:
    return f"""
void f(int n, const int at[n], const double w[n], const double u[n], double *net{arguments})
{{
#pragma scop
    {nests}
#pragma endscop
}}
"""


ADD = "for (int i = 0; i < n; i++) net[at[i] & 63] += w[i];"
ASKED = {
    "one loop": (of(ADD), ["at[it + 256]", "w[it + 256]", "w[it + 264]"]),
    "gathered too": (
        of("for (int i = 0; i < n; i++) { double s = w[i] * u[at[i] & 1]; net[at[i] & 63] += s; net[i] -= s; }"),
        ["at[it + 256]", "w[it + 256]", "w[it + 264]"],
    ),
    "backwards": (of("for (int i = n - 1; i >= 0; i--) net[at[i] & 63] += w[i];"), ["at[", "w["]),
    "from the end": (of("for (int i = 0; i < n; i++) net[at[i] & 63] += w[n - 1 - i];"), ["at[it + 256]", "w[n - "]),
    "neighbours": (of("for (int i = 1; i < n; i++) net[at[i] & 63] += w[i] - w[i - 1];"), ["at[it + 256]", "w["]),
    "two loops": (
        of(
            "for (int y = 0; y < 3; y++) for (int i = 0; i < n; i++) net[b[y][i] & 63] += w[i];",
            ", const int b[3][n]",
        ),
        ["b[y][it + 256]", "w[it + 256]", "w[it + 264]"],
    ),
    "two rows": (
        of("for (int i = 0; i < n; i++) net[b[0][i] & 63] += b[2][i];", ", const int b[3][n]"),
        ["b[0][it + 256]", "b[2][it + 256]"],
    ),
    "rows in one dimension": (
        of("for (int y = 0; y < 3; y++) for (int i = 0; i < n; i++) net[b[y * n + i] & 63] += w[i];", ", const int *b"),
        ["b[", "w[it + 256]"],
    ),
    "bytes": (
        of("for (int i = 0; i < n; i++) net[b[i] & 63] += b[i];", ", const unsigned char b[n]"),
        ["b[it + 1024]"],
    ),
    "among other nests": (
        of(f"for (int i = 0; i < n; i++) c[i] = w[i]; {ADD} for (int i = 0; i < n; i++) c[i] += 1.0;", ", double c[n]"),
        ["at[it + 256]", "w[it + 256]", "w[it + 264]"],
    ),
}
NOT_ASKED = {
    "a table in the first level": "double t[2] = {0.0}; for (int i = 0; i < n; i++) t[at[i] & 1] += w[i]; *net = t[1];",
    "a loop that is too short": "for (int i = 0; i < 256; i++) net[at[i] & 63] += w[i];",
    "no scatter": "for (int i = 1; i < n; i++) net[i] = net[i - 1] + u[at[i] & 1];",
    "a gather in vectors": "for (int i = 0; i < n; i++) net[i] = u[at[i] & 1];",
    "what data decide on": "for (int i = 0; i < n; i++) { net[at[0] & 63] += u[0]; net[i] -= 1.0; }",
    "nothing in order": "for (int i = 0; i < n; i++) net[(i * i) & 63] += u[0];",
}


@pytest.mark.parametrize("target", ["openmp", "c"])
@pytest.mark.parametrize("name", ASKED)
def test_asked(name: str, target: str, tmp_path: Path) -> None:
    text, places = ASKED[name]
    region = region_of(text, tmp_path)
    result = compile_region(region, Options(target=target))
    assert result.passed
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    for place in places:
        assert f"__builtin_prefetch(&{place}" in result.text
    assert [r.code for r in result.program.remarks].count("asked-ahead") == 1
    assert check(region, result, sizes=SIZES) == []


@pytest.mark.parametrize("name", NOT_ASKED)
def test_not_asked(name: str, tmp_path: Path) -> None:
    region = region_of(of(NOT_ASKED[name]), tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert "prefetch" not in result.text
    assert check(region, result, sizes=SIZES) == []


def test_not_around_arrays_of_an_iteration(tmp_path: Path) -> None:
    """They would have one loop more around them than they are declared in."""
    text = """
void f(int n, const unsigned *fern, int c, int *restrict r, float *restrict post)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        unsigned k = fern[i];
        r[k * 2 + c] += 1;
        float both[] = {r[k * 2] * 0.5f, r[k * 2 + 1] * 0.25f};
        post[k * 2] = both[0] / (both[0] + both[1]);
        post[k * 2 + 1] = both[1] / (both[0] + both[1]);
    }
#pragma endscop
}
"""
    result = compile_region(region_of(text, tmp_path), Options())
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES


def test_not_for_places_in_one_row(tmp_path: Path) -> None:
    text = of("for (int i = 0; i < n; i++) t[i / 8][at[i] & 3] += w[i];", ", double t[n][n]")
    assert "prefetch" not in compile_region(region_of(text, tmp_path), Options()).text


def test_not_for_a_gpu(tmp_path: Path) -> None:
    assert "prefetch" not in compile_region(region_of(of(ADD), tmp_path), Options(target="cuda")).text


def test_atomic_updates_are_left_alone(tmp_path: Path) -> None:
    options = Options(reassociate=True, machine="skylake-sp")
    text = compile_region(region_of(of(ADD), tmp_path), options).text
    assert "omp atomic" in text
    assert "prefetch" not in text
