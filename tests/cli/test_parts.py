"""Marked regions in which data decide whether loops run: the blocks that they decide on are regions of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

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
    assert told.message.startswith("the outer loops of this region of qr() stay as they are: data decide whether")
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
