"""Recurrences that the scheduler took apart: as the one loop that was written."""

from __future__ import annotations

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import innermost_loops
from polyc.passes.loops.siblings import Siblings
from polyc.poly import names
from polyc.records import dataclass, replace

STAGE = "rejoin"


def rejoin_recurrences(program: Program) -> Program:
    """Join recurrences that the scheduler took apart, and that no pass has made anything of, as they were written.

    rewrite:  for i { for j s = f(s, A[i][j]); x[i] = s; }  for i { for j t = g(t, B[i][j]); y[i] = t; }
              -> for i { for j { s = f(s, A[i][j]); t = g(t, B[i][j]); } x[i] = s; y[i] = t; }
    requires: no dependence between the nests; one loop of the source, of which C compilers make no vectors, or whose
              statements store to elements of one array, `a[2 * i]` and `a[2 * i + 1]`
    ensures:  each recurrence has its order. A core waits for all of them at once, and not for one after the other;
              lines of the cache are written once
    source:   ours; loop fusion for instruction-level parallelism (Callahan, Carr, Kennedy 1990)
    """
    joiner = _Rejoiner(Siblings.of(program, innermost_loops(program.scop.tree)), [])
    child = joiner.at(program.tree.child, ())
    if not joiner.joined:
        return program
    for statements in joiner.joined:
        message = f"{', '.join(statements)} run in one loop, as they were written"
        program = program.remark("rejoined", STAGE, message, statements)
    return replace(program, tree=Domain(program.tree.domain, child))


@dataclass(slots=True)
class _Rejoiner:
    siblings: Siblings
    joined: list[tuple[str, ...]]

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Mark(kind="tiles"):
                return node  # tiles over time have an order of their own
            case Band() if _in_registers(node):
                return node
            case Sequence():
                nests = self.siblings.nests(node, above)
                self.tell(node, nests)
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in nests.children))
            case Band(members=members, child=child):
                steps = self.siblings.loops(child, (*above, *members))
                self.tell(child, steps)
                return replace(node, child=self.at(steps, (*above, *members)))
            case Extension() | Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node

    def tell(self, before: Node, after: Node) -> None:
        """Keep the statements of each step that several were joined to."""
        if before is not after:
            old = {frozenset(names(s.filter)) for s in before.children} if isinstance(before, Sequence) else set()
            new = after.children if isinstance(after, Sequence) else ()
            self.joined += [found for s in new if frozenset(found := tuple(names(s.filter))) not in old]


def _in_registers(node: Node) -> bool:
    """Whether sums in registers are below, whose loops are where they belong."""
    return any(m.role is Role.REGISTER for n in walk(node) if isinstance(n, Band) for m in n.members)


__all__ = ["rejoin_recurrences"]
