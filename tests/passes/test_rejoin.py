"""Recurrences that the scheduler takes apart, in the one loop that was written; choices below one branch."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from polyc.codegen import render_region
from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.records import replace
from polyc.reread import text_faults
from polyc.reread.parts import NotComparable
from polyc.runtime.check import check
from tests.programs import region_of

SEARCHES = """
void f(int n, int m, int A[n][m], short B[n][m], int at[n], int where[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int most = 0, x = -1, least = 0, y = -1;
        for (int j = 0; j < m; j++) {
            if (A[i][j] > most) { most = A[i][j]; x = j; }
            if (B[i][j] <= least) { least = B[i][j]; y = 2 * j - i; }
        }
        at[i] = x;
        where[i] = y;
    }
#pragma endscop
}
"""
SIZES = (1, 2, 7, 8, 9, 17, 40)


def compiled(text: str, tmp_path: Path, **options: object):  # type: ignore[no-untyped-def]
    region = region_of(text, tmp_path)
    return region, compile_region(region, replace(Options(), **options))


@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(target: str, tmp_path: Path) -> None:
    """Bit by bit, in one loop, with a branch for each search."""
    region, result = compiled(SEARCHES, tmp_path, target=target)
    assert result.verified
    assert "rejoined" in {remark.code for remark in result.program.remarks}
    inner = result.text[result.text.index("for (int j") :]
    assert inner.count("for (") == 1
    assert inner.count("if (") == 2
    assert check(region, result, sizes=SIZES) == []


LEFT_APART = {
    "sums of whole numbers": "int s = 0, t = 0; for (int j = 0; j < m; j++) { s += A[i][j]; t += B[i][j]; }",
    "loops of their own": "int s = 0, t = 0; for (int j = 0; j < m; j++) if (A[i][j] > s) s = A[i][j] - 1; "
    "for (int j = 0; j < m; j++) if (B[i][j] > t) t = B[i][j] - 2;",
    "one needs the other": "int s = 0, t = 0; for (int j = 0; j < m; j++) { if (A[i][j] > s) s = A[i][j] - 1; "
    "if (B[i][j] > s + t) t = B[i][j] - 2; }",
}


@pytest.mark.parametrize("body", LEFT_APART.values(), ids=list(LEFT_APART))
def test_left_apart(body: str, tmp_path: Path) -> None:
    head = "void f(int n, int m, int A[n][m], int B[n][m], int C[n], int D[n])\n{\n#pragma scop\n"
    text = f"{head}for (int i = 0; i < n; i++) {{ {body} C[i] = s; D[i] = t; }}\n#pragma endscop\n}}\n"
    region, result = compiled(text, tmp_path)
    assert result.verified
    assert "rejoined" not in {remark.code for remark in result.program.remarks}
    assert check(region, result, sizes=SIZES) == []


def largest_first(node: c.If) -> c.If:
    """What is compared changes before the others are chosen by it."""
    assert isinstance(node.then, c.Block)
    first, second = node.then.body[:3], node.then.body[3:]
    return replace(node, then=c.Block((*second, *first)))


def other_test(node: c.If) -> c.If:
    assert isinstance(node.condition, c.Binary)
    return replace(node, condition=replace(node.condition, op=">="))


def one_of_two(node: c.If) -> c.Block:
    """The last one whatever is compared."""
    assert isinstance(node.then, c.Block)
    return c.Block((replace(node, then=c.Block(node.then.body[:3])), *node.then.body[3:]))


def otherwise(node: c.If) -> c.If:
    return c.If(node.condition, c.Block(()), node.then)


@pytest.mark.parametrize("change", [largest_first, other_test, one_of_two, otherwise])
def test_other_branches_are_refused(change, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    region, result = compiled(SEARCHES, tmp_path)
    rendered = render_region(result.program, region, True)

    def first(node: c.Node) -> c.Node | None:
        return change(node) if isinstance(node, c.If) and isinstance(node.then, c.Block) else None

    body = tuple(c.rewrite(item, first) for item in rendered.body)
    assert body != rendered.body
    changed = replace(rendered, body=body, steps=(("notes", body, rendered.steps[-1][2]),))
    assert not text_faults(result.program, region, rendered)
    with suppress(NotComparable):  # no form of a choice: the text is refused as well
        assert text_faults(result.program, region, changed)


LATTICE = """
void lattice(int n, double v[n + 1], double s[n + 1], double u, double k)
{
#pragma scop
    for (int t = n - 1; t >= 0; t--)
        for (int i = 0; i <= t; i++) {
            s[i] = s[i] * u;
            double hold = 0.5 * (v[i + 1] + v[i]);
            v[i] = hold > k - s[i] ? hold : k - s[i];
        }
#pragma endscop
}
"""


def test_a_loop_that_compilers_make_vectors_of_stays_one(tmp_path: Path) -> None:
    """No value goes from one iteration of it to another: what is read is overwritten later."""
    region, found = compiled(LATTICE, tmp_path)
    assert found.verified
    assert [r.statements for r in found.program.remarks if r.code == "rejoined"] == [("S0", "S1", "S2")]
    assert "omp simd" not in found.text
    assert check(region, found, sizes=(1, 2, 9, 40)) == []


def test_so_does_the_loop_of_one_step_and_one_beside_others(tmp_path: Path) -> None:
    steps = LATTICE.replace("for (int t = n - 1; t >= 0; t--)", "")
    alone = steps.replace("i <= t", "i < n")
    beside = steps.replace("i <= t", "i < n").replace(
        "#pragma endscop", "for (int i = 0; i < n; i++) s[i] /= 3;\n#pragma endscop"
    )
    for text in (alone, beside):
        region, found = compiled(text, tmp_path)
        assert found.verified
        assert [r.statements for r in found.program.remarks if r.code == "rejoined"] == [("S0", "S1", "S2")]
        assert check(region, found, sizes=(1, 2, 9, 40)) == []


def test_a_sum_beside_vectors_stays_apart(tmp_path: Path) -> None:
    text = LATTICE.replace("v[i] = hold > k - s[i] ? hold : k - s[i];", "v[i + 1] = v[i] + hold;")
    _, found = compiled(text, tmp_path)
    assert found.verified
    assert "rejoined" not in [r.code for r in found.program.remarks]


SUMS = """
void f(int n, double x[n], double y[n], double r[3])
{
#pragma scop
    r[0] = 0.5;
    for (int i = 0; i < n; i++) {
        r[0] += x[i] * x[i];
        r[1] += x[i] * y[i];
        r[2] += y[i] * y[i];
    }
    r[2] *= r[1];
#pragma endscop
}
"""


def test_sums_of_a_whole_region_stay_in_one_loop(tmp_path: Path) -> None:
    """Each waits for its last addition: three at once take as long as one. With another loop they would be three."""
    region, found = compiled(SUMS, tmp_path)
    assert found.verified
    assert [r.statements for r in found.program.remarks if r.code == "rejoined"] == [("S1", "S2", "S3")]
    assert found.text.count("for (") == 1
    assert check(region, found, sizes=(1, 2, 9, 40)) == []


HIDDEN = {
    "a stencil beside the sum of what it stores": """
void f(int n, int m, float u[n][m], float v[n][m], double total[1])
{
#pragma scop
    total[0] = 0.0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            v[i][j] = 4.0f * u[i][j] - u[i - 1][j] - u[i + 1][j] - u[i][j - 1] - u[i][j + 1];
            total[0] += (double)u[i][j] * v[i][j];
        }
#pragma endscop
}
""",
    "a call beside a sum of its values, which begins between the two": """
#include <math.h>
void f(int n, int m, float u[n][m], float v[n][m], double total[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float most = u[i][0];
        for (int k = 1; k < m; k++)
            most = fmaxf(most, u[i][k]);
        float s = 0.0f;
        for (int j = 0; j < m; j++) {
            v[i][j] = expf(u[i][j] - most);
            s += v[i][j];
        }
        for (int k = 0; k < m; k++)
            v[i][k] /= s;
        total[i] = s;
    }
#pragma endscop
}
""",
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=list(HIDDEN))
def test_a_core_does_the_rest_while_it_waits_for_a_sum(text: str, tmp_path: Path) -> None:
    region, found = compiled(text, tmp_path)
    assert found.verified
    assert "rejoined" in {remark.code for remark in found.program.remarks}
    assert found.text.count("for (int j") == 1
    assert check(region, found, sizes=(1, 2, 3, 9, 40)) == []


def test_what_takes_longer_than_the_sum_keeps_its_vectors(tmp_path: Path) -> None:
    more = " + ".join(f"{k + 2}.0f * u[i][j] * u[i - 1][j] / u[i + 1][j]" for k in range(4))
    text = HIDDEN["a stencil beside the sum of what it stores"].replace("4.0f * u[i][j]", f"4.0f * u[i][j] + {more}")
    region, found = compiled(text, tmp_path)
    assert found.verified
    assert "rejoined" not in {remark.code for remark in found.program.remarks}
    assert check(region, found, sizes=(1, 2, 3, 9, 40)) == []


COUNTS = """
void f(int n, int m, float u[n][m], int best[n], int more[n], int hit[2])
{
#pragma scop
    hit[0] = 0;
    hit[1] = 0;
    for (int i = 0; i < n; i++) {
        int at = 0, above = 0;
        for (int j = 0; j < m; j++) {
            if (u[i][j] > u[i][at])
                at = j;
            above += u[i][j] > 0.5f;
        }
        best[i] = at;
        more[i] = above;
        hit[0] += at == 3;
        hit[1] += above < 5;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("target", ["openmp", "c"])
def test_rows_that_two_nests_read_are_read_in_one_loop(target: str, tmp_path: Path) -> None:
    """Each row is in a cache for the second one; the inner loops stay apart, since one of them has vectors."""
    region, found = compiled(COUNTS, tmp_path, target=target)
    assert found.verified
    assert found.text.count("for (int i") == 1
    assert found.text.count("for (int j") == 2
    assert check(region, found, sizes=(1, 2, 3, 9, 40)) == []


TURNS = (Path(__file__).parents[1] / "mutation" / "programs" / "turns_of_rows.c").read_text()


def test_what_needs_a_sum_stands_behind_both_nests(tmp_path: Path) -> None:
    region, found = compiled(TURNS, tmp_path)
    assert found.verified
    assert found.text.count("for (int i") == 2
    assert check(region, found, sizes=(1, 2, 3, 9, 40)) == []


POINTS = (Path(__file__).parents[1] / "mutation" / "programs" / "points.c").read_text()


def test_what_reads_the_last_row_of_another_keeps_its_own_threads(tmp_path: Path) -> None:
    """Both loops over rows run in parallel, and one over both would not."""
    region, found = compiled(POINTS, tmp_path)
    assert found.verified
    assert not any(r.code == "verification-failed" for r in found.program.remarks)
    assert found.text.count("omp parallel for") == 3
    assert check(region, found, sizes=(1, 2, 3, 9)) == []


TABLES = """
void f(int n, int m, const unsigned char x[m][n], const int node[n], const float g[n], const float h[n],
       double a[m][4][256], double b[m][4][256])
{
#pragma scop
    for (int f = 0; f < m; f++)
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 256; c++) {
                a[f][k][c] = 0.0;
                b[f][k][c] = 0.0;
            }
    for (int f = 0; f < m; f++)
        for (int i = 0; i < n; i++) {
            a[f][node[i] & 3][x[f][i]] += g[i] - 0.5f;
            b[f][node[i] & 3][x[f][i]] += h[i];
        }
#pragma endscop
}
"""


def test_tables_that_data_choose_from_have_no_tiles(tmp_path: Path) -> None:
    """The elements of one table stay in the nearest cache; two sums into tables share the loop that was written."""
    region, found = compiled(TABLES, tmp_path)
    assert found.verified
    assert found.text.count("for (int i = 0; i < n; i++)") == 1
    assert "not-tiled" in {remark.code for remark in found.program.remarks}
    assert check(region, found, sizes=(1, 2, 3, 9)) == []


COUNTED = """
void f(int h, int w, float a[h][w], float b[h][w])
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float s = 0;
            int n = 0;
            for (int dy = -2; dy <= 1; dy++)
                for (int dx = -2; dx <= 1; dx++)
                    if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w) {
                        s += a[y + dy][x + dx];
                        n++;
                    }
            b[y][x] = s / n;
        }
#pragma endscop
}
"""


def test_the_sum_and_the_count_of_a_window_share_its_loops(tmp_path: Path) -> None:
    region = region_of(COUNTED, tmp_path)
    result = compile_region(region, Options())
    loops = [line.strip() for line in result.text.splitlines()]
    beside = [loops[k - 1] for k, line in enumerate(loops) if line == "n++;"]
    assert beside
    assert all(line.startswith("s += ") for line in beside)
    assert check(region, result, sizes=(1, 2, 7)) == []


BEGUN = """
void f(int n, int m, int a[n + 1][m + 1], int d[n + 1][m + 1], int c[m + 1], int best[n + 1])
{
#pragma scop
    for (int i = 1; i <= n; i++) {
        for (int k = 1; k <= m; k++) {
            a[i][k] = 1000;
            if (a[i - 1][k - 1] + c[k] < a[i][k])
                a[i][k] = a[i - 1][k - 1] + c[k];
            d[i][k] = 2000;
            if (d[i][k - 1] + 3 < d[i][k])
                d[i][k] = d[i][k - 1] + 3;
            if (a[i][k - 1] + 1 < d[i][k])
                d[i][k] = a[i][k - 1] + 1;
        }
        best[i] = 4000;
        for (int k = 1; k <= m; k++)
            if (a[i][k] + best[i - 1] < best[i])
                best[i] = a[i][k] + best[i - 1];
    }
#pragma endscop
}
"""


def test_constants_are_set_where_a_serial_nest_reads_them(tmp_path: Path) -> None:
    """Not in nests of their own, from which the recurrence would load them again."""
    region = region_of(BEGUN, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert not [r for r in result.program.remarks if r.code == "verification-failed"]
    lines = [line.strip() for line in result.text.split("as it was written")[0].splitlines()]
    at = {
        name: lines.index(f"{name} = {value};")
        for name, value in (("a[i][k]", 1000), ("d[i][k]", 2000), ("best[i]", 4000))
    }
    loops = [k for k, line in enumerate(lines) if line.startswith("for (int k")]
    assert loops[0] < min(at["a[i][k]"], at["d[i][k]"])
    assert check(region, result, sizes=(1, 2, 7)) == []


READ_BEFORE = BEGUN.replace("a[i][k] = 1000;", "d[i][k - 1] += a[i][k]; a[i][k] = 1000;")


def test_not_before_what_read_the_old_value(tmp_path: Path) -> None:
    region = region_of(READ_BEFORE, tmp_path)
    result = compile_region(region, Options())
    assert not [r for r in result.program.remarks if r.code == "verification-failed"]
    assert check(region, result, sizes=(1, 2, 7)) == []


def test_an_update_of_a_known_cell_is_no_scatter(tmp_path: Path) -> None:
    """`a[i][k] += c[at[i]][k]`: data decide what is added, and not where."""
    text = BEGUN.replace(
        "int c[m + 1],", "int c[m + 1], const int s[8][m + 1], const unsigned char at[n + 1],"
    ).replace("d[i][k] = 2000;", "a[i][k] += s[at[i] & 7][k]; d[i][k] = 2000;")
    result = compile_region(region_of(text, tmp_path), Options())
    assert not {"sequential-scatter", "scatter"} & {r.code for r in result.program.remarks}


IN_TILES = """
void f(float b[40], float c[8], float d[40][16], float *e, float *g)
{
    float a[34];
#pragma scop
    for (int i = 0; i < 34; i++)
        a[i] = 0.3;
    for (int i = 0; i < 3; i++)
        for (int w = 0; w < 1; w++)
            c[i + 2] = a[w];
    for (int i = 0; i < 1; i++) {
        float s = 0.3;
        float most = 0.07 + a[i];
        for (int j = 0; j < 33; j++)
            for (int k = 0; k <= 11; k++) {
                if (j <= 5 || b[i] > -0.6)
                    s += (a[i + 2] - b[k / 2 + k % 2]) * c[i];
                most = most > b[i / 2] * d[j][k] ? most : b[i / 2] * d[j][k];
            }
        e[i] = s;
        g[i + 1] = s + most;
    }
#pragma endscop
}
"""


def test_what_tiles_compute_comes_before_what_reads_it(tmp_path: Path) -> None:
    """A step's filter does not name what an extension adds to it."""
    region = region_of(IN_TILES, tmp_path)
    result = compile_region(region, Options())
    assert not [r for r in result.program.remarks if r.code == "verification-failed"]
    assert check(region, result, sizes=(1,)) == []
