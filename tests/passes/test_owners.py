"""Scatters in parallel that keep their order: each thread runs the iterations that add to its own cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of, run_alike

FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
SIZES = (0, 1, 1023, 1024, 1025, 5000)
ALWAYS = Options(threads="always")


def of(nests: str, arguments: str = "", lead: str = "") -> str:
    return f"""
void f(int n, const int at[n], const double w[n], double *net{arguments})
{{
    {lead}
#pragma scop
    {nests}
#pragma endscop
}}
"""


ADD = "net[at[i] & 63] += w[i];"
OWNED = {
    "one update": of(f"for (int i = 0; i < n; i++) {ADD}"),
    "two updates of a value": of(
        "for (int i = 0; i < n; i++) { double s = w[i] * 0.3; net[at[i] & 63] += s; net[i & 31] -= s; }"
    ),
    "an affine one": of("for (int i = 0; i < n; i++) { net[at[i] & 63] += w[i]; net[i] -= 0.5; }"),
    "a place that is computed": of("for (int i = 0; i < n; i++) { int t = at[i] & 63, s = t + 1; net[s] += w[i]; }"),
    "from one on": of(f"for (int i = 1; i < n; i++) {ADD}"),
    "from a size on": of(f"for (int i = m; i < n; i++) {ADD}", ", int m"),
    "backwards": of(f"for (int i = n - 1; i >= 0; i--) {ADD}"),
    "assigned": of("for (int i = 0; i < n; i++) net[at[i] & 63] = net[at[i] & 63] + w[i];"),
    "products": of("for (int i = 0; i < n; i++) net[at[i] & 63] *= 1.0 + w[i];"),
    "whole numbers": of("for (int i = 0; i < n; i++) count[at[i] & 63]++;", ", unsigned *count"),
    "among other nests": of(
        f"for (int i = 0; i < n; i++) c[i] = w[i]; for (int i = 0; i < n; i++) {ADD}"
        "for (int i = 0; i < n; i++) c[i] += 1.0;",
        ", double c[n]",
    ),
    "later ones": of("for (int i = 0; i < n; i++) { double s = w[i]; if (i > 7) net[at[i] & 63] += s; }"),
    "two scatters": of(f"for (int i = 0; i < n; i++) {ADD} for (int i = 0; i < n; i++) net[at[i] & 7] -= 0.1 * w[i];"),
}
NOT_OWNED = {
    "an iteration writes more": of(
        "for (int i = 0; i < n; i++) { double s = 2.0 * w[i]; x[i] += s; net[at[i] & 63] += s; }", ", double x[n]"
    ),
    "two arrays": of(
        "for (int i = 0; i < n; i++) { double s = 2.0 * w[i]; net[at[i] & 63] += s; x[at[i] & 63] += s; }",
        ", double *x",
    ),
    "another loop around": of(f"for (int k = 0; k < 3; k++) for (int i = 0; i < n; i++) {ADD}"),
    "a loop inside": of("for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) net[(at[i] + k) & 63] += w[i];"),
    "a small array": of(
        "for (int i = 0; i < n; i++) t[at[i] & 63] += w[i]; net[0] = t[3];", lead="double t[64] = {0.0};"
    ),
    "read as well": of("for (int i = 0; i < n; i++) net[at[i] & 63] += net[0] * w[i];"),
    "places that change": of(
        "for (int i = 0; i < n; i++) { net[p[i & 7] & 63] += w[i]; p[at[i] & 7] = i; }", ", int *p"
    ),
    "few iterations": of(f"for (int i = 0; i < 100; i++) {ADD}"),
    "asked not to": of(f"for (int i = 0; i < n; i++) {ADD}").replace(
        "#pragma scop", "#pragma scop\n#pragma polyc parallel(no)"
    ),
}


def compiled(text: str, tmp_path: Path, options: Options, sizes: tuple[int, ...] = SIZES) -> Compiled:
    region = region_of(text, tmp_path)
    result = compile_region(region, options)
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert check(region, result, sizes=sizes) == []
    return result


@pytest.mark.parametrize("name", OWNED)
def test_owned(name: str, tmp_path: Path) -> None:
    result = compiled(OWNED[name], tmp_path, ALWAYS)
    codes = [remark.code for remark in result.program.remarks]
    assert codes.count("scatter-owned") == result.text.count("for (long part = 0; part < parts") or "two" in name
    assert "scatter-owned" in codes
    assert "sequential-scatter" not in codes
    assert "__builtin_malloc" in result.text


PARTED = {
    "neighbours": "net[i + (at[i] & 3)] += w[i];",
    "two updates": "double s = w[i] * 0.3; net[i + (at[i] & 3)] += s; net[i] -= s;",
    "far ones": "net[i % 2 == 0 ? i : i / 64 + (at[i] & 1)] += w[i];",
    "from the end": "net[n - i + (at[i] & 3)] += w[i];",
    "a place that is computed": "int t = i + (at[i] & 3); double s = 0.1 * w[i]; net[t] += s; net[t / 2] -= s;",
}


@pytest.mark.parametrize("threads", ["2", "3", "7"])
@pytest.mark.parametrize("name", PARTED)
def test_parts(name: str, threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbouring iterations go to neighbouring cells, so that threads have parts of them."""
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    text = of(f"for (int i = 0; i < n; i++) {{ {PARTED[name]} }}").replace("*net", "net[n + 4]")
    result = compiled(text, tmp_path, ALWAYS, (1023, 1024, 5000, 20000))
    assert "scatter-owned" in {remark.code for remark in result.program.remarks}


MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    static int at[5000];
    static double w[5000], net[64];
    for (int i = 0; i < 5000; i++)
        at[i] = i * 7 % 61, w[i] = i % 5;
    f(atoi(words[count - 1]), at, w, net);
    for (int i = 0; i < 64; i++)
        printf("%g ", net[i]);
    return 0;
}
"""


def test_blocks_without_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed with the least and the greatest of no numbers, which may overflow."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    text = of("for (int i = 1; i < n - 4; i++) for (int j = 0; j < 1; j++) net[at[j]] += 0.3;")
    region = region_of(text, tmp_path)
    printed = compile_region(region, ALWAYS).text
    assert "ib = 0; ib < n - 4;" in printed
    run_alike(text + MAIN, text[: region.start] + printed + text[region.end :] + MAIN, tmp_path, [("5",), ("4000",)])


@pytest.mark.parametrize("name", NOT_OWNED)
def test_not_owned(name: str, tmp_path: Path) -> None:
    result = compiled(NOT_OWNED[name], tmp_path, ALWAYS if name != "few iterations" else Options())
    assert "scatter-owned" not in {remark.code for remark in result.program.remarks}
    assert "parts" not in result.text


def test_what_each_iteration_has_for_itself_is_no_scatter(tmp_path: Path) -> None:
    """What keeps the loop in order is `w`, which sums in another order would not change."""
    text = """
void f(int m, int n, const double *restrict mu, double *restrict w, double *restrict heat, double *restrict fl)
{
#pragma scop
    for (int c = 0; c < m; c++) {
        for (int k = 0; k <= n; k++)
            fl[c * (n + 1) + k] = 0.0;
        if (mu[c] <= 0.0)
            continue;
        for (int k = 0; k < n; k++)
            w[k] = mu[c] * k;
        for (int k = 0; k < n; k++)
            heat[c * n + k] += w[k] * w[n - 1 - k];
    }
#pragma endscop
}
"""
    codes = {remark.code for remark in compile_region(region_of(text, tmp_path), Options()).program.remarks}
    assert "not-parallel" in codes
    assert "sequential-scatter" not in codes
