"""The thirty kernels: where they stand, their sizes, their floating-point operations and their compulsory traffic."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "polybench" / "kernels"
DATASETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
SIZE_LINE = re.compile(r"^#define (\w+) SIZE\(([^)]*)\)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as data.

    flops: floating-point operations of the region, in the sizes' names. Products that do not depend on the innermost
      loop are counted once outside it, divisions and roots as one each. '' where the kernel computes in integers.
    elements: elements of its data type that have to cross the memory's bus at least once: those read before they are
      written, and those live-out that it writes.
    bytes_each: bytes of an element in double precision (8), or of an int (4).
    float_type: the kernel has a single-precision form.
    """

    name: str
    flops: str
    elements: str
    bytes_each: int = 8
    float_type: bool = True

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.c"

    def sizes(self, dataset: str) -> dict[str, int]:
        """The values of the kernel's SIZE macros, read from its own text."""
        return _sizes(self.name)[DATASETS.index(dataset)]

    def operations(self, dataset: str) -> float | None:
        """Floating-point operations; None for a kernel in integers."""
        return evaluate(self.flops, self.sizes(dataset)) if self.flops else None

    def traffic_bytes(self, dataset: str, element: str) -> float:
        """Bytes that a run has to move at least; `element` is 'double' or 'float'."""
        each = 4 if element == "float" and self.float_type else self.bytes_each
        return each * evaluate(self.elements, self.sizes(dataset))


@cache
def _sizes(name: str) -> list[dict[str, int]]:
    """For each data set, the sizes of a kernel."""
    rows = [(m[1], [int(v) for v in m[2].split(",")]) for m in SIZE_LINE.finditer((FOLDER / f"{name}.c").read_text())]
    return [{macro: values[place] for macro, values in rows} for place in range(len(DATASETS))]


def evaluate(text: str, sizes: dict[str, int]) -> float:
    """The value of an expression of sizes, numbers, + - * / ** and brackets."""
    return _value(ast.parse(text, mode="eval").body, sizes)


def _value(node: ast.expr, sizes: dict[str, int]) -> float:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, sizes), _value(right, sizes)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    return float(a**b)
    raise ValueError(f"not an expression of sizes: {ast.dump(node)}")


LU_FLOPS = "N*N*(N-1) - (N-1)*N*(2*N-1)/6"

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("2mm", "2*NI*NJ*NK + NI*NK + 2*NI*NL*NJ + NI*NL", "NI*NK + NK*NJ + NJ*NL + NI*NJ + 2*NI*NL"),
        Kernel("3mm", "2*(NI*NJ*NK + NJ*NL*NM + NI*NL*NJ)", "NI*NK + NK*NJ + NJ*NM + NM*NL + NI*NJ + NJ*NL + NI*NL"),
        Kernel("adi", "TSTEPS*2*13*(N-2)**2", "5*N**2"),
        Kernel("atax", "4*M*N", "M*N + M + 2*N"),
        Kernel("bicg", "4*M*N", "M*N + 2*M + 2*N"),
        Kernel("cholesky", "N*(N+1)*(2*N+1)/6", "N*(N+1)"),
        Kernel("correlation", "N*M*(M-1) + 6*N*M + 5*M", "2*N*M + M*M + 2*M"),
        Kernel("covariance", "N*M*(M+1) + 2*N*M + M*(M+1)/2 + M", "2*N*M + M*M + M"),
        Kernel("deriche", "32*W*H", "4*W*H", bytes_each=4),
        Kernel("doitgen", "2*NR*NQ*NP*NP", "2*NR*NQ*NP + NP*NP + NP"),
        Kernel("durbin", "2*N*(N-1) + 5*(N-1)", "2*N"),
        Kernel("fdtd-2d", "TMAX*(3*(NX-1)*NY + 3*NX*(NY-1) + 5*(NX-1)*(NY-1))", "6*NX*NY + TMAX"),
        Kernel("floyd-warshall", "", "2*N*N", bytes_each=4, float_type=False),
        Kernel("gemm", "2*NI*NJ*NK + NI*NJ + NI*NK", "NI*NK + NK*NJ + 2*NI*NJ"),
        Kernel("gemver", "8*N*N + 3*N", "2*N*N + 10*N"),
        Kernel("gesummv", "4*N*N + 3*N", "2*N*N + 3*N"),
        Kernel("gramschmidt", "2*M*N*(N-1) + 3*M*N + N", "3*M*N + N*(N+1)/2"),
        Kernel("heat-3d", "2*TSTEPS*13*(N-2)**3", "3*N**3"),
        Kernel("jacobi-1d", "2*TSTEPS*3*(N-2)", "3*N"),
        Kernel("jacobi-2d", "2*TSTEPS*5*(N-2)**2", "3*N*N"),
        Kernel("lu", LU_FLOPS, "2*N*N"),
        Kernel("ludcmp", f"{LU_FLOPS} + 2*N*(N-1) + N", "2*N*N + 3*N"),
        Kernel("mvt", "4*N*N", "N*N + 6*N"),
        Kernel("nussinov", "", "N*(N-1)", bytes_each=4, float_type=False),
        Kernel("seidel-2d", "TSTEPS*9*(N-2)**2", "2*N*N"),
        Kernel("symm", "2*N*M*(M-1) + 6*M*N", "M*(M+1)/2 + 3*M*N"),
        Kernel("syr2k", "2*M*N*(N+1) + N*(N+1)/2 + 2*N*M", "N*(N+1) + 2*N*M"),
        Kernel("syrk", "M*N*(N+1) + N*(N+1)/2 + N*M", "N*(N+1) + N*M"),
        Kernel("trisolv", "N*N", "N*(N+1)/2 + 2*N"),
        Kernel("trmm", "N*M*(M-1) + M*N", "M*(M-1)/2 + 2*M*N"),
    )
}
