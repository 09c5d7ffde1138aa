"""CUDA texts of the operators and of some programs more, with a manifest, for `run.py` on a machine with a GPU.

python benchmarks/gpu/generate.py OUT [--small] [--only NAME]... [--machine NAME] [--reassociate]
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from records import DTYPES, Argument, Operator, Problem, save

from polyc import __version__
from polyc.codegen.gpu.memory import DeviceArray, device_arrays
from polyc.codegen.gpu.render import render_device_files
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Region, Scop, Statement
from polyc.pipeline import compile_region
from polyc.runtime.sizes import bounds

HERE = Path(__file__).resolve().parent
SOURCES = {file.stem: file for folder in (HERE.parent / "operators", HERE) for file in sorted(folder.glob("*.c"))}
SIGNATURE = re.compile(r'extern "C" int (\w+_device)\(([^()]*)\)')
PARAMETER = re.compile(r"(?:const )?([\w ]+?) \*(\w+)$")
BYTES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}


def main() -> int:
    parser = argparse.ArgumentParser(prog="generate.py", description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for the CUDA texts and the manifest")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests (-DSMALL)")
    parser.add_argument("--only", action="append", choices=list(SOURCES), help="this operator; may be repeated")
    parser.add_argument("--machine", default="generic", help="a GPU of `polyc machine list`, or a file")
    parser.add_argument("--reassociate", action="store_true", help="sums of rows by all threads of a block")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    options = Options(target="cuda", machine=given.machine, reassociate=given.reassociate)
    try:
        operators = [generated(name, given.out, given.small, options) for name in given.only or SOURCES]
    except Problem as problem:
        print(f"generate.py: {problem}", file=sys.stderr)
        return 1
    save(operators, given.out, polyc=__version__, small=given.small, machine=given.machine)
    print(f"{given.out}: {len(operators)} operators, {sum(o.kernels for o in operators)} kernels")
    return 0


def generated(name: str, folder: Path, small: bool, options: Options) -> Operator:
    """Compile one operator and write its CUDA text. Raises Problem."""
    file = SOURCES[name]
    (region,) = read(str(file), InputOptions(defines=("SMALL",) if small else ())).regions
    compiled = compile_region(region, options)
    if not compiled.device:
        why = [r.message for r in compiled.program.remarks if r.code == "not-mapped"]
        raise Problem(f"{name} was not mapped to a GPU: {'; '.join(why)}")
    text = render_device_files(str(file), [compiled.device], "cuda")[".cu"]
    (folder / f"{name}.cu").write_text(text, encoding="utf-8")
    return described(name, file, region, compiled, text)


def described(name: str, file: Path, region: Region, compiled: Compiled, text: str) -> Operator:
    (signature,) = SIGNATURE.findall(text)
    entry, parameters = signature
    arrays = {array.name: array for array in device_arrays(compiled.program).values()}
    arguments = tuple(argument(name, p, arrays, region.scop) for p in parameters.split(", ")[:-1])
    title = file.read_text(encoding="utf-8").splitlines()[0].strip("/* ")
    moved = sum(BYTES[a.dtype] * math.prod(a.shape) for a in arguments if a.role != "scratch")
    flops = sum(instances(s) * operations(s) for s in region.scop.statements.values())
    return Operator(name, title, f"{name}.cu", entry, arguments, text.count("__global__"), flops, moved)


def argument(name: str, parameter: str, arrays: dict[str, DeviceArray], scop: Scop) -> Argument:
    match = PARAMETER.match(parameter)
    if match is None:
        raise Problem(f"{name}: the benchmark has no operators with sizes or numbers ({parameter})")
    array = arrays[match[2]]
    extents = scop.arrays[array.key].extents
    shape = tuple(int(extent.max_val().to_python()) for extent in extents if extent is not None)
    if len(shape) != len(extents):
        raise Problem(f"{name}: how large {array.name} is, is not known")
    role = "out" if array.copied_out else "scratch" if array.written else "in"
    return Argument(array.name, DTYPES[match[1]], shape, role)


def instances(statement: Statement) -> int:
    """How often the statement runs: its domain is a box."""
    spans = [bounds(statement.domain, k) for k in range(len(statement.loops))]
    return math.prod(span[1] - span[0] + 1 for span in spans if span is not None)


def operations(statement: Statement) -> int:
    """Floating operations of one instance, without subscripts, comparisons and what chooses between values."""

    def found(node: c.Node) -> Iterator[c.Node]:
        match node:
            case c.ArrayRef():
                return
            case c.Ternary(then=then, otherwise=other):
                yield from max(([*found(then)], [*found(other)]), key=len)
            case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                yield node
                yield from (*found(left), *found(right))
            case c.Assign(op=op, value=value):
                if op != "=":
                    yield node
                yield from found(value)
            case c.ExprStmt(expr=expr) | c.Cast(operand=expr):
                yield from found(expr)
            case _:
                return

    return len([*found(statement.body)])


if __name__ == "__main__":
    sys.exit(main())
