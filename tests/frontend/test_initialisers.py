"""Initialisers with designators, and structs of pointers that the region declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, assert_verified, compiled_file, run

from .conftest import Modeller

TYPES = """
#include <stdio.h>
struct point { int n; float a[2]; float b; struct { float u, v; } w; };
struct plane { int h, w; const unsigned char *pix; };
struct quat { float w, x; };
enum { FEW = 4 };
static float x[600]; static unsigned char src[600]; static struct quat q[600];
static int at(const struct plane *p, int y, int x)
{
    if (y < 0 || y >= p->h || x >= p->w)
        return -1;
    return p->pix[y * p->w + x] * 2;
}
static void halve(struct quat *v) { v->w *= 0.5f; v->x *= 0.5f; }
"""
BODIES = {
    "members": "struct point k = {.n = i, .b = 2.0f}; x[i] = k.n * k.b + k.a[1];",
    "members out of order": "struct point k = {.b = i, .n = 2}; x[i] = k.n * k.b;",
    "one after a name": "struct point k = {.a = {1, i}, 3, .w = {.v = i}}; x[i] = k.a[1] + 10 * k.b + k.w.v + k.w.u;",
    "elements": "float t[4] = {[2] = 3.0f, i, [0] = 2}; x[i] = t[0] + 3 * t[1] + 7 * t[2] + 11 * t[3];",
    "length by name": "float t[FEW] = {i}; t[i % FEW] += 2; for (int k = 0; k < FEW; k++) x[i] += t[k] * k;",
    "length by sizeof": "float t[sizeof src / sizeof src[0] / 150] = {1, i}; t[2] -= i; x[i] = t[2] + t[3] + t[1];",
    "rows by name": "float t[2][FEW] = {{i}, {1, 2}}; t[1][3] += i; x[i] = t[1][3] + t[1][1] + t[0][3] + t[0][0];",
    "structs in an array": "struct quat t[3] = {{i, 1}, {.5f, x[i]}}; x[i] = t[i % 3].w + t[1].x + t[2].w;",
    "many structs": "struct quat t[17] = {{0}}; t[2].w += i; x[i] = t[2].w + t[3].x;",
    "many numbers": "float t[4][9] = {{0}}; t[i % 4][i % 9] += i; x[i] = t[i % 3][2] + t[3][i % 5];",
    "compound literal": "q[i] = (struct quat){.x = i}; x[i] = q[i].x - q[i].w;",
    "struct with a pointer": "struct plane p = {20, 9, src + 180 * (i % 3)}; x[i] = at(&p, i - 3, i % 9);",
    "pointer by name": "struct plane p = {.pix = src + i, .w = 5}; x[i] = p.pix[4] + p.w + p.h;",
    "set by members": "struct plane p; p.pix = src + i; p.w = i / 2; x[i] = p.pix[p.w];",
    "one name twice": "{ struct quat v = q[i]; halve(&v); q[i] = v; } struct quat *v = q + i; x[i] = v->w + v->x;",
}


def text(body: str) -> str:
    fill = "for (int i = 0; i < 600; i++) { src[i] = i * 7; q[i].w = i; q[i].x = 2 * i; }"
    loop = f"#pragma scop\nfor (int i = 0; i < 300; i++) {{ {body} }}\n#pragma endscop\n"
    shown = 'for (int i = 0; i < 300; i++) printf("%g\\n", x[i]);'
    return f"{TYPES}int main(void)\n{{\n{fill}\n{loop}{shown}\nreturn 0;\n}}\n"


@pytest.mark.parametrize("body", BODIES)
def test_values_are_the_same(body: str, tmp_path: Path) -> None:
    file = tmp_path / "original.c"
    file.write_text(text(BODIES[body]))
    _, regions, printed = compiled_file(file, InputOptions(), Options(threads="always"))
    assert_verified(regions)
    assert "omp parallel for" in regions[0].text
    (tmp_path / "printed.c").write_text(printed)
    outputs = []
    for part in ("original", "printed"):
        run(
            "gcc",
            *WARNINGS,
            ROUNDING,
            "-fopenmp",
            "-O2",
            "-Wno-unknown-pragmas",
            "-Wno-unused-function",
            tmp_path / f"{part}.c",
            "-o",
            tmp_path / part,
        )
        outputs.append(run(tmp_path / part))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "body",
    [
        "struct point k = {.w.u = 2}; x[i] = k.w.u;",  # several links
        "struct point k = {.n = 1, 2, .b = 3}; x[i] = k.b;",  # 2 begins a list without its braces
        "struct quat k = {.x = 1, .x = 2}; x[i] = k.x;",
    ],
)
def test_what_is_no_plain_list_is_told(body: str, tmp_path: Path) -> None:
    file = tmp_path / "original.c"
    file.write_text(text(body))
    with pytest.raises(UserError, match="cannot stand in a region"):
        compiled_file(file, InputOptions(), Options())


@pytest.mark.parametrize(
    ("declared", "loops"),
    [
        ("int h[40] = {0}", True),
        ("int h[40] = {0, 0}", True),
        ("int h[40] = {1}", False),
        ("int h[4] = {0}", False),
        ("const int h[40] = {0}", False),
    ],
)
def test_many_zeros_are_set_in_a_loop(declared: str, loops: bool, scop: Modeller) -> None:
    """One access in the place of 40: questions about a histogram of 256 cells took isl minutes."""
    body = f"{declared}; b[i] = h[i % 4];"
    text = f"void f(int n, int b[n]) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
    found = scop(text)
    writes = [a for s in found.statements.values() for a in s.accesses if a.array == "h" and a.kind.value != "read"]
    assert (len(writes) == 1) == loops
    assert "h" in found.privatizable
