"""Local arrays of which each thread has a copy, and variables that are computed where they are used."""

from __future__ import annotations

import pytest

from polyc.codegen.text.printer import statement as block
from polyc.errors import UserError

from .conftest import Modeller, Reader

ROWS = """void f(int n, double a[n][n], double b[n][n])
{{
    double row[{size}], plane[60][60];
#pragma scop
    {loops}
#pragma endscop
}}
"""
AGAIN = (
    "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) row[j] = a[i][j];"
    " for (int j = 1; j < n; j++) b[i][j] = row[j - 1]; }"
)
ONCE = (
    "for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) plane[i][j] = a[i][j];"
    " for (int i = 1; i < 60; i++) for (int j = 0; j < 60; j++) b[i][j] = plane[i - 1][j];"
)
TWICE = AGAIN + " for (int j = 0; j < n; j++) { row[j] = j; b[0][j] = row[j]; }"


@pytest.mark.parametrize(
    ("loops", "size", "own"),
    [(AGAIN, 100, {"row"}), (AGAIN, 4000, {"row"}), (AGAIN, 40000, set()), (ONCE, 1, set()), (TWICE, 4000, set())],
    ids=["small", "large", "too large", "written once", "two nests"],
)
def test_rows_that_each_iteration_makes_again(loops: str, size: int, own: set[str], scop: Modeller) -> None:
    assert scop(ROWS.format(loops=loops, size=size)).privatizable == own


LAST = (
    "for (int i = 0; i < n; i++) {{ row[0] = a[i][0];"
    " for (int j = 1; j < n; j++) row[j] = row[j - 1] + a[i][j]; b[i][0] = {last}; }}"
)


@pytest.mark.parametrize(
    ("last", "own"),
    [
        ("row[m - 1]", True),  # there is such an element
        ("a[i][0] > 0 ? row[m - 1] : 0", True),  # where data say so: for other sizes it runs as written
        ("m > 0 ? row[m - 1] : 0", True),
        ("row[m - 1] + row[k[i]]", False),
    ],
)
def test_elements_that_there_have_to_be(last: str, own: bool, scop: Modeller) -> None:
    """A program that accesses others has no meaning, so that `m` is at least 1, and at most as large as the row."""
    text = ROWS.format(loops=LAST.format(last=last), size=100).replace("int n", "int n, int m, int k[n]")
    found = scop(text.replace("j < n", "j < m"))
    assert ("row" in found.privatizable) == own
    if own:
        some = type(found.known)("[n, m] -> { : n > 0 and m > 100 }")
        assert found.known.intersect(some).is_empty()


@pytest.mark.parametrize(("first", "own"), [("0", True), ("2", True), ("k[0]", False)])
def test_rows_that_are_written_first_for_the_sizes_that_count(first: str, own: bool, scop: Modeller) -> None:
    """`m >= 1` is asked of the sizes, as for others what an iteration before it left would be read."""
    loops = LAST.replace("row[0] = a[i][0];", "").replace("int j = 1", "int j = FROM").replace("row[j - 1] + ", "")
    text = ROWS.format(loops=loops.format(last=f"row[{first}]"), size=100).replace("int n", "int n, int m, int k[n]")
    found = scop(text.replace("FROM", "0").replace("j < n", "j < m"))
    assert ("row" in found.privatizable) == own
    if own:
        some = type(found.known)(f"[n, m] -> {{ : n > 0 and m <= {first} }}")
        assert found.known.intersect(found.assumed).intersect(some).is_empty()


LENGTHS = """#include <stdlib.h>
{outside}
void f(int n, int m, double a[n][m], double b[n][m])
{{
    {before}
#pragma scop
    for (int i = 0; i < n; i++) {{
        for (int j = 0; j < m; j++)
            row[j] = a[i][j];
        for (int j = 1; j < m; j++)
            b[i][j] = row[j - 1];
        b[i][0] = row[m - 1];{inside}
    }}
#pragma endscop
    {after}
}}
{others}
"""
MALLOC = "double *row = malloc(m * sizeof *row);"


@pytest.mark.parametrize(
    ("parts", "own"),
    [
        ({"before": "double row[m];"}, True),
        ({"before": MALLOC, "after": "free(row);"}, True),
        (
            {"before": f"{MALLOC} if (row == NULL) return; if (!row) return;", "after": "if (row == NULL) exit(1);"},
            True,
        ),
        ({"before": MALLOC, "after": "b[0][0] = row[1]; free(row);"}, False),
        ({"before": f"{MALLOC} double one = 1;", "after": "if (one == row[1]) b[0][0] = 2; free(row);"}, False),
        ({"before": "static double row[4000];", "inside": " use(row);", "outside": "void use(double *);"}, False),
        ({"before": f"{MALLOC} double *other = row;", "after": "b[0][0] = other[1];"}, False),
        ({"before": MALLOC, "after": "use(row);", "outside": "void use(double *);"}, False),
        ({"outside": "static double row[4000];"}, False),  # a file that includes this one may read it
        ({"before": "static double row[4000];"}, True),
        ({"outside": "static double row[4000];", "others": "double g(void) { return row[1]; }"}, False),
        ({"outside": "double row[4000];"}, False),
        ({"before": "static double row[4000]; b[0][0] = row[1];"}, False),
    ],
)
def test_rows_of_any_length(parts: dict[str, str], own: bool, scop: Modeller) -> None:
    """Each thread may have one if nobody reads it behind the region, which a free does not."""
    found = scop(LENGTHS.format(**{"outside": "", "before": "", "inside": "", "after": "", "others": "", **parts}))
    assert (found.privatizable == {"row"}) == own
    assert ("row" in found.live_out) != own
    if own:
        (extent,) = found.arrays["row"].extents
        assert extent is not None
        assert found.known.intersect(type(found.known)("[n, m] -> { : n > 0 and m <= 0 }")).is_empty()
        assert found.known.is_subset(type(found.known)("[n, m] -> { : n <= 0 or m <= 8192 }"))


def test_a_row_in_a_loop_that_data_end(scop: Modeller) -> None:
    """The loop goes no further than it would without `break`."""
    text = LENGTHS.replace(
        "row[m - 1];", "row[m - 1]; for (int j = 0; j < m; j++) {{ if (a[i][j] > 2) break; row[j]++; }}"
    )
    found = scop(text.format(outside="", before="double row[m];", inside="", after="", others=""))
    assert found.privatizable == {"row"}
    assert "row" not in found.live_out


def test_a_row_that_the_body_declares_has_any_length(scop: Modeller) -> None:
    text = LENGTHS.replace("{{\n        for (int j = 0", "{{\n        double row[m];\n        for (int j = 0")
    found = scop(text.format(outside="", before="", inside="", after="", others=""))
    assert found.privatizable == {"row"}
    assert found.known.is_subset(type(found.known)("[n, m] -> { : n <= 0 or m <= 8192 }"))


ASKED = """void f(int n, int m, double x[n][4], double y[n])
{{
#pragma scop
    {outside}
    for (int i = 0; i < n; i++) {{
        double row[{size}];
        {body}
    }}
#pragma endscop
}}
"""
FILLED = "for (int k = 0; k < 4; k++) row[k] = x[i][k] * y[i]; for (int k = 0; k < 4; k++) x[i][k] += row[k];"


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (f"if (y[i] > 0) {{ {FILLED} }}", True),
        (f"if (y[i] > 0) y[i] = 0; else {{ {FILLED} }}", True),
        (f"while (y[i] > 1) {{ y[i] *= 0.5; {FILLED} }}", True),
        (f"if (i < m && y[i] > 0) {{ {FILLED} }}", True),
        (f"row[0] = 1; if (y[i] > row[0]) {{ {FILLED} }}", False),
        (f"for (int j = 0; j < m; j++) if (y[i] > 0) {{ {FILLED} }}", False),  # the next j finds what this one left
    ],
)
def test_a_row_of_one_statement(body: str, own: bool, scop: Modeller) -> None:
    """An iteration declares it, and nobody but a statement that is kept whole mentions it."""
    found = scop(ASKED.format(outside="", size=4, body=body))
    assert ("row" not in found.arrays) == own
    lines = [line.strip() for s in found.statements.values() for line in block(s.body)]
    assert ("double row[4];" in lines) == own


def test_a_row_from_outside_of_the_loop_is_not_the_statement_s_own(scop: Modeller) -> None:
    text = ASKED.format(outside="double row[4];", size=4, body=f"if (y[i] > 0) {{ {FILLED} }}")
    found = scop(text.replace("        double row[4];\n", ""))
    assert "row" in found.arrays


USED = """void f(int n, int m, const float *restrict a, float *restrict b)
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {body}
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("body", "domain"),
    [
        ("float v = a[i] * 2; if (i < m) b[i] = v;", "0 <= i < n and i < m"),
        ("float v = a[i]; float u = v + 1; if (i < m) b[i] = u;", "0 <= i < n and i < m"),
        ("float v = a[i]; if (i < m) v = v + 1; if (i >= 7) b[i] = v;", "7 <= i < n"),
        ("float v = a[i]; if (a[i] > 0) b[i] = v;", "0 <= i < n"),
        ("float v = a[i]; for (int j = 0; j < m; j++) b[j * n + i] = v;", "0 <= i < n and m > 0"),
    ],
)
def test_a_variable_is_computed_where_it_is_used(body: str, domain: str, scop: Modeller) -> None:
    statement = scop(USED.format(body=body)).statements["S0"]
    found = statement.domain
    wanted = type(found)(f"[n, m] -> {{ S0[i] : {domain} }}")
    assert found.is_equal(wanted), found
    assert all(access.relation.domain().is_subset(found) for access in statement.accesses)


TABLE = """static double table[40]{more};
{other}
void f(int n, double a[n][40], double b[n])
{{
    for (int i = 0; i < n; i++) {{
        table[0] = a[i][0];
        for (int j = 1; j < 40; j++) {{
            if (a[i][j] > 0) table[j] = table[j - 1] + a[i][j];
            else table[j] = table[j - 1];
        }}
        b[i] = table[{last}];
    }}
}}
"""


@pytest.mark.parametrize(
    ("whole", "last", "other", "own"),
    [
        (True, "39", "", {"table"}),
        (False, "39", "", set()),
        (True, "39", "double last(void) { return table[39]; }", set()),
        (True, "39", 'extern double also[40] __attribute__((alias("table")));', set()),
        (True, "b[0] > 3 ? 5 : 6", "", {"table"}),
    ],
    ids=["of the file", "somebody may include it", "read by another function", "by another name", "any element"],
)
def test_static_arrays_of_the_file(whole: bool, last: str, other: str, own: set[str], scop: Modeller) -> None:
    text = TABLE.format(more="", other=other, last=last)
    assert scop(text, detect=True, whole=whole).privatizable == own


def test_a_row_from_malloc_that_short_loops_do_not_fill(read_text: Reader) -> None:
    """Its first element is written where no loop runs, too: the guard asks for sizes at which they do."""
    body = (
        "w[0] = 1; for (int i = 1; i < n; i++) w[i] = w[i - 1] * a[j][i]; for (int i = 0; i < n; i++) b[j][i] = w[i];"
    )
    text = (
        "#include <stdlib.h>\nvoid f(int n, int m, double a[m][n], double b[m][n]) {\n"
        f"double *w = malloc(n * sizeof *w);\n#pragma scop\nfor (int j = 0; j < m; j++) {{ {body} }}\n#pragma endscop\n"
        "free(w); }\n"
    )
    (region,) = read_text(text).regions
    assert "w" in region.scop.privatizable
    assert region.scop.assumed.is_subset(type(region.scop.assumed)("[n] -> { : n > 0 }"))


DECLARED = """void f(int n, const int k[n], double a[n][9], double b[n])
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {declared};
        {body}
    }}
#pragma endscop
}}
"""
SORTED = (
    "for (int j = 0; j < 9; j++) { double v = a[i][j]; int m = j;"
    " while (m > 0 && w[m - 1] > v) { w[m] = w[m - 1]; m--; } w[m] = v; } b[i] = w[4];"
)
BOUNDED = "for (int j = 0; j < k[i]; j++) w[j] = a[i][j]; for (int j = 0; j < k[i]; j++) b[i] += w[k[i] - 1 - j];"
PICKED = "if (k[i] > 0) w = a[i][0]; else if (k[i] < 0) w = a[i][1]; if (k[i] != 0) b[i] = w;"


@pytest.mark.parametrize(
    ("declared", "body", "own"),
    [
        ("double w[9]", SORTED, True),
        ("double w[9]", BOUNDED, True),
        ("double w", PICKED, True),
        ("static double w[9]", SORTED, False),
        ("double w[9] = {1}", SORTED, True),
    ],
    ids=["sorted", "as long as data say", "a variable", "static", "with values"],
)
def test_what_a_loop_declares_has_no_value_from_before(declared: str, body: str, own: bool, scop: Modeller) -> None:
    """C17, 6.2.4: each time the declaration is reached, the value is indeterminate."""
    try:
        found = scop(DECLARED.format(declared=declared, body=body))
    except UserError:
        assert not own  # where `static` stands in a region
        return
    assert ("w" in found.privatizable) == own


def test_what_stands_before_the_loop_keeps_its_values(scop: Modeller) -> None:
    text = DECLARED.format(declared="", body=BOUNDED).replace("#pragma scop", "double w[9];\n#pragma scop")
    assert "w" not in scop(text).privatizable
