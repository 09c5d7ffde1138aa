"""Subscripts that the data decide, in flat arrays: the question before the loops, and both of its answers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_in, region_of

FOLDER = Path(__file__).parent / "inspected"
FILES = sorted(FOLDER.glob("*.c"))
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed", "not-inspected"}
ELSE = "} else { /* where that does not hold: as it was written */"


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_text(file: Path, golden: Callable[[Path, str], None]) -> None:
    result = compile_region(region_in(file), Options())
    assert result.verified
    codes = {remark.code for remark in result.program.remarks}
    assert "inspected" in codes
    assert not codes & FAILURES
    assert "not-parallel" not in codes
    golden(file.with_suffix(".golden"), result.text)


MAIN = """
#include <stdio.h>
#include <stdlib.h>
int original;
@@
int main(int count, char **words)
{
    const int rows = 13, cols = 70, n = 9, at = atoi(words[1]), value = atoi(words[2]);
    int *key = calloc(rows * cols, sizeof *key);
    float *in = calloc(rows * cols, sizeof *in), *out = calloc(rows * cols, sizeof *out);
    float *cells = calloc(20000, sizeof *cells);
    for (int i = 0; i < rows * cols; i++) {
        key[i] = i * 7 % n;
        in[i] = i * 7 % 20 / 4.0f;
    }
    key[at] = value;
    in[at] = value / 4.0f;
    (void)count;
    CALL;
    for (int i = 0; i < 20000; i++)
        if (cells[i] != 0.0f)
            printf("%d %a\\n", i, cells[i]);
    for (int i = 0; i < rows * cols; i++)
        printf("%a\\n", out[i]);
    fprintf(stderr, "%d", original);
    return 0;
}
"""
CALLS = {
    "bins": "bins(rows, cols, n, key, in, cells + 5000)",
    "levels": "levels(rows, cols, 20, in, cells + 5000, out)",
}
OUTSIDE = {"bins": (-1, 9, 40), "levels": (-30, 90, 400)}
INSIDE = {"bins": (0, 8), "levels": (0, 20)}


@pytest.fixture(scope="module", params=CALLS)
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path]:
    """The region as it was written and as it is printed, as programs."""
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    file = FOLDER / f"{name}.c"
    region = region_in(file)
    text = compile_region(region, Options(threads="always")).text
    assert ELSE in text
    source = file.read_text()
    whole = source[: region.start] + text.replace(ELSE, f"{ELSE} original = 1;") + source[region.end :]
    for kind, body in (("old", source), ("new", whole)):
        (folder / f"{kind}.c").write_text(MAIN.replace("@@", body).replace("CALL", CALLS[name]))
        flags = ["-O2", "-fopenmp", "-ffp-contract=off", "-w"]
        subprocess.run(["gcc", *flags, folder / f"{kind}.c", "-o", folder / kind], check=True)
    return name, folder / "old", folder / "new"


@pytest.mark.parametrize("place", [0, 69, 455, 909])
def test_both_answers(programs: tuple[str, Path, Path], place: int) -> None:
    """Where a level leaves its row, in whatever iteration, the loops run as they were written."""
    name, old, new = programs
    for values, branch in ((INSIDE[name], "0"), (OUTSIDE[name], "1")):
        for value in values:
            words = [str(place), str(value)]
            wanted, found = (subprocess.run([p, *words], capture_output=True, text=True) for p in (old, new))
            assert wanted.returncode == found.returncode == 0
            assert found.stdout == wanted.stdout
            assert found.stderr == branch


def test_no_question_where_nothing_comes_of_it(tmp_path: Path) -> None:
    text = """
    void f(int rows, int cols, int n, const int *key, float *h)
    {
    #pragma scop
        for (int y = 1; y < rows; y++)
            for (int x = 0; x < cols; x++)
                h[y * n + key[y * cols + x]] += h[(y - 1) * n + x];
    #pragma endscop
    }
    """
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "not-inspected" in {remark.code for remark in result.program.remarks}
    assert "inside" not in result.text
    assert check(region, result, sizes=(1, 5, 17)) == []


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_without_a_check(target: str) -> None:
    result = compile_region(region_in(FOLDER / "bins.c"), Options(target=target, verify=False))
    assert ("inside &=" in result.text) == (target == "openmp")


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_a_gpu_is_not_asked(target: str) -> None:
    result = compile_region(region_in(FOLDER / "bins.c"), Options(target=target))
    assert "inside &=" not in result.text
    assert "not-inspected" in {remark.code for remark in result.program.remarks}


def test_rows_that_bytes_stay_in(tmp_path: Path) -> None:
    """No question where the type of an index says it; the sizes are asked."""
    text = """
    void f(int rows, int cols, int n, const unsigned char *key, const float *w, float *h)
    {
    #pragma scop
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < cols; x++)
                h[y * n + key[y * cols + x]] += w[y * cols + x];
    #pragma endscop
    }
    """
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "n >= 256" in result.text
    assert "omp parallel for" in result.text
    assert check(region, result, sizes=(1, 5, 260)) == []
