"""Vector loops around loops that add something up: each lane has its own sum in a register."""

from __future__ import annotations

import re

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

SIMD = re.compile(r"^ +polyc_(?:plain_)?simd\n", re.MULTILINE)
SUMS = "l += s[ch].left * a[ch * 4096 + i]; r += s[ch].right * a[ch * 4096 + i];"
FORMS = {
    "constant": f"for (int ch = 0; ch < 32; ch++) {{ {SUMS} }}",
    "size": f"for (int ch = 0; ch < n; ch++) {{ {SUMS} }}",
}
OTHERS = {
    "few": "for (int ch = 0; ch < 5; ch++) l += s[ch].left * a[ch * 4096 + i];",
    "uneven": "for (int ch = 0; ch < i % 64 + 20; ch++) l += s[ch].left * a[ch * 4096 + i];",
    "along the sum": "for (int ch = 0; ch < 32; ch++) l += s[ch].left * a[i * 32 + ch];",
    "calls": "for (int ch = 0; ch < 32; ch++) l += pure_one(a[ch * 4096 + i]);",
}


def text_of(body: str) -> str:
    text = (
        "struct strip { float left, right, other[20]; };\n#pragma polyc pure(pure_one)\nfloat pure_one(float);\n"
        "void mix(int n, const struct strip *restrict s, const float *restrict a, float *restrict b, float *restrict c)"
        "\n{\n#pragma scop\n    for (int i = 0; i < 4096; i++) {\n        float l = 0, r = 0;\n        "
        f"{body}\n        b[i] = l;\n        c[i] = r;\n    }}\n#pragma endscop\n}}\n"
    )
    (region,) = read("t.c", InputOptions(), text=text).regions
    compiled = compile_region(region, Options())
    assert compiled.verified
    assert compiled.ast
    return compiled.text


@pytest.mark.parametrize("form", FORMS)
def test_sums_in_lanes(form: str) -> None:
    behind = SIMD.split(text_of(FORMS[form]), maxsplit=1)[1]
    loops = [line.strip() for line in behind.splitlines() if "for (" in line]
    assert "i" in loops[0].split()[2]
    assert "ch" in loops[1].split()[2]


@pytest.mark.parametrize("form", OTHERS)
def test_left_to_the_compiler(form: str) -> None:
    for piece in SIMD.split(text_of(OTHERS[form]))[1:]:
        first, second, *_ = [line.strip() for line in piece.splitlines() if line.strip()]
        assert not second.startswith("for ("), first


@pytest.mark.parametrize(
    "factor", ["s[i * m + j] / sums[i]", "s[i * m + j] / all", "pure_one(s[i * m + j])", "s[i * m + j]"]
)
@pytest.mark.parametrize("rows", ["n", "1"])
def test_quotients_stay_out_of_vectors_that_share_them(factor: str, rows: str) -> None:
    """What stays the same for a row of the result is computed once for it: that loop is innermost, and whole."""
    text = f"""
#pragma polyc pure(pure_one)
float pure_one(float);
void f(int n, int m, int d, const float *restrict s, const float *restrict sums, const float *restrict v,
       float *restrict o)
{{
#pragma scop
    float all = 0;
    for (int i = 0; i < n; i++)
        all += sums[i];
    for (int i = 0; i < {rows}; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < d; k++)
                o[i * d + k] += {factor} * v[j * d + k];
#pragma endscop
}}
"""
    (region,) = read("t.c", InputOptions(), text=text).regions
    compiled = compile_region(region, Options())
    assert compiled.verified
    in_registers = "_sum[" in compiled.text or "polyc_float8" in compiled.text
    assert in_registers == (factor == "s[i * m + j]")


def test_sums_of_a_vector_loop_start_no_threads() -> None:
    """Each lane has a sum of its own; a parallel loop may not stand in one of vectors."""
    text = """
void columns(int width, int height, int stride, int size, unsigned char *restrict image,
             const unsigned char *restrict weight, unsigned char *restrict column, unsigned char *restrict sums)
{
#pragma scop
    for (int x = 0; x < width; x++) {
        for (int y = 0; y < height; y++)
            column[y] = image[y * stride + x];
        for (int i = 0; i < size / 2 && i < height; i++)
            sums[i] = column[i];
        for (int i = 0; i < height - size; i++) {
            unsigned sum = 0;
            for (int j = 0; j < size; j++)
                sum += weight[j] * column[i + j];
            sums[size / 2 + i] = sum >> 8;
        }
        for (int y = 0; y < height; y++)
            image[y * stride + x] = sums[y];
    }
#pragma endscop
}
"""
    (region,) = read("t.c", InputOptions(), text=text).regions
    compiled = compile_region(region, Options())
    assert compiled.verified
    assert re.search(r"polyc_outer_simd\n +for \(int i = 0; i < height - size; i\+\+\)", compiled.text)
    assert "reduction(+: sum)" not in compiled.text
