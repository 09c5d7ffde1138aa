"""Sizes that are sums of others by their declarations: what is known of them, and where nothing is."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

TEXT = """
HEAD
void f(int h, int k, float *A, float *C)
{
    BEFORE
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++)
            C[i * h + j] = A[i * n + j] + A[(h + i) * n + h + j] + k;
#pragma endscop
    AFTER
}
"""


def known(before: str, tmp_path: Path, fact: str, head: str = "", behind: str = "") -> bool:
    text = TEXT.replace("HEAD", head).replace("BEFORE", before).replace("AFTER", behind)
    context = region_of(text, tmp_path).scop.context
    return bool(context.is_subset(isl.Set(f"[n, h, k] -> {{ : {fact} }}")))


@pytest.mark.parametrize(
    ("before", "fact"),
    [
        ("const int n = 2 * h;", "n = 2h"),
        ("int n = h + h;", "n = 2h"),
        ("long n = 3 + 2 * h - 3;", "n = 2h"),
        ("int n = 2 * h + k;", "n = 2h + k"),
    ],
)
def test_sums_of_sizes(before: str, fact: str, tmp_path: Path) -> None:
    assert known(before, tmp_path, fact)


@pytest.mark.parametrize(
    "before",
    [
        "int n = 2 * h; h += k; h = h - k;",
        "int n = 2 * h; n++;",
        "int n = 2 * h; int *p = &n; *p = 7;",
        "unsigned n = 2u * h;",
        "short n = 2 * h;",
        "static int n = 0; n = 2 * h;",
        "int n = 2 * h / 1;",
        "int n = h * h;",
        "int n; n = 2 * h;",
    ],
)
def test_nothing_is_known(before: str, tmp_path: Path) -> None:
    assert not known(before, tmp_path, "n = 2h")


def test_what_changes_behind_the_region_may_run_again(tmp_path: Path) -> None:
    """In a loop around: nothing is known of what changes anywhere in the function."""
    assert not known("int n = 2 * h;", tmp_path, "n = 2h", behind="h = k;")


def test_a_name_that_is_declared_twice(tmp_path: Path) -> None:
    assert not known("int n = 2 * h; { int h = 1; A[0] = h; }", tmp_path, "n = 2h")


def test_products_of_blocks_of_a_matrix(tmp_path: Path) -> None:
    """Blocks of rows of 2 h elements: as large as the sizes of the sums are, so that a product has its registers."""
    text = """
void f(int h, const float *A, const float *B, float *M, float *C)
{
    const int n = 2 * h;
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++) {
            M[i * h + j] = 0.0f;
            for (int k = 0; k < h; k++)
                M[i * h + j] += A[i * n + h + k] * B[k * h + j];
        }
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++)
            C[(h + i) * n + h + j] = M[i * h + j] - A[i * n + j];
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "register-tile" in {remark.code for remark in result.program.remarks}
    assert check(region, result, sizes=(1, 2, 9, 50)) == []
