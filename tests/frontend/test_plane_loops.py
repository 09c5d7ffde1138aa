"""Loops over all elements of planes of one array, through whose rows other loops go (`idioms/rows.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

TEXT = """
void f(int nb, int h, int w, const float *x, float *y, float *m)
{
    int p;
    const int n = h * w;
    (void)p;
    (void)n;
#pragma scop
    for (int b = 0; b < nb; b++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                y[(b * h + i) * w + j] = x[(b * h + i) * w + j] + 1;
    for (int b = 0; b < nb; b++) {
        float s = 0.0f;
        float *plane = y + b * h * w;
        LOOP
        m[b] = s / (h * w);
    }
#pragma endscop
    BEHIND
}
"""
BODY = "{ plane[p] = plane[p] > 4 ? plane[p] : 0.5f * plane[p]; s += plane[p]; }"


def scop(loop: str, tmp_path: Path, behind: str = "") -> Scop:
    return region_of(TEXT.replace("LOOP", loop).replace("BEHIND", behind), tmp_path).scop


def depth(found: Scop) -> int:
    """Loops around the last sum."""
    return max(len(s.loops) for s in found.statements.values() if "s +=" in s.text)


@pytest.mark.parametrize(
    "head",
    [
        "for (int p = 0; p < h * w; p++)",
        "for (int p = 0; p < w * h; ++p)",
        "for (p = 0; p < h * w; p++)",
        "for (int p = 0; p < n; p++)",
    ],
)
def test_rows_of_planes(head: str, tmp_path: Path) -> None:
    text = TEXT.replace("LOOP", head + BODY).replace("BEHIND", "")
    region = region_of(text, tmp_path)
    assert depth(region.scop) == 3
    result = compile_region(region, Options())
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & {"verification-failed", "text-not-checked"}
    assert check(region, result, sizes=(1, 2, 3, 9, 20)) == []


@pytest.mark.parametrize(
    "loop",
    [
        "for (int p = 0; p < h * 3; p++)" + BODY,
        "for (int p = 1; p < h * w; p++)" + BODY,
        "for (int p = 0; p < h * w; p += 2)" + BODY,
        "for (int p = 0; p < h * w; p++) { s += plane[p]; p += s > 100; }",
    ],
)
def test_other_loops_stay(loop: str, tmp_path: Path) -> None:
    text = TEXT.replace("LOOP", loop).replace("BEHIND", "")
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert check(region, result, sizes=(1, 2, 3, 9)) == []


def test_a_counter_that_is_read_later_stays(tmp_path: Path) -> None:
    assert depth(scop("for (p = 0; p < h * w; p++)" + BODY, tmp_path, behind="m[0] += p;")) == 2


def test_where_nothing_goes_through_rows_the_loop_stays(tmp_path: Path) -> None:
    text = """
void f(int nb, int h, int w, float *y)
{
#pragma scop
    for (int b = 0; b < nb; b++)
        for (int p = 0; p < h * w; p++)
            y[b * h * w + p] += 1;
#pragma endscop
}
"""
    (statement,) = region_of(text, tmp_path).scop.statements.values()
    assert len(statement.loops) == 2
