"""Values that are clamped, and what is computed of them: compilers jump where a branch is a number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.passes.test_choices import text_of
from tests.programs import compiled, region_of

ROW = """
#include <math.h>
static unsigned char bytes(float v) {{ if (v < 0) v = 0; if (v > 255) v = 255; return (unsigned char)(v + 0.5f); }}
static unsigned char whole(int v) {{ return v < 0 ? 0 : v > 255 ? 255 : v; }}
static int larger(int a, int b) {{ return a > b ? a : b; }}
void f(int n, float x[n], unsigned char b[n], float out[n])
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {body}
    }}
#pragma endscop
}}
"""
TAKEN = {
    "a number is added": ("float v = x[i]; if (v < 0) v = 0; out[i] = v + 0.5f;", "polyc_selectf(v < 0, 0, v)"),
    "in the same expression": ("out[i] = 2 * (x[i] > 1 ? 1 : x[i]);", "polyc_selectf(x[i] > 1, 1, x[i])"),
    "a step": ("float v = x[i] > 0.5f ? 1.0f : 0.0f; out[i] = 1 - v;", "polyc_selectf(x[i] > 0.5f, 1.0f, 0.0f)"),
    "both ends": (
        "float v = x[i]; v = v < 0 ? 0 : v > 255 ? 255 : v; b[i] = (unsigned char)(v / 2);",
        "polyc_selectf(v < 0, 0, polyc_selectf(v > 255, 255, v))",
    ),
    "a function": ("b[i] = bytes(3 * x[i] - 1);", "polyc_selectf(v > 255, 255, v)"),
    "brackets": (
        "float v = x[i], t = 0; if (v > 5) { t += (v - 5) * 0.4f; v = 5; } if (v > 2) t += (v - 2) * 0.2f; out[i] = t;",
        "polyc_selectf(v > 5, t + (v - 5) * 0.4f, t)",
    ),
    "an element that is set": (
        "float v = x[i]; if (v > 1) out[i] = v * v; else out[i] = v - 1; if (out[i] < 0) out[i] += 360;",
        "polyc_selectf(out[i] < 0, out[i] + 360, out[i])",
    ),
    "the larger one": ("out[i] = fminf(fmaxf(x[i], 0), 1) * 255;", "polyc_vfminf(polyc_vfmaxf(x[i], 0), 1) * 255"),
}
KEPT = {
    "nothing is computed": ("out[i] = x[i] < 0 ? 0 : x[i];", "out[i] = x[i] < 0 ? 0 : x[i];"),
    "no number": ("float v = x[i], w = out[i]; v = v < w ? w : v; out[i] = v + 1;", "v < w ? w : v"),
    "an element that may stay": ("if (x[i] < 0) out[i] += 360;", "if (x[i] < 0)"),
    "a condition that changes": (
        "float v = x[i], t = 0; if (v > 5) { v -= 5; t = v * 2; } out[i] = t + v;",
        "if (v > 5)",
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken_without_a_jump(name: str, tmp_path: Path) -> None:
    body, expected = TAKEN[name]
    text = text_of(ROW.format(body=body), tmp_path, sizes=(1, 2, 17, 64))
    assert expected in text


@pytest.mark.parametrize("name", KEPT)
def test_kept_as_they_are(name: str, tmp_path: Path) -> None:
    body, expected = KEPT[name]
    assert expected in text_of(ROW.format(body=body), tmp_path, sizes=(1, 2, 17, 64))


def test_arguments_are_computed_once(tmp_path: Path) -> None:
    """What is loaded and computed stands in a variable; a subscript has to be an expression."""
    text = text_of(ROW.format(body="b[i] = whole((b[i] - 128) * 3 / 2 + 128);"), tmp_path, sizes=(1, 17, 64))
    assert text.count("* 3 / 2") == 2  # and where it stays as it was written
    text = text_of(ROW.format(body="out[i] = x[larger(i - 1, 0)] + 1;"), tmp_path, sizes=(1, 17, 64))
    assert "larger(" not in re.sub(r"as it was written.*", "", text, flags=re.DOTALL)


def test_a_running_maximum_has_no_masks(tmp_path: Path) -> None:
    """They would take twice as long where each value waits for the one before."""
    body = "out[i] = fmaxf(i > 0 ? out[i - 1] : 0, x[i]);"
    region = region_of(ROW.format(body=body), tmp_path)
    assert "polyc_vfmaxf" not in compile_region(region, Options()).text


def test_kernels_of_gpus_have_none(tmp_path: Path) -> None:
    text = compiled(ROW.format(body=TAKEN["a step"][0]), tmp_path, target="cuda").text
    assert "select" not in text


def test_a_subscript_where_a_condition_leaves_it_out(tmp_path: Path) -> None:
    """`k % 3` is `k - 3` where `k <= 5`, and leads out of the array elsewhere."""
    text = """
static double a[9];
void f(double out[16])
{
    for (int k = 0; k < 9; k++)
        a[k] = k;
#pragma scop
    for (int k = 0; k < 16; k++)
        out[k] = k > 5 ? k : a[k % 3 + 6];
#pragma endscop
}
"""
    printed = text_of(text, tmp_path)
    assert "k < 6; k++)\n    out[k] = polyc_select(" in printed
    assert "out[k] = (double)k;" in printed
