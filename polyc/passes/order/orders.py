"""Where isl skews a nest, and another order has loops along consecutive memory: that order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.analysis.commuting import commuting_dependences
from polyc.analysis.dependences import accesses_of
from polyc.analysis.order import order_map, order_of, runs
from polyc.analysis.witness import in_loop
from polyc.cost.balance import saved_seconds
from polyc.cost.recurrences import innermost_bands, vectors_in_order
from polyc.flow import compute_false, compute_flow
from polyc.machine import load_cpu
from polyc.model.program import Group, Program
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    child_nodes,
    restrict,
    walk,
)
from polyc.nests.naming import name_members
from polyc.nests.nest import chain, has_loops, is_finished, values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import dimension_of, gain_of, iterations, strides_of
from polyc.passes.order.joined import distribute_parallel_loops
from polyc.passes.order.live_ranges import kept_by_others
from polyc.passes.order.splitting import Splitter
from polyc.passes.products.registers import is_sum
from polyc.poly import OverBudget, among, budget, empty_map, maps, names, set_name, sets, share, value_on
from polyc.records import dataclass, replace

STAGE = "orders"
MOST_TURNED = 4
"""Loops of a nest of which all orders are tried."""
MOST_GIVEN_UP = 4
"""Parts of the budget, each of which one nest may use up."""
FEW = 16
"""Iterations of a loop, in each of which all of memory is gone through: threads that share them save less."""


def straighten_nests(program: Program) -> Program:
    """Replace skewed loops by those that were written, or by some near them, if these run along consecutive memory.

    rewrite:  for k for c for i A[i][c - i] = f(A[i][k], A[k][c - i])
              -> for k { for i < k { for j < k A[i][j] = …; A[i][k] = …; for j > k A[i][j] = …; } …; for i > k … }
              for i for j for k A[i][j] = max(A[i][j], A[i][k] + A[k + 1][j])
              -> for i for k for j A[i][j] = max(A[i][j], A[i][k] + A[k + 1][j])
    tree:     band(k) - band(i + j) - band(i)  ->  mark(group) - band(k) - sequence(i < k: band(i) - …, …)
    math:     the order that was written, its loops cut in three where that makes parallel loops of them
              (`splitting.py`); or the loops of a reading statement in another order, where updates of a cell may change
              places if they leave the same bits (`analysis/commuting.py`)
    requires: a nest of which isl's schedule has a loop over a combination of loops, or one of few iterations outermost
              that was written inside of others; or each loop of which carries a dependence, and that no other reads
    ensures:  each instance runs once, and no pair that has to keep its order is turned round
    """
    straightener = _Straightener(program)
    node = straightener.at(program.tree.domain, program.tree.child, ())
    return replace(straightener.program, tree=Domain(program.tree.domain, node))


@dataclass(slots=True)
class _Straightener:
    program: Program
    left: int = MOST_GIVEN_UP
    """Nests that may take more isl operations than a part of the budget, before no other one is tried."""

    def at(self, instances: isl.UnionSet, node: Node, outer: tuple[Member, ...]) -> Node:
        """A nest in another order, or those below its loops that stay in order; `outer`: such loops around it."""
        if isinstance(node, Sequence):
            steps = (replace(s, child=self.at(instances.intersect(s.filter), s.child, outer)) for s in node.children)
            return Sequence(tuple(steps))
        found = self.straightened(instances, node, outer)
        if found is not None:
            return found
        if isinstance(node, Band) and isinstance(node.child, Sequence) and not is_finished(node) and _stay(node):
            before = self.program
            child = self.at(instances, node.child, (*outer, *node.members))
            if self.program.groups != before.groups:
                return replace(node, child=child)
            self.program = before
        self.program = _kept(self.program, instances, node)
        return node

    def straightened(self, instances: isl.UnionSet, node: Node, outer: tuple[Member, ...]) -> Node | None:
        """As `_straightened`, within a part of the budget: what is too large as a whole may have parts that are not."""
        if not self.left:
            return None
        try:
            with budget(instances.get_ctx(), share(self.program.operations, MOST_GIVEN_UP)):
                self.program, found = _straightened(self.program, instances, node, outer)
        except OverBudget:
            self.left -= 1
            message = "no other order was looked for: that takes more isl operations than a part of the budget allows"
            self.program = self.program.remark("budget", STAGE, message, tuple(names(instances)))
            return None
        return found


def _stay(band: Band) -> bool:
    """Whether loops run in their order, one iteration after the other."""
    return not any(m.coincident or m.role is not Role.LOOP or _is_skewed(m) for m in band.members)


def _straightened(
    program: Program, instances: isl.UnionSet, node: Node, outer: tuple[Member, ...]
) -> tuple[Program, Node | None]:
    """The nest in another order, if it is skewed and another order is better; a remark says so."""
    members = [m for n in walk(node) if isinstance(n, Band) for m in n.members]
    skews = any(map(_is_skewed, members))
    gpu = program.options.gpu  # which has threads for both loops of a skewed pair where neither carries anything
    in_sequence = not (gpu or outer or skews or any(m.coincident for m in members)) and _is_alone(program, instances)
    few = not gpu and _begins_with_few(program, node, len(outer))
    down = not (gpu or outer or skews) and _goes_down(program, node)
    if is_finished(node) or not members or not (skews or in_sequence or few or down):
        return program, None
    statements = tuple(names(instances))
    skewed = _innermost(program, node, outer)
    useless = skews and not gpu and _gains_nothing(program, node)
    found = _turned(program, instances) if down else _orders(program, instances, outer, in_sequence, useless)
    for order in found:
        new = _innermost(program, order.node, outer)
        if useless and order.in_sequence:
            better = True
        elif in_sequence:
            better = all(_runs_at_once(new.get(name), loop) for name, loop in skewed.items())
        else:
            allowed = order.in_sequence and not gpu and not _pays_in_parallel(program, node, outer)
            better = all(_is_better(new.get(name), loop, allowed) for name, loop in skewed.items())
            better = better and not (gpu and _sequential(order.node) >= _sequential(node))
        if better:
            what = ", ".join(statements)
            group = Group(statements, statements, (), (), _has_parallel(order.node))
            program = replace(program, groups=(*program.groups, group))
            message = f"{what} {order.text}"
            program = program.remark("straightened", STAGE, message, statements)
            return program, Mark("group", distribute_parallel_loops(order.node) if gpu else order.node, text=message)
    return program, None


def _sequential(node: Node) -> int:
    """How many loops stand around the parallel ones, at most: in each of their iterations a GPU starts kernels."""
    match node:
        case Band(members=members, child=child):
            first = next((k for k, member in enumerate(members) if member.coincident), None)
            return len(members) + _sequential(child) if first is None else first
        case _:
            return max(map(_sequential, child_nodes(node)), default=0)


def _kept(program: Program, instances: isl.UnionSet, node: Node) -> Program:
    """The program with a remark where a nest keeps skewed loops."""
    skewed = [m.name for n in walk(node) if isinstance(n, Band) for m in n.members if _is_skewed(m)]
    if is_finished(node) or not skewed or program.options.gpu:  # there any loop does for threads
        return program
    statements = tuple(names(instances))
    message = (
        f"{', '.join(statements)} {'keep' if len(statements) > 1 else 'keeps'} skewed loops "
        f"({', '.join(dict.fromkeys(skewed))}): in no order near the one that was written do the innermost loops run "
        "at once along consecutive memory"
    )
    program = program.remark("not-straightened", STAGE, message, statements)
    return program.because(in_loop(program, instances))


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    node: Node
    text: str
    """What is told of it."""
    in_sequence: bool = False
    """Whether its innermost loops may carry dependences."""


def _orders(
    program: Program,
    instances: isl.UnionSet,
    outer: tuple[Member, ...],
    all_pairs: bool = False,
    useless: bool = False,
) -> Iterator[_Order]:
    """Other orders of a nest, with their coincident loops marked; the one that was written first.

    outer: loops around the nest, which stay
    all_pairs: what is overwritten and never read holds loops, too: nobody gives threads copies of it
    useless: whether the order that the nest has gains nothing
    """
    whole = name_members(Domain(instances, restrict(program.scop.tree.child, instances)), program.scop).child
    written = _below(whole, outer, instances)
    if written is None:
        return
    d = program.dependences
    ends = kept_by_others(Domain(instances, whole), program)
    strict = among(d.flow.union(d.false if all_pairs else d.lasting_false).union(ends), instances)
    strict = within_iteration(strict, outer)
    splitter = Splitter()
    node = splitter.marked(written, instances, strict)
    cut = f", with a cut of {' and '.join(dict.fromkeys(name for name, _ in splitter.splits))}"
    text = f"in the order that was written{cut if splitter.splits else ''}: along consecutive memory"
    yield _Order(node, f"{'run' if len(names(instances)) > 1 else 'runs'} {text}")
    swapped = list(_swapped(program, written))
    kept, coincidence = _commuting(program, instances) if swapped else (strict, strict)
    kept, coincidence = within_iteration(kept, outer), within_iteration(coincidence, outer)
    for text, other in swapped:
        if _respects(other, instances, kept):
            marked = Splitter(splitting=False).marked(other, instances, coincidence)
            yield _Order(marked, f"in another order: {text}, along consecutive memory")
    # Iterations that run at once, each in another row, are slower than a row in its order.
    plain = Splitter(splitting=False).marked(written, instances, strict)
    many = "run" if len(names(instances)) > 1 else "runs"
    why = "no loop gains by another one" if useless else "along consecutive memory"
    yield _Order(plain, f"{many} in the order that was written: {why}", in_sequence=True)


def _gains_nothing(program: Program, node: Node) -> bool:
    """Whether all loops of a nest run one after the other, and by themselves, but for innermost ones of few
    iterations."""
    deepest = list(innermost_bands(node, ()))
    above = [n for n in walk(node) if isinstance(n, Band) and has_loops(n.child)]
    if any((b.permutable and len(b.members) > 1) or any(m.coincident for m in b.members) for b in above):
        return False
    return all(
        len(band.members) == 1 and (not band.members[0].coincident or _has_few(program, band.members[0], around))
        for band, around in deepest
    )


def _has_few(program: Program, member: Member, around: tuple[Member, ...]) -> bool:
    """Whether a loop has few iterations, or one for each of the loops around."""
    count = iterations(member, program)
    if count is not None and count <= FEW:
        return True
    instances = member.schedule.domain().intersect(program.scop.domain)
    told = values(around, instances).reverse().apply_range(isl.UnionMap.from_union_pw_aff(member.schedule))
    return bool(told.is_single_valued())


def _goes_down(program: Program, node: Node) -> bool:
    """Whether the innermost loop of a nest goes down the rows of an array, and each iteration waits for the one before
    it, as where the best way to part an interval is searched."""
    loops = chain(node)
    if len(loops) < 3 or any(isinstance(n, Band) for n in walk(_inside(node))) or loops[-1].coincident:
        return False
    if any(is_sum(program, n) for n in walk(node) if isinstance(n, Band)):
        return False  # registers serve it better (`registers.py`)
    return strides_of(loops[-1], program).far > 0


def _inside(node: Node) -> Node:
    while isinstance(node, Band):
        node = node.child
    return node


def _turned(program: Program, instances: isl.UnionSet) -> Iterator[_Order]:
    """The loops of a nest in another order, some of them backwards, with one innermost that runs at once.

    rewrite:  for length for i for k A[i][i + length] = min(A[i][i + length], A[i][k] + A[k + 1][i + length])
              -> for i from the last one down for k for length A[i][i + length] = …
    """
    whole = name_members(Domain(instances, restrict(program.scop.tree.child, instances)), program.scop).child
    loops, inside = chain(whole), _inside(whole)
    if len(loops) < 3 or len(loops) > MOST_TURNED or any(isinstance(n, Band) for n in walk(inside)):
        return
    d = program.dependences
    ends = kept_by_others(Domain(instances, whole), program)
    strict = among(d.flow.union(d.lasting_false).union(ends), instances)
    along = sorted(loops[:-1], key=lambda m: -strides_of(m, program).gain)
    for last in along:
        others = [m for m in loops if m is not last]
        if strides_of(last, program).gain <= 0:
            continue
        for order in permutations(others):
            for signs in product((1, -1), repeat=len(order)):
                turned = [
                    m if sign > 0 else replace(m, schedule=m.schedule.neg())
                    for m, sign in zip(order, signs, strict=True)
                ]
                node = inside
                for member in (last, *reversed(turned)):
                    node = Band((replace(member, coincident=False),), False, node)
                if _respects(node, instances, strict):
                    marked = Splitter(splitting=False).marked(node, instances, strict)
                    words = [m.name + (" backwards" if s < 0 else "") for m, s in zip(order, signs, strict=True)]
                    text = f"over {', '.join((*words, last.name))}"
                    yield _Order(marked, f"in another order: {text}, along consecutive memory")


def _below(node: Node, outer: tuple[Member, ...], instances: isl.UnionSet) -> Node | None:
    """What is written inside of some loops; None where others are outermost."""
    left = list(outer)
    while left:
        if not isinstance(node, Band) or len(node.members) > len(left):
            return None
        for member in node.members:
            mine = left.pop(0).schedule.intersect_domain(instances)
            if not _is_same(member.schedule, mine):
                return None
        node = node.child
    return node


def _is_same(one: isl.UnionPwAff, other: isl.UnionPwAff) -> bool:
    return bool(isl.UnionMap.from_union_pw_aff(one).is_equal(isl.UnionMap.from_union_pw_aff(other)))


def _commuting(program: Program, instances: isl.UnionSet) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The pairs that have to keep their order, and those of them that hold a loop back."""
    scop = program.scop
    order = order_of(scop.tree)
    kept = coincidence = empty_map(scop.domain)
    used = {a.array for name in names(instances) for a in program.statements[name].accesses}
    for array in scop.arrays:
        accesses = accesses_of(scop, frozenset([array]))
        if array not in used or accesses.all_writes.is_empty():
            continue
        pairs = commuting_dependences(scop, array, order)
        if pairs is None:
            pairs = compute_flow(accesses, order).dependence.union(compute_false(accesses, order, every_pair=True))
        kept = kept.union(pairs)
        if array not in scop.privatizable:
            coincidence = coincidence.union(pairs)
    return among(kept, instances), among(coincidence, instances)


def _loop(member: Member, statement: str, program: Program) -> str:
    """The statement's own name of a loop."""
    position = dimension_of(member.schedule.get_pw_aff_list().get_at(0))
    return member.name if position is None else program.statements[statement].loops[position]


def _swapped(program: Program, written: Node) -> Iterator[tuple[str, Node]]:
    """The nest with two loops of one statement changed: what reads many values at once gives each value to many.

    rewrite:  for j { S(j); for k < j T(j, k) }  ->  for j { S(j); for j' > j T(j', j) }
    """
    for band in [n for n in walk(written) if isinstance(n, Band)]:
        if len(band.members) != 1 or not isinstance(band.child, Sequence):
            continue
        for position, step in enumerate(band.child.children):
            inner = step.child
            if not isinstance(inner, Band) or len(inner.members) != 1 or inner.child is not LEAF:
                continue
            own = inner.members[0].schedule.domain()
            if len(names(own)) != 1:
                continue
            outer = band.members[0]
            along = replace(outer, schedule=outer.schedule.intersect_domain(own))
            rest = outer.schedule.subtract_domain(own)
            member = replace(outer, schedule=rest.union_add(inner.members[0].schedule))
            others = [s for k, s in enumerate(band.child.children) if k != position]
            moved = Filter(step.filter, Band((along,), True, LEAF))
            for steps in ((*others, moved), (moved, *others)):
                new = Band((member,), False, Sequence(steps))
                yield f"{names(own)[0]} runs along {_loop(along, names(own)[0], program)}", _with(written, band, new)


def _with(node: Node, old: Band, new: Band) -> Node:
    """The tree with a band in the place of another."""
    match node:
        case _ if node is old:
            return new
        case Sequence(children=steps):
            return Sequence(tuple(replace(s, child=_with(s.child, old, new)) for s in steps))
        case Band(child=child):
            return replace(node, child=_with(child, old, new))
        case _:
            return node


def _respects(node: Node, instances: isl.UnionSet, pairs: isl.UnionMap) -> bool:
    time = order_map(runs(Domain(instances, node)))
    ordered = pairs.apply_domain(time).apply_range(time)
    return all(piece.is_subset(isl.Map.lex_lt(piece.get_space().domain())) for piece in maps(ordered))


def _is_skewed(member: Member) -> bool:
    """Whether the loop runs over a combination of a statement's loops."""
    pieces = member.schedule.get_pw_aff_list()
    return any(_is_combined(pieces.get_at(k)) for k in range(pieces.n_pw_aff()))


def _moves_with(member: Member, skewed: Member) -> bool:
    """Whether an iteration of the innermost loop moves along another loop of its statement too: it is skewed itself,
    or the loop around it is.

    for c for t: v[c + 2 * t] = …, of the loops t and i = c + 2 t
    """
    if member is skewed:
        return True
    for piece in sets(member.schedule.domain().intersect(skewed.schedule.domain())):
        position = dimension_of(value_on(member.schedule, piece.get_space()))
        along = value_on(skewed.schedule, piece.get_space())
        if position is not None and along.involves_dims(isl.dim_type.in_, position, 1):
            return True
    return False


def _is_combined(piece: isl.PwAff) -> bool:
    affs: list[isl.Aff] = []
    piece.foreach_piece(lambda _domain, aff: affs.append(aff))
    count = piece.dim(isl.dim_type.in_)
    return any(sum(aff.involves_dims(isl.dim_type.in_, d, 1) for d in range(count)) > 1 for aff in affs)


def _is_alone(program: Program, instances: isl.UnionSet) -> bool:
    """Whether no other nest reads what a nest leaves: which of its iterations was the last one holds its loops."""
    return bool(program.dependences.flow.intersect_domain(instances).subtract_range(instances).is_empty())


def _begins_with_few(program: Program, node: Node, outer: int) -> bool:
    """Whether a loop of few iterations that was written inside of others goes outermost, below so many that stay: each
    of its iterations goes through all of memory again."""
    if not isinstance(node, Band):
        return False
    first = node.members[0]
    count = iterations(first, program)
    inside = [dimension_of(value_on(first.schedule, piece.get_space())) for piece in sets(first.schedule.domain())]
    return count is not None and count <= FEW and all(place is not None and place > outer for place in inside)


def _innermost(program: Program, node: Node, outer: tuple[Member, ...]) -> dict[str, tuple[bool, float]]:
    """For each statement with the most loops: whether all its innermost loops run at once, and how well they like the
    memory (`vectorize.py`)."""
    found: dict[str, tuple[bool, float]] = {}
    skewed = [m for n in walk(node) if isinstance(n, Band) for m in n.members if _is_skewed(m)]
    for band, around in innermost_bands(node, outer):
        member = band.members[-1]
        gain = gain_of(member, program) if not any(_moves_with(member, m) for m in skewed) else -1.0
        at_once = member.coincident or vectors_in_order(program, band, around)
        for piece in sets(member.schedule.domain()):
            one = found.get(set_name(piece), (True, gain))
            found[set_name(piece)] = one[0] and at_once, min(one[1], gain)
    most = max((len(program.statements[name].loops) for name in found), default=0)
    return {name: one for name, one in found.items() if len(program.statements[name].loops) == most}


def _is_better(new: tuple[bool, float] | None, old: tuple[bool, float], in_sequence: bool) -> bool:
    if new is None or new[1] <= max(0.0, old[1]):
        return False
    return new[0] or (in_sequence and old[1] <= 0)


def _runs_at_once(new: tuple[bool, float] | None, old: tuple[bool, float]) -> bool:
    """Whether an innermost loop that carries a dependence is cut into such that carry none, and likes the memory as
    well."""
    return new is not None and new[0] and not old[0] and new[1] >= max(old[1], 1e-9)


def _pays_in_parallel(program: Program, node: Node, outer: tuple[Member, ...]) -> bool:
    """Whether a loop above the innermost one of its nest carries nothing, or may go there, and threads would save more
    in it than they take to start, as far as that is known."""
    machine, at = load_cpu(program.options.machine), sample_parameters(program)

    def pays(member: Member, above: tuple[Member, ...]) -> bool:
        saved = saved_seconds(program, machine, at, above, member) if above else None
        return saved is None or saved >= machine.parallel_region_us * 1e-6

    def below(node: Node, above: tuple[Member, ...]) -> bool:
        match node:
            case Sequence(children=steps):
                return any(below(step.child, above) for step in steps)
            case Band(members=members, child=child):
                alone = len(members) == 1 and not has_loops(child)
                own = any(m.coincident and pays(m, above + members[:k]) for k, m in enumerate(members))
                return (own and not alone) or below(child, above + members)
            case Leaf():
                return False
            case _:
                return below(node.child, above)

    return below(node, outer)


def _has_parallel(node: Node) -> bool:
    return any(m.coincident for n in walk(node) if isinstance(n, Band) and has_loops(n.child) for m in n.members)
