"""How C programs with OpenCL are built and run on this machine.

The system's CL/cl.h and libOpenCL are used where they are there and find a device; else what `pip install
'pyopencl[pocl]'` brings:

    pyopencl/.libs/libOpenCL-*.so.1.0.0   a loader of drivers (ocl-icd); it reads /etc/OpenCL/vendors/*.icd, and the
                                          .icd files of $PYOPENCL_HOME/.libs (it crashes without PYOPENCL_HOME)
    pyopencl/.libs/pocl.icd               names PoCL's library without its folder
    pyopencl/.libs/libpocl-*.so           PoCL: OpenCL on the CPU, with LLVM in it

The loader opens PoCL by its name only. So the program that uses the loader gives the folder as DT_RPATH, which holds
for libraries that its libraries open, as DT_RUNPATH does not.

That PoCL is version 3.0: on a processor that its LLVM 14 does not know, it lists a device that builds no kernel
(unknown target CPU 'generic'), and has no setting that names another one. PoCL 3.1 goes by what the processor can.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from polyc.records import dataclass
from polyc.runtime.opencl.kernel_text import INCLUDE, runtime_text
from polyc.runtime.process.build import exit_fault

INSTALL = "python -m pip install 'pyopencl[pocl]'"
NEWER = "for a processor that PoCL does not know: apt-get install pocl-opencl-icd ocl-icd-opencl-dev"
LIMIT_SECONDS = 60
LIST_DEVICES = r"""
int main(void)
{
  static polyc_cl_device devices[POLYC_CL_DEVICES];
  unsigned count = polyc_cl_devices(devices);
  for (unsigned k = 0; k < count; k++)
    printf("%u:%u\t%s\t%s\n", devices[k].platform_index, devices[k].device_index, devices[k].name,
           devices[k].platform_name);
  return 0;
}
"""
BUILD_KERNEL = r"""
int main(void)
{
  polyc_cl_kernel("__kernel void one(__global int *a) { a[0] = 1; }", "one");
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Device:
    """A device that programs find."""

    place: str
    """"platform:device", two numbers, as in POLYC_OPENCL_DEVICE."""
    name: str
    platform: str


@dataclass(frozen=True, slots=True)
class Support:
    """What a C program with `#include <CL/cl.h>` needs."""

    include_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    """Stand after the sources."""
    home: Path | None
    """The package pyopencl, where its loader is used."""
    devices: tuple[Device, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        return (*self.include_flags, *self.link_flags)

    def environment(self, folder: Path) -> dict[str, str]:
        """What is added to a program's environment; PoCL keeps the kernels that it builds in the folder.

        Its own choice would be ~/.cache/pocl, where nothing removes them. A user's POCL_CACHE_DIR stays.
        """
        added = {"PYOPENCL_HOME": str(self.home)} if self.home else {}
        if not os.environ.get("POCL_CACHE_DIR"):
            added["POCL_CACHE_DIR"] = str(folder / "pocl")
        return added


def support(cc: str = "gcc") -> Support | None:
    """What programs built with this compiler need; None where there is no device (`missing` has the reason)."""
    found = looked_for(cc)
    return found if isinstance(found, Support) else None


def missing(cc: str = "gcc") -> str:
    """Why there is no support; "" where there is."""
    found = looked_for(cc)
    return found if isinstance(found, str) else ""


def looked_for(cc: str) -> Support | str:
    """The first loader that finds a device, or why there is none."""
    place = which(cc)
    return f"the C compiler '{cc}' was not found" if place is None else looked_with(place)


@cache
def looked_with(cc: str) -> Support | str:
    """The same for a compiler that is there."""
    reasons = []
    with tempfile.TemporaryDirectory(prefix="polyc-opencl-") as name:
        folder = Path(name)
        (folder / "header.c").write_text("#include <CL/cl.h>\n")
        has_header = run([cc, "-fsyntax-only", str(folder / "header.c")], folder, {})[0] == ""
        include = () if has_header else ("-I", str(INCLUDE))
        candidates = {"the system's libOpenCL": Support(include, ("-lOpenCL",), None)}
        wheel = pyopencl_loader()
        if isinstance(wheel, Path):
            candidates["pyopencl's libOpenCL"] = Support(include, loader_flags(wheel), wheel.parent.parent)
        for what, candidate in candidates.items():
            devices = listed(cc, candidate, folder)
            if isinstance(devices, tuple):
                return Support(candidate.include_flags, candidate.link_flags, candidate.home, devices)
            reasons.append(f"{what}: {devices}")
    if not isinstance(wheel, Path):
        reasons.append(wheel)
    return "; ".join(reasons)


def pyopencl_loader() -> Path | str:
    """The loader in the package pyopencl, which is not imported; or why there is none."""
    package = find_spec("pyopencl")
    if package is None or package.origin is None:
        return f"the package pyopencl is not installed ({INSTALL})"
    libraries = sorted((Path(package.origin).resolve().parent / ".libs").glob("libOpenCL*.so*"))
    return libraries[0] if libraries else "the package pyopencl brings no libOpenCL"


def loader_flags(library: Path) -> tuple[str, ...]:
    return (str(library), "-Wl,--disable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", str(library.parent))


def listed(cc: str, candidate: Support, folder: Path) -> tuple[Device, ...] | str:
    """The devices that a program finds which was built so, or what went wrong."""
    program = compiled(cc, candidate, folder, LIST_DEVICES)
    if isinstance(program, str):
        return program
    problem, output = run([str(program)], folder, candidate.environment(folder))
    if problem:
        return f"a program that lists the devices fails: {problem}"
    rows = [line.split("\t") for line in output.splitlines()]
    devices = tuple(Device(*row) for row in rows if len(row) == 3)
    if not devices:
        return f"finds no device (a driver for the CPU: {INSTALL})"
    program = compiled(cc, candidate, folder, BUILD_KERNEL)
    if isinstance(program, str):
        return program
    problem, _ = run([str(program)], folder, candidate.environment(folder))
    return f"the device {devices[0].name} builds no kernel: {problem} ({NEWER})" if problem else devices


def compiled(cc: str, candidate: Support, folder: Path, text: str) -> Path | str:
    """A program with the runtime and this text, or why it cannot be built."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(runtime_text() + text, encoding="utf-8")
    problem, _ = run([cc, "-std=c11", "-w", str(source), "-o", str(program), *candidate.flags], folder, {})
    return f"no program can be built with it: {problem}" if problem else program


def run(command: list[str], folder: Path, added: dict[str, str]) -> tuple[str, str]:
    """How a program failed, or ""; and what it printed."""
    environment = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder), **added}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LIMIT_SECONDS,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except OSError as problem:
        return f"'{command[0]}' does not run: {problem.strerror}", ""
    except subprocess.TimeoutExpired:
        return f"did not end within {LIMIT_SECONDS} s", ""
    said = done.stderr.strip().splitlines()
    fault = exit_fault(done.returncode)
    return (said[0] if fault and said else fault), done.stdout
