"""Floats that a C compiler may round otherwise in another loop: products that are added."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions

TEXT = """#include <math.h>
void f(int n, float scale, const float *at, const double *in, double *out)
{{
    for (int i = 0; i < n; i++) {{
        {index}
        out[i] = in[k];
    }}
}}
"""


def reason(index: str, folder: Path, *flags: str) -> str:
    """Why the loop is in no region; nothing where it is in one."""
    file = folder / "t.c"
    file.write_text(TEXT.format(index=index))
    source = read(str(file), InputOptions(detect=True, flags=flags))
    return "" if source.regions else source.left[0].message


@pytest.mark.parametrize(
    "index",
    [
        "int k = (int)at[i];",
        "int k = (int)floorf(at[i]);",
        "int k = (int)(at[i] / scale - 0.5f);",
        "int k = (int)((at[i] + 0.5f) * scale);",
        "float x = at[i] + 1; int k = (int)(x * scale) * 2 + 1;",
        "int k = (int)at[i] * n + 3;",
    ],
)
def test_the_same_in_each_loop(index: str, tmp_path: Path) -> None:
    assert not reason(index, tmp_path)


@pytest.mark.parametrize(
    "index",
    [
        "int k = (int)(at[i] * scale + 0.5f);",
        "int k = (int)(1 - at[i] * 2);",
        "float x = at[i] * scale; int k = (int)(x + 1);",
        "float x = at[i]; x *= scale; int k = (int)(x - 1);",
        "float x = at[i] * scale, y = x; int k = (int)(y + 1);",
        "float x = at[i]; x += scale * 3; int k = (int)x;",
        "int k = (int)floorf(-(scale * at[i]) + 7);",
        "int k = (int)((i ? at[i] * scale : 2.0f) + 1.5);",
    ],
)
def test_sums_of_products(index: str, tmp_path: Path) -> None:
    assert "how a floating value is rounded" in reason(index, tmp_path)


def test_options_that_compute_otherwise(tmp_path: Path) -> None:
    for option in ("-ffast-math", "-Ofast"):
        assert "rounded" in reason("int k = (int)(at[i] / scale);", tmp_path, option)
        assert not reason("int k = (int)at[i];", tmp_path, option)
