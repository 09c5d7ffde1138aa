"""Do accesses to memory that may overlap keep their order?

math: all statements that access such memory read and write one scalar, whose flow is shown like that of any other: so
      they run one after the other, as they were written. No other access is added: such memory has no buffers.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import CALLS, AccessKind, Scop

KIND = "region"


def order_faults(program: Program, original: Scop) -> Iterator[Fault]:
    """What is wrong with a program of a region in which memory may overlap."""
    if program.scop.ordered != original.ordered:
        yield Fault(KIND, "what may overlap changed", "")
    for scop in (original, program.scop) if original.ordered else ():
        for statement in scop.statements.values():
            touched = {access.array for access in statement.accesses}
            kinds = {access.kind for access in statement.accesses if access.array == CALLS}
            if touched & original.ordered and kinds != {AccessKind.READ, AccessKind.WRITE}:
                yield Fault(KIND, f"{statement.name} touches memory in no order", statement.text)
    if copied := {buffer.array for buffer in program.buffers.values()} & original.ordered:
        yield Fault(KIND, f"{', '.join(sorted(copied))} may overlap, and has a copy", "")


__all__ = ["order_faults"]
