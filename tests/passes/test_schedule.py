"""isl's schedule is right, also where isl by itself lets live ranges mix."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import polyc.passes.order.schedule as schedule
from polyc import bounded
from polyc.bounded import Faulted, OutOfTime, Started, StepError, careful, in_child, survived
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.tree import Band, walk
from polyc.passes.order.schedule import keeps_live_ranges, schedule_nests
from polyc.pipeline import compile_region, initial_program
from polyc.poly import OverBudget, budget
from polyc.runtime.check import check
from tests.programs import region_of

WRITTEN_ANEW = """
void written_anew(double in[80][43], double c[23][5], double d[40], double e[22], double f[8], double out[5][38])
{
    double b[40];
#pragma scop
    for (int i = 0; i < 40; i++)
        b[i] = in[i + 2][i] + i;
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 5; j++)
            c[i][j] = in[i][j + 4] + b[i];
    for (int i = 0; i <= 19; i++) {
        in[i][i + 2] = c[i][i % 5] + 1;
        d[i] = -1 - c[i + 3][i % 2];
        e[i + 2] += in[i][3] + in[i % 5][2 * i + 4];
    }
    for (int t = 0; t < 1; t++) {
        for (int j = t; j < t + 3; j++)
            f[j + 2] = 0.3 * (f[j + 4] + f[j] + f[j + 1]);
        for (int j = 4; j > t; j -= 2)
            b[j] = 0.3 * (f[j] + f[j + 1] + f[j + 2]);
        for (int j = 0; j < t; j++)
            f[j + 2] = b[j];
    }
    for (int i = 2; i <= 37; i++)
        for (int j = 0; j != 5; j++)
            out[j][i] = 0.3 * (b[i + 2] + b[i + 1]);
#pragma endscop
}
"""
"""`b` has two lives. With `--fuse max`, isl takes the first one's writes for the later readers' too."""


def test_live_ranges_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(WRITTEN_ANEW)
    (region,) = read(str(file), InputOptions()).regions
    options = Options(fuse="max", tile_sizes=None)
    program = schedule_nests(initial_program(region.scop, options))
    assert keeps_live_ranges(program.tree, program)
    compiled = compile_region(region, options)
    assert compiled.verified
    assert not {"verification-failed", "schedule-budget"} & {r.code for r in compiled.program.remarks}


ENDLESS = """
void endless(int n, int m)
{
    float c[45][3];
#pragma scop
    for (int i = 0; i < 45; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = 0.3;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 1; j++)
            c[2][1] = c[i + 4][1] + c[i][j + 2] + i * (c[i / 3 + 2][j]);
#pragma endscop
}
"""
"""isl's scheduler takes hours for it with `--fuse max`."""
LONG = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void f(int n, double *c, double a[n + 3][60])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = i / 2; j < MIN(i + n, 40); j++) {
            double s = 0.07;
            for (int k = 0; k <= i - 1; k += 3)
                for (int l = i / 2; l < MIN(i + n, 40); l++)
                    if (c[(i - 1) * (n + 16) + j + 5] >= 0.9)
                        s -= c[(i + 3) * (n + 16) + j + 7];
            a[i + 2][j + 1] = s * 1.7 + a[i - 1][MIN(j + 1, n - 1)];
        }
#pragma endscop
}
"""
"""50,000 of its operations take 45 s."""


@pytest.mark.parametrize(("text", "fuse"), [(ENDLESS, "max"), (LONG, "basteln")], ids=["endless", "long"])
def test_a_schedule_that_does_not_end(text: str, fuse: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "MOST_SECONDS", 1)
    compiled = compile_region(region_of(text, tmp_path), Options(fuse=fuse))
    assert compiled.verified
    assert "schedule-budget" in {r.code for r in compiled.program.remarks}


def test_steps_in_a_child() -> None:
    assert in_child(lambda: ("an answer", 2), 5) == ("an answer", 2)
    assert in_child(lambda: "long" * 100_000, 5) == "long" * 100_000
    with pytest.raises(StepError, match="what went wrong"):
        in_child(lambda: failing("what went wrong"), 5)
    with pytest.raises(StepError, match="ValueError"):  # never an empty message
        in_child(lambda: failing(""), 5)
    with pytest.raises(ValueError, match="what went wrong"):
        in_child(lambda: failing("what went wrong"), 5, (ValueError,))
    with pytest.raises(OutOfTime):
        in_child(lambda: sum(iter(int, 1)), 1)
    with pytest.raises(Faulted):
        in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV), 5)


def test_steps_that_have_to_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault() -> bool:
        os.kill(os.getpid(), signal.SIGSEGV)
        return True

    assert survived(lambda: 1)
    assert survived(lambda: failing("an error is no end"))
    assert not survived(fault)
    assert in_child(lambda: survived(lambda: 1), 5)
    with careful():
        assert not in_child(lambda: survived(fault), 5)
    monkeypatch.setattr(bounded, "MOST_SECONDS", 1)
    with pytest.raises(OverBudget):
        survived(lambda: sum(iter(int, 1)))


def test_steps_one_after_the_other() -> None:
    seen: list[int] = []
    started: Started[object] = Started([lambda: seen.append(3), lambda: seen], 5)
    assert (started.answer(), started.answer(), seen) == (None, [3], [])  # the copy keeps what it changes
    started = Started([lambda: failing("what went wrong"), lambda: "never"], 5)
    with pytest.raises(StepError, match="what went wrong"):
        started.answer()
    started = Started([lambda: "first", lambda: sum(iter(int, 1))], 1)
    assert started.answer() == "first"
    with pytest.raises(OutOfTime):
        started.answer()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its processor time ends it")
def test_what_a_stopped_step_has_started_ends(tmp_path: Path) -> None:
    place = tmp_path / "pid"

    def inside() -> None:
        place.write_text(str(os.getpid()))
        time.sleep(60)

    started = Started([lambda: Started([inside], 60).answer()], 60)
    wait_for(lambda: place.exists() and place.read_text() != "")
    started.end()
    wait_for(lambda: not runs(int(place.read_text())))


def runs(process: int) -> bool:
    """Whether a process is there, and more than the entry of one that nobody has waited for."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def failing(message: str) -> str:
    raise ValueError(message)


def test_last_value_of_a_private_scalar_holds_no_loop(tmp_path: Path) -> None:
    """What the last step of a filter leaves for the next one nobody reads: each row may have its own."""
    text = """
void f(int w, int h, float in[w][h], float out[w][h])
{
    float y;
#pragma scop
    for (int i = 0; i < w; i++) {
        y = 0.0f;
        for (int j = 0; j < h; j++) {
            out[i][j] = in[i][j] + 0.5f * y;
            y = out[i][j];
        }
    }
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    bands = [n for n in walk(result.program.tree.child) if isinstance(n, Band)]
    assert any(member.parallel and member.name == "i" for band in bands for member in band.members)
    assert check(region, result, sizes=(1, 2, 9, 33)) == []


def test_sixty_stages_take_few_steps(tmp_path: Path) -> None:
    """Putting the nests back into the user's order looks at each dependence once, not at all of them for each pair."""
    nests = "".join(
        f"    for (int i = 0; i < 99; i++)\n        a[{k + 1}][i] = a[{k}][i] + a[{k}][i + 1];\n" for k in range(60)
    )
    region = region_of(f"void chain(float a[61][100])\n{{\n#pragma scop\n{nests}#pragma endscop\n}}\n", tmp_path)
    program = initial_program(region.scop, Options())
    with budget(region.scop.domain.get_ctx(), 200_000):
        schedule_nests(program)


LAST_OF_EACH = """
void f(int n, const unsigned char b[n * 64 + 1], int out[64])
{
    int t[64];
#pragma scop
    for (int k = 0; k < 64; k++)
        t[k] = -1;
    for (int i = 0; i < n * 64; i++)
        t[b[i] & 63] = i;
    for (int k = 0; k < 64; k++)
        out[k] = t[k];
#pragma endscop
}
"""
LAST_OF_ALL = """
void f(const int a[100], int b[100], int out[64])
{
    int t[64];
#pragma scop
    for (int i = 0; i < 100; i++) {
        t[0] = a[i];
        b[i] = t[0] + 3;
    }
    for (int k = 0; k < 64; k++)
        out[k] = t[0] + k;
#pragma endscop
}
"""
LAST_OF_EACH_ROW = """
void f(int n, const int a[n + 1][100], int b[n + 1][100], int out[n + 1][50])
{
    int t[64];
#pragma scop
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < 100; i++) {
            t[3] = a[j][i];
            b[j][i] = t[3] * t[3];
        }
        for (int k = 0; k < 50; k++)
            out[j][k] = t[3] - k;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        (LAST_OF_EACH, {"k": True, "i": False}),
        (LAST_OF_ALL, {"i": False, "k": True}),
        (LAST_OF_EACH_ROW, {"j": True, "i": False, "k": True}),
    ],
)
def test_values_for_the_next_step_hold_a_loop(text: str, loops: dict[str, bool], tmp_path: Path) -> None:
    """isl schedules steps one by one: that a later one reads what a private array has in the end it does not see."""
    region = region_of(text, tmp_path)
    options = Options(threads="always", inline=False, relocate=False)
    tree = schedule_nests(initial_program(region.scop, options)).tree
    members = [m for n in walk(tree.child) if isinstance(n, Band) for m in n.members]
    assert {m.name: m.coincident for m in members} == loops
    result = compile_region(region, options)
    assert result.verified
    assert not {"verification-failed", "not-printed", "budget"} & {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 2, 9, 33)) == []


BACKWARDS = """
void solve(double a[700][700], double b[700])
{
#pragma scop
    for (int i = 699; i >= 0; i--) {
        for (int j = i + 1; j < 700; j++)
            b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
#pragma endscop
}
"""


def test_no_loop_runs_a_constant_size_times_another(tmp_path: Path) -> None:
    """isl's own schedule of it is `698 * i - j` and the like: half a million iterations for each step."""
    initial = initial_program(region_of(BACKWARDS, tmp_path).scop, Options())
    program = schedule_nests(initial)
    assert [remark.code for remark in program.remarks] == ["not-scheduled"]
    loops = [member for band in walk(program.tree.child) if isinstance(band, Band) for member in band.members]
    for member in loops:
        least, most = member.schedule.min_val().to_python(), member.schedule.max_val().to_python()
        assert most - least < 700


STEPS = """
void f(int K, int n, int out[K], short in[n], short w[K][n])
{
#pragma scop
    for (int i = 0; i < K; i++) {
        int sum = 0, before = 0, d;
        for (int m = n - 2; m >= 0; m -= 2) {
            d = in[m + 1] * w[i][m + 1];
            sum += d - (before >> 1);
            before = d;
            d = in[m] * w[i][m];
            sum += d - (before >> 1);
            before = d;
        }
        out[i] = sum;
    }
#pragma endscop
}
"""


def test_statements_of_a_sequential_loop_are_not_shifted(tmp_path: Path) -> None:
    """isl would run the last one an iteration late, and twice as many iterations, with a remainder in each."""
    region = region_of(STEPS, tmp_path)
    compiled = compile_region(region, Options(threads="always"))
    assert "for (int m = 2 - n; m < 1; m += 2) {" in compiled.text
    assert "%" not in compiled.text.partition("m += 2")[2]
    assert not check(region, compiled)


CHUNKS = """
#include <math.h>
void f(int n, int g, int m, float x[n][16 * g][m], float scale[16 * g])
{
#pragma scop
    for (int b = 0; b < n; b++)
        for (int k = 0; k < g; k++) {
            float s = 0, q = 0;
            for (int c = k * 16; c < (k + 1) * 16; c++)
                for (int i = 0; i < m; i++) {
                    s += x[b][c][i];
                    q += x[b][c][i] * x[b][c][i];
                }
            float d = 1.0f / sqrtf(q - s * s + 1e-5f);
            for (int c = k * 16; c < (k + 1) * 16; c++)
                for (int i = 0; i < m; i++)
                    x[b][c][i] = (x[b][c][i] - s) * d * scale[c];
        }
#pragma endscop
}
"""


def test_a_loop_over_chunks_of_another_one_stays(tmp_path: Path) -> None:
    """isl makes one loop of both, and takes what is parallel in it for a sequence; nor do several chunks run beside
    each other inside of their own elements."""
    region = region_of(CHUNKS, tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert "for (int k = 0; k < g; k++) {" in result.text
    assert "for (int c = 16 * k; c < 16 * k + 16; c++)" in result.text
    assert check(region, result, sizes=(1, 2, 3)) == []


FILTERS = """
struct filter { double b, a, x, y; };
void f(int n, int m, struct filter s[9][m], double in[n], double out[9][n], double peak[9])
{
#pragma scop
    for (int t = 0; t < n; t++)
        for (int c = 0; c < 9; c++) {
            double v = in[t];
            for (int k = 0; k < m; k++) {
                double w = s[c][k].b * v + s[c][k].a * s[c][k].y;
                s[c][k].y = w;
                v = w;
            }
            out[c][t] = v;
            if (v > peak[c]) peak[c] = v;
        }
#pragma endscop
}
"""


def test_parallel_loops_of_the_original_order_go_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where isl finds no schedule, loops that carry nothing are brought outside as it would have brought them."""
    monkeypatch.setattr(schedule, "scheduled", lambda *_: (_ for _ in ()).throw(OverBudget))
    region = region_of(FILTERS, tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert result.text.index("for (int c = 0; c < 9; c++)") < result.text.index("for (int t = 0; t < n; t++)")
    assert check(region, result, sizes=(1, 2, 5)) == []


BANK = """
void bank(int n, int nt, double x[n][4], double c[n][4][4], double meas[nt][n][2], double gate, int miss[n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int t = 0; t < nt; t++) {
            double P[4][4];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    P[i][j] = 2 * c[k][i][j];
            for (int m = 0; m < 2; m++) {
                double K[4];
                double S = P[2 * m][2 * m] + 1.0;
                double nu = meas[t][k][m] - x[k][2 * m];
                if (nu * nu / S > gate) {
                    miss[k]++;
                } else {
                    for (int i = 0; i < 4; i++)
                        K[i] = P[i][2 * m] / S;
                    for (int i = 0; i < 4; i++)
                        x[k][i] += K[i] * nu;
                    for (int i = 0; i < 4; i++)
                        for (int j = 0; j < 4; j++)
                            P[i][j] -= K[i] * S * K[j];
                }
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    c[k][i][j] = P[i][j];
        }
#pragma endscop
}
"""


def test_a_short_loop_is_not_one_with_the_loop_around(tmp_path: Path) -> None:
    """isl's schedule of it is a loop over 2 * t + m, which asks in each iteration whether it is the first of two."""
    region = region_of(BANK, tmp_path)
    program = schedule_nests(initial_program(region.scop, Options()))
    bands = [band for band in walk(program.tree.child) if isinstance(band, Band)]
    assert not any("2t" in str(member.schedule) for band in bands for member in band.members)
    result = compile_region(region, Options())
    assert result.verified
    assert "m < 2; m++" in result.text
    assert "% 2" not in result.text
    assert check(region, result, sizes=(1, 2, 5)) == []


COLOURS = """
void f(int n, int m, unsigned char rgb[2 * n][2 * m][2], unsigned char luma[2 * n][2 * m], int sums[n][m])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int sum = 0;
            for (int dy = 0; dy < 2; dy++)
                for (int dx = 0; dx < 2; dx++) {
                    int r = rgb[2 * y + dy][2 * x + dx][0], g = rgb[2 * y + dy][2 * x + dx][1];
                    luma[2 * y + dy][2 * x + dx] = (unsigned char)((77 * r + 150 * g + 128) >> 8);
                    sum += -43 * r - 85 * g;
                }
            sums[y][x] = sum;
        }
#pragma endscop
}
"""


def test_no_loop_of_a_statement_runs_in_the_last_iteration_of_another_one(tmp_path: Path) -> None:
    """isl's schedule stores both values of luma in the second iteration of dx, before r and g change."""
    region = region_of(COLOURS, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "dx2" not in result.text
    assert "omp parallel for" in result.text
    assert check(region, result, sizes=(1, 2, 5)) == []
