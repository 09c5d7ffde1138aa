"""`polyc cc` in the place of the C compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.cli import words
from polyc.cli.commands.cc import machine_for

ROOT = Path(__file__).parents[2]
INPUTS = Path(__file__).parent / "inputs"
Cc = Callable[..., "subprocess.CompletedProcess[str]"]

KERNEL = """\
#include "size.h"
double a[N][N], b[N][N], c[N][N];
void kernel(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] += a[j][i] * b[i][j];
}
"""
MAIN = """\
#include <stdio.h>
#include "size.h"
extern double a[N][N], b[N][N], c[N][N];
void kernel(void);
int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i % 7 + j % 5, b[i][j] = i % 3 - j % 11;
    kernel();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += c[i][j] * (i + 2 * j);
    printf("%.17g\\n", sum);
    return 0;
}
"""


def run(folder: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "tmp").mkdir(exist_ok=True)
    known = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp"), **environment}
    known.pop("POLYC_CC_INSIDE", None)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=known)


@pytest.fixture
def cc(tmp_path: Path) -> Cc:
    """`polyc cc` in a folder with a small project; nothing may be left in the folder for temporary files."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "size.h").write_text("#define N 260\n")
    (tmp_path / "src" / "kernel.c").write_text(KERNEL)
    (tmp_path / "src" / "main.c").write_text(MAIN)

    def call(*given: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = run(tmp_path, [sys.executable, "-m", "polyc", "cc", *given], **environment)
        assert "internal error" not in done.stderr
        assert [path.name for path in (tmp_path / "tmp").iterdir() if "report" not in path.name] == []
        return done

    return call


def checked(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stderr


def rule_in(path: Path) -> list[str]:
    """The words of a rule for make."""
    return path.read_text().replace("\\\n", " ").split()


def has_threads(path: Path) -> bool:
    return b"GOMP_parallel" in path.read_bytes()


@pytest.fixture
def expected(tmp_path: Path, cc: Cc) -> str:
    plain = run(tmp_path, ["gcc", "src/kernel.c", "src/main.c", "-o", "plain"])
    assert plain.returncode == 0, plain.stderr
    return run(tmp_path, ["./plain"]).stdout


def test_compile_and_link_in_one(cc: Cc, tmp_path: Path, expected: str) -> None:
    assert checked(cc("-O2", "-Wall", "-Wextra", "-Werror", "src/kernel.c", "src/main.c", "-o", "prog", "-lm")) == ""
    assert has_threads(tmp_path / "prog")
    assert run(tmp_path, ["./prog"]).stdout == expected


def test_compile_and_link_apart(cc: Cc, tmp_path: Path, expected: str) -> None:
    checked(cc("-c", "src/kernel.c"))
    checked(cc("-c", "src/main.c", "-o", "m.o", "-MMD", "-MF", "m.rule"))
    assert has_threads(tmp_path / "kernel.o")
    subprocess.run(["ar", "rc", "libk.a", "kernel.o"], cwd=tmp_path, check=True)
    checked(cc("m.o", "libk.a", "-o", "prog"))
    assert run(tmp_path, ["./prog"]).stdout == expected
    assert rule_in(tmp_path / "m.rule") == ["m.o:", "src/main.c", "src/size.h"]


def test_rules_name_files_as_make_reads_them(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "src" / "kernel.c").rename(tmp_path / "src" / "a $ kernel.c")
    checked(cc("-c", "src/a $ kernel.c", "-o", "k.o", "-MMD", "-MF", "k.rule"))
    assert has_threads(tmp_path / "k.o")
    assert " ".join(rule_in(tmp_path / "k.rule")) == "k.o: src/a\\ $$\\ kernel.c src/size.h"


def test_files_of_several_folders_find_their_own_headers(cc: Cc, tmp_path: Path) -> None:
    for name, size in (("one", 300), ("two", 400)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "size.h").write_text(f"#define N {size}\n")
        text = KERNEL.replace("kernel", name).replace("double a", "static double a")
        (folder / f"{name}.c").write_text(f"{text}int size_of_{name}(void) {{ return N; }}\n")
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint size_of_one(void), size_of_two(void);\n"
        'int main(void) { printf("%d %d\\n", size_of_one(), size_of_two()); return 0; }\n'
    )
    checked(cc("-O1", "main.c", "one/one.c", "two/two.c", "-o", "prog", "-MMD"))
    assert run(tmp_path, ["./prog"]).stdout == "300 400\n"
    assert rule_in(tmp_path / "prog-two.d") == ["two.o:", "two/two.c", "two/size.h"]
    checked(cc("-O1", "-c", "one/one.c", "two/two.c", "-MD"))
    assert has_threads(tmp_path / "one.o")
    assert has_threads(tmp_path / "two.o")
    assert rule_in(tmp_path / "one.d")[:2] == ["one.o:", "one/one.c"]


def test_other_commands_go_to_the_compiler(cc: Cc, tmp_path: Path) -> None:
    assert "for (int j = 0" in cc("-E", "src/kernel.c").stdout
    assert cc("-MM", "src/kernel.c").stdout == "kernel.o: src/kernel.c src/size.h\n"
    assert cc("-dumpmachine").stdout == run(tmp_path, ["cc", "-dumpmachine"]).stdout
    assert cc("-c", "nowhere.c").returncode == run(tmp_path, ["cc", "-c", "nowhere.c"]).returncode
    checked(cc("-S", "src/kernel.c", "-o", "k.s"))
    assert has_threads(tmp_path / "k.s")
    (tmp_path / "kernel.inc").write_text(KERNEL)
    checked(cc("-Isrc", "-x", "c", "kernel.inc", "-c", "-o", "x.o"))
    assert has_threads(tmp_path / "x.o")


def test_options_are_those_of_the_compiler(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "p.h").write_text("#define FIRST 3\n")
    (tmp_path / "t.c").write_text(
        "#ifndef FIRST\n#error no p.h\n#endif\n#if SECOND != 4 || defined THIRD || __STDC_VERSION__ != 199901L\n"
        "#error options\n#endif\n" + KERNEL.replace('"size.h"', "<size.h>")
    )
    (tmp_path / "opts").write_text('-D "SECOND=4" -UTHIRD\n-std=c99 -isystem src')
    checked(cc("-DTHIRD", "@opts", "-include", "p.h", "t.c", "-c"))
    assert has_threads(tmp_path / "t.o")


@pytest.mark.parametrize("standard", ["-std=gnu89", "-std=c90", "-ansi"])
def test_old_c(standard: str, cc: Cc, tmp_path: Path) -> None:
    """Loops get declarations in their heads, and `inline` keeps the meaning that it had: a definition for others."""
    inline = "inline" if "gnu" in standard else "__inline"
    (tmp_path / "old.c").write_text(
        f"extern {inline} int twice(int i) {{ return 2 * i; }}\n{inline} int thrice(int i) {{ return 3 * i; }}\n"
        "double a[99999], b[99999];\nint main()\n{\n    int i;\n    for (i = 0; i < 99999; i++)\n"
        "        a[i] = b[i] + 1;\n    return a[7] + thrice(0) != 1;\n}\n"
    )
    assert checked(cc(standard, "-O2", "-c", "old.c")) == ""
    assert has_threads(tmp_path / "old.o")
    checked(cc("old.o", "-o", "old"))
    assert run(tmp_path, ["./old"]).returncode == 0
    symbols = subprocess.run(["nm", "old.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert " T thrice" in symbols
    assert "twice" not in symbols


def test_openmp_of_the_user(cc: Cc, tmp_path: Path) -> None:
    text = KERNEL + "#ifdef _OPENMP\n#error not asked for\n#endif\n"
    (tmp_path / "src" / "kernel.c").write_text(text)
    checked(cc("-c", "src/kernel.c"))
    assert not has_threads(tmp_path / "kernel.o")
    (tmp_path / "src" / "kernel.c").write_text(KERNEL)
    checked(cc("-fno-openmp", "-c", "src/kernel.c"))
    assert not has_threads(tmp_path / "kernel.o")
    checked(cc("-c", "src/kernel.c", POLYC_CC_OPTIONS="--target c"))
    assert not has_threads(tmp_path / "kernel.o")
    checked(cc("-c", "src/kernel.c", "-Xpolyc", "--target=openmp", POLYC_CC_OPTIONS="--target c"))
    assert has_threads(tmp_path / "kernel.o")


def test_why_no_loop_runs_in_parallel(cc: Cc, tmp_path: Path) -> None:
    """A user who chose no target is told what did."""
    own = "void g(int n, double *a)\n{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) a[i] += 1;\n}\n"
    text = "void f(int n, double *restrict a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = a[i] * a[i];\n}\n"
    (tmp_path / "own.c").write_text(own + text)
    told = checked(cc("-c", "own.c", "-Xpolyc", "-v"))
    assert "the file speaks of OpenMP and is compiled without -fopenmp" in told
    (tmp_path / "own.c").write_text(text)
    assert "-fno-openmp allows no parallel loops" in checked(cc("-fno-openmp", "-c", "own.c", "-Xpolyc", "-v"))
    asked = checked(cc("-c", "own.c", "-Xpolyc", "-v", "-Xpolyc", "--target=c"))
    assert "--target c prints no parallel loops" in asked


def test_parallel_loops_of_the_user_are_replaced(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(
        "#ifdef _OPENMP\n#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }\n#else\n"
        "#error a file that is read with OpenMP\n#endif\n"
        "void f(int n, double *restrict a, double *restrict b)\n{\n#pragma omp parallel for num_threads(2)\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = b[i] * 2;\n}\n"
    )
    told = checked(cc("-c", "own.c", "-Xpolyc", "--openmp=replace", "-Xpolyc", "-v"))
    assert "1 nest in 1 region" in told
    assert has_threads(tmp_path / "own.o")
    assert "no region" in checked(cc("-fopenmp", "-c", "own.c", "-Xpolyc", "-v"))


def test_what_is_unchanged_comes_from_the_cache(cc: Cc, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    plain = checked(cc("-c", "src/kernel.c", POLYC_CACHE=str(kept)))
    (entry,) = kept.iterdir()
    first = (tmp_path / "kernel.o").read_bytes()
    # What is in the entry is what is compiled, if it is whole.
    seal, head, text = entry.read_text().split("\n", 2)
    data = f"{head}\n{text}\nint from_the_cache;\n"
    entry.write_text(f"{hashlib.sha256(data.encode()).hexdigest()}\n{data}")
    assert checked(cc("-c", "src/kernel.c", POLYC_CACHE=str(kept))) == plain
    assert b"from_the_cache" in (tmp_path / "kernel.o").read_bytes()
    assert has_threads(tmp_path / "kernel.o")
    entry.write_text(f"{seal}\n{data}")
    checked(cc("-c", "src/kernel.c", POLYC_CACHE=str(kept)))
    assert (tmp_path / "kernel.o").read_bytes() == first
    (tmp_path / "src" / "size.h").write_text("#define N 270\n")
    checked(cc("-c", "src/kernel.c", POLYC_CACHE=str(kept)))
    checked(cc("-c", "src/kernel.c", "-Xpolyc", "-v", POLYC_CACHE=str(kept)))
    assert len(list(kept.iterdir())) == 2


def test_a_byte_order_mark_is_no_obstacle(cc: Cc, tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbf" + KERNEL.replace('#include "size.h"', "enum { N = 300 };").encode()
    (tmp_path / "marked.c").write_bytes(marked)
    done = cc("-O2", "-c", "marked.c", "-Xpolyc", "-v")
    assert done.returncode == 0
    assert "1 parallel" in done.stderr
    assert "untouched" not in done.stderr


def test_threads_are_found_in_objects_of_link_time_optimisation(cc: Cc, tmp_path: Path, expected: str) -> None:
    for options in (
        ["-O2", "-fPIC", "-flto", "-c", "src/kernel.c"],
        ["-flto", "-shared", "kernel.o", "-o", "libkernel.so"],
    ):
        assert cc(*options).returncode == 0
    assert cc("-O2", "-c", "src/main.c").returncode == 0
    done = cc("main.o", "-L.", "-lkernel", "-Wl,-rpath,.", "-o", "run")
    assert done.returncode == 0, done.stderr
    assert run(tmp_path, ["./run"]).stdout == expected


@pytest.mark.skipif(platform.machine() != "x86_64", reason="no x86-64")
def test_tiles_are_for_the_instructions_of_the_command() -> None:
    assert machine_for(("gcc", "-O3")) == "x86-64"
    assert machine_for(("gcc", "-O3", "-mavx2")) is None
    assert machine_for(("no-such-compiler",)) is None


def test_errors_are_the_compilers(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "src" / "kernel.c").write_text(KERNEL + "int f(void) { return unknown; }\n")
    done = cc("-c", "src/kernel.c")
    plain = run(tmp_path, ["cc", "-c", "src/kernel.c"])
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    (tmp_path / "src" / "kernel.c").write_text(KERNEL + "static int g(void) { return 1; }\n")
    assert "src/kernel.c:9:12: warning: " in checked(cc("-Wall", "-c", "src/kernel.c"))
    assert not (tmp_path / "tmp").exists() or list((tmp_path / "tmp").iterdir()) == []


def test_what_polyc_cannot_read_is_compiled_untouched(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("int f(int n, int *a)\n{\n#pragma scop\n for (int i = 0; i < n; i++) return a[i];\n"
                                  "#pragma endscop\n return 0;\n}\n")  # fmt: skip
    assert "polyc: warning: t.c: compiled untouched: return would leave the region [return]" in checked(cc("-c", "t.c"))
    assert (tmp_path / "t.o").exists()
    assert checked(cc("-c", "t.c", "-Xpolyc", "-q")) == ""
    (tmp_path / "t.o").unlink()
    done = cc("-c", "t.c", "-Xpolyc", "--strict")
    assert done.returncode == 1
    assert "t.c:4:30: error: return would leave the region [return]" in done.stderr
    assert not (tmp_path / "t.o").exists()
    assert checked(cc("-c", "src/kernel.c", "-fwrapv", "-Xpolyc", "--strict")) == ""
    assert not has_threads(tmp_path / "kernel.o")


def test_only_marked_regions_where_that_is_asked(cc: Cc, tmp_path: Path) -> None:
    checked(cc("-c", "src/kernel.c", "-Xpolyc", "--no-detect"))
    assert not has_threads(tmp_path / "kernel.o")


def test_lines_and_names_are_the_users(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(
        KERNEL.replace('"size.h"', '"src/size.h"')
        + '#include <stdio.h>\nint main(void) { kernel(); printf("%s:%d\\n", __FILE__, __LINE__); return 0; }\n'
    )
    checked(cc("-g", "t.c", "-o", "prog"))
    assert run(tmp_path, ["./prog"]).stdout == "t.c:10\n"
    assert b"polyc-cc-" not in (tmp_path / "prog").read_bytes()


def test_options_of_a_file(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "src" / "polyc.toml").write_text('[files."kernel.c"]\ntarget = "c"\n')
    checked(cc("-c", "src/kernel.c", "-MMD"))
    assert not has_threads(tmp_path / "kernel.o")
    assert "src/polyc.toml" in rule_in(tmp_path / "kernel.d")
    checked(cc("-c", "src/kernel.c", "-Xpolyc", "--target=openmp"))
    assert has_threads(tmp_path / "kernel.o")
    (tmp_path / "src" / "polyc.toml").write_text("[defaults]\nx = 1\n")
    done = cc("-c", "src/kernel.c")
    assert (done.returncode, "src/polyc.toml:2:1: error: unknown key 'x'" in done.stderr) == (1, True)
    checked(cc("-c", "src/kernel.c", "-Xpolyc", "--no-config"))


def test_wrong_usage(cc: Cc, tmp_path: Path) -> None:
    assert cc("-c", "src/kernel.c", "-Xpolyc", "--nonsense").returncode == 2
    assert "for polyc compile" in cc("-c", "src/kernel.c", "-Xpolyc", "--target=cuda").stderr
    assert cc("-c", "src/kernel.c", "-Xpolyc").returncode == 2
    done = cc("-c", "src/kernel.c", "--cc", "no-such-compiler")
    assert (done.returncode, "no-such-compiler" in done.stderr) == (1, True)
    script = tmp_path / "again"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m polyc cc "$@"\n')
    script.chmod(0o755)
    assert "is polyc cc itself" in cc("-c", "src/kernel.c", POLYC_CC=str(script)).stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_project_with_make(cc: Cc, tmp_path: Path, expected: str) -> None:
    (tmp_path / "Makefile").write_text(
        "CFLAGS = -O1 -MMD -MP\nprog: main.o kernel.o\n\t$(CC) $^ -o $@\n"
        "%.o: src/%.c\n\t$(CC) $(CFLAGS) -c $< -o $@\n-include main.d kernel.d\n"
    )
    make = ["make", f"CC={sys.executable} -m polyc cc"]
    assert run(tmp_path, make).returncode == 0
    assert run(tmp_path, ["./prog"]).stdout == expected
    assert has_threads(tmp_path / "prog")
    assert "up to date" in run(tmp_path, make).stdout
    os.utime(tmp_path / "src" / "size.h", ns=(2**62, 2**62))
    assert run(tmp_path, make).stdout.count("-c src/") == 2


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_a_project_with_cmake(cc: Cc, tmp_path: Path, expected: str) -> None:
    script = tmp_path / "polyc-cc"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m polyc cc "$@"\n')
    script.chmod(0o755)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(small C)\nadd_library(k STATIC src/kernel.c)\n"
        "add_executable(prog src/main.c)\ntarget_link_libraries(prog k m)\n"
    )
    configured = run(tmp_path, ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={script}"])
    assert configured.returncode == 0, configured.stderr
    assert run(tmp_path, ["cmake", "--build", "build"]).returncode == 0
    assert run(tmp_path, ["build/prog"]).stdout == expected
    assert has_threads(tmp_path / "build" / "prog")


def test_ordinary_c_computes_the_same(cc: Cc, tmp_path: Path) -> None:
    source = str(INPUTS / "ordinary.c")
    checked(cc("-O1", "-w", source, "-o", "polyc.out", "-lm", "-Xpolyc", "--threads=always"))
    assert run(tmp_path, ["gcc", "-O1", "-w", source, "-o", "plain.out", "-lm"]).returncode == 0
    assert run(tmp_path, ["./polyc.out"]).stdout == run(tmp_path, ["./plain.out"]).stdout
    assert has_threads(tmp_path / "polyc.out")


def test_words_of_a_file() -> None:
    assert words.separated("-DA='b c' \"x\\\"y\" a\\ b\n''  -I dir") == ["-DA=b c", 'x"y', "a b", "", "-I", "dir"]


def test_values_are_no_files() -> None:
    line = words.parse(
        ["-o", "x.c", "-I", "y.c", "a.c", "-MF", "z.c", "-Wp,-MD,w.d", "-x", "c", "b.in", "-x", "none", "c.in"]
    )
    assert [source.path for source in line.sources] == ["a.c", "b.in"]
    assert line.others == ["c.in"]
    assert line.rule_files == ["z.c", "w.d"]
    assert (line.output, line.mode) == ("x.c", "link")
    assert line.reading == ["-I", "y.c"]


def test_warnings_of_printed_loops_are_no_errors(cc: Cc, tmp_path: Path) -> None:
    """`for (int i …)` hides the user's `i`, and a macro declares a function inside of an expression."""
    file = tmp_path / "twice.c"
    file.write_text(
        "void twice(int n, float *restrict a, const float *restrict b)\n{\n    int i;\n"
        "    for (i = 0; i < n; i++)\n        a[i] = b[i] * 2;\n}\n"
    )
    warnings = ("-Wshadow", "-Werror=nested-externs", "-Wvla", "-Wdeclaration-after-statement")
    done = cc("-O2", *warnings, "-Werror", "-c", str(file), "-o", str(tmp_path / "twice.o"))
    assert (done.returncode, done.stderr) == (0, "")
