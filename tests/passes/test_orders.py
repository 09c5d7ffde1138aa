"""Skewed nests in the order that was written, or in one near it: the values, and what is not allowed. The trees are in
`orders/`, for `test_on_trees.py`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.commuting import commuting_dependences
from polyc.model.program import Options
from polyc.model.tree import Band, Domain, Member, walk
from polyc.passes.order import orders
from polyc.passes.order.orders import straighten_nests
from polyc.passes.order.splitting import _cut
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, compiled, region_in, region_of

FILES = sorted((Path(__file__).parent / "orders").glob("*.c"))
FOLD = (Path(__file__).parent / "orders" / "fold.c").read_text()
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed", "not-straightened"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_values(file: Path) -> None:
    """Bit by bit."""
    region = region_in(file)
    result = compile_region(region, Options())
    codes = {remark.code for remark in result.program.remarks}
    assert result.passed
    assert "straightened" in codes
    assert not codes & FAILURES
    assert check(region, result, sizes=(1, 2, 3, 9, 33, 70)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_innermost_loops_are_vectors(file: Path) -> None:
    """No loop runs over a combination of loops, and the deepest ones are vector loops."""
    program = compile_region(region_in(file), Options()).program
    innermost = [n for n in walk(program.tree.child) if isinstance(n, Band) and not list(_loops_below(n))]
    assert any(n.members[-1].vector for n in innermost)


def _loops_below(band: Band) -> list[Band]:
    return [n for n in walk(band.child) if isinstance(n, Band)]


OTHERS = {
    "floats": FOLD.replace("int t[n][n]", "float t[n][n]"),
    "another type": FOLD.replace("t[k + 1][j]", "t[k + 1][j] + s[k]").replace("int s[n]", "unsigned s[n]"),
    "a sum": FOLD.replace(
        "t[i][j] >= t[i][k] + t[k + 1][j] ? t[i][j] : t[i][k] + t[k + 1][j]", "t[i][j] + t[i][k] + t[k + 1][j]"
    ),
    "the smaller after the larger": FOLD.replace("t[i][j] >= t[i][k] +", "t[i][j] <= t[i][k] +"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_updates_keep_their_order(name: str, tmp_path: Path) -> None:
    """What would leave other bits in another order: a sum, floats, a comparison of two types, two operators."""
    region = region_of(OTHERS[name], tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert "in another order" not in " ".join(remark.message for remark in result.program.remarks)
    assert check(region, result, sizes=(1, 2, 9, 33)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_the_check_refuses_them(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that takes them for exact is caught."""
    monkeypatch.setattr(orders, "_respects", lambda *_: True)
    monkeypatch.setattr(orders, "_is_better", lambda new, *_: new is not None and new[0])
    program = after(region_of(OTHERS[name], tmp_path), "timetiles")
    wrong = straighten_nests(program)
    assert "in another order" in " ".join(remark.message for remark in wrong.remarks)
    assert faults_of(wrong)


def test_a_later_value_is_refused(tmp_path: Path) -> None:
    """The maxima of a cell may change places; what reads the cell may not come before them."""
    program = after(region_of(FOLD, tmp_path), "orders")
    assert faults_of(program) == []

    def backwards(band: Band) -> Band:
        member = band.members[0]
        return replace(band, members=(replace(member, schedule=member.schedule.neg()),))

    mark = program.tree.child
    assert not isinstance(mark, Band)
    (outer,) = [n for n in walk(mark) if isinstance(n, Band)][:1]
    inner = outer.child
    assert isinstance(inner, Band)
    for wrong in (backwards(outer), replace(outer, child=backwards(inner))):
        assert faults_of(replace(program, tree=Domain(program.tree.domain, wrong)))


def test_a_value_that_reads_its_own_cell_is_no_update(tmp_path: Path) -> None:
    text = """
void f(int n, int a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = a[i] > a[i] - 1 ? a[i] : a[i] - 1;
#pragma endscop
}
"""
    scop = region_of(text, tmp_path).scop
    result = compiled(text, tmp_path)
    assert result.passed
    assert commuting_dependences(scop, "a", result.program.dependences.flow) is None


FLOYD = """
void floyd(int n, float d[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
#pragma endscop
}
"""


def test_kernels_of_two_dimensions_in_the_place_of_diagonals(tmp_path: Path) -> None:
    """A step starts nine kernels, where there was one for each of 2 n - 1 diagonals."""
    result = compile_region(region_of(FLOYD, tmp_path), Options(target="cuda"))
    assert result.passed
    assert "straightened" in {remark.code for remark in result.program.remarks}
    host = result.device[0].split("_device(", 1)[1].split("}", 1)[0]
    assert host.count("for (") == 1
    assert host.count("start_") == 9


def test_none_for_a_gpu_or_with_sizes(tmp_path: Path) -> None:
    region = region_of(FOLD, tmp_path)
    for options in (Options(target="opencl"), Options(tile_sizes=(8,)), Options(fuse="max")):
        codes = {remark.code for remark in compile_region(region, options).program.remarks}
        assert not codes & {"straightened", "not-straightened"}


@pytest.mark.parametrize(("pieces", "is_cut"), [(20, True), (80, False)])
def test_pairs_of_many_pieces_are_not_cut(pieces: int, is_cut: bool) -> None:
    """isl's coalescing of hundreds of pieces with divisions has ended the process (20281140:459)."""
    where = " or ".join(f"i = {2 * k + 1}" for k in range(pieces))
    carried = isl.UnionMap(f"{{ S[0] -> S[i] : {where} }}")
    member = Member(isl.UnionPwAff("{ S[i] -> [(i)] }"), False, "i")
    assert (_cut(carried, member, ()) is not None) == is_cut


NEAREST = """
void f(int n, int m, int d, const float q[n][d], const float b[m][d], int at[n][4], float least[n][4])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float most[4] = {9e9f, 9e9f, 9e9f, 9e9f};
        int where[4] = {0, 0, 0, 0};
        for (int j = 0; j < m; j++) {
            int s = 0;
            for (int k = 0; k < d; k++)
                s += q[i][k] > b[j][k];
            for (int p = 3; p >= 0; p--)
                if (s < most[p]) {
                    if (p < 3) {
                        most[p + 1] = most[p];
                        where[p + 1] = where[p];
                    }
                    most[p] = s;
                    where[p] = j;
                }
        }
        for (int p = 0; p < 4; p++) {
            at[i][p] = where[p];
            least[i][p] = most[p];
        }
    }
#pragma endscop
}
"""


def test_the_nearest_few_are_kept_in_the_loop_that_finds_them(tmp_path: Path) -> None:
    """Not along diagonals of it and the few places, and not behind it, where its outer loop would lose its threads."""
    region = region_of(NEAREST, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert result.text.count("for (int j = 0; j < m; j++)") == 1
    assert "#pragma omp parallel for" in result.text
    assert check(region, result, sizes=(1, 2, 5, 17)) == []


ROW_BY_ROW = """
enum { H = 160, W = 320, D = 48 };
unsigned short cost[H][W][D], all[H][W][D], row[H][W][D];
static inline int least_of(int a, int b) { return a < b ? a : b; }
void f(void)
{
#pragma scop
    for (int y = 1; y < H; y++)
        for (int x = 0; x < W; x++) {
            int least = row[y - 1][x][0];
            for (int d = 1; d < D; d++) least = least_of(least, row[y - 1][x][d]);
            for (int d = 0; d < D; d++) {
                int v = row[y - 1][x][d];
                if (d > 0) v = least_of(v, row[y - 1][x][d - 1] + 7);
                if (d < D - 1) v = least_of(v, row[y - 1][x][d + 1] + 7);
                row[y][x][d] = cost[y][x][d] + v - least;
                all[y][x][d] += row[y][x][d];
            }
        }
#pragma endscop
}
"""


def test_loops_from_page_to_page_stand_outside_in_strips(tmp_path: Path) -> None:
    """isl puts the loop outside that waits for nothing: inside of it, rows would go down page by page."""
    region = region_of(ROW_BY_ROW, tmp_path)
    result = compile_region(region, Options())
    assert re.search(r"for \(int xt = .*\n *for \(int y = 1; .*\n *for \(int x = xt; ", result.text)
    assert check(region, result) == []


PASSED_ON = """
typedef struct { float buf[8][2048]; int pos, len[8]; float fb, lp[8]; } Reverb;
void f(Reverb *restrict r, float bus[restrict 2][512], short *restrict out)
{
#pragma scop
    for (int i = 0; i < 512; i++) {
        float in = 0.5f * (bus[0][i] + bus[1][i]), wet = 0;
        for (int k = 0; k < 8; k++) {
            int rd = (r->pos - r->len[k]) & 2047;
            float y = r->buf[k][rd];
            r->lp[k] = 0.8f * y + 0.2f * r->lp[k];
            r->buf[k][r->pos & 2047] = in + r->fb * r->lp[k];
            wet += y;
        }
        r->pos++;
        for (int ch = 0; ch < 2; ch++) {
            float s = (bus[ch][i] + 0.1f * wet) * 32767.f;
            out[2 * i + ch] = s > 32767.f ? 32767 : (short)s;
        }
    }
#pragma endscop
}
"""


def test_a_skewed_order_that_gains_nothing_is_not_kept(tmp_path: Path) -> None:
    """Else `i` would run to 2 n, and ask in each iteration whether it is even."""
    text = compile_region(region_of(PASSED_ON, tmp_path), Options()).text
    assert "i % 2" not in text
    assert "for (int ch = 0; ch < 2; ch++)" in text
