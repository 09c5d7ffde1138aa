"""Loops whose iterations share a variable or an array, and may not change it at once, whatever dependences say."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Statement
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Sequence, walk
from polyc.poly import among, maps, names, out_name
from polyc.records import replace


def with_sequential_updates(program: Program) -> Program:
    """Take loops for sequential whose iterations share a variable that one of them changes, by a condition of its own,
    or an array of which each of them needs some cells for itself.

    tree:     band[c] -> band[-]
    why:      `for (k = j; k < j + 2; k++) if (k % 2 == 0) s = fmaxf(s, a[j]);` carries no dependence, but there is one
              `s` for both iterations, and C compilers read it in each, before they know which one changes it. In
              `t[0] = …; for (j) { t[1] = …; b[j] = t[0] + t[1]; }` a copy of `t` for each j lacks what is in `t[0]`
    ensures:  a loop stays parallel where the variable belongs to its iterations, or where the statement runs in one of
              them only: there the loop, or a condition around the statement, says so
    """
    changed = {s.name: found for s in program.statements.values() if (found := _chosen(program, s))}
    copied = _copied(program)
    if not changed and not copied:
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
                    free = free and not (copied and _needs_copies(program, copied, loops, node.child))
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


def _copied(program: Program) -> dict[str, isl.UnionMap]:
    """The anti and output dependences through each array that copies for iterations take away, by the array's name."""
    array_of = {
        f"{s.name}_{k}": a.array
        for s in program.scop.statements.values()
        for k, a in enumerate(s.accesses)
        if program.scop.arrays[a.array].rank
    }
    found: dict[str, isl.UnionMap] = {}
    for piece in maps(program.dependences.tagged_private_false):
        array = array_of.get(out_name(piece.domain().unwrap()))
        if array is not None:
            pairs = isl.UnionMap.from_map(piece).domain_factor_domain().range_factor_domain()
            found[array] = found[array].union(pairs) if array in found else pairs
    return found


def _needs_copies(program: Program, copied: Mapping[str, isl.UnionMap], loops: tuple[Member, ...], below: Node) -> bool:
    """Whether iterations of the last one of some loops would have to have copies of an array that values come into, or
    leave. What has a buffer inside of the loop, or one with a part for each iteration, has copies."""
    instances = loops[-1].schedule.domain()
    inside = {key for n in walk(below) if isinstance(n, Mark) for key in n.names}
    own = {x for key, b in program.buffers.items() if key in inside or b.storage == "spread" for x in b.accesses}
    used = [(name, a) for name in names(instances) for a in program.statements[name].accesses]
    for array in copied.keys() & {a.array for name, a in used if (name, a.ref) not in own}:
        if _leaves(program, array, instances, loops):
            pairs = within_iteration(among(copied[array], instances), loops[:-1])
            if not pairs.is_subset(within_iteration(pairs, loops)):
                return True
    return False


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
