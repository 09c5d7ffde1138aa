"""The ways to build a batch of programs: compilers, their flags, and what a machine without clang leaves out."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.fuzz import gpu

COMMON = ("-std=c11", "-ffp-contract=off", "-g1")
WARNINGS = ("-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-array-bounds")
OF_GCC = (
    "-Wno-aggressive-loop-optimizations",
    "-Wno-maybe-uninitialized",
    "-Wno-stringop-overread",
)
"""Compilers see that a loop leaves an array of constant size for parameters with which the program is never run, or a
call of `memset` that gcc makes of one. gcc guesses that what loops with remainders write and read may not be written;
whether it was, the values tell."""
UNHEARD = frozenset({"-Wstringop-overflow="})
"""What gcc says and nobody listens to, for the same reason: of a call that it does not warn of in this way, as when the
flag is off, it says -Wrestrict, since so many bytes overlap with anything."""
ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OF_SANITIZERS = ("-Wno-pass-failed",)
"""What UBSan adds to a loop keeps clang from making vectors of it, of which it warns."""
ENVIRONMENT = {
    "LC_ALL": "C",
    "OMP_NUM_THREADS": "3",
    "OMP_WAIT_POLICY": "passive",
    "OMP_STACKSIZE": "8M",
    "ASAN_OPTIONS": "detect_leaks=0",  # libgomp keeps its threads
    "TSAN_OPTIONS": "halt_on_error=1",
}
LIMIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Compiler:
    cc: str
    flags: tuple[str, ...]


PLAIN = Compiler("gcc", ("-O0",))
GCC = Compiler("gcc", ("-O2", "-fopenmp", "-fno-tree-slp-vectorize"))
"""gcc 12 vectorises unrolled loops in which a float becomes a double so that other values come out, with -O3 of the
original as well."""


@dataclass(frozen=True, slots=True)
class Build:
    """How a batch is built. What polyc printed is built with gcc -O2 in any case."""

    name: str
    original: Compiler
    other: Compiler | None
    """The second way to build what polyc printed."""
    linker: tuple[str, ...]
    """The compiler that links, and its flags."""
    result: Compiler = GCC
    left_out: str = ""
    """What of this build the machine cannot do, and why."""


BUILDS = {
    build.name: build
    for build in (
        Build("clang", PLAIN, Compiler("clang", ("-O2", "-fopenmp")), ("gcc", "-fopenmp")),
        Build(
            "address",
            Compiler("gcc", ("-O0", *ADDRESS)),
            Compiler("gcc", ("-O1", "-fopenmp", *ADDRESS)),
            ("gcc", "-fopenmp", *ADDRESS),
        ),
        Build(
            "clang-address",
            Compiler("clang", ("-O0", *ADDRESS)),
            Compiler("clang", ("-O1", "-fopenmp", *ADDRESS, *OF_SANITIZERS)),
            ("clang", *ADDRESS, "-lgomp"),
        ),
        Build(
            "thread",
            PLAIN,
            Compiler("gcc", ("-O1", "-fopenmp", "-fsanitize=thread")),
            ("gcc", "-fsanitize=thread", "-lpthread"),
        ),
        *(Build(name, PLAIN, None, ("gcc",), Compiler("gcc", ("-O2",))) for name in gpu.BUILDS),
    )
}
IN_TURN = ("clang", "address", "clang", "clang-address", "clang", "address", "thread", "clang-address")
"""Of eight batches on a CPU: three with clang, four with AddressSanitizer and UBSan, one with ThreadSanitizer."""


def usable(name: str) -> Build:
    """The build as this machine can do it: without its second half where there is no clang, and with one thread of
    clang's where clang has no OpenMP library."""
    build = BUILDS[name]
    if build.other is None or build.other.cc != "clang":
        return build
    if not works("clang", *(flag for flag in build.other.flags if flag != "-fopenmp")):
        return replace(build, original=PLAIN, other=None, linker=("gcc", "-fopenmp"), left_out="clang cannot be used")
    if works("clang", "-fopenmp"):
        return replace(build, linker=(*build.linker, *openmp_of_clang()))
    flags = tuple(flag for flag in build.other.flags if flag != "-fopenmp")
    return replace(build, other=Compiler("clang", flags), left_out="clang has no OpenMP library: one thread")


def openmp_of_clang() -> list[str]:
    """Flags by which another compiler links clang's OpenMP library, which may stand in one of its own folders."""
    asked = ["clang", "-fopenmp", "-###", "-x", "c", "/dev/null"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stderr
    return [*dict.fromkeys(word for word in shlex.split(found) if word.startswith("-L")), "-lomp"]


@cache
def works(cc: str, *flags: str) -> bool:
    """Whether a compiler makes a program with these flags."""
    if shutil.which(cc) is None:
        return False
    with tempfile.TemporaryDirectory(prefix="polyc-fuzz-") as folder:
        file = Path(folder) / "probe.c"
        loop = "int s = 0;\n#pragma omp parallel for reduction(+ : s)\nfor (int i = 0; i < 9; i++)\n    s += i;\n"
        file.write_text(f"int main(void)\n{{\n{loop}return s != 36;\n}}\n")
        done = compiler(file.parent, Compiler(cc, flags), "probe.c", "-o", "probe")
    return done.returncode == 0


def compiler(folder: Path, by: Compiler, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler in a folder, with what all builds have in common."""
    warnings = (*WARNINGS, *(OF_GCC if by.cc == "gcc" else ()))
    return subprocess.run(
        [by.cc, *by.flags, *COMMON, *warnings, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=LIMIT_SECONDS,
        env={**os.environ, **ENVIRONMENT},
    )
