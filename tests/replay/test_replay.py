"""What a replay of a region and a text finds, and what it does not run."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from polyc.codegen.render import render_region
from polyc.frontend import read
from polyc.model.printed import Rendered
from polyc.model.program import Compiled, InputOptions, Options, Program
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.poly import OverBudget
from polyc.replay import FUEL, Outcome, replay

STEP = """
void step(int lk, int ny, double x[][18], double y[][18])
{
    for (int k = 0; k < lk; k++)
        for (int j = 0; j < ny; j++)
            y[k][j] = x[k][j] + 1;
}
"""
APART = "polyc_apart(x, x + lk, y, y + lk)"


def region_of(text: str, inputs: InputOptions | None = None) -> Region:
    (region,) = read("t.c", inputs or InputOptions(), text=text).regions
    return region


def marked(head: str, body: str) -> Region:
    return region_of(f"{head}\n{{\n#pragma scop\n{textwrap.dedent(body).strip()}\n#pragma endscop\n}}\n")


def compiled(region: Region, **options: object) -> Compiled:
    return compile_region(region, Options(**options))  # type: ignore[arg-type]


def with_text(region: Region, text: str, **options: object) -> Outcome:
    """A replay of a text that somebody wrote by hand."""
    return replay(region, compiled(region, **options).program, f"{{\n{textwrap.dedent(text).strip()}\n}}\n")


SUMS = marked("void f(int n, double a[n], double s[n])", "for (int i = 1; i < n; i++)\n  a[i] = a[i - 1] + s[i];")
SCALED = marked("void f(int n, double a[n], double b[n])", "for (int i = 0; i < n; i++)\n  b[i] = 2 * a[i];")
TOTAL = marked("void f(int n, double a[n], double *t)", "for (int i = 0; i < n; i++)\n  t[0] += a[i];")
COUNTS = marked("void f(int n, int b[n], int h[8])", "for (int i = 0; i < n; i++)\n  h[b[i] & 7] += 1;")
LARGEST = marked(
    "void f(int n, float a[n], float m[1])", "for (int i = 0; i < n; i++)\n  m[0] = a[i] > m[0] ? a[i] : m[0];"
)


# --- guards ----------------------------------------------------------------------------------------------------------


def guarded(condition: str) -> Outcome:
    region = region_of(STEP, InputOptions(detect=True))
    result = compiled(region, threads="always")
    opening = result.text.index("if (")
    head = result.text[opening : result.text.index(") {\n", opening)]
    assert APART in head
    return replay(region, result.program, result.text.replace(head, f"if ({condition}", 1))


def test_a_guard_asks_whether_arrays_overlap() -> None:
    found = guarded(f"(ny <= 18 || lk <= 0) && {APART}")
    assert found.kind == "agrees"
    assert found.coverage.missed == ()


@pytest.mark.parametrize("condition", [f"ny <= 18 || lk <= 0 && {APART}", "ny <= 18 || lk <= 0"])
def test_a_guard_that_forgets_about_overlaps(condition: str) -> None:
    found = guarded(condition)
    assert found.kind == "differs"
    assert found.reason.startswith("two iterations of a parallel loop touch")
    assert "where y begins 1 elements after x" in found.reason


# --- loops with pragmas ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pragma", ["omp parallel for", "omp simd"])
def test_a_loop_that_is_not_parallel(pragma: str) -> None:
    text = f"#pragma {pragma}\nfor (long i = 1; i < n; i++)\n  a[i] = a[i - 1] + s[i];"
    found = with_text(SUMS, text)
    assert found.kind == "differs"
    assert re.fullmatch(r"two iterations of a parallel loop touch a\[\d+\]", found.reason)
    assert with_text(SUMS, text.split("\n", 1)[1]).kind == "agrees"


def test_a_variable_that_iterations_share() -> None:
    shared = """
    double t;
    #pragma omp parallel for
    for (long i = 0; i < n; i++) {
      t = 2 * a[i];
      b[i] = t;
    }
    """
    found = with_text(SCALED, shared.replace("    #", "#"))
    assert found.kind == "differs"
    assert found.reason == "iterations of a parallel loop share 't'"
    own = shared.replace("    #", "#").replace("parallel for", "parallel for private(t)")
    assert with_text(SCALED, own).kind == "agrees"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("i == 2", "i == 2 && n > 3", "agrees"),
        ("n > 3 && i == n - 1", "i == n - 1", "agrees"),
        ("i + 1 == n && n > 2", "i == n - 1", "agrees"),
        ("n - i == 3", "n == 1 + i + 2", "agrees"),
        ("i == 2", "i == 3", "differs"),
        ("i + 1 == n", "i == n - 2", "differs"),
        ("i - i == 0", "i - i == 0", "differs"),
        ("i == 2", "i >= 2", "differs"),
        ("i == k", "i == k", "differs"),
        ("i == 2 || n > 90", "i == 2", "differs"),
    ],
)
def test_a_variable_that_one_iteration_has(first: str, second: str, kind: str) -> None:
    text = f"""
    double t = 0, u = 0;
    long k = 1;
    #pragma omp parallel for
    for (long i = 0; i < n; i++) {{
      k = i;
      b[i] = 2 * a[i];
      if ({first})
        t = 2 * a[i];
      if ({second}) {{
        u = t;
      }}
    }}
    """.replace("    #", "#")
    if "k" not in first:
        text = text.replace("      k = i;\n", "")
    found = with_text(SCALED, text)
    assert found.kind == kind, found.reason
    assert kind == "agrees" or found.reason.startswith("iterations of a parallel loop share")


@pytest.mark.parametrize(
    ("condition", "kind"), [("t <= 2 && t + 3 >= 2", "agrees"), ("t <= 5", "differs"), ("t / 4 == n / 8", "agrees")]
)
def test_a_variable_that_one_tile_changes(condition: str, kind: str) -> None:
    text = f"""
    double sum = 0;
    #pragma omp parallel for
    for (long t = 0; t < n; t += 4) {{
      if ({condition})
        sum += 2 * a[t];
      for (long i = t; i < (n < t + 4 ? n : t + 4); i++)
        b[i] = 2 * a[i];
    }}
    (void)sum;
    """.replace("    #", "#")
    found = with_text(SCALED, text)
    assert found.kind == kind, found.reason
    assert kind == "agrees" or found.reason == "iterations of a parallel loop share 'sum'"


def test_reductions_and_atomic_updates() -> None:
    loop = "for (long i = 0; i < n; i++)"
    plain = f"#pragma omp parallel for\n{loop}\n  h[b[i] & 7] += 1;"
    assert with_text(COUNTS, plain).kind == "differs"
    assert with_text(COUNTS, plain.replace("for\n", "for reduction(+: h[:8])\n")).kind == "agrees"
    assert (
        with_text(COUNTS, f"#pragma omp parallel for\n{loop}\n#pragma omp atomic\n  h[b[i] & 7] += 1;").kind == "agrees"
    )


# --- order -----------------------------------------------------------------------------------------------------------

BACKWARDS = "for (long i = n - 1L; i >= 0; i--)"


def test_sums_in_another_order() -> None:
    text = f"{BACKWARDS}\n  t[0] += a[i];"
    assert with_text(TOTAL, text).kind == "differs"
    assert with_text(TOTAL, text, reassociate=True).kind == "agrees"
    less = with_text(TOTAL, text.replace(">= 0", "> 0"), reassociate=True)
    assert less.kind == "differs"


def test_whole_numbers_and_maxima_in_another_order() -> None:
    assert with_text(COUNTS, f"{BACKWARDS}\n  h[b[i] & 7] += 1;").kind == "agrees"
    assert with_text(LARGEST, f"{BACKWARDS}\n  m[0] = a[i] > m[0] ? a[i] : m[0];").kind == "agrees"
    assert with_text(LARGEST, f"{BACKWARDS}\n  m[0] = a[i] < m[0] ? a[i] : m[0];").kind == "differs"


def test_a_write_that_comes_too_late() -> None:
    """A text as isl's own fusion printed one: a column is read before it is written."""
    region = marked(
        "void f(int n, double a[n + 4][n + 4], double b[n + 4][n + 4], double v[n + 4])",
        """
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j += 2) {
            a[i + 1][j] += v[i % 3 + 2];
            if (j + j < n)
              b[j + 1][i + 2] = a[j + 2][i] * 2 + i;
          }
        """,
    )
    text = """
    for (long j = 0; j < n; j += 2)
      for (long i = 0; i < n; i++) {
        a[i + 1][j] += v[i % 3 + 2];
        if (2 * j < n)
          b[j + 1][i + 2] = a[j + 2][i] * 2 + (int)i;
      }
    """
    found = with_text(region, text)
    assert found.kind == "differs"
    assert found.difference is not None
    assert found.reason == "b[1][4] has another value"
    assert found.difference.sizes == {"n": 4}
    assert found.difference.witness == (
        "b[1][4] is written last by line 5 (i = 2, j = 0) of the region, and written last by line 6 (j = 0, i = 2) of "
        "the text; the first operands that differ: a[2][2] of line 3 (i = 1, j = 2) in the region, a[2][2] as it was "
        "before in the text"
    )


SHIFTED = marked(
    "void f(int n, double a[n], double b[n])", "for (int i = 0; i < n; i++)\n  b[i] = i > 1 ? a[i - 2] : (double)i;"
)


@pytest.mark.parametrize(
    ("start", "kind"), [("0", "differs"), ("2", "agrees")], ids=["before the array", "where it is there"]
)
def test_what_a_choice_computes_in_vain_is_read(start: str, kind: str) -> None:
    text = f"""
    for (long i = 0; i < polyc_min(n, {start}); i++)
      b[i] = i > 1 ? a[i - 2] : (double)(int)i;
    for (long i = {start}; i < n; i++)
      b[i] = polyc_select(i > 1, a[i - 2], (double)(int)i);
    """
    found = with_text(SHIFTED, text)
    assert found.kind == kind
    assert kind == "agrees" or "leaves the array" in found.reason


def test_what_a_choice_computes_in_vain_lies_between_what_is_read() -> None:
    """The array may begin where the region reads it first."""
    region = marked("void f(int n, double *a, double b[n])", "for (int i = 0; i < n; i++)\n  b[i] = i ? a[3 * i] : 0;")
    found = with_text(region, "for (long i = 0; i < n; i++)\n  b[i] = polyc_select(i != 0, a[3 * i], 0);")
    assert found.reason == "the text leaves the array a"


# --- what data choose ------------------------------------------------------------------------------------------------

CHOSEN = marked(
    "void f(int n, float a[n], float b[8], float c[n], double t[n])",
    """
    for (int i = 0; i < n; i++)
      t[i] = i * 2;
    for (int i = 0; i < n; i++) {
      float x = a[i] > 0.0f ? a[i] : 0.0f;
      c[i] = b[(int)x & 7] + t[i];
    }
    """,
)
CHOOSING = """
for (long i = 0; i < n; i++) {{
  t[i] = (int)i * 2;
  c[i] = b[{}] + t[i];
}}
"""
TABLE = "void f(int n, float b[8], float c[n])"


def test_a_whole_number_does_not_depend_on_what_was_computed_before() -> None:
    """The region turns 0 into a fraction before it makes a whole number of one, and the text does not."""
    assert with_text(CHOSEN, CHOOSING.format("(int)(a[i] > 0.0f ? a[i] : 0.0f) & 7")).kind == "agrees"
    without = """
    for (long i = 0; i < n; i++)
      c[i] = b[(int)(a[i] > 0.0f ? a[i] : 0.0f) & 7] + (double)((int)i * 2);
    for (long i = n - 1L; i >= 0; i--)
      t[i] = (int)i * 2;
    """
    assert with_text(CHOSEN, without).kind == "agrees"


@pytest.mark.parametrize("subscript", ["(int)a[i] & 7", "(int)(a[i] > 0.0f ? a[i] : 1.0f) & 7"])
def test_another_choice_is_a_difference(subscript: str) -> None:
    found = with_text(CHOSEN, CHOOSING.format(subscript))
    assert found.kind == "differs"
    assert found.difference is not None
    assert found.difference.array == "c"


@pytest.mark.parametrize(
    ("stored", "type_of", "used", "same", "other"),
    [
        ("2.5f", "float", "b[(int)x]", "b[(int)2.5f]", "b[(int)3.5f]"),
        ("2.5f", "float", "b[(int)-x + 4]", "b[(int)-2.5f + 4]", "b[(int)2.5f + 4]"),
        ("0.1", "double", "(float)x + b[0]", "0.1f + b[0]", "0.1 + b[0]"),
        ("0.0", "double", "b[0] * -x", "b[0] * -0.0", "b[0] * -1.0"),
    ],
)
@pytest.mark.parametrize("reassociate", [False, True])
def test_constants_are_the_same_in_a_variable(
    stored: str, type_of: str, used: str, same: str, other: str, reassociate: bool
) -> None:
    loop = "for ({} i = 0; i < n; i++)"
    region = marked(TABLE, f"{loop.format('int')} {{\n  {type_of} x = {stored};\n  c[i] = {used};\n}}")
    for expression, kind in ((used.replace("x", f"({stored})"), "agrees"), (same, "agrees"), (other, "differs")):
        if reassociate and "0.1" in stored:
            continue  # residues are not rounded
        text = f"{loop.format('long')}\n  c[i] = {expression};"
        assert with_text(region, text, reassociate=reassociate).kind == kind


def test_sums_that_choose_are_the_same_in_any_order() -> None:
    region = marked(
        "void f(int n, float a[n], float b[8], float c[n])",
        """
        for (int i = 0; i < n; i++) {
          float x = a[i] + 0.5f + i;
          c[i] = b[(int)x & 7];
        }
        """,
    )
    text = "for (long i = 0; i < n; i++)\n  c[i] = b[(int)((int)i + ({} + a[i])) & 7];"
    assert with_text(region, text.format("0.5f"), reassociate=True).kind == "agrees"
    assert with_text(region, text.format("1.5f"), reassociate=True).kind == "differs"
    assert with_text(region, text.format("0.5f")).kind == "differs"


# --- memory ----------------------------------------------------------------------------------------------------------


def test_a_local_array_that_nobody_filled() -> None:
    text = """
    double t[8];
    for (long i = 0; i < n; i++) {
      if (i % 8 != 7)
        t[i % 8] = 2 * a[i];
      b[i] = t[i % 8];
    }
    """
    found = with_text(SCALED, text)
    assert found.kind == "differs"
    assert found.difference is not None
    assert "t[7], which was never set in the text" in found.difference.witness


def test_a_local_array_that_is_left() -> None:
    text = "double t[4];\nfor (long i = 0; i < n; i++) {\n  t[i] = 2 * a[i];\n  b[i] = t[i];\n}"
    found = with_text(SCALED, text)
    assert found.kind == "differs"
    assert found.reason == "t has 4 elements, and number 8 is written"


def test_a_text_that_leaves_the_users_array() -> None:
    found = with_text(SCALED, "for (long i = 0; i < n + 1L; i++)\n  b[i] = 2 * a[i];")
    assert found.kind == "differs"


TURNS = marked(
    "void f(int k, int n, double a[n], double b[n])",
    """for (int t = 0; t < k; t++) {
      const double *from = t % 2 ? b : a;
      double *to;
      to = t % 2 ? a : b;
      for (int i = 1; i < n; i++)
        to[i] = 2 * from[i - 1];
    }""",
)


@pytest.mark.parametrize(("source", "same"), [("t % 2 ? b : a", True), ("t % 2 ? a : a", False), ("a", False)])
def test_pointers_that_are_chosen(source: str, same: bool) -> None:
    """Both arrays count, that of the condition that does not hold as well."""
    loop = "for (int i = 1; i < n; i++)\n    to[i] = 2 * from[i - 1];"
    text = f"for (int t = 0; t < k; t++) {{\n  double *from = {source}, *to = t % 2 ? a : b;\n  {loop}\n}}"
    assert with_text(TURNS, text).kind == ("agrees" if same else "differs")


def test_types_matter() -> None:
    region = marked("void f(int n, float a[n], float b[n])", "for (int i = 0; i < n; i++)\n  b[i] = a[i] * 0.1;")
    loop = "for (long i = 0; i < n; i++)\n  b[i] = "
    assert with_text(region, f"{loop}(float)(a[i] * 0.1);").kind == "agrees"
    assert with_text(region, f"{loop}a[i] * 0.1f;").kind == "differs"


def test_division_truncates() -> None:
    region = marked("void f(int n, int a[n])", "for (int i = 0; i < n; i++)\n  a[i] = (i - 3) / 2 + (i - 3) % 2;")
    loop = "for (long i = 0; i < n; i++)\n  a[i] = "
    assert with_text(region, f"{loop}(int)((i - 3) / 2 + (i - 3) % 2);").kind == "agrees"
    assert with_text(region, f"{loop}(int)((i - 3 >= 0 ? i - 3 : i - 4) / 2 + (i - 3) % 2);").kind == "differs"


WHOLE = """
typedef _Bool flag;
void f(unsigned long n, long out[n])
{
#pragma scop
  for (unsigned long z = 0; z < n; z++)
    out[z] = EXPRESSION;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        # numbers below 0 as unsigned ones, and what comes back from there
        ("(z + 3 < 0 ? z + 3 : -1) + 1", "0"),
        ("z - 1 + 1 - z", "0"),
        ("(int)(z - z - 1)", "-1"),
        ("(int)z - 1 < z", "0 != z"),
        ("z - 40503u < z", "0"),
        ("(long)((unsigned)z - 1 - (unsigned)z)", "4294967295L"),
        ("((int)z - 1) * 2ul + 2 - 2 * z", "0"),
        ("(unsigned)-1 % 97 + 0 * z", "34"),
        ("-7 / 2u", "2147483644"),
        # what is too large for its type
        ("(unsigned)(z + 3) * 2654435761u < 4294967296", "1"),
        ("((unsigned)z & 0) + 65535u * 65537u + 1u", "0"),
        ("(unsigned char)(z - z - 2)", "254"),
        ("(signed char)(z - z + 200)", "-56"),
        ("(short)(40000 + (int)(z & 0))", "-25536"),
        ("~0u >> 1", "2147483647"),
        ("~(unsigned)(z & 0) > 5", "1"),
        ("~(unsigned char)(z & 0)", "-1"),
        # types of constants
        ("0x80000000L - 2147483649", "-1"),
        ("0x80000000 - 2147483649", "-1"),
        ("-1 < 0x80000000", "0"),
        ("-1 < 0x80000000L", "1"),
        ("-1 < 2147483648", "1"),
        ("-1 < 037777777777", "0"),
        ("-1 < 1u", "0"),
        ("-1 < sizeof(int)", "0"),
        # whether something is so
        ("(_Bool)(z - z + 256)", "1"),
        ("(flag)(z - z + 256) + 1", "2"),
        ("(_Bool)0.5", "1"),
        ("(z < n) + (z < n) << 1", "4"),
        ("-(z < n)", "-1"),
        ("~(z < n)", "-2"),
        # shifts, as machines do them
        ("(int)(z & 0) - 8 >> 1", "-4"),
        ("(int)(z & 0) + 1 << 31", "-2147483647 - 1"),
    ],
)
def test_whole_numbers_are_those_of_c(expression: str, same: str) -> None:
    region = region_of(WHOLE.replace("EXPRESSION", expression))
    loop = "for (unsigned long z = 0; z < n; z++)\n  out[z] = "
    assert with_text(region, f"{loop}{same};").kind == "agrees"
    assert with_text(region, f"{loop}{same} + 1;").kind == "differs"


def test_what_a_truth_value_holds() -> None:
    """An array under another name of _Bool has zeros and ones, so that a copy of it has, too."""
    region = region_of(
        "typedef _Bool flag;\nvoid f(int n, flag a[n], flag b[n], int c[n])\n{\n#pragma scop\n"
        "for (int i = 0; i < n; i++)\n  c[i] = a[i] ? 1 : 0;\n#pragma endscop\n}\n"
    )
    assert with_text(region, "for (long i = 0; i < n; i++)\n  c[i] = a[i];").kind == "agrees"


# --- what is not run -------------------------------------------------------------------------------------------------


def test_sizes_that_are_too_large() -> None:
    region = marked(
        "void f(double a[900][900])", "for (int i = 0; i < 900; i++)\n  for (int j = 0; j < 900; j++)\n    a[i][j] = 1;"
    )
    result = compiled(region)
    found = replay(region, result.program, result.text)
    assert found.kind == "not-run"
    assert found.reason == "the region takes more than 20000 iterations at small sizes"


def test_statements_that_are_not_understood() -> None:
    assert with_text(SCALED, 'for (long i = 0; i < n; i++)\n  __asm__("nop");').kind == "not-run"


def test_a_function_of_the_library_that_returns_a_struct() -> None:
    text = (
        "#include <stdlib.h>\nvoid f(int n, div_t *restrict x, const int *restrict a, int b)\n{\n"
        "    for (int i = 0; i < n; i++)\n        x[i] = div(a[i], b);\n}\n"
    )
    region = region_of(text, InputOptions(detect=True))
    done = compiled(region)
    outcome = replay(region, done.program, done.text)
    assert (outcome.kind, outcome.reason) == ("not-run", "a call of div")


def test_sizes_with_which_the_region_itself_leaves_a_row_prove_nothing() -> None:
    region = marked(
        "void f(int n, int m, double a[n][20])",
        "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    a[i][j] = i;",
    )
    text = (
        "#pragma omp parallel for\nfor (long i = 0; i < n; i++)\n  for (long j = 0; j < m; j++)\n    a[i][j] = (int)i;"
    )
    found = with_text(region, text)
    assert found.kind == "agrees"


def test_sizes_with_which_a_function_of_the_region_leaves_its_array_prove_nothing() -> None:
    text = """
static void first(float *d, int n) { float z[n + 1]; z[1] = 2; d[0] = n; }
void f(int w, int h, float *a)
{
    for (int j = 0; j < h; j++) {
        float d[w];
        first(d, w);
        for (int i = 0; i < w; i++)
            a[j * w + i] = d[0];
    }
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    inlined = """for (long j = 0; j < h; j++) {
  float z[w + 1];
  z[1] = 2;
  for (long i = 0; i < w; i++)
    a[j * w + i] = w;
}"""
    found = with_text(region, inlined)
    assert (found.kind, found.reason) == ("agrees", "")
    wrong = with_text(region, inlined.replace("w + 1", "1"))
    assert wrong.reason == "z has 1 elements, and number 1 is written"


def too_long(*_: object) -> None:
    raise OverBudget


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("fuel", [FUEL, 4])
def test_a_text_that_takes_too_long_to_compare_is_run(wrong: bool, fuel: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as that takes, within reason: nothing else looks at it."""

    def printed(*given: Any) -> Rendered:
        right = render_region(*given)
        return replace(right, text=right.text.replace("2 * a[i]", "3 * a[i]")) if wrong else right

    def run(region: Region, program: Program, text: str, most: int = fuel) -> Outcome:
        return replay(region, program, text, most)

    monkeypatch.setattr("polyc.attempt.text_faults", too_long)
    monkeypatch.setattr("polyc.attempt.render_region", printed)
    monkeypatch.setattr("polyc.attempt.replay", run)
    result = compiled(SCALED, budget=0)
    codes = {remark.code for remark in result.program.remarks}
    assert ("verification-failed" in codes) == wrong
    assert ("text-not-checked" in codes) != wrong
    assert "3 * a[i]" not in result.text


def test_a_copy_costs_as_many_steps_as_it_has_elements() -> None:
    """Of no elements less one there are more than memory has places for."""
    region = marked(
        "#include <string.h>\nvoid f(int n, int m, double *a)",
        "for (int i = n - 1; i > 0; i--)\n  memcpy(a + i * m + 1, a + (i - 1) * m, sizeof(double) * (m - 1));",
    )
    assert compiled(region).verified


def test_loops_of_the_region_that_take_longer_than_those_of_the_text() -> None:
    """With the loops of the text the other way round, no run is begun that would not end."""
    head = "struct cx { double re, im; };\nvoid f(int n, int m, struct cx *restrict a, struct cx *restrict b)"
    body = """
        int l = 0;
        for (int i = 0; i < n; i++) {
            b[i].re = l;
            l += 2 * i + 1;
            while (l > 2 * n)
                l -= 2 * n;
        }
        for (int i = m - n + 1; i < m; i++)
            a[i].re = b[m - i].re;
    """
    assert compiled(marked(head, body)).verified
