"""Loops of which a condition inside of a statement says which iteration changes a variable of all of them."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Statement
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Sequence
from polyc.poly import names
from polyc.records import replace


def with_sequential_updates(program: Program) -> Program:
    """Take loops for sequential whose iterations share a variable that one of them changes, by a condition of its own.

    tree:     band[c] -> band[-]
    why:      `for (k = j; k < j + 2; k++) if (k % 2 == 0) s = fmaxf(s, a[j]);` carries no dependence, but there is one
              `s` for both iterations, and C compilers read it in each, before they know which one changes it
    ensures:  a loop stays parallel where the variable belongs to its iterations, or where the statement runs in one of
              them only: there the loop, or a condition around the statement, says so
    """
    changed = {s.name: found for s in program.statements.values() if (found := _chosen(program, s))}
    if not changed:
        return program

    def below(node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=below(s.child, above)) for s in steps))
            case Extension():
                return replace(node, child=below(node.child, ()))
            case Mark():
                return replace(node, child=below(node.child, above))
            case Band(members=members):
                marked: list[Member] = []
                for position, member in enumerate(members):
                    loops = (*above, *members[: position + 1])
                    free = member.coincident and not _is_shared(program, changed, loops)
                    marked.append(replace(member, coincident=free))
                return replace(node, members=tuple(marked), child=below(node.child, (*above, *members)))

    return replace(program, tree=Domain(program.tree.domain, below(program.tree.child, ())))


def _chosen(program: Program, statement: Statement) -> frozenset[str]:
    """The scalars that some instances of a statement change, and others do not."""
    spread = {access for b in program.buffers.values() if b.storage == "spread" for access in b.accesses}
    domain = statement.domain.intersect_params(program.scop.known)
    return frozenset(
        a.array
        for a in statement.accesses
        if a.kind is not AccessKind.READ
        and not program.scop.arrays[a.array].rank
        and (statement.name, a.ref) not in spread
        and not domain.is_subset(a.relation.domain())
    )


def _is_shared(program: Program, changed: Mapping[str, frozenset[str]], loops: tuple[Member, ...]) -> bool:
    """Whether the iterations of the last one of some loops share a scalar that a statement below may change."""
    instances = loops[-1].schedule.domain()
    arrays = {array for name in names(instances) for array in changed.get(name, ())}
    return any(_leaves(program, array, instances, loops) for array in arrays)


def _leaves(program: Program, array: str, instances: isl.UnionSet, loops: tuple[Member, ...]) -> bool:
    """Whether a value of an array leaves an iteration of some loops, or comes into one."""
    if array not in program.scop.privatizable:
        return True
    flow = program.dependences.flow_by_array.get(array)
    if flow is None:
        return False
    used = flow.intersect_params(program.scop.known)
    used = used.intersect_domain(instances).union(used.intersect_range(instances))
    return not used.is_subset(within_iteration(used, loops))
