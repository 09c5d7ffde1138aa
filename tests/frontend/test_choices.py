"""Pointers that a condition chooses: what follows in their block, once for each choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.differential.toolbox import assert_verified
from tests.programs import run_alike

ROW = "dst[i * m + j] = 0.25f * (src[i * m + j - 1] + src[(i - 1) * m + j] + src[i * m + j]);"
ROWS = "to[i][j] = 0.25f * (from[i][j - 1] + from[i - 1][j] + from[i][j]);"
LOOPS = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
WAYS = {
    "the same condition": f"float *src = t % 2 == 0 ? a : b, *dst = t % 2 == 0 ? b : a; {LOOPS} {ROW}",
    "the opposite": f"float *src = t & 1 ? b : a; float *dst = !(t & 1) ? b : a; {LOOPS} {ROW}",
    "unequal": f"float *src = t % 2 == 0 ? a : b; float *dst = t % 2 != 0 ? a : b; {LOOPS} {ROW}",
    "assignments": f"float *src, *dst; src = t % 2 ? b : a; dst = t % 2 ? a : b; {LOOPS} {ROW}",
    "branches": f"float *src, *dst; if (t % 2) {{ src = b; dst = a; }} else {{ src = a; dst = b; }} {LOOPS} {ROW}",
    "offsets": f"const float *src = t % 2 ? a + n * m : a; float *dst = t % 2 ? a : a + n * m; {LOOPS} {ROW}",
    "rows": f"float (*from)[m] = t % 2 ? q : p, (*to)[m] = t % 2 ? p : q; {LOOPS} {ROWS}",
    "a loop of two steps": f"for (int s = 0; s < 2; s++) {{ float *src = s ? b : a, *dst = s ? a : b; {LOOPS} {ROW} }}",
    "of the data": f"const float *src = w[t] ? b : a; float *dst = a + n * m; {LOOPS} {ROW}",
    "variables of the body": "float *src = t % 2 ? b : a, *dst = t % 2 ? a : b; float f = 0.5f * t; "
    f"{LOOPS} {{ float g = f * src[i * m + j]; dst[i * m + j] = g + src[i * m + j - 1]; }}",
}
PARALLEL = set(WAYS) - {"of the data"}


def text(body: str) -> str:
    return f"""#include <stdio.h>
void f(int k, int n, int m, float *a, float *b, float (*p)[m], float (*q)[m], const int *w)
{{
#pragma scop
    for (int t = 0; t < k; t++) {{ {body} }}
#pragma endscop
}}
static float a[2000], b[2000], p[40][25], q[40][25];
static int w[9] = {{0, 1, 1, 0, 1}};
int main(void)
{{
    for (int k = 0; k < 5; k++) {{
        for (int i = 0; i < 2000; i++) {{ a[i] = i % 7 + k; b[i] = i % 5; p[i % 1000 / 25][i % 25] = q[3][4] = i % 3; }}
        f(k, 40, 25, a, b, p, q, w);
        double s = 0;
        for (int i = 0; i < 2000; i++) s += (a[i] + 3 * b[i] + 7 * p[i % 40][i % 25] + q[i % 40][i % 25]) * (i % 11);
        printf("%.17g\\n", s);
    }}
    return 0;
}}
"""


@pytest.mark.parametrize("way", WAYS)
def test_each_array_has_one_name(way: str, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(text(WAYS[way]))
    source = read(str(file), InputOptions())
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert_verified(regions)
    assert ("omp parallel for" in regions[0].text) is (way in PARALLEL)
    run_alike(file.read_text(), render_file(source, regions), tmp_path)


ROWS_OF_A_SIZE = """void f(int n, int m, float (*a)[m], float *s)
{{
{before}
#pragma scop
    float (*q)[m] = a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            q[i][j] = a[i][j] + s[j];
#pragma endscop
}}
"""


def test_rows_are_as_long_as_those_of_the_array(tmp_path: Path) -> None:
    """Where the size is the same variable, which nothing gives another value in between."""
    (region,) = read("t.c", InputOptions(), text=ROWS_OF_A_SIZE.format(before="")).regions
    (statement,) = region.scop.statements.values()
    assert {access.array for access in statement.accesses} == {"a", "s"}
    with pytest.raises(UserError, match="pointer"):
        read("t.c", InputOptions(), text=ROWS_OF_A_SIZE.format(before="    m = m / 2;"))
