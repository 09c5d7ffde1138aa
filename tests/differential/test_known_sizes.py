"""Sizes that the calls of a file pass are constants in the text: for these sizes, and for others, it is the region."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, compiled_file, run

FILE = """
#include <stdio.h>
#ifndef N
#define N 120
#endif
static double a[120][120];
static unsigned char b[120 * 120];

static void blur(int n, int radius, double x[n][n], unsigned char *flat)
{
    const int window = 2 * radius + 1;
    long count = n;

#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = radius; j < n - radius; j++) {
            int sum = 0;
            for (int k = -radius; k <= radius; k++)
                sum += flat[i * n + j + k];
            x[i][j] = sum / window + count;
        }
#pragma endscop
}

int main(void)
{
    double sum = 0;
    int n = N;

    for (int i = 0; i < 120 * 120; i++)
        b[i] = i * 7 % 251;
    blur(n, 3, (double (*)[N])a, b);
    for (int i = 0; i < 120 * 120; i++)
        sum += (&a[0][0])[i] * (i % 5);
    printf("%.17g\\n", sum);
    return 0;
}
"""


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-fsanitize=address,undefined", "-fno-sanitize-recover")])
def test_version(flags: tuple[str, ...], tmp_path: Path) -> None:
    plain, made = tmp_path / "plain.c", tmp_path / "made.c"
    plain.write_text(FILE)
    _, (region,), text = compiled_file(plain, InputOptions(), Options())
    assert "const int window = 7;" in text
    assert region.verified
    made.write_text(text)
    for size in ("120", "50"):
        outputs = set()
        for source in (plain, made):
            program = tmp_path / f"{source.stem}{size}"
            words = (*WARNINGS, "-Wno-unknown-pragmas", ROUNDING, *flags, "-fopenmp", f"-DN={size}")
            run("gcc", *words, source, "-o", program)
            outputs.add(run(program))
        assert len(outputs) == 1
