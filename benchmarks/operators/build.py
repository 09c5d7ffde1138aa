"""The operators as data, and the libraries that gcc and polyc make of them."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu.contestants import Step
from polyc.frontend import read
from polyc.model.program import InputOptions
from polyc.model.scop import AccessKind
from polyc.nests.boxes import constant_of

HERE = Path(__file__).parent
NAMES = tuple(sorted(file.stem for file in HERE.glob("*.c")))
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC", "-Wno-unknown-pragmas")
DTYPES = {"float": "float32", "double": "float64", "int": "int32"}
BYTES = {"float32": 4, "float64": 8, "int32": 4}
BATCH = {"conv4": ("B=16",)}
"""Of the full shapes: what fits a machine's memory."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An array that the function takes: `role` is `in` or `out`. As `../gpu/records.py` reads it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str


@dataclass(frozen=True, slots=True)
class Described:
    """bytes: that have to move at least, each input read once, each output written once."""

    name: str
    title: str
    arguments: tuple[Shape, ...]
    bytes: int

    def record(self) -> dict[str, Any]:
        """As `../gpu/records.py` has operators."""
        return {**asdict(self), "file": "", "entry": self.name, "kernels": 0, "flops": 0}


def defines(name: str, small: bool) -> tuple[str, ...]:
    return ("SMALL",) if small else BATCH.get(name, ())


def described(name: str, small: bool) -> Described:
    """An operator with the shapes of its arguments, from its own text."""
    file = HERE / f"{name}.c"
    (region,) = read(str(file), InputOptions(defines=defines(name, small))).regions
    scop = region.scop
    text = file.read_text(encoding="utf-8")
    (signature,) = re.findall(rf"^void {name}\(([^()]*)\)$", text, re.MULTILINE)
    order = [re.sub(r"\[.*", "", word).split()[-1] for word in signature.split(", ")]
    arrays = {array.c_name: array for array in scop.arrays.values()}
    written = {a.array for s in scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    found = []
    for c_name in order:
        array = arrays[c_name]
        sizes = tuple(constant_of(extent) or 0 for extent in array.extents if extent is not None)
        role = "out" if array.name in written else "in"
        found.append(Shape(c_name, DTYPES[array.element.text.split()[-1]], sizes, role))
    moved = sum(BYTES[a.dtype] * math.prod(a.shape) for a in found)
    return Described(name, text.splitlines()[0].strip("/* "), tuple(found), moved)


def harness(gcc: str, folder: Path) -> Step:
    return Step(
        "cc", (gcc, *FLAGS, "-fopenmp", str(HERE / "harness" / "harness.c"), "-o", str(folder / "harness.so"), "-lm")
    )


def plain(name: str, small: bool, gcc: str, folder: Path) -> list[Step]:
    """gcc's library of the operator as it stands."""
    words = [f"-D{word}" for word in defines(name, small)]
    return [Step("cc", (gcc, *FLAGS, *words, str(HERE / f"{name}.c"), "-o", str(folder / f"{name}.gcc.so")))]


def transformed(name: str, small: bool, gcc: str, folder: Path, options: tuple[str, ...]) -> list[Step]:
    """gcc's library of what polyc makes of it."""
    words = [f"-D{word}" for word in defines(name, small)]
    text = folder / f"{name}.polyc.c"
    polyc = (sys.executable, "-m", "polyc", "compile", str(HERE / f"{name}.c"), *words, *options, "-q", "-o", str(text))
    command = (gcc, *FLAGS, "-fopenmp", *words, str(text), "-o", str(folder / f"{name}.polyc.so"), "-lm")
    return [Step("polyc", polyc), Step("cc", command)]
