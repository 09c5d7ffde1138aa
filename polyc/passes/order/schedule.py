"""Find each nest's permutable bands and coincident loops with isl's scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import islpy as isl

from polyc.analysis.coincident import with_coincident_loops, within_iteration
from polyc.analysis.dependences import accesses_of
from polyc.analysis.order import order_map, runs
from polyc.bounded import isl_in_child
from polyc.flow import compute_flow
from polyc.model.from_isl import from_isl
from polyc.model.program import Program
from polyc.model.relations import affs_of, pw_affs_of
from polyc.model.scop import AccessKind, Scop
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Filter,
    Member,
    Node,
    Role,
    Sequence,
    paths,
    restrict,
    rewrite,
    walk,
)
from polyc.nests.graph import in_source_order
from polyc.nests.naming import name_members
from polyc.nests.nest import Outer
from polyc.nests.strides import iterations
from polyc.passes.order.aligned import with_aligned_loops
from polyc.passes.order.cells import with_loops_over_cells
from polyc.passes.order.joined import join_parallel_loops
from polyc.passes.order.live_ranges import kept_by_others
from polyc.passes.order.symbolic import at_sizes, with_symbols
from polyc.passes.order.together import together
from polyc.poly import (
    OverBudget,
    among,
    budget,
    empty_map,
    greatest_of,
    is_over_budget,
    least_of,
    maps,
    names,
)
from polyc.records import dataclass, replace

STAGE = "schedule"

HEURISTICS: dict[str, dict[str, int]] = {
    # Algorithm 1, line 1: no fusion at all; Algorithms 1 to 4 decide what goes together.
    "basteln": {"serialize_sccs": 1, "outer_coincidence": 1},
    "min": {"serialize_sccs": 1, "outer_coincidence": 1},
    "smart": {"serialize_sccs": 0, "whole_component": 0, "maximize_band_depth": 1, "outer_coincidence": 1},
    # Without a look at coalesced loops: what isl adds for it to the linear program of a whole component makes the
    # numbers in it grow so that no budget of operations ends it (a fuzzed program: 200,000 operations in 76 s).
    "max": {
        "serialize_sccs": 0,
        "whole_component": 1,
        "maximize_band_depth": 0,
        "outer_coincidence": 0,
        "treat_coalescing": 0,
    },
}
MOST_FREE = 6
"""Dimensions less equations of a dependence up to which isl's scheduler takes it as it is."""
MOST_DISTANCES = 32
MOST_TRIES = 4
"""Schedules that are found anew, each with what the live ranges between the steps of the one before hold back."""
LEAST_IN_BLOCK, MOST_IN_BLOCK = 16, 1024
"""Instances of a statement in an iteration of the common loops, with which its loops stay as they were written: at
least of the largest, where what they hand on is no array of their own, and at most of each."""
MOST_SECONDS = 6
"""Of processor time, after which the original order stays."""
MOST_CALLED = 24
"""Statements of a region with functions in the places of their calls, beyond which their order stays: these are regions
by themselves, too."""
NUMERIC_SECONDS = 1
"""Of these, after which parameters stand in the places of sizes, if there are some: most schedules take less."""
SYMBOLIC_SECONDS = 2
"""Of processor time, for a schedule with parameters in the places of sizes."""
QUICK = 20_000
"""isl operations that are over soon, half of them always; of more, each may take milliseconds (50,000 in 45 s, of
100,000 in 0.02 s)."""
FEW = 8
"""Iterations of a parallel loop that stays inside of another one, in the original order: threads gain little of it."""
MOST_FACTOR = 16
"""Of a loop of the original order in a schedule's loop: skewing by a stencil's radius takes less."""
DEFAULTS = {
    "serialize_sccs": 0,
    "whole_component": 0,
    "maximize_band_depth": 0,
    "outer_coincidence": 0,
    "treat_coalescing": 1,
}


def schedule_nests(program: Program) -> Program:
    """Replace the original order by isl's schedule: permutable bands, outer parallelism first. For a GPU, parallel
    loops right inside of each other are one band then.

    tree:     any -> domain - sequence(filter - band …), one child a strongly connected component (serialised)
    requires: dependences of the original order
    but for:  small nests that hand on arrays or cells of their own in a parallel iteration, which stay in their order
    ensures:  the new order respects `flow` and `false`; `private_false` wherever a live range is not local
    source:   Zhao et al. 2024, Algorithm 1, line 1; the scheduler is Verdoolaege and Janssens, CW 706
    """
    try:
        with budget(program.scop.domain.get_ctx(), program.operations):
            found = _scheduled(program)
    except OverBudget:
        found = _not_ended(program)
    return join_parallel_loops(found) if program.options.gpu else found


def _scheduled(program: Program) -> Program:
    if has_small_blocks(program):
        marked = with_parallel_marked(program)
        if isinstance(marked.tree.child, Band) and marked.tree.child.members[0].coincident:
            message = "its inner loops have few iterations, and hand on arrays or cells of their own: their order stays"
            return marked.remark("not-scheduled", STAGE, message, tuple(program.scop.statements))
    scop, dependences = program.scop, program.dependences
    # Inside the context: isl crashes on a dependence that contradicts it.
    flow, false = (d.intersect_params(scop.context) for d in (dependences.flow, dependences.false))
    order = flow.union(false)
    bodies = together(program.tree, order)

    def apart(dependences: isl.UnionMap) -> isl.UnionMap:
        return by_distance(bodies.order(dependences))

    slow = Slow()

    def tree_of(asked: isl.ScheduleConstraints) -> Domain:
        return bodies.expanded(scheduled(asked, program, slow))

    flow, order = apart(flow), apart(order)
    constraints = isl.ScheduleConstraints.on_domain(bodies.scheduled(scop.domain)).set_context(scop.context)
    constraints = constraints.set_coincidence(order).set_proximity(flow)
    kept_apart = constraints.set_validity(order)
    if not dependences.tagged_private_false.is_empty():
        tagged = (dependences.tagged_flow, dependences.tagged_private_false)
        kept_apart = kept_apart.set_conditional_validity(
            *bodies.tagged(*(one.intersect_params(scop.context) for one in tagged))
        )
    try:
        tree = tree_of(kept_apart)
        for _ in range(MOST_TRIES):
            kept = apart(kept_by_others(tree, program).intersect_params(scop.context))
            if kept.is_subset(order):
                break
            order = order.union(kept)
            tree = tree_of(kept_apart.set_validity(order).set_coincidence(order))
        if not keeps_live_ranges(tree, program):
            every = order.union(apart(dependences.private_false.intersect_params(scop.context)))
            tree = tree_of(constraints.set_validity(every))
    except isl.Error as error:
        if is_over_budget(error):
            return _not_ended(program)
        if not is_not_carried(error):
            raise
        why = "isl's scheduler found no loop that carries what is left of the dependences"
        message = f"{why}; the original order stays, with its parallel loops"
        return in_original_order(program).remark("not-scheduled", STAGE, message, tuple(scop.statements))
    tree, taken_back = with_plain_loops(tree, program)
    if taken_back:
        message = "isl's scheduler found loops with far more iterations than there is work; the original order stays"
        program = program.remark("not-scheduled", STAGE, message, taken_back)
    tree = with_aligned_loops(in_source_order(tree, program), program)
    tree = name_members(with_private_loops(tree, program), scop)
    if program.options.fuse == "basteln":
        tree, program = with_loops_over_cells(tree, program)
    return replace(program, tree=tree)


def _not_ended(program: Program) -> Program:
    message = "isl's scheduler did not end within its budget; the original order stays, with its parallel loops"
    return in_original_order(program).remark("schedule-budget", STAGE, message, tuple(program.scop.statements))


def in_original_order(program: Program) -> Program:
    """The loops as they were written, with parallel ones outside of others that have nothing else in them."""
    marked = with_parallel_marked(program)
    child = rewrite(marked.tree.child, partial(_with_parallel_outside, program))
    return replace(marked, tree=replace(marked.tree, child=child))


def with_parallel_marked(program: Program) -> Program:
    """The loops as they were written, with those marked that may run in parallel, threads having copies of scalars."""
    kept = kept_by_others(with_coincident_loops(program).tree, program)
    marked = with_coincident_loops(program, kept)
    return replace(marked, tree=with_private_loops(marked.tree, program))


def _with_parallel_outside(program: Program, node: Node) -> Node:
    """A loop that runs in its order inside of the parallel one that is all that it has in it, as isl would have them.

    math: all flow and lasting anti and output dependences are of one iteration of the parallel loop, and private
          values of one of both
    """
    match node:
        case Band(members=(outer,), child=Band(members=(inner, *_)) as below) if inner.coincident:
            instances = outer.schedule.domain()
        case _:
            return node
    count = iterations(inner, program)
    if outer.coincident or outer.role is not Role.LOOP or (count is not None and count < FEW):
        return node
    found = program.dependences
    shared = among(found.flow.union(found.lasting_false), instances)
    private = (among(found.flow_by_array.get(a, empty_map(instances)), instances) for a in program.scop.privatizable)
    mine = all(one.is_subset(within_iteration(one, (outer, inner))) for one in private)
    if not mine or not shared.is_subset(within_iteration(shared, (inner,))):
        return node
    last = replace(below, members=below.members[1:]) if len(below.members) > 1 else below.child
    return Band((inner,), False, Band((outer,), False, last))


def has_small_blocks(program: Program) -> bool:
    """Whether all statements are small nests in an iteration of common loops, and hand on an array that each iteration
    has for itself, `for (b) { double t[8][8]; … }`, or its own cells of one, `t[b][8][8]`. These fit in the first
    cache, so that isl's loops, which have fewer of them at a time or all of them in each of several nests, gain
    nothing, and may lose the order along rows.
    """
    scop = program.scop
    around, inside = common_loops(scop.tree.child)
    written = scop.written
    if not around or not isinstance(inside, Sequence):
        return False
    own = any(scop.arrays[array].rank for array in written & scop.privatizable)
    if not own and (program.options.gpu or not hands_on(inside, scop, around)):
        return False
    largest = 1
    for statement in scop.statements.values():
        size = 1
        for position in range(around, len(statement.loops)):
            low, high = least_of(statement.domain, position), greatest_of(statement.domain, position)
            if not (low.is_int() and high.is_int()):
                return False
            size *= high.to_python() - low.to_python() + 1
        if size > MOST_IN_BLOCK:
            return False
        largest = max(largest, size)
    return own or largest >= LEAST_IN_BLOCK


def hands_on(inside: Sequence, scop: Scop, around: int) -> bool:
    """Whether a step of a sequence reads what another one writes of an array, several cells in an iteration."""
    written: list[set[str]] = []
    read: list[set[str]] = []
    for step in inside.children:
        own = [scop.statements[name] for name in names(step.filter) if name in scop.statements]  # others are inlined
        inner = [
            a
            for statement in own
            for a in statement.accesses
            if a.relation.involves_dims(isl.dim_type.in_, around, len(statement.loops) - around)
        ]
        written.append({a.array for a in inner if a.kind is not AccessKind.READ})
        read.append({a.array for a in inner if a.kind is AccessKind.READ})
    return any(one & other for k, one in enumerate(written) for n, other in enumerate(read) if k != n)


def common_loops(node: Node) -> tuple[int, Node]:
    """How many loops are around all of a tree, and what is in them."""
    count = 0
    while isinstance(node, Band):
        count += len(node.members)
        node = node.child
    return count, node


@dataclass(slots=True)
class Slow:
    """What is known of the questions to isl's scheduler about one program, which differ little."""

    numbers: bool = False
    """With the sizes as numbers it took all of its time: parameters in their places come first."""


def scheduled(constraints: isl.ScheduleConstraints, program: Program, slow: Slow) -> Domain:
    """isl's schedule tree, as ours. Raises isl.Error, OverBudget.

    Lest a loop coalesces two of the original order, isl gives up solutions, and the loop over chunks of another one
    may be among them: `for g for c in 16 * g … 16 * g + 15` is a loop over c then, in its order. So it is asked again,
    without that, and the answer counts where more loops around the statements are parallel.
    """
    found = _scheduled_as(constraints, program, slow)
    if not _coalesces(found.child) or not (DEFAULTS | HEURISTICS[program.options.fuse])["treat_coalescing"]:
        return found
    try:
        other = _scheduled_as(constraints, program, slow, treat_coalescing=0)
    except (isl.Error, OverBudget):
        return found
    now, after = (_parallel_and_joined(tree, program) for tree in (found, other))

    def better(step: Filter) -> Filter:
        gained, factor = [after[n][0] - now[n][0] for n in names(step.filter)], _largest_factor(step.child)
        if min(gained) < 0 or not any(gained):
            return step
        same = (new for new in _steps(other) if new.filter.is_equal(step.filter))
        return next((new for new in same if _largest_factor(new.child) <= factor), step)

    steps = tuple(map(better, _steps(found)))
    return replace(found, child=Sequence(steps) if len(steps) > 1 else steps[0].child)


def _steps(tree: Domain) -> tuple[Filter, ...]:
    """The nests of a tree."""
    return tree.child.children if isinstance(tree.child, Sequence) else (Filter(tree.domain, tree.child),)


def _coalesces(node: Node) -> bool:
    """Whether a loop that runs in its order combines loops of the original order, or takes several steps of one."""
    return any(isinstance(n, Band) and _has_factor(n) for n in walk(node))


def _has_factor(band: Band) -> bool:
    first = band.members[0]
    return len(band.members) == 1 and not first.coincident and _largest_factor(replace(band, child=LEAF)) > 1


def _scheduled_as(constraints: isl.ScheduleConstraints, program: Program, slow: Slow, **others: int) -> Domain:
    """isl's schedule tree. others: options in the places of the heuristic's. Raises isl.Error, OverBudget."""
    context, options = program.scop.domain.get_ctx(), program.options

    def schedule_of(asked: isl.ScheduleConstraints, operations: int = program.operations) -> isl.Schedule:
        with budget(context, operations), _heuristic(context, options.fuse, others):
            return asked.compute_schedule()

    def in_child(asked: isl.ScheduleConstraints, seconds: int) -> isl.Schedule:
        return isl.Schedule.read_from_str(context, isl_in_child(lambda: str(schedule_of(asked)), seconds=seconds))

    def of_few(operations: int) -> Domain | None:
        """The tree, or None where it takes more operations than these."""
        try:
            return from_isl(schedule_of(constraints, min(operations, program.operations)))
        except isl.Error as error:
            if not is_over_budget(error) or program.operations <= operations:
                raise
        return None

    spent = 0
    if options.budget == 0:
        return from_isl(schedule_of(constraints))
    if program.scop.in_place and len(program.scop.statements) > MOST_CALLED:
        raise OverBudget
    if options.fuse in ("basteln", "min"):
        found = of_few(QUICK // 2)
        if found is not None:
            return found
        general = with_symbols(constraints)
        if general is not None:
            try:
                found = None if slow.numbers else from_isl(in_child(constraints, NUMERIC_SECONDS))
            except isl.Error as error:
                if not is_over_budget(error):
                    raise
                slow.numbers = True
            if found is None:
                try:
                    return from_isl(at_sizes(in_child(general, SYMBOLIC_SECONDS)))
                except isl.Error as error:
                    if is_not_carried(error):
                        raise  # at the numbers there are at most loops with factors as large as these
                    spent = NUMERIC_SECONDS + (SYMBOLIC_SECONDS if is_over_budget(error) else 0)
        if general is None or found is not None:
            found = of_few(QUICK) or found
        if found is not None:
            return found
    # Neither a budget of operations may end it, where isl schedules several nests as one, nor is each of them short.
    return from_isl(in_child(constraints, max(MOST_SECONDS - spent, 1)))


def is_not_carried(error: isl.Error) -> bool:
    """Whether isl found no loop that carries what is left of the dependences."""
    return "unable to carry dependences" in str(error)


def with_plain_loops(tree: Domain, program: Program) -> tuple[Domain, tuple[str, ...]]:
    """The tree with nests in their original order where isl's loops are none that a program should have, and the
    statements of these.

    Where no loop carries what is left of the dependences, isl combines loops with factors as large as the sizes
    (`698 * j + i`, of which one value in hundreds runs an instance), if these are constants. And it makes one loop
    of two, `for (t) for (m < 2)` as one over 2 * t + m, where statements around the inner one fit in: C compilers
    write the inner one out, and know its subscripts. And it may run a statement's loop in one iteration of a loop that
    runs in its order, where the statement had a value in each of them.
    """
    if _largest_factor(tree.child) <= 1 and not (program.options.fuse == "basteln" and _held_back(tree)):
        return tree, ()
    plain = with_coincident_loops(program).tree.child
    taken_back: list[str] = []
    changed: list[Filter] = []
    for step in _steps(tree):
        other = restrict(plain, step.filter)
        far = _largest_factor(step.child) > MOST_FACTOR
        taken_back += names(step.filter) if far else ()
        one = far or _makes_one_of_two(step, other, program) or _holds_back(step, other, program)
        changed.append(replace(step, child=other) if one else step)
    found = Sequence(tuple(changed)) if len(changed) > 1 else changed[0].child
    return replace(tree, child=found), tuple(sorted(taken_back))


def _makes_one_of_two(step: Filter, plain: Node, program: Program) -> bool:
    """Whether a loop that runs in its order has a value for each pair of iterations of a loop and a short one inside,
    2 * t + m where m is 0 or 1, and the order as it was written has as many parallel loops around each statement."""
    now, then = (_parallel_and_joined(Domain(step.filter, node), program) for node in (step.child, plain))
    return any(joined for _, joined in now.values()) and all(then[name][0] >= now[name][0] for name in now)


def _holds_back(step: Filter, plain: Node, program: Program) -> bool:
    """Whether statements are held back, and the order as it was written has as many parallel loops around each one."""
    tree = Domain(step.filter, step.child)
    if program.options.fuse != "basteln" or not _held_back(tree):
        return False  # the other heuristics run nests in an iteration of others
    now, then = (_parallel_and_joined(one, program) for one in (tree, Domain(step.filter, plain)))
    return all(then[name][0] >= now[name][0] for name in now)


def _held_back(tree: Domain) -> set[str]:
    """The statements of which a loop runs in one iteration of another one, around it, that runs in its order: that has
    one value for the statement, and several for others."""
    found = set[str]()
    for path in paths(tree):
        members = [(step, pw_affs_of(step.schedule)) for step in path.steps if isinstance(step, Member)]
        for name in names(path.instances):
            held = False
            for member, values in members:
                if name not in values:
                    continue
                used = any(map(_loops_in, affs_of(values[name])))
                found |= {name} if held and used else set()
                others = (aff for other, value in values.items() if other != name for aff in affs_of(value))
                held = held or (not used and not member.coincident and any(map(_loops_in, others)))
    return found


def _parallel_and_joined(tree: Domain, program: Program) -> dict[str, tuple[int, bool]]:
    """For each statement, how many parallel loops stand around it, but for those of which one that is made of two has
    the values, and whether there is such a one: by itself, since loops that can be tiled together gain by it."""
    bands = (node for node in walk(tree.child) if isinstance(node, Band) and len(node.members) == 1)
    alone = {id(band.members[0]) for band in bands if not band.members[0].coincident}
    found: dict[str, tuple[int, bool]] = {}
    for path in paths(tree):
        members = [(step, pw_affs_of(step.schedule)) for step in path.steps if isinstance(step, Member)]
        for name in names(path.instances):
            domain = program.scop.statements[name].domain
            loops = [(member, aff) for member, values in members for aff in affs_of(values[name])]
            affs = (aff for member, aff in loops if id(member) in alone and _is_of_two(aff, domain))
            joined = {k for aff in affs for k in _loops_in(aff)}
            count = sum(member.coincident and not joined >= set(_loops_in(aff)) for member, aff in loops)
            found[name] = count, bool(joined)
    return found


def _loops_in(aff: isl.Aff) -> list[int]:
    return [k for k in range(aff.dim(isl.dim_type.in_)) if aff.involves_dims(isl.dim_type.in_, k, 1)]


def _is_of_two(aff: isl.Aff, domain: isl.Set) -> bool:
    """Whether a value decides all loops in it: each has a factor that is larger than what those with smaller ones
    span, c(d) > sum of c(e) (extent(e) - 1)."""
    sides = sorted((abs(aff.get_coefficient_val(isl.dim_type.in_, k).to_python()), k) for k in _loops_in(aff))
    span = 0
    for factor, k in sides[:-1]:
        low, high = least_of(domain, k), greatest_of(domain, k)
        if factor <= span or not (low.is_int() and high.is_int()):
            return False
        span += factor * (high.to_python() - low.to_python())
    return len(sides) > 1 and sides[-1][0] > span > 0


def _largest_factor(node: Node) -> int:
    """The largest factor of a loop of the original order in one of these, by its absolute value."""
    loops = (member for band in walk(node) if isinstance(band, Band) for member in band.members)
    affs = [aff for member in loops for value in pw_affs_of(member.schedule).values() for aff in affs_of(value)]
    sides = [(aff, k) for aff in affs for k in range(aff.dim(isl.dim_type.in_))]
    return max((abs(aff.get_coefficient_val(isl.dim_type.in_, k).ceil().to_python()) for aff, k in sides), default=0)


def keeps_live_ranges(tree: Domain, program: Program) -> bool:
    """Whether each read of an array that may have copies sees the value that it saw before.

    Where isl splits a component that it has fused, it forgets conditions on the flow from one part to another, and
    lets live ranges mix. It splits none where it fuses nothing.
    """
    scop = program.scop
    if program.options.fuse in ("basteln", "min") or program.dependences.private_false.is_empty():
        return True
    order = order_map(runs(tree))
    for name in scop.privatizable & set(program.dependences.flow_by_array):
        now = compute_flow(accesses_of(scop, frozenset([name])), order, checked=False).dependence
        then = program.dependences.flow_by_array[name]
        if not now.intersect_params(scop.known).is_equal(then.intersect_params(scop.known)):
            return False
    return True


def with_private_loops(tree: Domain, program: Program) -> Domain:
    """The tree with loops coincident that only values hold back which nobody reads.

    rewrite:  for i { t = 0; for j { A[i][j] = t; t = B[i][j]; } }, where the last value of t is never read
    math:     such a write has no live range that isl could see to stay in one iteration. For a loop v with all flow
              and lasting anti and output dependences of an iteration of the loops around in one iteration of v, and no
              value of an array that can be private coming from another one of these, or from outside of the nest, or
              leaving it, a copy for each iteration has all that is left
    """
    d = program.dependences
    if d.lasting_false is d.false or program.options.fuse not in ("basteln", "min"):
        return tree
    order = d.flow.union(d.lasting_false).intersect_params(program.scop.context)

    def step(node: Node, instances: isl.UnionSet, outer: Outer) -> Node:
        match node:
            case Sequence(children=steps):
                inside = [instances.intersect(s.filter) for s in steps]
                return Sequence(
                    tuple(replace(s, child=step(s.child, i, outer)) for s, i in zip(steps, inside, strict=True))
                )
            case Band(members=members, child=child):
                if len(members) == 1 and not members[0].coincident and _is_private(members[0], instances, outer):
                    members = (replace(members[0], coincident=True),)
                return replace(node, members=members, child=step(child, instances, outer.under(node)))
            case _:
                return node

    def _is_private(member: Member, instances: isl.UnionSet, outer: Outer) -> bool:
        own = outer.same_iteration(among(order, instances))
        if not own.is_subset(Outer((member,)).same_iteration(own)):
            return False
        accesses = [a for name in names(instances) for a in program.scop.statements[name].accesses]
        written = {a.array for a in accesses if a.kind is not AccessKind.READ}
        for array in written & program.scop.privatizable & d.flow_by_array.keys():
            flow = d.flow_by_array[array].intersect_params(program.scop.context)
            here = flow.intersect_domain(instances).union(flow.intersect_range(instances))
            if not here.is_subset(own):
                return False
        return True

    return Domain(tree.domain, step(tree.child, tree.domain, Outer(())))


def by_distance(dependences: isl.UnionMap) -> isl.UnionMap:
    """The same dependences, those at a few constant distances as one relation for each.

    isl joins the seven neighbours of a three-dimensional stencil to one polyhedron without an equation. What the
    scheduler has to compute of it (its coefficients, by eliminating all variables) takes minutes, that of
    `{ x -> x + d }` nothing.
    """
    apart = empty_map(dependences)
    for piece in maps(dependences):
        basics = piece.get_basic_map_list()
        for k in range(basics.n_basic_map()):
            apart = apart.union(_split_by_distance(basics.get_at(k)))
    return apart


def _split_by_distance(basic: isl.BasicMap) -> isl.UnionMap:
    whole = isl.Map.from_basic_map(basic)
    size = basic.dim(isl.dim_type.in_)
    unequal = size != basic.dim(isl.dim_type.out)
    if unequal or 2 * size - basic.affine_hull().n_constraint() <= MOST_FREE:
        return isl.UnionMap.from_map(whole)
    nameless = whole.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    distances = nameless.deltas().project_out_all_params()
    if not distances.is_bounded() or int(distances.count_val().to_python()) > MOST_DISTANCES:
        return isl.UnionMap.from_map(whole)
    found = empty_map(isl.UnionMap.from_map(whole))
    points: list[isl.Point] = []
    distances.foreach_point(points.append)
    for point in points:
        shift = isl.MultiAff.identity_on_domain_space(nameless.get_space().domain())
        for d in range(size):
            step = point.get_coordinate_val(isl.dim_type.set, d)
            shift = shift.set_aff(d, shift.get_aff(d).add_constant_val(step))
        at = nameless.intersect(isl.Map.from_multi_aff(shift))
        at = at.set_tuple_id(isl.dim_type.in_, whole.get_tuple_id(isl.dim_type.in_))
        at = at.set_tuple_id(isl.dim_type.out, whole.get_tuple_id(isl.dim_type.out))
        found = found.union(isl.UnionMap.from_map(at))
    return found


@contextmanager
def _heuristic(context: isl.Context, name: str, others: dict[str, int]) -> Iterator[None]:
    """Set the scheduler's options for one run; they belong to the context and would stay set."""
    chosen = DEFAULTS | HEURISTICS[name] | others
    before = {option: getattr(context, f"get_schedule_{option}")() for option in chosen}
    for option, value in chosen.items():
        getattr(context, f"set_schedule_{option}")(value)
    try:
        yield
    finally:
        for option, value in before.items():
            getattr(context, f"set_schedule_{option}")(value)
