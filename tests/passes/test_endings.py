"""Loops that data end and branches on data around loops, in strips with flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.mutation.runner import FOLDER
from tests.programs import compiled, region_in

MASKED = FOLDER / "masked.c"

FILES = [*sorted((Path(__file__).parent / "endings").glob("*.c")), FOLDER / "ended.c", MASKED]
FAILURES = {"verification-failed", "budget", "not-printed", "text-not-checked"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, at sizes around those of strips."""
    region = region_in(file)
    result = compile_region(region, Options(target=target))
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert "_left" in result.text
    assert check(region, result, sizes=(1, 7, 33, 64, 65, 130)) == []


def test_columns_of_a_branch_share_a_question(tmp_path: Path) -> None:
    """One count for all loops of a branch, one for those of the other one."""
    text = MASKED.read_text()
    assert compiled(text, tmp_path, machine="x86-64-v3").text.count("_left <") == 2


def test_what_a_statement_has_set_is_read_at_its_place(tmp_path: Path) -> None:
    """Reads that no value from outside reaches are no accesses, and still go to the place of an iteration."""
    text = (FILES[0].parent / "clipped.c").read_text()
    assert "low_of[x - xt] = mean_of[x - xt] - 2.0f * width_of[x - xt];" in compiled(text, tmp_path).text


KEPT = {
    "a bound that data decide": """
void f(int n, const int *len, double x[n][50], double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < len[i]; k++) {
            if (x[i][k] < 0)
                break;
            s = 0.5 * s + x[i][k];
        }
        out[i] = s;
    }
#pragma endscop
}
""",
    "rows along which the loop runs": """
void f(int n, double x[n][50], int *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int k;
        for (k = 0; k < 50; k++)
            if (x[i][k] < 0)
                break;
        out[i] = k;
    }
#pragma endscop
}
""",
    "no loop around": """
int f(int n, const double *x)
{
    int k;
#pragma scop
    for (k = 0; k < n; k++)
        if (x[k] < 0)
            break;
#pragma endscop
    return k;
}
""",
    "functions that no vector has": """
#include <math.h>
void f(int n, const double *x, double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double y = x[i];
        for (int k = 0; k < 20; k++) {
            double d = exp(-y) - y;
            if (fabs(d) < 1e-9)
                break;
            y += 0.5 * d;
        }
        out[i] = y;
    }
#pragma endscop
}
""",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_kept_as_it_was(text: str, tmp_path: Path) -> None:
    """Without strips nothing is gained by flags."""
    found = compiled(text, tmp_path)
    assert not found.program.scop.endings
    assert "_left" not in found.text


def test_gpus_have_no_flags(tmp_path: Path) -> None:
    """A thread ends its own loop."""
    text = (FILES[0].parent / "escape.c").read_text()
    found = compiled(text, tmp_path, target="cuda")
    assert "break" in (found.device.kernels if hasattr(found.device, "kernels") else str(found.device))
