"""Building a CUDA text and the shim as one shared library, and reading what the shim found."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from polyc.runtime.cuda_shim.launches import rewrite, rewrite_unrolled
from polyc.runtime.process.build import OBJECT, run_compiler

HERE = Path(__file__).parent
PARTS = ("memory.cpp", "fibers.cpp", "shadow.cpp", "tensor.cpp")
COUNTERS = "counters.cpp"
COMPILE = [flag for flag in OBJECT if flag != "-std=gnu11"]
CXX = ["-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
SHIM = ["-O2", "-fvisibility=hidden", "-U_FORTIFY_SOURCE"]
"""A change of fibers is a longjmp to another stack, which glibc's fortified one takes for a mistake."""
CHECKED = [
    "-fsanitize=thread",
    "-fsanitize=alignment,bounds",
    "-fsanitize-recover=all",
    "-fno-tree-loop-im",
    "-fno-ssa-phiopt",
]
"""The compiler's calls for each access; the shim has the functions, and no sanitizer's library is linked. No access is
moved out of a loop or a condition: a thread that would not have made it would seem to."""
COUNTED = [
    "-DPOLYC_SHIM_COUNT",
    "-O2",
    "-fsanitize=thread",
    "-fsanitize-coverage=trace-pc",
    *(
        "-fno-reorder-blocks",
        "-fno-reorder-blocks-and-partition",
        "-fno-thread-jumps",
        "-fno-crossjumping",
        "-fno-tree-tail-merge",
        "-fno-ipa-icf",
    ),
    *("-fno-optimize-sibling-calls", "-fno-shrink-wrap"),
    *("-fno-tree-vectorize", "-fno-store-merging", "-fno-tree-sra", "-fno-tree-pre", "-fno-code-hoisting"),
]
"""The compiler's calls for each access and each basic block. Loops are unrolled and what is loaded twice is kept, as by
nvcc; but blocks stay in the order of the source, each with its own accesses, and a copy of a struct stays one access.
"""
SOURCE = "region.cu"
PLACE = re.compile(r"\[(0x[0-9a-f]+)\] ")


def build(
    cuda_text: str,
    host_c: list[Path],
    folder: Path,
    check: bool = True,
    cxx: str = "g++",
    cc: str = "gcc",
    count: bool = False,
) -> Path:
    """Compile a CUDA text and C files to `folder/region.so`, which runs on a CPU.

    With `check`, launches find races and accesses out of bounds, too; without, only divergent barriers, and what no
    device can launch. With `count`, launches count what a profiler does instead, and find accesses out of bounds
    (`read_counters`). Raises BuildError with a compiler's message, RewriteError for text that is no CUDA.
    """
    library = folder / "region.so"
    objects = [folder / "region.o"]
    source = folder / SOURCE
    text = rewrite_unrolled(cuda_text) if count else cuda_text
    source.write_text(rewrite(text), encoding="utf-8", errors="surrogateescape")
    calls = COUNTED if count else CHECKED if check else []
    language = ["-x", "c++", "-g1", "-I", str(HERE / "include"), *calls]
    run_compiler([cxx, *COMPILE, *CXX, *language, "-c", str(source), "-o", str(objects[0])], folder)
    for position, file in enumerate(host_c):
        target = folder / f"host{position}.o"
        run_compiler([cc, *OBJECT, "-c", str(file), "-o", str(target)], folder)
        objects.append(target)
    for name, content in shim_objects(cxx, count).items():
        target = folder / name
        target.write_bytes(content)
        objects.append(target)
    run_compiler([cxx, "-shared", "-Wl,-z,defs", *map(str, objects), "-o", str(library), "-lm", "-ldl"], folder)
    return library


@cache
def shim_objects(cxx: str, count: bool = False) -> dict[str, bytes]:
    """The shim's object files, compiled once a process. Raises BuildError."""
    with tempfile.TemporaryDirectory(prefix="polyc-shim-") as name:
        folder = Path(name)
        objects = {}
        for part in (*PARTS, COUNTERS) if count else PARTS:
            target = folder / f"{Path(part).stem}.o"
            counted = ["-DPOLYC_SHIM_COUNT"] if count else []
            run_compiler([cxx, *COMPILE, *CXX, *SHIM, *counted, "-c", str(HERE / part), "-o", str(target)], folder)
            objects[target.name] = target.read_bytes()
        return objects


def report(library: Path) -> list[str]:
    """The faults of the library's last process, one a string: "race: region.cu:12: kernel k: thread ...".

    Empty where all is well. At most ten, each place of the program once for a kind: race, bounds, uninitialised (a read
    of shared memory), index, misaligned, divergent barrier, launch. It is there also where the process has ended early.
    """
    file = Path(f"{library}.report")
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8", errors="replace")
    lines = source_lines(library, [int(place, 16) - 1 for place in PLACE.findall(text)])
    return PLACE.sub(lambda match: lines.get(int(match[1], 16) - 1, ""), text).splitlines()


def source_lines(library: Path, places: list[int]) -> dict[int, str]:
    """`region.cu:12: ` for addresses in the library; none where the tool for it is missing."""
    tool = shutil.which("addr2line")
    if not places or not tool:
        return {}
    command = [tool, "-a", "-i", "-s", "-e", str(library), *map(hex, places)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
    lines: dict[int, str] = {}
    place = 0
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            place = int(line, 16)
        elif match := re.match(rf"{re.escape(SOURCE)}:\d+", line):
            lines.setdefault(place, f"{match[0]}: ")
    return lines
