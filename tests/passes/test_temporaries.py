"""Temporaries: which scalars live in the element that they are stored to, and which do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.text.printer import expression
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.verify import check
from tests.programs import after, compiled, region_of

HEADER = "void f(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], float E[n][n])\n"
PRODUCT = "for (int k = 0; k < n; k++) w += A[i][k] * B[k][j];"


def region(body: str, type_: str = "double") -> str:
    return f"{HEADER}{{\n    {type_} w;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def nest_of(body: str) -> str:
    return f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }}"


def nest(body: str) -> str:
    return region(nest_of(body))


def relocated(text: str, folder: Path, **options: object) -> Program:
    return after(region_of(text, folder), "temporaries", **options)


def remarks(program: Program) -> list[tuple[str, object]]:
    return [(r.code, r.data.get("reason", r.data.get("array"))) for r in program.remarks if r.stage == "temporaries"]


def texts(program: Program) -> list[str]:
    return [text_of(statement) for statement in program.scop.statements.values()]


def text_of(statement: Statement) -> str:
    assert isinstance(statement.body, c.ExprStmt)
    return expression(statement.body.expr)


def test_copies_go(tmp_path: Path) -> None:
    """A product with a scalar is the product without it."""
    program = relocated(nest(f"w = 0.0; {PRODUCT} C[i][j] = w;"), tmp_path)
    assert remarks(program) == [("relocated", "C")]
    assert texts(program) == ["C[i][j] = 0.0", "C[i][j] += A[i][k] * B[k][j]"]
    assert check(program) == []


def test_a_product_that_is_computed_again(tmp_path: Path) -> None:
    """Each iteration of a loop around has its values in the same elements, one after the other."""
    program = relocated(region(f"for (int t = 0; t < n; t++) {nest_of(f'w = t; {PRODUCT} C[i][j] = w;')}"), tmp_path)
    assert remarks(program) == [("relocated", "C")]
    assert texts(program) == ["C[i][j] = t", "C[i][j] += A[i][k] * B[k][j]"]
    assert check(program) == []


def test_a_factorisation_is_blocked(tmp_path: Path) -> None:
    """ludcmp's first part becomes lu's."""
    body = """
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            w = A[i][j];
            for (int k = 0; k < j; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (int j = i; j < n; j++) {
            w = A[i][j];
            for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }"""
    program = relocated(region(body), tmp_path)
    assert texts(program) == [
        "A[i][j] -= A[i][k] * A[k][j]",
        "A[i][j] = A[i][j] / A[j][j]",
        "A[i][j] -= A[i][k] * A[k][j]",
    ]
    result = compiled(region(body), tmp_path)
    assert result.passed
    codes = [r.code for r in result.program.remarks]
    assert codes.count("blocked") == codes.count("register-tile") == 2


CONVOLUTION = """
float expf(float);
void f(int n, float in[16][n + 2][n + 2], float w[32][16][3][3], float b[32], float out[32][n][n],
       double wide[32][n][n])
{
#pragma scop
    for (int o = 0; o < 32; o++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                TYPE s = b[o];
                for (int c = 0; c < 16; c++)
                    for (int u = 0; u < 3; u++)
                        for (int v = 0; v < 3; v++)
                            s += in[c][y + u][x + v] * w[o][c][u][v];
                END
            }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("end", "kind", "array"),
    [
        ("out[o][y][x] = s;", "float", "out"),
        ("out[o][y][x] = s > 0 ? s : 0;", "float", "out"),
        ("out[o][y][x] = 1 / (1 + expf(-s * b[o]));", "float", "out"),
        ("s = s * b[o] + 1; if (s < 0) s = 0; out[o][y][x] = s;", "float", "out"),
        ("wide[o][y][x] = s;", "float", "s_each"),
        ("out[o][y][x] = s;", "double", "s_each"),
        ("wide[o][y][x] = s; out[o][y][x] = s * s;", "double", "s_each"),
    ],
)
def test_three_short_sums_are_a_long_one(end: str, kind: str, array: str, tmp_path: Path) -> None:
    """A window of 3 x 3 in 16 planes adds up 144 products, which register tiles are for."""
    text = CONVOLUTION.replace("TYPE", kind).replace("END", end)
    result = compiled(text, tmp_path)
    assert result.passed
    assert ("relocated", array) in remarks(result.program)
    assert "register-tile" in {r.code for r in result.program.remarks}


def test_a_short_window_stays(tmp_path: Path) -> None:
    """Of one plane there is no product for registers to share."""
    text = CONVOLUTION.replace("TYPE", "float").replace("END", "out[o][y][x] = s;").replace("c < 16; c++", "c < 1; c++")
    text = text.replace("u < 3", "u < 2").replace("v < 3", "v < 2")
    assert remarks(relocated(text, tmp_path)) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"w = 0.5 * C[i][j]; {PRODUCT} C[i][j] = w;", ["C[i][j] = 0.5 * C[i][j]"]),
        (
            f"w = C[i][j]; {PRODUCT} w = 2.0 * w; C[i][j] = w + 1.0;",
            ["C[i][j] = 2.0 * C[i][j]", "C[i][j] = C[i][j] + 1.0"],
        ),
        (f"w = C[j][i]; {PRODUCT} C[i][j] = w;", ["C[i][j] = C[j][i]"]),
        (f"w = D[i][j]; {PRODUCT} B[j][i] = w; D[i][j] = w;", ["B[j][i] = D[i][j]"]),
        (f"w = 0.0; {PRODUCT} C[i][j] = w; D[j][i] = w;", ["D[j][i] = 0.0", "C[i][j] = D[j][i]"]),
    ],
    ids=["begins with the element", "updated twice", "begins with another element", "an operand", "stored twice"],
)
def test_what_is_left(body: str, expected: list[str], tmp_path: Path) -> None:
    program = relocated(nest(body), tmp_path)
    assert [text for text in texts(program) if "A[" not in text] == expected
    assert check(program) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"w = 0.0; {PRODUCT} E[i][j] = w;", "other-type"),
        (f"w = 0.0; {PRODUCT} C[i][j] = 0.5 * C[i][j] + w;", "place-in-use"),
        (f"w = 0.0; {PRODUCT} D[i][j] = C[i][j]; C[i][j] = w;", "place-in-use"),
        (f"w = 0.0; {PRODUCT} if (j < i) C[i][j] = w;", "not-stored"),
        (f"w = 0.0; {PRODUCT} if (D[i][j] > 0) C[i][j] = w;", None),
        (f"w = 0.0; {PRODUCT} C[i][j] = w; w = w * w; C[i][j] = w * 2.0;", "read-later"),
        (f"w = 0.0; {PRODUCT} C[i][j] = w; D[0][0] = w;", "read-later"),
        (f"w = 0.0; {PRODUCT} C[i][j] = w; if (D[i][j] > 0) C[j][i] = 1.0;", "data-dependent"),
        (f"for (int l = 0; l < n; l++) {{ w = l; {PRODUCT} C[i][j] = w; }}", "stored-together"),
    ],
    ids=["type", "read by the store", "read between", "condition", "data", "two stores", "later", "may", "same cell"],
)
def test_what_stays(body: str, reason: str | None, tmp_path: Path) -> None:
    program = relocated(nest(body), tmp_path, expand=False)
    assert program.relocated is None
    assert remarks(program) == ([("not-relocated", reason)] if reason else [])


def test_a_sum_over_all_columns_stays(tmp_path: Path) -> None:
    """It goes on from one j to the next."""
    body = f"for (int i = 0; i < n; i++) {{ w = 0.0; for (int j = 0; j < n; j++) {{ {PRODUCT} C[i][j] = w; }} }}"
    program = relocated(region(body), tmp_path)
    assert program.relocated is None
    assert remarks(program) == []


def test_two_beginnings(tmp_path: Path) -> None:
    """Either of them, on disjoint iterations, may begin what is stored."""
    body = f"if (j < i) w = 1.0; if (j >= i) w = 2.0; {PRODUCT} C[i][j] = w;"
    program = relocated(nest(body), tmp_path)
    assert remarks(program) == [("relocated", "C")]
    assert check(program) == []


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { w = A[i][0]; for (int j = 0; j < i; j++) w -= B[i][j] * A[j][0]; A[i][0] = w; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { w = A[i][j] * 2.0; C[i][j] = w; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
        "{ w = 0; for (int k = 0; k < 4; k++) w += A[i][k] * B[k][j]; C[i][j] = w; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { w = 0; "
        "for (int k = 0; k < 9; k++) for (int l = 0; l < 9; l++) w += A[i + k][j + l] * B[k][l]; C[i][j] = w; }",
    ],
    ids=["a solve", "no sum", "a short sum", "a window"],
)
def test_nothing_to_gain(body: str, tmp_path: Path) -> None:
    program = relocated(region(body), tmp_path)
    assert program.relocated is None
    assert remarks(program) == []


@pytest.mark.parametrize("options", [{"tile_sizes": (8, 8)}, {"fuse": "max"}, {"relocate": False}])
def test_where_nobody_makes_register_tiles(options: dict[str, object], tmp_path: Path) -> None:
    program = relocated(nest(f"w = 0.0; {PRODUCT} C[i][j] = w;"), tmp_path, **options)
    assert program.relocated is None
    assert remarks(program) == []


# --- arrays of their own ---------------------------------------------------------------------------------------------

SYMM = """
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < i; k++) {
                C[k][j] += 0.5 * B[i][j] * A[i][k];
                w += B[k][j] * A[i][k];
            }
            C[i][j] = 0.25 * C[i][j] + B[i][j] * A[i][i] + w;
        }"""


def test_an_array_of_its_own(tmp_path: Path) -> None:
    """symm's second sum: each tile has the part of the array that it needs."""
    program = relocated(region(SYMM), tmp_path)
    assert remarks(program) == [("relocated", "w_each")]
    assert [text for text in texts(program) if "w_each" in text] == [
        "w_each[i][j] = 0.0",
        "w_each[i][j] += B[k][j] * A[i][k]",
        "C[i][j] = 0.25 * C[i][j] + B[i][j] * A[i][i] + w_each[i][j]",
    ]
    assert check(program) == []
    result = compiled(region(SYMM), tmp_path)
    assert result.passed
    tiles = [b.array for b in result.program.buffers.values() if b.storage == "tile" and not b.order]
    assert tiles.count("w_each") == 1  # and a panel of it has a part of that tile
    assert "w_each[" not in result.text


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    text = region(SYMM).replace("    double w;", "    double w, w_each = 1.0;\n    D[0][0] = w_each;")
    assert remarks(relocated(text, tmp_path)) == [("relocated", "w_each2")]


@pytest.mark.parametrize(
    "body",
    [
        f"w = 0.0; {PRODUCT} C[i][j] = 0.5 * C[i][j] + w;",
        f"w = 0.0; {PRODUCT} E[i][j] = w;",
    ],
    ids=["read by the store", "type"],
)
def test_tiles_of_a_sum_and_its_reader(body: str, tmp_path: Path) -> None:
    """Both are one nest, and the sum has a register tile that goes into the tile's part of the array."""
    result = compiled(nest(body), tmp_path)
    assert result.passed
    assert [r.code for r in result.program.remarks if r.stage in ("temporaries", "registers")] == [
        "relocated",
        "register-tile",
    ]
    assert "w_each_tile[" in result.text
    assert "w_each[" not in result.text


def test_an_array_as_a_whole(tmp_path: Path) -> None:
    """Where no tile keeps a part of it, the array is in memory, if the region has an array that is as large."""
    body = f"w = 0.0; {PRODUCT} C[i][j] = 0.5 * C[n - 1 - i][j] + w;"
    result = compiled(nest(body), tmp_path)
    assert result.passed
    assert [r.code for r in result.program.remarks if r.stage in ("temporaries", "registers")] == [
        "relocated",
        "register-tile",
    ]
    assert "__builtin_malloc(sizeof(double[n][n]))" in result.text


def test_no_array_that_is_larger_than_all_others(tmp_path: Path) -> None:
    body = f"w = 0.0; {PRODUCT} D[0][i] = 0.5 * D[0][n - 1 - i] + w;"
    assert relocated(nest(body), tmp_path).relocated is not None
    result = compiled(nest(body), tmp_path)
    assert result.passed
    assert result.program.relocated is None


def test_several_sums_of_one_nest(tmp_path: Path) -> None:
    """Each has registers of its own, as the gates of a recurrent cell have."""
    sums = "w += A[i][k] * B[k][j]; v += A[i][k] * D[k][j];"
    body = f"w = 0.0; v = C[i][j]; for (int k = 0; k < n; k++) {{ {sums} }} C[i][j] = w > 0.0 ? v / w : v * w;"
    result = compiled(nest(body).replace("double w;", "double w, v;"), tmp_path)
    assert result.passed
    assert sum(r.code == "register-tile" for r in result.program.remarks) == 2


def test_loops_below_zero(tmp_path: Path) -> None:
    """No element has a negative subscript."""
    body = SYMM.replace("int i = 0; i < n", "int i = -3; i < n - 3").replace("[i]", "[i + 3]")
    assert relocated(region(body), tmp_path).relocated is None


@pytest.mark.parametrize(
    ("begins", "stores", "place"), [("T[j][i]", "w", "C"), ("0.0", "0.5 * C[i][j] + w - T[j][i]", "w_each")]
)
def test_after_inlining(begins: str, stores: str, place: str, tmp_path: Path) -> None:
    """The producer's expression goes first: both steps are shown to be right."""
    made = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) T[i][j] = D[j][i] * 2.0;"
    total = "for (int k = 0; k < i; k++) w += A[i][k] * B[k][j];"
    body = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ w = {begins}; {total} C[i][j] = {stores}; }}"
    text = region(f"{made}\n{body}").replace("double w;", "double w, T[n][n];")
    program = relocated(text, tmp_path)
    assert len(program.inlined) == 1
    assert remarks(program) == [("relocated", place)]
    assert check(program) == []
    result = compiled(text, tmp_path)
    assert result.passed
    assert result.program.relocated is not None
