"""Loops in files that another one includes: `polyc cc` compiles them in the translation unit that includes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Done = subprocess.CompletedProcess[str]

TEMPLATE = """\
/* Included once for each type. */
#include "beside.h"

void NAME(int n, TYPE *restrict a, const TYPE *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += TWICE(b[j * n + i]);
}
#undef NAME
#undef TYPE
"""
HEADER = """\
#ifndef SUMS_H
#define SUMS_H
#include <stddef.h>

static inline double weighed(int n, const double *a)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * (i + 1);
    return sum;
}

static inline void spread(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = b[j * n + i] * 0.5;
}

static inline void unused(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = a[j * n + i] * 0.5;
}
#endif
"""
MAIN = """\
#include <stdio.h>
#include "sums.h"
#define NAME turn
#define TYPE double
#include "kernels/template.inc"
#define NAME turn_floats
#define TYPE float
#include "kernels/template.inc"
#include "plain.h"

static double a[SIZE * SIZE], b[SIZE * SIZE];
static float c[SIZE * SIZE], d[SIZE * SIZE];
int main(void)
{
    for (int k = 0; k < SIZE * SIZE; k++)
        b[k] = k % 7, d[k] = k % 5;
    turn(SIZE, a, b);
    turn_floats(SIZE, c, d);
    spread(SIZE, b, a);
    printf("%.17g %.17g %.9g %s:%d\\n", weighed(SIZE * SIZE, a), weighed(SIZE * SIZE, b), c[77], __FILE__, __LINE__);
    return 0;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A file that includes a template twice, a header with functions, and one without."""
    (tmp_path / "src" / "kernels").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "src" / "main.c").write_text(MAIN)
    (tmp_path / "src" / "sums.h").write_text(HEADER)
    (tmp_path / "src" / "plain.h").write_text("#ifndef SIZE\n#define SIZE 300\n#endif\n")
    (tmp_path / "src" / "kernels" / "template.inc").write_text(TEMPLATE)
    (tmp_path / "src" / "kernels" / "beside.h").write_text("#define TWICE(x) ((x) * 2)\n")
    return tmp_path


def run(folder: Path, *command: str) -> Done:
    known = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")}
    known.pop("POLYC_CC_INSIDE", None)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=known)


def cc(folder: Path, *given: str) -> Done:
    done = run(folder, sys.executable, "-m", "polyc", "cc", *given)
    assert done.returncode == 0, done.stderr
    assert "internal error" not in done.stderr
    return done


def expected(folder: Path, *given: str) -> str:
    plain = run(folder, "gcc", *given, "-o", "plain", "-lm")
    assert plain.returncode == 0, plain.stderr
    return run(folder, "./plain").stdout


def regions(done: Done) -> list[str]:
    return [line for line in done.stderr.splitlines() if ": region in " in line]


STRICT = ("-O2", "-Wall", "-Wextra", "-Werror")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_templates_and_headers(project: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    target = ["-Xpolyc", "--target=c"] if compiler == "clang" else []  # its OpenMP may be missing
    done = cc(project, "--cc", compiler, *target, "-Xpolyc", "-v", *STRICT, "src/main.c", "-o", "prog", "-lm")
    assert run(project, "./prog").stdout == expected(project, "-O2", "src/main.c")
    found = [
        "src/sums.h:15: region in spread()",
        "src/kernels/template.inc:6: region in turn()",
        "src/kernels/template.inc:6: region in turn_floats()",
    ]
    assert regions(done)[:3] == found[: 1 if target else 3]
    assert "src/sums.h:22:5: note: the loops of unused() stay as they are: nothing calls it here" in done.stderr
    assert "this loop of weighed() stays as it is" in done.stderr
    assert "compiled untouched" not in done.stderr


def test_lines_of_the_user(project: Path) -> None:
    """Debuggers, `__LINE__` and messages name the lines of the user's files, and rules for make all of these."""
    template = project / "src" / "kernels" / "template.inc"
    template.write_text(TEMPLATE + "static int never;\nint line(void) { return __LINE__; }\n")
    (project / "src" / "main.c").write_text(
        MAIN.replace(
            "#define NAME turn_floats\n", "#define line line_again\n#define never other\n#define NAME turn_floats\n"
        )
    )
    done = cc(project, "-g", "-O2", "-Wall", "-MD", "-MF", "rule", "-S", "src/main.c", "-o", "prog.s")
    plain = run(project, "gcc", "-g", "-O2", "-Wall", "-MD", "-MF", "plain", "-S", "src/main.c", "-o", "plain.s")
    warned = [[line for line in one.stderr.splitlines() if " warning: " in line] for one in (done, plain)]
    assert warned[0] == warned[1]
    assert any(line.startswith("src/kernels/template.inc:12:12: warning:") for line in warned[0])
    words = [set((project / name).read_text().replace("\\\n", " ").split()) for name in ("rule", "plain")]
    assert {"src/kernels/template.inc", "src/kernels/beside.h", "src/plain.h", "src/sums.h"} <= words[0]
    assert words[0] - {"prog.s:"} == words[1] - {"plain.s:"}
    told = [
        {
            line.split('"')[-2]
            for line in (project / name).read_text().splitlines()
            if ".file" in line and "src/" in line
        }
        for name in ("prog.s", "plain.s")
    ]
    assert told[0] == told[1]


def test_a_file_without_loops_of_its_own(project: Path) -> None:
    (project / "src" / "all.c").write_text('#define NAME turn\n#define TYPE double\n#include "kernels/template.inc"\n')
    done = cc(project, "-Xpolyc", "-v", "-O2", "-c", "src/all.c", "-o", "all.o")
    assert regions(done) == ["src/kernels/template.inc:6: region in turn()"]
    done = run(project, sys.executable, "-m", "polyc", "report", "--format", "json", "src/all.c")
    counted = {Path(one["path"]).name: len(one["loops"]) for one in json.loads(done.stdout)["files"]}
    assert counted == {"all.c": 0, "template.inc": 2}


def test_headers_that_are_read_once(project: Path) -> None:
    """What `#pragma once` keeps from being read again is not read by another header either."""
    once = HEADER.replace("#ifndef SUMS_H\n#define SUMS_H\n", "#pragma once\n").replace("#endif\n", "")
    (project / "src" / "sums.h").write_text(once)
    (project / "src" / "plain.h").write_text('#pragma once\n#include "sums.h"\n#define SIZE 300\n')
    (project / "src" / "main.c").write_text(
        MAIN.replace("#define NAME turn\n", '#include "sums.h"\n#define NAME turn\n')
    )
    done = cc(project, "-Xpolyc", "-v", *STRICT, "src/main.c", "-o", "prog", "-lm")
    assert run(project, "./prog").stdout == expected(project, "-O2", "src/main.c")
    assert len(regions(done)) == 4


def test_a_body_in_another_file(project: Path) -> None:
    (project / "src" / "body.inc").write_text(
        "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n        a[i * n + j] = b[j * n + i] * 2;\n"
    )
    (project / "src" / "whole.c").write_text(
        'void f(int n, double *restrict a, const double *restrict b)\n{\n#include "body.inc"\n}\n'
    )
    done = cc(project, "-Xpolyc", "-v", *STRICT, "-c", "src/whole.c", "-o", "whole.o")
    assert regions(done) == ["src/body.inc:1: region in f()"]


def test_pragmas_of_an_included_file_stay_asleep(project: Path) -> None:
    template = TEMPLATE.replace("#undef NAME", "int threads(void);\n#ifdef _OPENMP\n#error asleep\n#endif\n#undef NAME")
    (project / "src" / "kernels" / "template.inc").write_text(template)
    done = cc(project, "-Xpolyc", "-v", "-O2", "-c", "src/main.c", "-o", "main.o")
    assert "compiled untouched" not in done.stderr
    assert b"GOMP_parallel" not in (project / "main.o").read_bytes()


@pytest.mark.parametrize(
    ("main", "options", "reason"),
    [
        ("int unused_here;\n", ["-include", "src/kernel.h"], "an option includes it"),
        ('#include "kernel.h"\nint depth(void) { return DEPTH; }\n', [], "would be other code"),
        ('#define THIS "kernel.h"\n#include THIS\n', [], None),
    ],
)  # fmt: skip
def test_what_stays_is_told(project: Path, main: str, options: list[str], reason: str | None) -> None:
    (project / "src" / "kernel.h").write_text(
        "int depth(void);\nenum { DEPTH = __INCLUDE_LEVEL__ };\n" if "DEPTH" in main else ""
        "void f(int n, double *restrict a, const double *restrict b);\n"
    )  # fmt: skip
    with (project / "src" / "kernel.h").open("a") as file:
        file.write(
            "void f(int n, double *restrict a, const double *restrict b)\n{\n    for (int i = 0; i < n; i++)\n"
            "        for (int j = 0; j < n; j++)\n            a[i * n + j] = b[j * n + i] * 2;\n}\n"
        )
    (project / "src" / "some.c").write_text(main)
    done = cc(project, "-Xpolyc", "-v", *options, "-O2", "-c", "src/some.c", "-o", "some.o")
    if reason is None:
        assert len(regions(done)) == 1
    else:
        assert "the loops of f() stay as they are: they stand in a file that is included: " in done.stderr
        assert reason in done.stderr
