"""`switch` as branches: where each case ends by itself, with the same values."""

from __future__ import annotations

from pathlib import Path

import pytest
from pycparser import c_ast, c_generator
from pycparser.c_parser import CParser

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.frontend.text.switches import with_branches
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import run_alike


def changed(text: str) -> str:
    tree = CParser().parse(f"int f(int a, int b) {{ {text} }}")
    with_branches(tree.ext[0].body)
    return " ".join(c_generator.CGenerator().visit(tree.ext[0].body).split())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("switch (a) { case 1: b = 1; break; }", "{ if (a == 1) { b = 1; } }"),
        (
            "switch (a) { case 1: case 2: b = 1; break; default: b = 2; }",
            "{ if ((a == 1) || (a == 2)) { b = 1; } else { b = 2; } }",
        ),
        (
            "switch (a) { default: b = 2; break; case 1: b = 1; break; case 3: { b = 3; break; } }",
            "{ if (a == 1) { b = 1; } else if (a == 3) { { b = 3; } } else { b = 2; } }",
        ),
        ("switch (a) { case 1: return 2; case 2: break; }", "{ if (a == 1) { return 2; } else if (a == 2) { } }"),
        ("switch (a) { case 1: default: b = 1; }", "{ { b = 1; } }"),
        (
            "switch (a) { case 1: for (;;) { if (b) break; b++; } break; default: while (b) b--; }",
            "{ if (a == 1) { for (;;) { if (b) break; b++; } } else { while (b) b--; } }",
        ),
        (
            "if (b) switch (a) { case 1: switch (b) { case 0: b = 7; } break; case 2: b = 1; }",
            "{ if (b) if (a == 1) { if (b == 0) { b = 7; } } else if (a == 2) { b = 1; } }",
        ),
    ],
)
def test_cases_that_end(text: str, wanted: str) -> None:
    assert changed(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "switch (a) { case 1: b = 1; case 2: b = 2; }",
        "switch (a++) { case 1: b = 1; break; }",
        "switch (f(a, b)) { case 1: b = 1; break; }",
        "switch (a) { case 1: if (b) break; b = 1; break; }",
        "switch (a) { case 1: for (b = 0; b < 9; b++) ; if (b) break; b = 2; break; }",
        "switch (a) { case 1: { int c; c = 1; b = c; } case 2: break; }",
        "switch (a) { int c; case 1: c = 1; b = c; break; }",
        "switch (a) { b = 1; case 1: break; }",
        "switch (a) { case 1: here: b = 1; break; }",
        "switch (a) case 1: b = 1;",
    ],
)
def test_others_stay(text: str) -> None:
    assert "switch" in changed(text)
    tree = CParser().parse(f"int f(int a, int b) {{ {text} }}")
    assert changed(text) == " ".join(c_generator.CGenerator().visit(tree.ext[0].body).split())
    assert isinstance(tree.ext[0].body, c_ast.Compound)


TEXT = """#include <stdio.h>
enum kind { COPY, TWICE, NOT, SQUARE };
static inline float one(float x, enum kind kind)
{
    switch (kind) {
    case TWICE:
        return x * 2;
    case NOT: return -x;
    case SQUARE:
        x = x * x;
        break;
    default:
        break;
    }
    return x;
}
void all(float *x, int n, enum kind kind)
{
    for (int i = 0; i < n; i++)
        x[i] = one(x[i], kind);
}
void several(int way, int n, float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        switch (way) {
        default: a[i] *= b[i]; break;
        case 0: a[i] += b[i]; break;
        case 1: case 2: { a[i] -= b[i]; break; }
        }
}
void by_data(int n, float *a, const unsigned char *b)
{
    for (int i = 0; i < n; i++) {
        switch (b[i] & 3) {
        case 0: a[i] += 1; break;
        case 3: a[i] = 0; break;
        }
        a[i] *= 2;
    }
}
int main(void)
{
    static float a[900], b[900];
    static unsigned char c[900];
    for (int way = -1; way < 6; way++) {
        for (int i = 0; i < 900; i++) a[i] = i % 7 - 3, b[i] = i % 5 - 2, c[i] = i * 7 % 13;
        all(a, 700, (enum kind)way);
        several(way, 800, a, way == 3 ? a + 9 : b);
        by_data(600 + way, a, c);
        double sum = 0;
        for (int i = 0; i < 900; i++) sum += a[i] * (i % 17);
        printf("%.17g\\n", sum);
    }
    return 0;
}
"""


@pytest.mark.slow
def test_the_same_values(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(TEXT)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always", tile_sizes=None)) for region in source.regions]
    assert {region.program.scop.function for region in regions} >= {"all", "several", "by_data"}
    run_alike(TEXT, render_file(source, regions), tmp_path)
