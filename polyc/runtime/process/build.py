"""Building a shared library from C text, in a private folder, without a shell."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

FLAGS = (
    "-std=gnu11",
    "-O1",
    "-fPIC",
    "-shared",
    "-w",
    "-Wl,-z,defs",
    "-Wl,-Bsymbolic",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
)
"""Random integers may overflow where real ones do not: wrapping is defined. Both programs round alike. A function that
is declared only makes the build fail, and not the process that loads it; one that has the name of a function of libc
(`select`) is called by the library that defines it."""
OBJECT = tuple(flag for flag in FLAGS if flag != "-shared" and not flag.startswith("-Wl,"))
"""The same for an object file."""
LIMIT_SECONDS = 120


class BuildError(Exception):
    """The C compiler refused the text; the message is what it printed."""


class MissingToolError(BuildError):
    """What builds the text is not on this machine; the message says how to get it."""


def build(text: str, folder: Path, cc: str = "gcc", openmp: bool = True, flags: tuple[str, ...] = ()) -> Path:
    """Compile the text to `folder/region.so`; the compiler's own temporary files are there too. Raises BuildError.

    The flags stand after the text, so that they can name libraries.
    """
    source, library = folder / "region.c", folder / "region.so"
    source.write_text(text, encoding="utf-8", errors="surrogateescape")
    command = [cc, *FLAGS, *(["-fopenmp"] if openmp else []), str(source), "-o", str(library), *flags, "-lm"]
    run_compiler(command, folder)
    return library


def run_compiler(command: list[str], folder: Path) -> None:
    """Run a compiler, whose temporary files go to the folder. Raises BuildError with what it printed."""
    cc = command[0]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=LIMIT_SECONDS,
            env={**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
        )
    except OSError as problem:
        raise BuildError(f"'{cc}' does not run: {problem.strerror}") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"'{cc}' took longer than {LIMIT_SECONDS} s") from None
    if done.returncode != 0:
        raise BuildError(done.stderr.decode("utf-8", "replace").strip() or f"'{cc}' failed")


@cache
def has_openmp(cc: str) -> bool:
    """Whether the compiler builds programs with OpenMP."""
    with tempfile.TemporaryDirectory(prefix="polyc-openmp-") as folder:
        try:
            build("#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }\n", Path(folder), cc)
        except BuildError:
            return False
    return True


def exit_fault(code: int) -> str:
    if code == 0:
        return ""
    return f"crashes (signal {-code})" if code < 0 else f"ends the program with exit code {code}"
