"""Which compilers and peers this machine has. What is not there has a reason instead of a command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

TRIAL = """
#include <math.h>
double a[64], b[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = sqrt(b[i] + 1.0);
    return a[0] > 0.0 ? 0 : 1;
}
"""
OPENMP_TRIAL = (
    "#include <omp.h>\nint main(void)\n{\n#pragma omp parallel\n    {}\n    return omp_get_max_threads() < 1;\n}\n"
)
BLAS_TRIAL = "#include <cblas.h>\nint main(void)\n{\n    return cblas_ddot(0, 0, 1, 0, 1) != 0.0;\n}\n"

POLLY_FLAGS = ("-mllvm", "-polly", "-mllvm", "-polly-parallel")
POLLY_LINK = ("-lgomp",)


@dataclass(frozen=True, slots=True)
class Tool:
    """A program or a library: its command (or flags), its version, or why it is missing."""

    command: tuple[str, ...] = ()
    version: str = ""
    missing: str = ""


OPTIONAL = ("clang", "polly", "pluto", "ppcg", "openblas")
"""What a run can do without. Without clang there is no Polly and no polyc+clang either."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a run uses."""

    gcc: Tool
    clang: Tool
    clang_openmp: Tool
    polly: Tool
    pluto: Tool
    ppcg: Tool
    openblas: Tool
    """command: the flags to compile and link with."""

    def versions(self) -> dict[str, str]:
        return {name: getattr(self, name).version or f"none: {getattr(self, name).missing}" for name in self.__slots__}


def find(gcc: str = "gcc", clang: str = "", without: Collection[str] = ()) -> Tools:
    """Look for everything; `without` names tools to do as if they were missing, and not to look for."""

    def unless(name: str, look: Callable[[], Tool]) -> Tool:
        return Tool(missing="left out") if name in without else look()

    found_gcc = compiler(gcc)
    found_clang = unless("clang", lambda: compiler(clang or newest_clang()))
    return Tools(
        found_gcc,
        found_clang,
        tried(found_clang, OPENMP_TRIAL, ("-fopenmp",), (), "no OpenMP runtime for clang"),
        unless("polly", lambda: tried(found_clang, TRIAL, POLLY_FLAGS, POLLY_LINK, "this clang has no Polly")),
        unless("pluto", lambda: program("polycc")),
        unless("ppcg", lambda: program("ppcg")),
        unless("openblas", lambda: openblas(found_gcc)),
    )


def newest_clang() -> str:
    """The clang of the highest version on PATH: `clang`, or `clang-19` and so on."""
    names = {"clang"}
    for folder in os.get_exec_path():
        if Path(folder).is_dir():
            names |= {file.name for file in Path(folder).glob("clang-*") if re.fullmatch(r"clang-\d+", file.name)}
    there = [name for name in sorted(names) if shutil.which(name)]
    return max(there, key=lambda name: major(compiler(name).version), default="clang")


def major(version: str) -> int:
    found = re.search(r"version (\d+)", version)
    return int(found[1]) if found else 0


def compiler(name: str) -> Tool:
    path = shutil.which(name)
    if path is None:
        return Tool(missing=f"no {name} on PATH")
    return Tool((path,), first_line((path, "--version")))


def program(name: str) -> Tool:
    path = shutil.which(name)
    if path is None:
        return Tool(missing=f"no {name} on PATH")
    return Tool((path,), first_line((path, "--version")) or name)


def tried(tool: Tool, text: str, flags: tuple[str, ...], libraries: tuple[str, ...], missing: str) -> Tool:
    """`tool` with `flags`, if a program builds and runs with them."""
    if tool.missing:
        return tool
    with tempfile.TemporaryDirectory(prefix="polyc-bench-") as folder:
        source, program = Path(folder) / "trial.c", Path(folder) / "trial"
        source.write_text(text)
        command = (*tool.command, "-O3", *flags, str(source), "-o", str(program), *libraries, "-lm")
        for argv in (command, (str(program),)):
            if subprocess.run(argv, capture_output=True, check=False, timeout=60).returncode != 0:
                return Tool(missing=missing)
    return Tool(tool.command, tool.version)


def openblas(gcc: Tool) -> Tool:
    """The flags for OpenBLAS, from pkg-config where it knows it."""
    flags: tuple[str, ...] = ("-lopenblas",)
    version = "OpenBLAS"
    if shutil.which("pkg-config"):
        for name in ("openblas", "blas-openblas"):
            answer = first_line(("pkg-config", "--cflags", "--libs", name))
            if answer:
                flags = tuple(answer.split())
                version = f"OpenBLAS {first_line(('pkg-config', '--modversion', name))}"
                break
    found = tried(gcc, BLAS_TRIAL, (), flags, "no OpenBLAS (cblas.h and -lopenblas)")
    return found if found.missing else Tool(flags, version)


def first_line(argv: tuple[str, ...]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    lines = (done.stdout or done.stderr).strip().splitlines() if done.returncode == 0 else []
    return lines[0] if lines else ""
