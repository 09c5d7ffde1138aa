"""`polyc doctor`: what polyc needs, and what of it is there."""

from __future__ import annotations

import platform
import subprocess
import sys
from shutil import which

import click

from polyc import __version__
from polyc.cli import terminal
from polyc.cli.failure import Command, version_of
from polyc.records import dataclass

LIBRARIES = ("pycparser", "numpy", "jinja2", "click", "rich")
COMPILERS = ("cc", "gcc", "clang")
LIMIT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    found: str
    """Version and place; "" where there is none."""
    advice: str = ""
    """What to do where it is missing."""
    needed: bool = False


@click.command("doctor", cls=Command, short_help="Show what polyc finds on this machine.")
def command() -> None:
    """Show the versions of polyc and its libraries, the compilers that were found, and how to get what is missing.

    Exits with 1 where something is missing that polyc cannot do without.
    """
    from polyc.cli.messages import table

    found = [*libraries(), *compilers(), *accelerators()]
    rows = [(one.name, one.found or ("MISSING" if one.needed else "not found")) for one in found]
    terminal.show(table(rows))
    missing = [one for one in found if not one.found]
    for one in missing:
        click.echo(f"\n{one.name}: {one.advice}" if one is missing[0] else f"{one.name}: {one.advice}")
    if any(one.needed for one in missing):
        raise click.exceptions.Exit(1)


def libraries() -> list[Finding]:
    """polyc itself, Python, and what pip installed."""
    found = [
        Finding("polyc", __version__),
        Finding("python", f"{platform.python_version()}  {sys.executable}"),
        Finding("islpy", *isl_versions()[0], needed=True),
        Finding("isl", *isl_versions()[1], needed=True),
    ]
    for name in LIBRARIES:
        version = version_of(name)
        missing = version == "not installed"
        found.append(Finding(name, "" if missing else version, f"python -m pip install {name}", needed=True))
    return found


def isl_versions() -> tuple[tuple[str, str], tuple[str, str]]:
    """(version, advice) of islpy, and of the isl that is built into it."""
    advice = "python -m pip install islpy"
    try:
        import islpy
    except ImportError:
        return ("", advice), ("", f"comes with islpy: {advice}")
    return (version_of("islpy"), advice), (str(islpy.isl_version()).strip(), advice)


def compilers() -> list[Finding]:
    """C compilers with their versions, and whether OpenMP programs can be built."""
    present = [name for name in COMPILERS if which(name)]
    found = [Finding(name, told(name, "--version")) for name in present]
    if not present:
        return [Finding("C compiler", "", package("gcc", "build-essential", "gcc"), needed=True)]
    from polyc.runtime.process.build import has_openmp

    working = [name for name in present if has_openmp(name)]
    advice = package("OpenMP's runtime", "libgomp1 (gcc) or libomp-dev (clang)", "libgomp or libomp")
    found.append(Finding("OpenMP", f"works with {', '.join(working)}" if working else "", advice))
    return found


def accelerators() -> list[Finding]:
    """What later targets can use; nothing that compiling for CPUs needs."""
    nvcc = told("nvcc", "--version", "release") if which("nvcc") else ""
    return [
        Finding("nvcc", nvcc, "only for CUDA: install NVIDIA's CUDA toolkit, and have nvcc on the PATH"),
        *opencl(),
    ]


def opencl() -> list[Finding]:
    """The devices that C programs with OpenCL find, in the order of their numbers."""
    from polyc.runtime.opencl import missing, support

    cc = next((name for name in COMPILERS if which(name)), "gcc")
    found = support(cc)
    if found is None:
        return [Finding("OpenCL", "", f"only for OpenCL: {missing(cc)}")]
    through = "  (pyopencl)" if found.home else ""
    return [Finding("OpenCL", f"{one.place}  {one.name}, {one.platform}{through}") for one in found.devices]


def told(program: str, argument: str, word: str = "") -> str:
    """The first line with `word` that a program prints, and where the program is; "" where it does not run."""
    try:
        done = subprocess.run(
            [program, argument],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LIMIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [line.strip() for line in done.stdout.splitlines() if word in line and line.strip()]
    return f"{lines[0]}  {which(program)}" if done.returncode == 0 and lines else ""


def package(what: str, debian: str, other: str) -> str:
    return f"install {what} (Debian, Ubuntu: apt install {debian}; elsewhere the package {other})"
