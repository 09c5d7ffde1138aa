"""Iterations in which choices read what may not be there, apart from the others."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.selects import has_choices
from polyc.analysis.readable import choices_of, left_out, makes_vectors, unreadable
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Sequence, restrict, sequence_of, walk
from polyc.nests.nest import has_loops, values
from polyc.poly import empty_set, names
from polyc.records import dataclass, replace

STAGE = "edges"
MOST_PIECES = 4
"""Of the iterations at the edges: more of them would be as many loops."""


def part_edges(program: Program) -> Program:
    """Part the rows, or iterations, at the edges of a loop where a choice may read an element that is not there.

    rewrite:  for i for j f[i][j] = v[i][j] > 0 ? u[i][j] - u[i - 1][j] : u[i + 1][j] - u[i][j];
              -> for i { if (i > 1 && i < n - 2) for j f[i][j] = …; else for j f[i][j] = …; }
    tree:     band(j) -> sequence(inside: band(j), edges: band(j))
    math:     of the loops' iterations v(S[i]), the edges are v({ S[i] : it may read what nobody reads in any case, nor
              anything behind it in memory, or before it })
    requires: the innermost loop is coincident
    ensures:  inside, both branches may be computed and one taken (`Choices`), so that the loop makes vectors
    source:   index set splitting (Griebl, Feautrier, Lengauer 2000)
    """
    parter = _Parter(program)
    child = parter.at(program.tree.child, ())
    return replace(parter.program, tree=Domain(program.tree.domain, child)) if parter.made else program


@dataclass(slots=True)
class _Parter:
    program: Program
    made: bool = False

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in steps))
            case Band(members=members, child=child) if has_loops(child):
                return replace(node, child=self.at(child, above + members))
            case Band():
                return self.parted(node, above)
            case Mark(kind="tiles") | Extension():
                return (
                    node  # tiles over time have an order of their own, and what is added no values for the loops above
                )
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node

    def parted(self, band: Band, above: tuple[Member, ...]) -> Node:
        """An innermost band, with its edges apart."""
        *outer, inner = band.members
        instances = inner.schedule.domain()
        statements = [self.program.statements[name] for name in names(instances)]
        if any(isinstance(n, Mark) and n.kind == "allocate" for n in walk(band.child)):
            return band  # what an iteration declares is declared in one place
        if not any(has_choices(s.body) for s in statements) or not makes_vectors(self.program, inner, everything=True):
            return band
        edges = ran = empty_set(instances)
        for statement in statements:
            edges = edges.union(self.unknown(statement))
            ran = ran.union(isl.UnionSet.from_set(statement.domain.intersect_params(self.program.scop.known)))
        edges = edges.intersect(instances)
        if edges.is_empty():
            return band
        for loops in ((*above, *outer), (*above, *band.members)):
            when = values(loops, instances)
            apart = when.intersect_range(edges.apply(when)).domain().coalesce()
            inside = instances.subtract(apart).coalesce()
            if not apart.is_empty() and not inside.is_disjoint(ran) and _pieces(apart) <= MOST_PIECES:
                self.tell(tuple(names(instances)))
                return sequence_of([(inside, restrict(band, inside)), (apart, restrict(band, apart))])
        return band

    def unknown(self, statement: Statement) -> isl.UnionSet:
        """The instances of a statement that may read in vain what may not be there."""
        found = empty_set(self.program.scop.domain)
        if statement.name in self.program.copies:
            return found
        kept = {access for b in self.program.buffers.values() for access in b.accesses}
        accesses = {a.ref: a for a in statement.accesses if a.ref}
        read: set[str] = set()

        def is_kept(node: c.ArrayRef) -> bool:
            read.add(node.ref)
            return (statement.name, node.ref) in kept

        choices = choices_of(self.program, statement, statement.domain, is_kept, everything=True)
        if choices.taken(statement.body) == statement.body:
            return found
        for access in (accesses[ref] for ref in read):
            inside = (statement.name, access.ref) in kept
            edges = (left_out if inside else unreadable)(self.program.scop, access, statement.domain)
            found = found.union(isl.UnionSet.from_set(edges))
        return found

    def tell(self, statements: tuple[str, ...]) -> None:
        self.made = True
        message = (
            f"{', '.join(statements)}: the edges, where a choice may read what is not there, have loops of their own"
        )
        self.program = self.program.remark("edges-apart", STAGE, message, statements)


def _pieces(instances: isl.UnionSet) -> int:
    found = instances.get_set_list()
    return max(found.get_at(k).n_basic_set() for k in range(found.n_set()))
