"""Conditions under which the printed loops run: both branches of each, against the original."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import (
    ROUNDING,
    WARNINGS,
    assert_verified,
    compiled_file,
    counted,
    guard_in,
    run,
)
from tests.programs import compiled

MAIN = r"""
#include <stdio.h>
int polyc_ran[2];
static double memory[6000];
void fill(void);
void fill(void)
{
  for (int i = 0; i < 6000; i++)
    memory[i] = i * 37 % 101;
}
void told(void);
void told(void)
{
  double sum = 0;
  for (int i = 0; i < 6000; i++)
    sum += memory[i] * (i % 13 + 1);
  printf("%.17g\n", sum);
}
"""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A function, which nobody marked where it has no question, and calls of it."""

    head: str
    body: str
    calls: str
    guard: str
    """The condition that is printed, on one line."""
    types: str = ""
    tiles: tuple[str, tuple[int, ...]] = ("auto", ())


def shifted(call: str, shifts: tuple[int, ...]) -> str:
    """A call for each distance of an argument from another one, on fresh memory, whose sum is printed."""
    return "".join(f"  fill();\n  {call.replace('SHIFT', str(shift))};\n  told();\n" for shift in shifts)


SHIFTS = (0, 1, -1, 7, 359, 360, -359, -360, 2000)
"""The same memory, one element apart, all but one element apart, just beside each other, far from each other."""
GUARDED = {
    "sizes are a disjunction": Guarded(
        "void f(int lk, int ny, double x[][18], double y[][18])",
        """  for (int k = 0; k < lk; k++)
    for (int j = 0; j < ny; j++)
      y[k][j] = x[k][j] + 1;
""",
        "".join(
            shifted(f"f({lk}, {ny}, (double (*)[18])(memory + 2000), (double (*)[18])(memory + 2000 + SHIFT))", SHIFTS)
            for lk, ny in ((20, 18), (20, 17), (0, 30), (20, 19), (20, 0), (-1, 18))
        ),
        "(ny <= 18 || lk <= 0) && polyc_apart(x, x + lk, y, y + lk)",
    ),
    "three arguments": Guarded(
        "void f(int n, double *a, double *b, double *out)",
        """  for (int i = 0; i < n; i++)
    out[i] = a[i] * 2 + b[i];
""",
        shifted("f(360, memory + 2000, memory + 2000, memory + 2000 + SHIFT)", SHIFTS)
        + shifted("f(360, memory + 2000, memory + 4500, memory + 2000 + SHIFT)", SHIFTS)
        + shifted("f(360, memory + 4500, memory + 2000, memory + 2000 + SHIFT)", SHIFTS)
        + shifted("f(0, memory + 2000, memory + 2000, memory + 2000 + SHIFT)", SHIFTS),
        "polyc_apart(a, a + n, out, out + n) && polyc_apart(b, b + n, out, out + n)",
    ),
    "a bound in memory": Guarded(
        "void f(const struct size *s, int *a)",
        """  for (int i = 0; i < s->n; i++)
    a[i] = 7 - a[i];
""",
        r"""  for (int k = -12; k < 12; k++) {
    static int numbers[64];
    for (int i = 0; i < 64; i++)
      numbers[i] = 8;
    f((const struct size *)(numbers + 20), numbers + 20 + k);
    for (int i = 0; i < 64; i++)
      printf("%d ", numbers[i]);
  }
""",
        "polyc_apart(a, a + s->n, s, s + 1)",
        "struct size { int n, m; };\n",
    ),
    "a global": Guarded(
        "void f(int *a)",
        """  for (int i = 0; i < bound; i++)
    a[i] = 40;
""",
        r"""  int other[100] = {0};
  bound = 20;
  f(&bound);
  printf("%d\n", bound);
  bound = 20;
  f(other);
  printf("%d %d %d\n", bound, other[19], other[20]);
""",
        "polyc_apart(a, a + bound, &bound, &bound + 1)",
        "int bound;\n",
    ),
    "rows of a length that a run knows": Guarded(
        "void f(int n, int m, int w, double *a, double *b)",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i * w + j] = a[i * w + j] + 3;
""",
        "".join(
            shifted(f"f({sizes}, memory + 2000, memory + 2000 + SHIFT)", SHIFTS)
            for sizes in ("18, 20, 20", "18, 22, 20", "18, 1, 0", "1, 30, 20", "0, 1, 1")
        ),
        "w >= m && polyc_apart(a, a + n * (long)w, b, b + n * (long)w)",
    ),
    "unsigned sizes": Guarded(
        "void f(unsigned n, unsigned first, double *a, double *b)",
        """  for (unsigned i = first; i < n - 1; i++)
    b[i] = a[i + 1] * 0.5;
""",
        "".join(
            shifted(f"f({sizes}, memory + 2000, memory + 2000 + SHIFT)", SHIFTS)
            for sizes in ("361, 1", "361, 400", "1, 0", "2, 2")
        ),
        "(long)n >= 1 && polyc_apart(a + ((long)first + 1), a + (long)n, b + (long)first, b + ((long)n - 1))",
    ),
    "memory on the heap": Guarded(
        "void f(int t, int n, double *a, double *b)",
        """  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.25 * b[i] + b[i + 1];
  }
""",
        "".join(
            shifted(f"f({sizes}, memory + 2000, memory + 2000 + SHIFT)", SHIFTS)
            for sizes in ("20, 360", "1, 360", "0, 5", "3, 2")
        ),
        "a_next",
        tiles=("overlapped", (4, 16)),
    ),
    "an answer of the data": Guarded(
        "void f(int rows, int n, const int *restrict key, const double *w, double *h)",
        """#pragma scop
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < 20; x++)
      h[y * n + key[y * 20 + x]] += w[y * 20 + x];
#pragma endscop
""",
        "  static int key[360];\n  for (int i = 0; i < 360; i++)\n    key[i] = i % 7;\n"
        + shifted("f(18, 10, key, memory + 2000, memory + 4000 + SHIFT)", (0, 1))
        + shifted("f(18, 5, key, memory + 2000, memory + 4000 + SHIFT)", (0, 1)),
        "inside",
    ),
    "more than a line": Guarded(
        "void f(int rows, double *first, double *second, double *third, double *fourth, double *out)",
        """  for (int i = 0; i < rows; i++)
    out[i] = first[i] + second[i] * third[i] - fourth[i];
""",
        shifted("f(360, memory, memory + 400, memory + 800, memory + 1200, memory + 2000 + SHIFT)", (-1200, 0))
        + shifted("f(360, memory + 800, memory + 400, memory, memory + 1200, memory + 2000 + SHIFT)", (-1999, 0)),
        "polyc_apart(first, first + rows, out, out + rows) && polyc_apart(fourth, fourth + rows, out, out + rows)"
        " && polyc_apart(out, out + rows, second, second + rows) && polyc_apart(out, out + rows, third, third + rows)",
    ),
}


@pytest.mark.parametrize("name", GUARDED)
def test_both_branches_do_what_the_original_does(name: str, tmp_path: Path) -> None:
    guarded = GUARDED[name]
    original = f"{guarded.types}{guarded.head}\n{{\n{guarded.body}}}\n"
    file = tmp_path / "original.c"
    file.write_text(original)
    options = Options(threads="always", time_tile=guarded.tiles)
    _, regions, text = compiled_file(file, InputOptions(detect=True), options)
    assert_verified(regions)
    guard = guard_in(text)
    (tmp_path / "printed.c").write_text(counted(text, guard))
    (tmp_path / "main.c").write_text(
        f"{MAIN}{guarded.types}{guarded.head};\nint main(void)\n{{\n{guarded.calls}"
        '  printf("\\n%d %d\\n", polyc_ran[0] > 0, polyc_ran[1] > 0);\n}\n'
    )
    outputs = []
    for part in ("original", "printed"):
        flags = (*WARNINGS, "-Wno-unknown-pragmas", ROUNDING, "-fcommon", "-fno-strict-aliasing", "-fopenmp", "-O2")
        run("gcc", *flags, tmp_path / f"{part}.c", tmp_path / "main.c", "-o", tmp_path / part)
        outputs.append(run(tmp_path / part).splitlines())
    assert outputs[0][:-1] == outputs[1][:-1]
    assert outputs[1][-1] == "1 1"
    assert " ".join(guard.split()) == guarded.guard


TILE_OF_ROWS = """
void f(@@ n, const double *restrict a, double *restrict out)
{
    double b[n + 4];
#pragma scop
    for (int i = 0; i < n + 4; i++)
        b[i] = a[i];
    for (int i = 0; i < n; i++)
        out[i] = b[i] + b[3];
#pragma endscop
}
"""


@pytest.mark.parametrize(("type_", "asked"), [("unsigned char", False), ("int", True)])
def test_what_a_narrow_type_decides_is_not_asked(type_: str, asked: bool, tmp_path: Path) -> None:
    """A buffer with room for so many elements: compilers warn where no number is as large."""
    options = {"tile_sizes": (2,), "max_recompute": 1e6}
    result = compiled(TILE_OF_ROWS.replace("@@", type_), tmp_path, **options)
    assert result.verified
    assert ("if (n <= 2064)" in result.text) == asked
    assert "b_tile[" in result.text


def test_an_unsigned_zero_is_not_compared(tmp_path: Path) -> None:
    """gcc says of `(unsigned)0 > k` that it is always false: a loop of one iteration keeps its variable there."""
    text = """
void f(int k, double out[1], double in[1])
{
#pragma scop
    for (unsigned i = 0; i < 1; i++)
        out[i] = i > (k) ? 0.3 : in[i];
#pragma endscop
}
"""
    printed = compiled(text, tmp_path).text
    assert "const unsigned i = 0;" in printed
    assert "out[0] = i > k ? 0.3 : in[0];" in printed
