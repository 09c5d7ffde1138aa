"""`floor` and its like in vector loops, of which gcc makes none as long as somebody might look at exceptions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polyc.analysis.expressions.promoted import ROUNDED
from polyc.codegen.text.macros import MACROS
from tests.passes.test_choices import text_of
from tests.programs import compiled

ROW = """
#include <math.h>
%s
void f(int n, const float x[n], const double d[n], float out[n], double far[n], int k[n], const float t[64])
{
#pragma scop
    for (int i = 0; i < n; i++)
        %s
#pragma endscop
}
"""
TAKEN = {
    "out[i] = x[i] - floorf(x[i]);": "x[i] - polyc_floorf(x[i])",
    "far[i] = d[i] - 9 * round(d[i] / 9);": "d[i] - 9 * polyc_round(d[i] / 9)",
    "k[i] = (int)ceilf(x[i] * 4) + (int)trunc(d[i]);": "(int)polyc_ceilf(x[i] * 4) + (int)polyc_trunc(d[i])",
    "out[i] = x[i] > 0 ? floorf(x[i]) : x[i] * 2;": "polyc_selectf(x[i] > 0, polyc_floorf(x[i]), x[i] * 2)",
    "{ int v = (int)roundf(x[i]); if (v < -128) v = -128; if (v > 127) v = 127; k[i] = v; }": "polyc_roundf(x[i])",
    "{ int v = (int)roundf(x[i]); if (v < -9) v = -9; else if (v > 9) v = 9; k[i] = v; }": (
        "v = v < -9 ? -9 : v > 9 ? 9 : v;"
    ),
}


@pytest.mark.parametrize("line", TAKEN)
def test_in_vector_loops(line: str, tmp_path: Path) -> None:
    assert TAKEN[line] in text_of(ROW % ("", line), tmp_path, sizes=(1, 17, 64))


KEPT = {
    "what follows needs the value before": ("", "out[i] = floorf(x[i] + (i ? out[i - 1] : 0));"),
    "an element that a value chooses": ("", "out[i] = x[i] * t[(int)floorf(x[i]) & 63];"),
    "a function of the file": (
        "static float floorf(float x) { for (int k = 0; k < 3; k++) x = x / 2 + 1; return x; }",
        "out[i] = x[i] - floorf(x[i]);",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_elsewhere_they_are_called(name: str, tmp_path: Path) -> None:
    """Of a single value a processor has an instruction."""
    text = text_of(ROW % KEPT[name], tmp_path, sizes=(1, 17, 64))
    assert "floorf(" in text
    assert "polyc_floorf" not in text


def test_kernels_of_gpus_have_none(tmp_path: Path) -> None:
    assert "polyc_floor" not in compiled(ROW % ("", "out[i] = x[i] - floorf(x[i]);"), tmp_path, target="cuda").text


TRIED = """
#include <math.h>
#include <stdio.h>
#include <string.h>
%s
static const double special[] = {
    0.0, 0.49999997f, 0.49999999999999994, 0.5, 0.50000000000000011, 1, 1.5, 2.5, 8388607.5f, 8388608, 16777215,
    4503599627370495.5, 4503599627370496, 4503599627370497, 9007199254740991, 140737488355328, 1e30, 3e38, 1e308,
    INFINITY, NAN, 1e-40, 5e-324,
};
static unsigned long state = 1;
static unsigned long next(void) { return state = state * 6364136223846793005ul + 1442695040888963407ul; }

int main(void)
{
    for (long k = 0; k < 3000000; k++) {
        double d;
        float x;
        unsigned long bits = next() ^ next() >> 32;
        unsigned few = bits >> 20;
        if (k %% 4 == 0) /* of a size at which there are fractions */
            bits = (bits & 0x800fffffffffffff) | (1000 + bits %% 80) << 52,
            few = (few & 0x807fffff) | (110 + few %% 50) << 23;
        memcpy(&d, &bits, sizeof d);
        memcpy(&x, &few, sizeof x);
        if (k %% 4 == 1)
            d = (double)(long)(bits %% 100000) / 2 - 25000, x = d;
        if (k < 46)
            d = k %% 2 ? -special[k / 2] : special[k / 2], x = d;
        %s
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("flags", [("-O2", "-msse4.1"), ("-O3", "-march=x86-64-v3"), ("-O2",)], ids="".join)
def test_the_macros_have_the_values_of_the_functions(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Bit for bit, but for which of the numbers that are none it is."""
    checks = [
        f"{{ {kind} a = {name}({of}), b = {macro}({of}); "
        f'if (memcmp(&a, &b, sizeof a) && !(a != a && b != b)) return printf("{name}(%a)\\n", (double){of}), 1; }}'
        for name, macro in ROUNDED.items()
        for kind, of in (("float", "x") if name.endswith("f") else ("double", "d"),)
    ]
    macros = "\n".join(MACROS[macro] for macro in ROUNDED.values())
    file = tmp_path / "rounded.c"
    file.write_text(TRIED % (macros, "\n        ".join(checks)))
    subprocess.run(["gcc", *flags, "-std=gnu11", str(file), "-o", str(tmp_path / "rounded"), "-lm"], check=True)
    done = subprocess.run([str(tmp_path / "rounded")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_gcc_makes_vectors(tmp_path: Path) -> None:
    """And not of the calls themselves, which the macros would be superfluous for otherwise."""
    line = "far[i] = d[i] - 9 * round(d[i] / 9);"
    region = ROW % ("", line)
    before, _, after = region.partition("#pragma scop")
    told = []
    for name, text in (
        ("macro", before + text_of(region, tmp_path) + after.partition("#pragma endscop")[2]),
        ("call", region),
    ):
        file = tmp_path / f"{name}.c"
        file.write_text(text)
        command = [
            "gcc",
            "-O3",
            "-march=x86-64-v3",
            "-c",
            "-w",
            "-fopt-info-vec-optimized",
            str(file),
            "-o",
            str(file) + ".o",
        ]
        told.append("loop vectorized" in subprocess.run(command, capture_output=True, text=True, check=True).stderr)
    assert told == [True, False]
