"""Barriers: where the threads of a block meet."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Node, Sequence, deals_to_threads, walk
from polyc.poly import set_name, sets
from polyc.records import replace


def place_barriers(program: Program) -> Program:
    """Let the threads of a block meet where one step reads or overwrites what another one left.

    tree:     sequence(x, y) -> sequence(x, barrier - y) where y touches what x writes, or writes what x reads;
              band(t) - x -> band(t) - barrier - x where iterations of a loop that all threads run touch the same
    ensures:  no two threads of a block touch one cell, one of them writing, without a barrier between (the check of
              mapped programs shows it again)
    """
    return replace(program, tree=Domain(program.tree.domain, _Barriers(program).outside(program.tree.child)))


class _Barriers:
    def __init__(self, program: Program) -> None:
        self.program = program

    def outside(self, node: Node) -> Node:
        match node:
            case Mark(kind="kernel", sizes=sizes):
                return node if prod(sizes) == 1 else replace(node, child=self.inside(node.child))
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.outside(s.child)) for s in steps))
            case _:
                return replace(node, child=self.outside(node.child))

    def inside(self, node: Node) -> Node:
        """The part of a kernel that all threads of a block run together."""
        match node:
            case Leaf() | Mark(kind="once" | "reduce"):
                return node
            case Mark() | Extension():
                return replace(node, child=self.inside(node.child))
            case Band(members=members):
                if any(deals_to_threads(m) for m in members):
                    return node
                reads, writes = self.touched(node)
                carried = not any(m.mapped for m in members) and bool(writes & (reads | writes))
                last = replace(members[-1], barrier=carried or self.shares(node.child))
                return replace(node, members=(*members[:-1], last), child=self.inside(node.child))
            case Sequence(children=steps):
                found: list[Filter] = []
                before: list[tuple[set[str], set[str]]] = []
                for step in steps:
                    reads, writes = self.touched(step.child, step.filter)
                    meets = any(w & (reads | writes) or r & writes for r, w in before)
                    before.append((reads, writes))
                    found.append(replace(step, child=self.inside(step.child), barrier=meets))
                return Sequence(tuple(found))

    def touched(self, node: Node, reaching: isl.UnionSet | None = None) -> tuple[set[str], set[str]]:
        """The arrays and panels that statements below read, and those that they write."""
        statements: set[str] = set() if reaching is None else {set_name(s) for s in sets(reaching)}
        for inner in walk(node):
            match inner:
                case Band(members=members):
                    statements |= {set_name(s) for s in sets(members[0].schedule.domain())}
                case Extension(relation=relation):
                    statements |= {set_name(s) for s in sets(relation.range())}
                case Sequence(children=steps):
                    statements |= {set_name(s) for step in steps for s in sets(step.filter)}
                case _:
                    pass
        accesses = [(name, a) for name in statements for a in self.program.statements[name].accesses]
        reads = {p for name, a in accesses if a.kind is AccessKind.READ for p in self.places(name, a)}
        return reads, {p for name, a in accesses if a.kind is not AccessKind.READ for p in self.places(name, a)}

    def places(self, statement: str, access: Access) -> set[str]:
        """Where an access may go: copies know their panel; nobody shares registers."""
        there = [b for b in self.program.buffers.values() if (statement, access.ref) in b.accesses]
        if any(b.storage == "register" for b in there):
            return set()
        panels = {b.key for b in there if b.order}
        return panels if panels and statement in self.program.copies else {access.array, *panels}

    def shares(self, node: Node) -> bool:
        """Whether an array that all threads of a block share is declared directly inside a loop with this body."""
        match node:
            case Mark(kind="allocate", names=names) if any(
                self.program.buffers[n].storage != "register" for n in names
            ):
                return True
            case Mark(kind="once") | Leaf() | Band():
                return False
            case Sequence(children=steps):
                return any(self.shares(s.child) for s in steps)
            case _:
                return self.shares(node.child)

    def shared(self, name: str) -> bool:
        return self.program.buffers[name].storage != "register"
