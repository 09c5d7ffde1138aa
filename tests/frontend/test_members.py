"""Bounds that are products and sums with members of structs: one parameter, the same in every text."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.text.printer import expression
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.differential.toolbox import ROUNDING, WARNINGS, assert_verified, compiled_file, run
from tests.programs import region_of

from .conftest import Modeller

TYPES = """struct inner { long n; };
struct size { int a, w, h; struct inner in; };
"""
HEAD = "int f(struct size *s, struct size l, int m, double *restrict x, const double *restrict y)"


def text(bound: str, more: str = "") -> str:
    nests = f"  for (int i = 0; i < {bound}; i++)\n    x[i] = y[i] * 2;\n{more}"
    return f"{TYPES}{HEAD}\n{{\n#pragma scop\n{nests}#pragma endscop\n  return m + l.a + s->a;\n}}\n"


BOUNDS = {
    "s->a * m": {"s_a_m": "s->a * m"},
    "m * s->a": {"m_s_a": "m * s->a"},
    "s->a * m - 1": {"s_a_m": "s->a * m"},
    "2 * (s->a * m) + 3": {"s_a_m": "s->a * m"},
    "l.w * l.h": {"l_w_l_h": "l.w * l.h"},
    "s->w * s->h * m": {"s_w_s_h_m": "s->w * s->h * m"},
    "s->a * 2 + 1": {"s_a": "s->a"},
    "l.w + s->h": {"l_w": "l.w", "s_h": "s->h"},
    "(int)(s->in.n * m)": {"s_in_n_m": "s->in.n * m"},
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_products_with_members(bound: str, tmp_path: Path) -> None:
    region = region_of(text(bound), tmp_path)
    found = {p.name: expression(p.expr) for p in region.scop.parameters}
    assert BOUNDS[bound].items() <= found.items()
    compiled = compile_region(region, Options(threads="always"))
    assert_verified([compiled])
    assert not [remark.message for remark in compiled.program.remarks if remark.code == "text-not-checked"]
    assert "omp parallel for" in compiled.text
    assert not check(region, compiled)


@pytest.mark.parametrize("bound", BOUNDS)
def test_what_is_printed_runs_as_often(bound: str, tmp_path: Path) -> None:
    """Beside nests with other bounds of the same members."""
    more = "  for (int i = 0; i < s->a; i++)\n    for (int j = 0; j < m; j++)\n      x[i + j] += y[j] - s->h * i;\n"
    file = tmp_path / "original.c"
    file.write_text(text(bound, more))
    _, regions, printed = compiled_file(file, InputOptions(), Options(threads="always"))
    assert_verified(regions)
    (tmp_path / "printed.c").write_text(printed)
    (tmp_path / "main.c").write_text(
        f"#include <stdio.h>\n{TYPES}{HEAD};\nint main(void)\n{{\n"
        "  static double x[4000], y[4000];\n  for (int i = 0; i < 4000; i++)\n    y[i] = i % 97;\n"
        "  for (int m = -1; m < 9; m += 3) {\n"
        "    struct size s = {4 + m, 3, 5, {11}}, l = {3, 6 + m, 8, {2}};\n"
        "    f(&s, l, m, x, y);\n"
        "    double sum = 0;\n    for (int i = 0; i < 4000; i++)\n      sum += x[i] * (i % 13 + 1);\n"
        '    printf("%.17g\\n", sum);\n  }\n}\n'
    )
    outputs = []
    for part in ("original", "printed"):
        flags = (*WARNINGS, "-Wno-unknown-pragmas", ROUNDING, "-fopenmp", "-O2")
        run("gcc", *flags, tmp_path / f"{part}.c", tmp_path / "main.c", "-o", tmp_path / part)
        outputs.append(run(tmp_path / part))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("body", ["v.x = a[i]; v.y = 2; b[i] = v.x * v.y;", "v.x = a[i]; v.y = v.x; p[i] = v;"])
def test_a_struct_that_an_iteration_sets_in_parts_is_its_own(body: str, scop: Modeller) -> None:
    head = "typedef struct { double x, y; } pair;\nvoid f(int n, double a[n], double b[n], pair p[n])"
    found = scop(f"{head} {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ pair v; {body} }}\n#pragma endscop\n}}")
    assert "v" in found.privatizable
    found = scop(f"{head} {{ pair v;\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}")
    assert "v" not in found.privatizable  # from one iteration to the next, as far as anybody can tell
