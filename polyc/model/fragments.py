"""Fragments: what one instruction of a tensor core multiplies, and which lane of a warp has which of its elements.

`mma` adds the products of a 16 x k and a k x 8 fragment to a 16 x 8 fragment of sums. The 32 threads of a warp run it
together; each of them, a lane, has a few elements of each fragment in its registers. Lane `4 g + t` has, in the order
of its registers, what the task mappings below deal out to it.

source: NVIDIA, PTX ISA 8, "Matrix Fragments for mma.m16n8k8" and "… for mma.m16n8k16 with floating point type"
"""

from __future__ import annotations

from collections.abc import Iterable

from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.model.scop import CType
from polyc.model.tasks import TaskMapping, repeat, spatial
from polyc.records import dataclass

LANES = 32
ROWS, COLUMNS = 16, 8
"""Of the sums."""
SUMS = repeat(2, 1) * spatial(8, 4) * repeat(1, 2)
"""Which lane has which element (i, j) of the sums, whatever is multiplied."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A kind of products."""

    name: str
    depth: int
    """Products that one instruction adds to each sum."""
    packed: int
    """Elements of an operand that share a register."""

    @property
    def operand_bytes(self) -> int:
        """Of an element of an operand."""
        return 4 // self.packed

    def takes(self, sums: CType, operands: Iterable[CType]) -> bool:
        """Whether it multiplies elements of these types, and adds the products up in this one."""
        kind = ("float", self.operand_bytes)
        return sums.text == "float" and all((one.kind, one.size_bytes) == kind for one in operands)

    def permitted(self, options: Options) -> bool:
        """Whether the user allows what it does to values: `mma` adds up the products of a fragment in any order. Those
        of halves are exact in float; floats are rounded before."""
        return options.allow_tf32 or (self is HALF and options.reassociate)

    @property
    def rows(self) -> TaskMapping:
        """Which lane has which (i, k) of the operand with the rows."""
        return repeat(1, 2) * repeat(2, 1) * spatial(8, 4) * repeat(1, self.packed)

    @property
    def columns(self) -> TaskMapping:
        """Which lane has which (j, k) of the operand with the columns."""
        return repeat(1, 2) * spatial(8, 4) * repeat(1, self.packed)

    @property
    def sizes(self) -> tuple[int, int, int]:
        return ROWS, COLUMNS, self.depth


TF32 = Fragment("tf32", 8, 1)
"""m16n8k8: floats, of which the products take the sign, the exponent and ten bits of the mantissa."""
HALF = Fragment("half", 16, 2)
"""m16n8k16: halves, whose products are exact in float. Before sm_80, as two m16n8k8."""
FRAGMENTS = {one.name: one for one in (TF32, HALF)}


def factors(body: c.Stmt) -> tuple[c.ArrayRef, c.ArrayRef] | None:
    """The two references of `X += a * b` or `X = X + a * b`, also where they are cast to float; None for other text."""
    match body:
        case c.ExprStmt(expr=c.Assign(op="+=", target=c.ArrayRef(), value=c.Binary(op="*", left=left, right=right))):
            pass
        case c.ExprStmt(
            expr=c.Assign(
                op="=",
                target=c.ArrayRef() as target,
                value=c.Binary(op="+", left=c.ArrayRef() as before, right=c.Binary(op="*", left=left, right=right)),
            )
        ) if (target.array, target.subscripts) == (before.array, before.subscripts):
            pass
        case _:
            return None
    one, two = _uncast(left), _uncast(right)
    return (one, two) if isinstance(one, c.ArrayRef) and isinstance(two, c.ArrayRef) else None


def _uncast(value: c.Expr) -> c.Expr:
    return value.operand if isinstance(value, c.Cast) and value.type == "float" else value
