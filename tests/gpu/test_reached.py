"""Arrays of which the data say how much is used: loops before the call find out how much is copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.gpu.test_kernels import assert_same
from tests.programs import compiled, region_of

HEADS = {
    "csr": "int n, const int *row, const int *col, const double *v, const double *x, double *y",
    "wide": "int n, int m, const int *row, const int *col, const float *x, float *y",
    "chain": "int n, const int *a, const int *b, const float *x, float *y",
    "embedding": "int n, int m, const int *ids, const float *table, float *y",
    "rows": "int n, const int *ids, const float (*table)[64], float (*y)[64]",
    "scatter": "int n, const unsigned char *a, int *h",
    "before": "int n, const int *at, const float *x, float *y",
    "mirrored": "unsigned n, unsigned m, const unsigned *at, const float *x, float *y",
}
BODIES = {
    "csr": "for (int i = 0; i < n; i++) { double s = 0; for (int k = row[i]; k < row[i + 1]; k++) "
    "s += v[k] * x[col[k]]; y[i] = s; }",
    "wide": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0; "
    "for (int k = row[i]; k < row[i + 1]; k++) s += x[col[k] * m + j]; y[i * m + j] = s; }",
    "chain": "for (int i = 0; i < n; i++) if (b[a[i]] != 3) y[i] = x[b[a[i]]]; else y[i] = 0;",
    "embedding": "for (int t = 0; t < n; t++) for (int d = 0; d < m; d++) y[t * m + d] = table[ids[t] * m + d];",
    "rows": "for (int t = 0; t < n; t++) for (int d = 0; d < 64; d++) y[t][d] = table[ids[t]][d];",
    "scatter": "for (int i = 0; i < n; i++) h[a[i]] += 1;",
    "before": "for (int i = 0; i < n; i++) y[i] = x[at[i] - 1];",
    "mirrored": "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < m; j++) "
    "y[i * m + j] = x[at[i] * m + (m - 1 - j)];",
}


def text(name: str) -> str:
    return f"void {name}({HEADS[name]})\n{{\n#pragma scop\n{BODIES[name]}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("name", HEADS)
def test_the_same_values(name: str, tmp_path: Path) -> None:
    """`before` runs as it was written, since the first subscript may be negative."""
    assert_same(region_of(text(name), tmp_path), Options(target="cuda"), (1, 17, 40))


@pytest.mark.parametrize("name", ["csr", "embedding", "rows"])
def test_the_same_values_by_opencl(name: str, tmp_path: Path) -> None:
    assert_same(region_of(text(name), tmp_path), Options(target="opencl"), (17,))


def test_what_may_overlap_is_asked_about(tmp_path: Path) -> None:
    """One search says where the memory lies that is touched, and how much is copied, from the first element on."""
    head = HEADS["csr"].replace("*x", "*restrict x")
    program = f"void csr({head})\n{{\n{BODIES['csr']}\n}}\n"
    found = assert_same(region_of(program, tmp_path, detect=True), Options(target="cuda"), (17,))
    assert "polyc_apart(col + col_first, col + (col_last + 1), y, y + n)" in found.text
    assert "polyc_apart(x" not in found.text
    assert "_OPENMP" not in found.text


def test_ends_are_enough_where_subscripts_are_affine(tmp_path: Path) -> None:
    """The search looks at the first and the last iteration over `d`, and at all over `t`, whose index it reads."""
    result = compiled(text("embedding"), tmp_path, target="cuda")
    loops = result.text.split("start */\n")[1].split("    polyc_is_inside")[0]
    assert loops == (
        "    for (int t = 0; t < n; t++) {\n"
        "      if (0 < m) {\n"
        "        table_first = polyc_min(table_first, (long)(ids[t] * m));\n"
        "        table_last = polyc_max(table_last, (long)(ids[t] * m));\n"
        "        table_first = polyc_min(table_first, (long)(ids[t] * m + (m - 1)));\n"
        "        table_last = polyc_max(table_last, (long)(ids[t] * m + (m - 1)));\n"
        "      }\n"
        "    }\n"
    )
    assert "sizeof(float) * (size_t)(table_last + 1)" in result.device[0]
    assert "_device(int m, int n, const int *ids, const float *table, float *y, c" in result.device[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "for (int i = 0; i < n; i++) at[i] = at[i] % 7; for (int i = 0; i < n; i++) y[i] = x[at[i]];",
            "how much of x is used depends on data, and 'at' decides it, which the region writes",
        ),
        (
            "for (int i = 0; i < n; i++) y[at[i]] = x[i];",
            "no loop of it is parallel, and how much of y is used depends on data",
        ),
    ],
)
def test_why_a_region_stays(body: str, why: str, tmp_path: Path) -> None:
    program = f"void f(int n, int *at, const float *x, float *y)\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    result = compile_region(region_of(program, tmp_path), Options(target="cuda"))
    assert not result.device
    assert why in next(remark.message for remark in result.program.remarks if remark.code == "not-mapped")
