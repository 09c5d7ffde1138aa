"""Mark the loops that are printed as parallel and as vector loops."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import islpy as isl

from polyc.analysis.expressions.promoted import EXTREMA
from polyc.analysis.expressions.selects import has_choices
from polyc.analysis.readable import makes_vectors
from polyc.cost.balance import is_uneven, saved_seconds
from polyc.cost.time import SET_ERRNO
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Statement
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    child_nodes,
    walk,
)
from polyc.nests.nest import has_loops, has_parallel, values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import (
    UNROLLED,
    goes_along,
    goes_far,
    iterations,
    iterations_below,
    leaps,
    repeats,
    statements_below,
    usual_sizes,
)
from polyc.nests.wishes import sequential, stays_sequential, without_parallel
from polyc.passes.loops.chosen_updates import with_sequential_updates
from polyc.passes.loops.small_regions import holds, with_tiles, worth_of
from polyc.poly import OverBudget, alike, budget, maps, names, sets, share

STAGE = "parallel"
INT_BYTES = 4
"""Of the elements that vectors gather, at least."""
FEW = 4
"""Iterations of which no vector is made."""
WRITTEN_OUT = 16
"""Iterations, known in advance, that compilers write out and then make vectors of, unless a pragma asks for a loop."""

ENOUGH = 64
"""Iterations that are shared well among the threads of any machine."""
MOST_INSIDE = 2
"""Loops inside of a parallel one that are shared with it."""


def mark_loops(program: Program) -> Program:
    """Make the outermost coincident loop of each nest parallel, and the innermost one a vector loop.

    tree:     band[cc] … -> the same with `parallel` on the first coincident member of each path,
              `vector` on a coincident member with no loop below
    requires: coincidence as isl or a pass that proved it set it
    ensures:  at most one parallel loop on a path, but for loops directly inside of each other that are printed as one
              (`collapse`), and none of one iteration (three planes of an image in tiles of eight); an innermost loop
              inside sequential loops is left to the vector unit, since starting threads for it costs more than it
              runs, but where its statements have loops of their own; so is what is too little to be worth it; threads
              take the iterations as they come where some are much longer than others. A loop from row to row is left
              to the C compiler, unless it divides; one stays sequential whose iterations share a variable that one of
              them changes (`chosen_updates.py`)
    """
    program = with_sequential_updates(program)
    child = _parallel(program, program.tree.child, False, sequential(program))
    if program.options.target == "openmp" and has_parallel(child):
        try:
            with budget(program.scop.domain.get_ctx(), share(program.operations, 5)):
                shares = _Shares(program)
                child = shares.below(child, ())
                program = shares.program
        except OverBudget:
            pass  # equal parts are right as well
    tree = Domain(program.tree.domain, _vector(child, program))
    return _told_of_errno(replace(program, tree=tree))


def _told_of_errno(program: Program) -> Program:
    """With a remark where an innermost loop that carries nothing calls what sets errno, which the file names."""
    if program.options.gpu or not program.scop.reads_errno:
        return program
    bands = [n for n in walk(program.tree.child) if isinstance(n, Band) and not has_loops(n.child)]
    free = [n.members[-1] for n in bands if n.members[-1].coincident]
    below = [program.statements[name] for member in free for name in names(member.schedule.domain())]
    calls = [(s, n.function) for s in below for n in c.walk(s.body) if isinstance(n, c.Call)]
    found = {s.name: function for s, function in calls if function in SET_ERRNO}
    for name, function in sorted(found.items()):
        message = f"{name} in no vectors as C is by itself: {function} sets errno"
        program = program.remark("math-errno", STAGE, message, (name,), function=function)
    return program


def _parallel(program: Program, node: Node, sequential_above: bool, alone: frozenset[str]) -> Node:
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(
                tuple(replace(s, child=_parallel(program, s.child, sequential_above, alone)) for s in steps)
            )
        case Band() if stays_sequential(node, alone):
            return without_parallel(node)
        case Band(members=members):
            for position, member in enumerate(members):
                if not member.coincident:
                    sequential_above = True
                    continue
                if _runs_once(member, program.tree.domain):
                    continue
                innermost = position == len(members) - 1 and not has_loops(node.child)
                below = (program.statements[name].body for name in names(member.schedule.domain()))
                innermost = innermost and not any(map(c.has_loops, below))
                if innermost and sequential_above:
                    return node
                changed = (*members[:position], replace(member, parallel=True), *members[position + 1 :])
                return replace(node, members=changed)
            return replace(node, child=_parallel(program, node.child, True, alone))
        case _:
            return replace(node, child=_parallel(program, node.child, sequential_above, alone))


def _runs_once(member: Member, domain: isl.UnionSet) -> bool:
    """Whether the loop has one iteration, whatever the loops around it are."""
    values = sets(isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(domain).range())
    return len(values) == 1 and values[0].is_singleton()


class _Shares:
    """Looks at each parallel loop: a region that is started again and again has to be worth it, and parts of unequal
    length are dealt out as they come."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.machine = load_cpu(program.options.machine)

    @cached_property
    def at(self) -> isl.Set:
        """The sample sizes: most loops ask for none."""
        return sample_parameters(self.program)

    def below(self, node: Node, above: tuple[Member, ...], added: isl.UnionMap | None = None) -> Node:
        """`above`: the loops around the node; `added`: the relations of the extension nodes around it."""
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.below(s.child, above, added)) for s in steps))
            case Extension(relation=relation):
                inside = relation if added is None else added.union(relation)
                return replace(node, child=self.below(node.child, above, inside))
            case Band(members=members):
                for position, member in enumerate(members):
                    if member.parallel:
                        changed = self.shared(member, above + members[:position], node.child, added)
                        inner = members[position + 1 :]
                        if changed.parallel and not changed.uneven:
                            inner = self.collapsed(changed, inner, node.child)
                        together = [changed, *(m for m in inner if m.parallel)]
                        first, *_ = with_tiles(self.program, self.at, together)
                        return replace(node, members=(*members[:position], first, *inner))
                return replace(node, child=self.below(node.child, above + members, added))
            case _:
                return replace(node, child=self.below(node.child, above, added))

    def shared(
        self, member: Member, above: tuple[Member, ...], below: Node, added: isl.UnionMap | None = None
    ) -> Member:
        always = self.program.options.threads == "always"
        if above and not always and not self.is_worth_it(member, above, added):
            return replace(member, parallel=False)
        if above and added is None and self.runs_once(member, above):
            return replace(member, parallel=False)
        worth = (
            None
            if always
            else worth_of(
                self.program, self.machine, self.at, above, member, self.added(member, below) if not above else ()
            )
        )
        if worth is not None and worth.least > 1:
            if not worth.extents or (above and not holds(worth, self.at)):
                return self.too_small(member)
            member = replace(member, worth=worth)
        domains = (self.program.statements[name].domain for name in names(member.schedule.domain()))
        if member.reductions or all(domain.is_box() for domain in domains):
            return member
        if not is_uneven(self.program, self.at, above, member, added):
            return member
        return replace(member, uneven=True)

    def runs_once(self, member: Member, above: tuple[Member, ...]) -> bool:
        """Whether the loop has one iteration in each of those around it: skewed loops may be like that."""
        ran = isl.Set.from_union_set(values((*above, member), self.program.tree.domain).range())
        inner = isl.Map.from_domain(ran).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, len(above), 1)
        return bool(inner.is_single_valued())

    def added(self, member: Member, below: Node) -> list[isl.Set]:
        """The instances that its tiles compute of statements that the loop does not run by itself."""
        found = {name for n in walk(below) if isinstance(n, Extension) for name in names(n.relation.range())}
        return [self.program.statements[name].domain for name in sorted(found - {*names(member.schedule.domain())})]

    def collapsed(self, first: Member, inner: tuple[Member, ...], below: Node) -> tuple[Member, ...]:
        """The loops inside of a parallel one, with those marked as well that share its threads: it may be too short for
        them alone, as a batch of one image, or three tiles.

        A loop stays inside of them, of loops that are not over tiles two: addresses of rows are computed anew in each
        iteration (12 % of a stencil whose rows are all that is left).

        math: no loop carries a dependence given the outer ones, so that none is carried from one pair of values to
              another
        """
        count: int | None = self.tiles(first)
        found: list[Member] = []
        stay = 1 if first.role is Role.TILE else 2
        for position, member in enumerate(inner):
            last = len(inner) - position - 1 + (1 if has_loops(below) else 0) < stay
            alike = member.coincident and member.role is first.role and not (member.vector or member.reductions)
            if (count is not None and count >= ENOUGH) or len(found) == MOST_INSIDE or last or not alike:
                break
            found.append(replace(member, parallel=True))
            times = self.tiles(member)
            count = None if count is None or times is None else count * times
        return (*found, *inner[len(found) :])

    def tiles(self, member: Member) -> int | None:
        """The iterations of a loop, or of one over tiles, if they are known."""
        count = iterations(member, self.program)
        return None if count is None else -(-count // member.size) if member.role is Role.TILE else count

    def too_small(self, member: Member) -> Member:
        statements = tuple(names(member.schedule.domain()))
        message = (
            f"{', '.join(statements)} not parallel: all iterations of the loop over {member.name} together take less "
            f"time than threads take to start ({self.machine.parallel_region_us:.1f} us)"
        )
        data = {"start_us": round(self.machine.parallel_region_us, 2)}
        self.program = self.program.remark("small-region", STAGE, message, statements, **data)
        return replace(member, parallel=False)

    def is_worth_it(self, member: Member, above: tuple[Member, ...], added: isl.UnionMap | None) -> bool:
        saved = saved_seconds(self.program, self.machine, self.at, above, member, added)
        cost = self.machine.parallel_region_us * 1e-6
        if saved is None or saved >= cost:
            return True
        statements = tuple(names(member.schedule.domain()))
        message = (
            f"{', '.join(statements)} not parallel: threads for the loop over {member.name} would save "
            f"{saved * 1e6:.1f} us of each iteration around it, and take {cost * 1e6:.1f} us to start"
        )
        data = {"saved_us": round(saved * 1e6, 2), "start_us": round(cost * 1e6, 2)}
        self.program = self.program.remark("small-region", STAGE, message, statements, **data)
        return False


def _vector(node: Node, program: Program, inside: bool = False) -> Node:
    """inside: of a parallel loop, so that a loop without vectors is not the only one that carries no dependence"""
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(tuple(Filter(s.filter, _vector(s.child, program, inside)) for s in steps))
        case Band(members=members):
            last = members[-1]
            inside = inside or any(m.parallel or (m.coincident and m.role is Role.TILE) for m in members)
            if has_loops(node.child):
                child = _vector(node.child, program, inside)
                spans = _spans(last, child, program)
                changed = (*members[:-1], replace(last, vector=True, spans=True)) if spans else members
                return replace(node, members=changed, child=child)
            if last.parallel and _gathers(last, program):
                return replace(node, members=(*members[:-1], replace(last, vector=True)))
            if not last.coincident or last.parallel or last.role is Role.TILE:
                return node
            if last.role is not Role.POINT and _is_short(last, program):
                return node
            if _looks_up_in_branches(last, program) or _fetches_bytes(last, program):
                return node
            if leaps(last, program) or (inside and goes_far(last, program) and not _divides(last, program)):
                return node
            return replace(node, members=(*members[:-1], replace(last, vector=True)))
        case _:
            return replace(node, child=_vector(node.child, program, inside))


def _fetches_bytes(member: Member, program: Program) -> bool:
    """Whether all that a loop does is to copy numbers of less than 4 bytes from places that data decide: processors
    have no instruction for vectors of these, so that places are computed in vectors and taken out one by one (a window
    of a picture, clamped to its borders: 1.5 times as long)."""
    names_ = names(member.schedule.domain())
    for name in names_:
        statement = program.statements[name]
        match statement.body:
            case c.ExprStmt(expr=c.Assign(op="=", value=c.ArrayRef(ref=ref))):
                read = [a for a in statement.accesses if a.ref == ref]
            case _:
                return False
        element = program.scop.arrays[read[0].array].element if read else None
        if element is None or not read[0].loose or element.size_bytes >= INT_BYTES:
            return False
    return bool(names_)


def _looks_up_in_branches(member: Member, program: Program) -> bool:
    """Whether a branch of a loop's statement reads bytes or the like that data choose: no vectors are made of that."""
    for name in names(member.schedule.domain()):
        statement = program.statements[name]
        reads = (a for a in statement.accesses if a.kind is AccessKind.READ and a.loose)
        loose = {a.ref for a in reads if program.scop.arrays[a.array].element.size_bytes < INT_BYTES}
        branches = [n for n in c.walk(statement.body) if isinstance(n, c.If)] if loose else []
        inside = (n for b in branches for arm in (b.then, b.otherwise) if arm is not None for n in c.walk(arm))
        if any(isinstance(n, c.ArrayRef) and n.ref in loose for n in inside):
            return True
    return False


def _gathers(member: Member, program: Program) -> bool:
    """Whether a parallel loop reads where data say, and computes choices or quotients, so that vectors pay: C compilers
    make none by themselves, since they do not know where the elements lie."""
    if program.options.target != "openmp" or member.role not in (Role.LOOP, Role.POINT):
        return False
    if _is_short(member, program):
        return False
    statements = [program.statements[name] for name in names(member.schedule.domain())]
    far = any(a.kind is AccessKind.READ and a.loose for s in statements for a in s.accesses)
    if not far or any(isinstance(n, c.If | c.For | c.While) for s in statements for n in c.walk(s.body)):
        return False
    calls = {n.function for s in statements for n in c.walk(s.body) if isinstance(n, c.Call)}
    pays = _divides(member, program) or calls & EXTREMA.keys() or any(has_choices(s.body) for s in statements)
    return bool(pays) and makes_vectors(program, member)


def _spans(member: Member, below: Node, program: Program) -> bool:
    """Whether the loop makes vectors of sums that loops inside of it add up, each lane one in a register.

    gcc finds this by itself, but not in a function into which OpenMP moves the loop, where it no longer knows that
    pointers lead to different memory. Loops of so few iterations that it unrolls them are left to it.

    requires: the loop carries no dependence, and lanes come to each iteration of the loops inside together
    """
    if not member.coincident or member.parallel or member.role is Role.TILE or member.reductions:
        return False
    inner = [m for n in walk(below) if isinstance(n, Band) for m in n.members]
    plain = all(m.role in (Role.LOOP, Role.POINT) and not (m.parallel or m.vector or m.owned) for m in inner)
    sizes = usual_sizes(program)
    counts = [iterations(m, program, sizes) for m in inner]
    short = all(count is not None and count <= WRITTEN_OUT for count in counts)
    if not plain or (short and iterations_below(below, program, sizes) <= UNROLLED):
        return False
    if _is_short(member, program) or leaps(member, program) or not goes_along(member, program):
        return False
    if repeats(member, program) or not _all_run(member, program):
        return False
    statements = statements_below(member, program)
    # The elements of a scalar that was spread over an outer loop are those of each iteration of this one.
    spread = {name for b in program.buffers.values() if b.storage == "spread" for name, _ in b.accesses}
    return all(s.name not in spread and _is_even(s, position, program) for s, position in statements)


def _all_run(member: Member, program: Program) -> bool:
    """Whether all statements below a loop have the same of its iterations, but for sizes that alone decide whether
    there is something to do: others would stand below a branch."""
    instances = program.scop.domain.intersect(member.schedule.domain()).intersect_params(program.scop.known)
    values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(instances)
    return alike([piece.range() for piece in maps(values)])


def _is_even(statement: Statement, position: int, program: Program) -> bool:
    """Whether a statement's loops inside of one have the same iterations for each of its values, and it has no branch.

    math: D over (o, x, i) is { (o, x) in D's projection } and { (o, i) in D's projection }
    """
    domain = statement.domain.intersect_params(program.scop.known).reset_tuple_id()
    deeper = domain.dim(isl.dim_type.set) - position - 1
    alone = domain.project_out(isl.dim_type.set, position + 1, deeper).insert_dims(
        isl.dim_type.set, position + 1, deeper
    )
    others = domain.project_out(isl.dim_type.set, position, 1).insert_dims(isl.dim_type.set, position, 1)
    branches = any(isinstance(n, c.If | c.For | c.While) for n in c.walk(statement.body))
    return bool(alone.intersect(others).is_subset(domain)) and not branches


def _is_short(member: Member, program: Program) -> bool:
    """Whether a loop is left to the compiler: shorter than a vector, or written out with a remainder, or with a private
    array of which the elements are variables then."""
    count = iterations(member, program, usual_sizes(program))
    if count is None or not 0 < count <= WRITTEN_OUT:
        return False
    accesses = (a for name in names(member.schedule.domain()) for a in program.statements[name].accesses)
    rows = any(a.array in program.scop.privatizable and program.scop.arrays[a.array].rank for a in accesses)
    return count <= FEW or count % FEW != 0 or rows


def _divides(member: Member, program: Program) -> bool:
    """Whether statements below divide, otherwise than in a subscript: a vector of quotients takes no longer than one of
    them."""

    def divides(node: c.Node) -> bool:
        if isinstance(node, c.Binary | c.Assign) and node.op in ("/", "/="):
            return True
        return not isinstance(node, c.ArrayRef) and any(map(divides, c.children(node)))

    return any(divides(program.statements[name].body) for name in names(member.schedule.domain()))


__all__ = ["Mark", "child_nodes", "has_loops", "has_parallel", "mark_loops"]
