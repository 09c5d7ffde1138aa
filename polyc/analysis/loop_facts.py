"""What holds for the loops around each statement of a program, read off its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Scop
from polyc.model.tree import Band, Extension, Leaf, Mark, Node, Role, Sequence, walk
from polyc.poly import affine_of, names, set_name, sets, value_on
from polyc.records import dataclass


@dataclass(slots=True)
class Facts:
    """What holds for the loops around one statement in a tree."""

    tiled: bool = False
    parallel: bool = False
    vector: bool = False
    loops: int = 0
    widest_band: int = 0
    """Loops of the widest permutable band."""


def loop_facts(program: Program) -> dict[str, Facts]:
    """What holds for the loops around each statement in the final tree; what holds on one path counts."""
    facts: dict[str, Facts] = {}
    threads = program.options.target != "c"

    def descend(node: Node, here: set[str], bands: tuple[Band, ...]) -> None:
        match node:
            case Leaf():
                for name in here:
                    _add(facts.setdefault(name, Facts()), bands, threads)
            case Band():
                descend(node.child, here, (*bands, node))
            case Mark():
                descend(node.child, here, bands)
            case Extension():
                descend(node.child, here | set(names(node.relation.range())), bands)
            case Sequence():
                for step in node.children:
                    descend(step.child, here & set(names(step.filter)), bands)

    descend(program.tree.child, set(names(program.tree.domain)), ())
    return facts


def _add(facts: Facts, bands: tuple[Band, ...], threads: bool) -> None:
    members = [member for band in bands for member in band.members]
    facts.tiled |= any(m.role is Role.TILE for m in members)
    facts.parallel |= threads and any(m.parallel for m in members)
    facts.vector |= any(m.vector for m in members)
    facts.loops = max(facts.loops, len(members))
    facts.widest_band = max([facts.widest_band, *(len(b.members) for b in bands if b.permutable)])


def only_in_functions(program: Program) -> bool:
    """Whether all that was done was done to the loops of functions that stand in the places of their calls: none of the
    loops around these is parallel or tiled, and nothing is fused with them."""
    scop = program.scop
    found = {name: _in_function(scop, name) for name in scop.statements}
    inside = {name: around for name, (place, around) in found.items() if place is not None}
    if not inside or not all(inside.values()):
        return False
    groups = [{found[name][0] for name in (*g.statements, *g.fused) if name in found} for g in program.groups]
    if any(len(places) > 1 for places in groups):
        return False
    for member in (m for node in walk(program.tree.child) if isinstance(node, Band) for m in node.members):
        for piece in sets(member.schedule.domain()) if member.parallel or member.role is Role.TILE else ():
            name = set_name(piece)
            around = inside.get(name, piece.dim(isl.dim_type.set) if name in found else 0)
            value = affine_of(value_on(member.schedule, piece.get_space()))
            if value is None or value.involves_dims(isl.dim_type.in_, 0, around):
                return False
    return True


def hides_loops(scop: Scop, others: Iterable[Scop]) -> bool:
    """Whether loops of a function that stands in the place of its call are no loops of the region, but a part of a
    statement's text, and yet are in another region: that of the function."""
    lines = _lines(scop)
    return any(
        first <= min(found) and max(found) <= last and not found <= lines
        for found in map(_lines, others)
        for first, last in scop.in_place
    )


def _lines(scop: Scop) -> set[int]:
    """Those of the loops of a region."""
    return {m.line for node in walk(scop.tree.child) if isinstance(node, Band) for m in node.members}


def _in_function(scop: Scop, name: str) -> tuple[tuple[int, int] | None, int]:
    """The lines of the function in which the loops around a statement stand, and how many stand around these; None for
    the lines where all are the region's own."""
    node: Node = scop.tree.child
    around = 0
    while not isinstance(node, Leaf):
        match node:
            case Band(members=members, child=below):
                for first, last in scop.in_place:
                    if first <= members[0].line <= last:
                        return (first, last), around
                around, node = around + len(members), below
            case Sequence(children=steps):
                node = next(step.child for step in steps if name in names(step.filter))
            case Mark(child=below) | Extension(child=below):
                node = below
    return None, around


def original_nests(scop: Scop) -> list[tuple[int, tuple[str, ...]]]:
    """Line and statements of every outermost loop of the original order."""
    found: list[tuple[int, tuple[str, ...]]] = []

    def descend(node: Node, here: set[str]) -> None:
        match node:
            case Leaf():
                return
            case Band():
                known = [name for name in scop.statements if name in here]
                if known:
                    line = min(scop.statements[name].span.line for name in known)
                    found.append((line, tuple(known)))
            case Mark() | Extension():
                descend(node.child, here)
            case Sequence():
                for step in node.children:
                    descend(step.child, here & set(names(step.filter)))

    descend(scop.tree.child, set(scop.statements))
    return found


def is_fused(program: Program, nest: tuple[str, ...], statements: set[str]) -> bool:
    """Whether a group holds statements of a nest and others of the region's `statements`."""
    own = set(nest)
    groups = [{*g.statements, *g.outputs, *g.fused} for g in program.groups]
    return any(members & own and members & (statements - own) for members in groups)


def achieved(program: Program, statements: set[str]) -> dict[str, set[str]]:
    """The statements that are `tiled`, `parallel`, and in a nest that is `fused` with others.

    statements: those of the region as it was written
    """
    facts = loop_facts(program)
    nests = [nest for _, nest in original_nests(program.scop)]
    return {
        "tiled": {name for name, fact in facts.items() if fact.tiled},
        "parallel": {name for name, fact in facts.items() if fact.parallel},
        "fused": {name for nest in nests if is_fused(program, nest, statements) for name in nest},
    }


def is_as_written(program: Program) -> bool:
    """Whether the statements run in the order in which they were written."""
    scop = program.scop
    if program.statements != scop.statements:
        return False
    now, then = list(_shape(program.tree.child)), list(_shape(scop.tree.child))
    return len(now) == len(then) and all(_same(one, two) for one, two in zip(now, then, strict=True))


def _shape(node: Node) -> Iterator[str | isl.UnionPwAff]:
    """The loops and steps of a tree, with what they follow, whichever loops share a band."""
    match node:
        case Leaf():
            yield "."
        case Band(members=members, child=child, whole=whole):
            yield from (["whole"] if whole is not None else [])
            yield from (member.schedule for member in members)
            yield from _shape(child)
        case Mark(kind="allocate", child=child):
            yield from _shape(child)  # of scalars
        case Sequence(children=steps):
            for step in steps:
                yield " ".join(sorted(names(step.filter)))
                yield from _shape(step.child)
        case _:
            yield type(node).__name__  # of no tree as it was written


def _same(one: str | isl.UnionPwAff, two: str | isl.UnionPwAff) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return isinstance(one, str) and isinstance(two, str) and one == two
    difference = one.sub(two)
    return bool(difference.zero_union_set().is_equal(one.domain().union(two.domain())))


Path = tuple[tuple[isl.UnionPwAff, frozenset[str]], ...]
"""What each loop around a statement counts, and the statements in it."""


def only_parts_loops(program: Program) -> bool:
    """Whether each statement has the loops that it had, in the same order, and shares the innermost one with the same
    statements: outer loops were parted, at most.

    rewrite:  for i { for j S; for j T; }  ->  for i for j S; for i for j T
    """
    scop = program.scop
    if program.statements != scop.statements:
        return False
    now, then = (list(_paths(tree.child, frozenset(scop.statements))) for tree in (program.tree, scop.tree))
    found, written = dict(now), dict(then)
    if not len(now) == len(found) == len(written) or found.keys() != written.keys():
        return False
    domains = {name: isl.UnionSet.from_set(statement.domain) for name, statement in scop.statements.items()}
    return all(_is_part(found[name], written[name], domains[name]) for name in found)


def _paths(node: Node, here: frozenset[str], above: Path = ()) -> Iterator[tuple[str, Path]]:
    match node:
        case Leaf():
            yield from ((name, above) for name in here)
        case Band(members=members, child=child):
            inside = here & frozenset(names(members[-1].schedule.domain()))
            yield from _paths(child, inside, (*above, *((m.schedule, inside) for m in members)))
        case Sequence(children=steps):
            for step in steps:
                yield from _paths(step.child, here & frozenset(names(step.filter)), above)
        case Mark(child=child):
            yield from _paths(child, here, above)
        case Extension():
            return


def _is_part(found: Path, written: Path, domain: isl.UnionSet) -> bool:
    if len(found) != len(written) or (found and found[-1][1] != written[-1][1]):
        return False
    return all(
        mine <= theirs and _same(one.intersect_domain(domain), two.intersect_domain(domain))
        for (one, mine), (two, theirs) in zip(found, written, strict=True)
    )


def gains_vectors(program: Program) -> bool:
    """Whether a vector loop is another one than the innermost loop of its statements as they were written: loops
    changed places, or were parted or joined."""
    written: dict[str, tuple[frozenset[str], isl.UnionPwAff]] = {}
    for statements, schedule in _innermost(program.scop.tree.child, frozenset(program.scop.statements)):
        written |= dict.fromkeys(statements, (statements, schedule))
    vectors = [
        (frozenset(names(node.members[-1].schedule.domain())), node.members[-1].schedule)
        for node in walk(program.tree.child)
        if isinstance(node, Band) and node.members[-1].vector
    ]
    for statements, schedule in vectors:
        before = next((written[name] for name in statements if name in written), None)
        if before is None or before[0] != statements or not _same(schedule, before[1]):
            return True
    return False


def _innermost(node: Node, here: frozenset[str]) -> Iterator[tuple[frozenset[str], isl.UnionPwAff]]:
    """The statements of each innermost loop, and what it counts."""
    match node:
        case Sequence(children=steps):
            for step in steps:
                yield from _innermost(step.child, here & frozenset(names(step.filter)))
        case Band(members=members, child=child):
            inner = list(_innermost(child, here))
            yield from inner or [(here & frozenset(names(members[-1].schedule.domain())), members[-1].schedule)]
        case Leaf():
            return
        case _:
            yield from _innermost(node.child, here)
