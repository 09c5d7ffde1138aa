"""Marked regions in which data decide whether loops run: the blocks that they decide on are regions of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polyc.analysis.loop_facts import loop_facts
from polyc.api.calls import run_of
from polyc.cli.run import no_gain
from polyc.codegen.render import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Region, Source
from polyc.pipeline import compile_region

OPTIONS = Options(threads="always")


def judged(region: Region) -> str | None:
    return no_gain(compile_region(region, OPTIONS))


def source_of(file: Path) -> Source:
    return read(str(file), InputOptions(), judged)


QR = """
#include <math.h>
#include <stdio.h>
enum { M = 70, N = 40 };
static double A[M][N], diag[N];
static void qr(int m, int n)
{
#pragma scop
    for (int k = 0; k < n; k++) {
        double nrm = 0;
        for (int i = k; i < m; i++)
            nrm += A[i][k] * A[i][k];
        nrm = sqrt(nrm);
        if (nrm != 0.0) {
            for (int i = k; i < m; i++)
                A[i][k] /= nrm;
            A[k][k] += 1.0;
            for (int j = k + 1; j < n; j++) {
                double s = 0;
                for (int i = k; i < m; i++)
                    s += A[i][k] * A[i][j];
                s = -s / A[k][k];
                for (int i = k; i < m; i++)
                    A[i][j] += s * A[i][k];
            }
        }
        diag[k] = -nrm;
    }
#pragma endscop
}
int main(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = j == 7 ? 0.0 : (i * 7 + j * 3) % 11 - 4.5;
    qr(M, N);
    for (int j = 0; j < N; j++)
        printf("%.17g %.17g\\n", diag[j], A[j][(j * 3) % N]);
}
"""


def test_loops_under_a_condition_of_data(tmp_path: Path) -> None:
    file = tmp_path / "qr.c"
    file.write_text(QR)
    source = source_of(file)
    (region,) = source.regions
    assert region.scop.apart == ()  # who marked the region promised that
    assert [len(s.loops) for s in region.scop.statements.values()] == [1, 0, 1, 2, 1, 2]
    (told,) = source.left
    assert told.message.startswith("the outer loops of this region of qr() stay as they are: no sizes alone decide")
    text = render_file(source, [compile_region(region, OPTIONS)])
    assert "#pragma scop" not in text
    assert "#pragma endscop" not in text
    assert text.count("\n") > QR.count("\n")
    result = tmp_path / "result.c"
    result.write_text(text)
    seen = []
    for one, flags in ((file, []), (result, ["-fopenmp", "-Wall", "-Werror"])):
        program = one.with_suffix(".out")
        command = ["gcc", "-O2", "-ffp-contract=off", *flags, str(one), "-o", str(program), "-lm"]
        subprocess.run(command, check=True)
        seen.append(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout)
    assert seen[0] == seen[1]


def test_what_gains_as_a_whole_stays_whole(tmp_path: Path) -> None:
    """A nest that is parallel is one region, though one of its statements has a loop that data end."""
    file = tmp_path / "rows.c"
    file.write_text(
        "void rows(int n, double a[n][100], const int *k)\n{\n#pragma scop\n"
        "    for (int i = 0; i < n; i++)\n        if (k[i] > 0) {\n            for (int j = 1; j < 100; j++)\n"
        "                a[i][j] += a[i][j - 1];\n        }\n#pragma endscop\n}\n"
    )
    source = source_of(file)
    assert [len(region.scop.statements) for region in source.regions] == [1]
    assert not source.left


ONE_IN_THE_WAY = """
float other(float);
#pragma polyc pure(other)
void f(int n, float a[n][n], float b[n][n], float c[n], float t[n][n])
{
#pragma polyc live-out(b, c)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = 2 * a[i][j];
    for (int i = 0; i < n; i++)
        c[i] = other(a[i][0]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = t[i][j] + c[i];
#pragma endscop
}
"""


def test_a_nest_that_is_no_kernel_keeps_no_other_from_being_one() -> None:
    """What one part leaves to another one is needed after it, whatever is after all of them."""
    run = run_of("compile", ONE_IN_THE_WAY, {"target": "cuda"})
    assert [(one.program.scop.span.line, sorted(one.program.scop.live_out)) for one in run.compiled] == [
        (8, ["t"]),
        (13, ["b"]),
    ]
    assert all(one.device for one in run.compiled)
    (told,) = run.source.left
    assert told.message.startswith("parts of this region of f() are regions of their own, since all of it is none")
    assert len(run_of("compile", ONE_IN_THE_WAY, {"target": "openmp"}).compiled) == 1


def test_a_loop_of_the_host_has_no_kernels_of_its_own() -> None:
    """Where one nest in it cannot be one: all arrays would be copied in each iteration."""
    first, rest = ONE_IN_THE_WAY.split("#pragma scop\n")
    body, last = rest.split("#pragma endscop\n")
    text = f"{first}#pragma scop\nfor (int s = 0; s < 9; s++) {{\n{body}}}\n#pragma endscop\n{last}"
    (one,) = run_of("compile", text, {"target": "cuda"}).compiled
    assert not one.device


STAGES = """
void f(float a[64][1024])
{
#pragma scop
    for (int k = 1; k < 1024; k *= 2)
        for (int r = 0; r < 64; r++)
            for (int i = k; i < 1024; i++)
                a[r][i] += a[r][i - k];
#pragma endscop
}
"""


def test_loops_in_a_loop_of_other_steps() -> None:
    """Without braces around them."""
    for target in ("openmp", "cuda"):
        (one,) = run_of("compile", STAGES, {"target": target}).compiled
        assert [len(s.loops) for s in one.program.scop.statements.values()] == [2]
        assert any(facts.parallel for facts in loop_facts(one.program).values())
