"""Memory that may be reached by several names: rows behind pointers, and many arrays, which the text sorts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import run_alike

ROWS = """#include <stdio.h>
#include <stdlib.h>
void scale(int n, int m, double **a, double **b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = b[i][j] * 2;
}
void blur(int n, int m, double **a, double **b, const double *c)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            a[i][j] = b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + c[i];
}
void cube(int n, int m, double ***a, double ***b, const double *w)
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < 7; k++)
                a[i][j][k] = b[i][j - 1][k] + b[i][j + 1][k - 1] * w[k];
}
void cross(int n, double ***a, double ***b)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 0; k < 8; k++)
                a[i][j][k] = b[i - 1][j][k] + b[i + 1][j][k] + b[i][j - 1][k] - b[i][j + 1][k];
}
void pack(int n, int i, double ****a, double *out)
{
    int m, j, k, at;
    for (at = 0, m = 0; m < 2; m++)
        for (j = 1; j < n; j++)
            for (k = 1; k < 7; k++, at++)
                out[at] = a[m][i][j][k] * 2;
}
void deep(int n, double ****a, const double *w)
{
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < n; i++)
            for (int j = 1; j < 9; j++)
                for (int k = 0; k < 8; k++)
                    a[m][i][j][k] = a[m][i][j][k] + w[k + m];
}
void limit(int n, int m, double **a, double **b, double **w)
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++) {
            double t, u;
            if ((t = b[i][j] - b[i][j - 1]) > (u = b[i][j] - b[i][j + 1]))
                a[i][j] = t + w[i][j] + w[i + 1][j];
            else
                a[i][j] = u - w[i + 1][j + 1] * (w[i][j - 1] > 3 ? b[i][j] : -b[i][j + 1]);
        }
}
void both(int n, double (**a)[4], double *b[3])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                a[i][j][k] = b[j][k] + i;
}
void own(int n, double *x)
{
    double *rows[4];
    for (int i = 0; i < 4; i++)
        rows[i] = x + i * (n / 2);
    for (int i = 0; i < 4; i++)
        for (int j = 1; j < n; j++)
            rows[i][j] = rows[i][j - 1] + 1;
}
"""
MAIN = """
#define N 40
static double pool[8 * N * N];
static double *a[N], *b[N], **p[4], **q[4];
static void fill(void)
{
    for (int k = 0; k < 8 * N * N; k++)
        pool[k] = k * 7 % 31;
}
static void show(const char *name)
{
    double sum = 0;
    for (int k = 0; k < 8 * N * N; k++)
        sum += pool[k] * (k % 97 + 1);
    printf("%s %.0f\\n", name, sum);
}
int main(void)
{
    for (int way = 0; way < 7; way++) {
        fill();
        for (int i = 0; i < N; i++) {
            a[i] = pool + N * (way == 1 ? i * 7 % N : way == 2 ? i / 2 + 1 : N - i) + (way == 5 && i % 2 ? -N / 2 : 0);
            b[i] = way == 3 ? a[i] : way == 4 ? a[i] + 1 : pool + 2 * N * N + N * i;
        }
        scale(N, way == 4 ? N - 1 : N, a, way == 6 ? a : b);
        blur(N, N - 1, a, way == 6 ? a : b, pool + N * (way == 0 ? 4 * N : 3));
        blur(2, N, a, b, pool);
        limit(N - 1, N, a, way == 6 ? a : b, way == 5 ? a : b);
        limit(0, 8, NULL, NULL, NULL);
        scale(N, 0, NULL, NULL);
        scale(0, N, NULL, b);
        both(N, (double (**)[4])a, b);
        own(N, pool + way);
        for (int i = 0; i < 4; i++)
            p[i] = way == 6 && i == 3 ? a + 7 : a + 10 * i, q[i] = way == 3 ? p[i] : b + 10 * (3 - i);
        cube(4, 10, p, way == 4 ? p : q, way == 5 ? a[25] + 3 : pool + 6 * N * N);
        cross(4, p, way == 2 ? p : q);
        cube(0, 10, NULL, NULL, NULL);
        double ***r[2] = {p, way == 4 ? p : q};
        pack(10, 1, r, way == 5 ? b[12] + 2 : pool + 7 * N * N);
        deep(3, r, way == 2 ? a[4] : pool);
        pack(1, 0, NULL, NULL);
        show("way");
    }
    return 0;
}
"""
MANY = """#include <stdio.h>
void many(int n, ARGUMENTS)
{
    for (int i = 0; i < n; i++) {
BODY
    }
    for (int i = 0; i < n; i++)
        x0[i] = x0[i] + x7[i];
}
static double pool[9000];
int main(void)
{
    for (int way = 0; way < 6; way++) {
        for (int k = 0; k < 9000; k++)
            pool[k] = k * 11 % 37;
        double *x[8];
        for (int k = 0; k < 8; k++)
            x[k] = pool + 1000 * ((k * 3) % 8);
        if (way == 1) x[2] = x[0] + 1;
        if (way == 2) x[7] = x[6];
        if (way == 3) x[5] = x[1] + 999;
        if (way == 4) x[6] = x[3] - 500;
        many(way == 5 ? 0 : 1000, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
        double sum = 0;
        for (int k = 0; k < 9000; k++)
            sum += pool[k] * (k % 97 + 1);
        printf("%.0f\\n", sum);
    }
    return 0;
}
"""
MANY = MANY.replace("ARGUMENTS", ", ".join(f"double *x{k}" for k in range(8))).replace(
    "BODY", "\n".join(f"        x{k}[i] = x{k + 1}[i] + x{k + 2}[i] * {k + 2};" for k in range(6))
)


def compiled(text: str, folder: Path) -> tuple[str, int]:
    """The text with all that is found in it compiled, and how many regions that is."""
    file = folder / "t.c"
    file.write_text(text)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    for region in regions:
        assert region.certificate is not None
        assert region.certificate.text == "shown"
    # A replay has no rows of arrays, as in `both`.
    assert [one.certificate.run for one in regions].count("agrees") >= len(regions) - 1
    return render_file(source, regions), len(regions)


@pytest.mark.parametrize(("text", "regions"), [(ROWS + MAIN, 9), (MANY, 1)], ids=["rows", "many"])
def test_overlaps_run_as_they_were(text: str, regions: int, tmp_path: Path) -> None:
    printed, count = compiled(text, tmp_path)
    assert count >= regions
    assert "polyc_all_apart" in printed
    run_alike(text, printed, tmp_path)


def test_the_answer_is_yes_where_rows_are_apart(tmp_path: Path) -> None:
    """Each way through the list gives the answer that comparing all pairs gives."""
    printed, _ = compiled(ROWS, tmp_path)
    macros = printed[printed.index("#ifndef polyc_ranges") : printed.index("int polyc_is_apart")].rpartition("    {")[0]
    (tmp_path / "m.c").write_text(
        f"""#include <stdio.h>
{macros}
static unsigned long draw(unsigned long *s)
{{
    return *s = *s * 6364136223846793005ul + 1442695040888963407ul, *s >> 40;
}}
int main(void)
{{
    unsigned long s = 1;
    int yes = 0, few = 0;
    for (int round = 0; round < 4000; round++) {{
        unsigned long r[300][3], many = round % 8 == 0, n = draw(&s) % (many ? 300 : 12), answer = 1;
        for (unsigned long k = 0; k < n; k++)
            r[k][0] = draw(&s) % (many ? 400000 : 400), r[k][1] = r[k][0] + draw(&s) % 12, r[k][2] = draw(&s) % 3 == 0;
        for (unsigned long k = 0; k < n; k++)
            for (unsigned long l = 0; l < k; l++)
                if ((r[k][2] || r[l][2]) && r[k][0] < r[k][1] && r[l][0] < r[l][1])
                    answer &= r[k][1] <= r[l][0] || r[l][1] <= r[k][0];
        int found = 1;
        polyc_ranges();
        for (unsigned long k = 0; k < n; k++)
            polyc_range(r[k][0], r[k][1], r[k][2]);
        polyc_all_apart(found);
        if (found != (int)answer)
            return 1;
        yes += found, few += many && found;
    }}
    printf("%d\\n", yes > 400 && yes < 3600 && few > 50 && few < 450);
    return 0;
}}
"""
    )
    words = ["gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-fsanitize=address,undefined", "m.c", "-o", "m"]
    subprocess.run(words, check=True, cwd=tmp_path)
    done = subprocess.run(["./m"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
