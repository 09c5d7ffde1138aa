"""Registers, shared memory and spills of each kernel, as nvcc's assembler reports them."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from polyc.records import dataclass

LIMIT_SECONDS = 300
ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes of a multiprocessor."""

    registers: int
    """Of a thread, of 32 bits."""
    spills: int
    """Bytes that a thread stores for want of registers, and loads again: both added up."""
    shared_bytes: int
    """Of a block, static."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """What nvcc found of a text, by the kernels' names in the object file."""

    kernels: dict[str, Resources]
    note: str = ""
    """Why nothing was found, or for which other architecture; "" where all is as asked for."""

    def of(self, kernel: str) -> Resources | None:
        """The resources of the kernel with this name in the text; of a template, those of the form with int."""
        own = re.compile(rf"(?<!\d){len(kernel)}{re.escape(kernel)}")
        found = [name for name in self.kernels if name == kernel or own.search(name)]
        with_int = [name for name in found if f"{kernel}IiE" in name]
        return next((self.kernels[name] for name in (*with_int, *found)), None)


def assemble(cuda_text: str, folder: Path, compute_capability: str) -> Assembled:
    """Compile the text with nvcc, where it is there; `compute_capability` is the machine's, `9.0`."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return Assembled({}, "nvcc is not there: registers and spills are unknown")
    wanted = int(compute_capability.replace(".", "") or 0)
    known = architectures(nvcc)
    architecture = next((one for one in known if one >= wanted), known[-1] if known else wanted)
    source = folder / "assembled.cu"
    source.write_text(cuda_text, encoding="utf-8", errors="surrogateescape")
    flags = ["-O3", f"-arch=sm_{architecture}", "-Xptxas", "-v", "-cubin", "-o", str(folder / "assembled.cubin")]
    try:
        done = subprocess.run(
            [nvcc, *flags, str(source)],
            capture_output=True,
            check=False,
            text=True,
            timeout=LIMIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Assembled({}, "nvcc does not run, or takes too long: registers and spills are unknown")
    found = parsed(done.stderr + done.stdout)
    if done.returncode or not found:
        return Assembled({}, "nvcc does not compile the kernels: registers and spills are unknown")
    same = architecture == wanted
    return Assembled(
        found, "" if same else f"registers and spills are those for sm_{architecture}: this nvcc has no sm_{wanted}"
    )


@cache
def architectures(nvcc: str) -> tuple[int, ...]:
    """The architectures that nvcc compiles for, the oldest first."""
    done = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, check=False, text=True)
    return tuple(sorted(int(number) for number in re.findall(r"compute_(\d+)\b", done.stdout)))


def parsed(printed: str) -> dict[str, Resources]:
    """The resources by the kernels' names, from what `ptxas -v` printed."""
    found: dict[str, Resources] = {}
    name, spills = "", 0
    for line in printed.splitlines():
        if match := ENTRY.search(line):
            name, spills = match[1], 0
        elif match := SPILLS.search(line):
            spills = int(match[1]) + int(match[2])
        elif name and (match := REGISTERS.search(line)):
            shared = SHARED.search(line)
            found[name] = Resources(int(match[1]), spills, int(shared[1]) if shared else 0)
            name = ""
    return found
