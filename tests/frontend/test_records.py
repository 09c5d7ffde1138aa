"""Offsets between records: `l` of `a[j + l]` and `a[j + l + 1]` in a loop of step 2."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import islpy as isl
import pytest

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

BUTTERFLY = """void f(int l, float *a)
{
    for (int j = 0; j < l; j += 2) {
        int k = j + l;
        float x = a[j] - a[k];
        float y = a[j + 1] - a[k + 1];
        a[j] += a[k];
        a[j + 1] += a[k + 1];
        a[k] = x;
        a[k + 1] = y;
    }
}
"""
COLOURS = """void f(int n, int m, int *a)
{
    for (int j = 0; j < n; j += 3) {
        a[j] = a[j + m] + 1;
        a[j + 1] = a[j + m + 1] + 2;
        a[j + 2] = a[j + m + 2] + 3;
    }
}
"""
ONE_PLACE = """void f(int n, int m, int *a)
{
    for (int j = 0; j < n; j += 2)
        a[j] = a[j + m] + 1;
}
"""
NO_STEP = """void f(int n, int m, int *a)
{
    for (int j = 0; j < n; j++) {
        a[j] = a[j + m] + 1;
        a[j + 1] = a[j + m + 1] + 2;
    }
}
"""
ONLY_READ = """void f(int n, int m, int *a, int *restrict b)
{
    for (int j = 0; j < n; j += 2) {
        b[j] = a[j] + a[j + m];
        b[j + 1] = a[j + 1] + a[j + m + 1];
    }
}
"""


def printed(text: str, folder: Path, options: Options) -> str:
    file = folder / "t.c"
    file.write_text(text)
    source = read(str(file), InputOptions(detect=True))
    return render_file(source, [compile_region(region, options) for region in source.regions])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (BUTTERFLY, "[l] -> { : l mod 2 = 0 }"),
        (COLOURS, "[m] -> { : m mod 3 = 0 }"),
        (ONE_PLACE, "{ : }"),
        (NO_STEP, "{ : }"),
        (ONLY_READ, "{ : }"),
    ],
)
def test_offsets_are_whole_records(text: str, wanted: str, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(text)
    (region,) = read(str(file), InputOptions(detect=True)).regions
    guard, asked = region.scop.guard, isl.Set(wanted)
    assert guard.is_subset(asked)
    assert asked.intersect_params(region.scop.context.params()).is_subset(guard) or wanted == "{ : }"
    assert ("mod" in str(guard)) == (wanted != "{ : }")


def test_the_loop_stays_as_it_was_written_but_for_threads(tmp_path: Path) -> None:
    text = printed(BUTTERFLY, tmp_path, Options())
    assert "if (l % 2 == 0 && polyc_threads(l - 1L > 64000) && polyc_several()) {" in text
    wanted = """
        for (int j = 0; j < l; j += 2) {
          float x = a[j] - a[(long)l + j];
          float y = a[j + 1] - a[(long)l + j + 1];
          a[j] += a[(long)l + j];
          a[j + 1] += a[(long)l + j + 1];
          a[(long)l + j] = x;
          a[(long)l + j + 1] = y;
        }
"""
    assert wanted in text


def test_values_are_the_same_whatever_the_offset(tmp_path: Path) -> None:
    new = printed(BUTTERFLY, tmp_path, Options(threads="always"))
    both = []
    for name, text in (("old", BUTTERFLY), ("new", new)):
        (tmp_path / f"{name}.c").write_text(text)
        command = ["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"]
        subprocess.run(command, check=True, cwd=tmp_path)
        both.append(ctypes.CDLL(str(tmp_path / f"{name}.so")).f)
    for length in (-2, 0, 1, 2, 3, 7, 8, 101, 1000):
        found = []
        for function in both:
            values = (ctypes.c_float * 3000)(*(0.1 * k * k % 7 for k in range(3000)))
            function(length, values)
            found.append(bytes(values))
        assert found[0] == found[1], length
