"""Value-based dependences of a region, in its original order.

Flow dependences go from the last writer to the reader (Feautrier 1991; isl's `compute_flow`). Anti and output
dependences are kept apart for arrays that each thread may have a copy of: those order live ranges, and isl's
conditional validity lets them go where each live range stays within one iteration (Verdoolaege and Cohen, Live-range
reordering, IMPACT 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TypeAlias, TypeVar, cast

import islpy as isl

from polyc.analysis.order import order_of
from polyc.analysis.small_flow import check_at_small_sizes
from polyc.flow import Accesses, Flow, compute_false, compute_flow
from polyc.model.program import Dependences
from polyc.model.scop import Access, AccessKind, Scop, Statement
from polyc.poly import OverBudget, coalesced, empty_map, is_used_up, maps

LARGE_FACTOR = 256
"""Of a loop in a subscript, `a[(27 * i + j) * 33 + k]`: isl may take minutes for few operations on such."""


def last_writers(accesses: Accesses, order: isl.UnionMap) -> isl.UnionMap:
    """`{ S[i] -> A[x] }`: the writes whose value may be in the array at the end.

    math: { w -> x : w writes x, and no must-write of x runs after w }, without a maximum: the flow to a read of all
          cells at the end is the same, and took isl a hundred times as long where a dozen statements write an array.
    """
    if accesses.may_writes.is_empty() and accesses.writes.is_injective():
        return accesses.writes  # no cell is written twice
    order = order.intersect_domain(accesses.all_writes.domain())
    later = [(piece.range(), isl.UnionMap.from_map(piece)) for piece in maps(accesses.writes)]
    found = empty_map(accesses.writes)
    for piece in maps(accesses.all_writes):
        cells, left = piece.range(), isl.UnionMap.from_map(piece)
        when = order.intersect_domain(left.domain())
        for others, writes in later:
            if not cells.get_space().has_equal_tuples(others.get_space()) or cells.is_disjoint(others):
                continue
            after = when.lex_lt_union_map(order.intersect_domain(writes.domain()))
            over = left.apply_range(writes.reverse()).intersect(after)
            left = left.subtract(over.apply_range(writes))
        found = found.union(left)
    return coalesced(found)


def accesses_of(scop: Scop, arrays: frozenset[str] | None = None) -> Accesses:
    """The accesses of the region's statements, to some arrays or to all."""
    by_array = _by_array(scop)
    by_kind = dict.fromkeys(AccessKind, empty_map(scop.domain))
    for array in by_array if arrays is None else arrays & by_array.keys():
        for _, _, access in by_array[array]:
            by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(access.relation))
    return Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])


@lru_cache(maxsize=16)
def _by_array(scop: Scop) -> dict[str, list[tuple[Statement, int, Access]]]:
    """The accesses to each array, with their statements and positions: a region may have hundreds of either."""
    found: dict[str, list[tuple[Statement, int, Access]]] = {}
    for statement in scop.statements.values():
        for position, access in enumerate(statement.accesses):
            found.setdefault(access.array, []).append((statement, position, access))
    return found


def has_large_factors(scop: Scop) -> bool:
    """Whether a subscript has a loop with a factor of LARGE_FACTOR or more, and several loops."""
    every = (access.relation for statement in scop.statements.values() for access in statement.accesses)
    return any(_has_large_factors(constraint) for one in every for constraint in one.affine_hull().get_constraints())


def _has_large_factors(constraint: isl.Constraint) -> bool:
    loops = (constraint.get_coefficient_val(isl.dim_type.in_, k) for k in range(constraint.dim(isl.dim_type.in_)))
    factors = [abs(factor.to_python()) for factor in loops if not factor.is_zero()]
    return len(factors) > 1 and max(factors) >= LARGE_FACTOR


Known: TypeAlias = dict[tuple[str, str], Flow | isl.UnionMap]
"""What was computed of each array: what is asked of it, and the answer."""
T = TypeVar("T", bound=Flow | isl.UnionMap)


def compute_dependences(scop: Scop, known: Known | None = None, given: Scop | None = None) -> Dependences:
    """All dependences of a region. Raises WrongFlow where isl has others than a run of the region at a small size.

    known:   keeps what is done when isl's budget ends the computation, for the next try at the same region
    given:   the region that this one was made from, by changing some of its statements and leaving out others
    ensures: every reordering that respects `flow`, `false` and `private_false` computes the same values.
    """
    known = {} if known is None else known
    if given is not None:
        known.update(_kept(scop, given))
    found = _dependences(scop, known)
    check_at_small_sizes(scop, found)
    _answers_of(scop).update(known)
    return found


@lru_cache(maxsize=8)
def _answers_of(scop: Scop) -> Known:
    """What was found for each array of a region."""
    return {}


def _kept(scop: Scop, given: Scop) -> Known:
    """What was found for the arrays of a region that all statements access as they did in the one before: those that
    are left have kept their order."""
    before, after = _by_array(given), _by_array(scop)

    def same(array: str) -> bool:
        pairs = zip(before.get(array, ()), after.get(array, ()), strict=True)
        return all(a.name == b.name and i == k and x is y for (a, i, x), (b, k, y) in pairs)

    alike = {name for name in after if len(after[name]) == len(before.get(name, ())) and same(name)}
    return {(array, question): found for (array, question), found in _answers_of(given).items() if array in alike}


def _dependences(scop: Scop, known: Known) -> Dependences:
    start = empty_map(scop.domain)
    order = order_of(scop.tree)
    flow, false, private_false, live_in = start, start, start, start
    of_dead = start
    tagged_flow, tagged_false, last = start, start, start
    flow_by_array: dict[str, isl.UnionMap] = {}

    def of(name: str, question: str, compute: Callable[[], T]) -> T:
        if (name, question) not in known:
            answer = compute()
            if is_used_up(order.get_ctx()):  # not every call of isl says so
                raise OverBudget("the budget of isl operations is used up")
            known[name, question] = answer
        return cast(T, known[name, question])

    for name in scop.arrays:
        one = accesses_of(scop, frozenset([name]))
        if one.all_writes.is_empty():
            live_in = live_in.union(one.reads)
            continue
        found = of(name, "flow", partial(compute_flow, one, order))
        flow_by_array[name] = found.dependence
        flow = flow.union(found.dependence)
        live_in = live_in.union(found.live_in)
        if name in scop.live_out:
            last = last.union(of(name, "last", partial(last_writers, one, order)))
        if name in scop.privatizable:
            unordered = of(name, "false", partial(compute_false, one, order, every_pair=True))
            private_false = private_false.union(unordered)
            tagged, tagged_order = _tagged(scop, name, order)
            tagged_flow = tagged_flow.union(
                of(name, "tagged flow", partial(compute_flow, tagged, tagged_order)).dependence
            )
            false_of_tags = of(name, "tagged false", partial(compute_false, tagged, tagged_order, every_pair=True))
            tagged_false = tagged_false.union(false_of_tags)
            dead = one.all_writes.domain().subtract(found.dependence.domain())
            # A write that nobody reads has no live range that would keep it away from the others'.
            of_dead = of_dead.union(unordered.intersect_domain(dead)).union(unordered.intersect_range(dead))
        else:
            false = false.union(of(name, "false", partial(compute_false, one, order)))
    lasting = coalesced(false)
    return Dependences(
        coalesced(flow),
        lasting if of_dead.is_empty() else coalesced(false.union(of_dead)),
        private_false,
        flow_by_array,
        live_in,
        last,
        tagged_flow,
        tagged_false,
        lasting,
    )


def _tagged(scop: Scop, array: str, order: isl.UnionMap) -> tuple[Accesses, isl.UnionMap]:
    """The accesses with the label of each reference in their domain: `[S[i] -> ref[]] -> A[x]`."""
    start = empty_map(scop.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    tags = start
    for statement, position, access in _by_array(scop)[array]:
        tag = tag_of(access, f"{statement.name}_{position}")
        wrapped = isl.UnionMap.from_map(tag).domain_map()
        by_kind[access.kind] = by_kind[access.kind].union(wrapped.apply_range(isl.UnionMap.from_map(access.relation)))
        tags = tags.union(wrapped)
    accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
    return accesses, tags.apply_range(order)


def tag_of(access: Access, label: str) -> isl.Map:
    """`{ S[i] -> label[] }`."""
    domain = access.relation.domain()
    space = domain.get_space().params().add_named_tuple_id_ui(isl.Id.read_from_str(domain.get_ctx(), label), 0)
    return isl.Map.from_domain_and_range(domain, isl.Set.universe(space))


def no_dependences(scop: Scop) -> Dependences:
    """What stands for the dependences of a region that nobody is going to transform."""
    none = empty_map(scop.domain)
    return Dependences(none, none, none, {}, none, none, none, none, none)
