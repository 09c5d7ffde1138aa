"""Small helpers over isl that give a better name to what several modules do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import reduce
from typing import TypeVar, cast

import islpy as isl


def maps(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, sorted by their tuples' names."""
    pieces = union.get_map_list()
    found = [pieces.get_at(k) for k in range(pieces.n_map())]
    return sorted(found, key=lambda m: str(m.get_space())) if len(found) > 1 else found


def sets(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, sorted by name."""
    pieces = union.get_set_list()
    found = [pieces.get_at(k) for k in range(pieces.n_set())]
    if len(found) < 2:
        return found
    named = {f"{set_name(piece)}[": piece for piece in found}
    if len(named) == len(found) and "[" not in named:
        return [named[key] for key in sorted(named)]  # as the texts of their spaces, which isl takes long to print
    return sorted(found, key=lambda s: str(s.get_space()))


def set_name(piece: isl.Set) -> str:
    return str(piece.get_tuple_name() or "")


def in_name(piece: isl.Map) -> str:
    return str(piece.get_tuple_name(isl.dim_type.in_) or "")


def out_name(piece: isl.Map) -> str:
    return str(piece.get_tuple_name(isl.dim_type.out) or "")


def names(union: isl.UnionSet) -> list[str]:
    """The names of the tuples of a union, sorted as `sets`."""
    return [set_name(s) for s in sets(union)]


def empty_map(like: isl.UnionMap | isl.UnionSet | isl.Set | isl.Map) -> isl.UnionMap:
    return isl.UnionMap.empty(like.get_space().params())


def empty_set(like: isl.UnionMap | isl.UnionSet | isl.Set | isl.Map) -> isl.UnionSet:
    return isl.UnionSet.empty(like.get_space().params())


def reaching(relation: isl.UnionMap, wanted: Collection[str]) -> isl.UnionMap:
    """The pieces of a relation whose ranges have one of these names."""
    return union_of((piece for piece in maps(relation) if out_name(piece) in wanted), empty_map(relation))


def union_of(pieces: Iterable[isl.Map], start: isl.UnionMap) -> isl.UnionMap:
    """The union of some maps; `start` gives the space (and its own maps)."""
    parts = [start, *map(isl.UnionMap.from_map, pieces)]
    while len(parts) > 1:  # in pairs: each union copies the first one
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [one.union(other) for one, other in pairs] + parts[len(parts) & ~1 :]
    return parts[0]


def among(pairs: isl.UnionMap, instances: isl.UnionSet) -> isl.UnionMap:
    """The pairs of which both are among some instances."""
    return pairs.intersect_domain(instances).intersect_range(instances)


Sized = TypeVar("Sized", isl.Set, isl.Map)


def at_sizes(relation: Sized, sizes: isl.Set) -> Sized:
    """The relation at some sizes, `[n] -> { : … }`. Where these are all, isl takes as long as for others, and here
    nothing is done."""
    return relation if sizes.plain_is_universe() else relation.intersect_params(sizes)


def alike(found: Sequence[isl.Set]) -> bool:
    """Whether some sets are the same, at the sizes at which none of them is empty."""
    at = reduce(isl.Set.intersect, (one.params() for one in found))
    first, *others = (one.intersect_params(at) for one in found)
    return all(one.is_equal(first) for one in others)


def has_remainders(relation: isl.UnionMap | isl.Set) -> bool:
    """Whether a part of a relation or a set has existentially quantified variables, as strides, divisions and modulo
    give."""
    pieces = relation.get_basic_sets() if isinstance(relation, isl.Set) else convex(relation)
    return any(piece.dim(isl.dim_type.div) for piece in pieces)


def convex(relation: isl.UnionMap) -> list[isl.BasicMap]:
    """The convex pieces of a relation."""
    pieces = [piece.get_basic_map_list() for piece in maps(relation)]
    return [found.get_at(k) for found in pieces for k in range(found.n_basic_map())]


def same_relation(one: isl.Map, other: isl.Map) -> bool:
    """Whether two relations are equal; False where they have other dimensions."""
    return bool(one.get_space().has_equal_tuples(other.get_space()) and one.is_equal(other))


def project_range(relation: isl.Map, keep: int) -> isl.Map:
    """The relation to the first `keep` dimensions of its range, anonymous."""
    count = relation.dim(isl.dim_type.out)
    return relation.project_out(isl.dim_type.out, keep, count - keep).reset_tuple_id(isl.dim_type.out)


Coalesced = TypeVar("Coalesced", isl.Set, isl.Map, isl.UnionSet, isl.UnionMap)


def subscript(relation: isl.Map, position: int) -> isl.Map:
    """One dimension of what a relation leads to, `{ S[i] -> [x] }`."""
    count = relation.dim(isl.dim_type.out)
    one = relation.reset_tuple_id(isl.dim_type.out).project_out(isl.dim_type.out, position + 1, count - position - 1)
    return one.project_out(isl.dim_type.out, 0, position)


Related = TypeVar("Related", isl.Map, isl.UnionMap)


def equal_at(one: Related, other: Related, sizes: isl.Set) -> bool:
    """Whether two relations are the same at some sizes."""
    return bool(one.intersect_params(sizes).is_equal(other.intersect_params(sizes)))


def coalesced(relation: Coalesced) -> Coalesced:
    """The same relation in fewer pieces, where isl finds a way; as it is, where isl fails at that.

    isl says "original tableau does not correspond to original basic map" of some relations (islpy 2026.2.2).
    """
    try:
        return relation.coalesce()
    except isl.Error as error:
        if is_over_budget(error):
            raise
        return relation


class OverBudget(isl.Error):
    """isl stopped because its operations were used up."""


@contextmanager
def budget(context: isl.Context, operations: int) -> Iterator[None]:
    """Let isl do so many operations inside, and raise OverBudget when they are used up (0: no bound).

    Not every call of isl says so itself: some answer None or "" then, which ends in an error of another kind, or in
    none. So it is asked at the end. Budgets nest: one inside another has its own count, and the outer one starts
    again after it.
    """
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except Exception as error:
        if is_over_budget(error) or is_used_up(context):
            raise OverBudget("the budget of isl operations is used up") from error
        raise
    else:
        if is_used_up(context):
            raise OverBudget("the budget of isl operations is used up")
    finally:
        context.set_max_operations(before)
        context.reset_operations()


def is_used_up(context: isl.Context) -> bool:
    """Whether isl refuses even a small operation."""
    if not context.get_max_operations():
        return False
    try:
        isl.Space.params_alloc(context, 0)
    except isl.Error as error:
        return is_over_budget(error)
    return False


def share(operations: int, parts: int) -> int:
    """One of some equal parts of a budget; no bound has no parts, and a part is never no bound."""
    return max(1, operations // parts) if operations else 0


def is_over_budget(error: Exception) -> bool:
    """Whether isl stopped because its operations were used up."""
    return isinstance(error, OverBudget) or "maximal number of operations" in str(error)


def kind_of(node: isl.AstNode | isl.AstExpr | isl.ScheduleNode) -> str:
    """isl's name for what a node is: `for_`, `block`, `band`, `op`, … (the type stubs call it an int)."""
    return cast(Enum, node.get_type()).name


def operation_of(expr: isl.AstExpr) -> str:
    """isl's name for the operation of an expression: `add`, `min`, `fdiv_q`, …"""
    return cast(Enum, expr.op_get_type()).name


def value_on(schedule: isl.UnionPwAff, space: isl.Space) -> isl.PwAff:
    """The piece `S[i] -> [v]` of a schedule, for the set space of one statement."""
    aligned = space.align_params(schedule.get_space())
    return schedule.extract_pw_aff(
        isl.Space.map_from_domain_and_range(aligned, aligned.params().add_unnamed_tuple_ui(1))
    )


def multi_affs_of(relation: isl.Map) -> list[isl.MultiAff]:
    """The expressions of the pieces of a relation that is a function."""
    found: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _, function: found.append(function))
    return found


def affine_of(value: isl.PwAff) -> isl.Aff | None:
    """The one expression that a function has all over its domain, or None."""
    affs: list[isl.Aff] = []
    value.foreach_piece(lambda _domain, aff: affs.append(aff))
    if not affs or any(not affs[0].plain_is_equal(other) for other in affs[1:]):
        return None
    return affs[0]


def constant_of(value: isl.PwAff) -> int | None:
    """The value of an expression that is one integer, or None."""
    if value.n_piece() != 1 or not value.is_cst():
        return None
    affs: list[isl.Aff] = []
    value.foreach_piece(lambda _domain, aff: affs.append(aff))
    return int(affs[0].get_constant_val().to_python())


def affine_map(space: isl.Space, values: list[isl.Aff]) -> isl.Map:
    """`{ S[i] -> [v0, v1] }` everywhere, for affine expressions on a set space."""
    for value in values:
        space = space.align_params(value.get_space().params())
    target = space.map_from_domain_and_range(space.params().add_unnamed_tuple_ui(len(values)))
    pieces = isl.AffList.alloc(space.get_ctx(), len(values))
    for value in values:
        pieces = pieces.add(value.align_params(space.params()))
    return isl.Map.from_multi_aff(isl.MultiAff.from_aff_list(target, pieces))


def everywhere(relation: isl.Map) -> isl.Map | None:
    """A function without its domain; None where it is none, or has several expressions."""
    if not relation.is_single_valued():
        return None
    function = isl.PwMultiAff.from_map(relation)
    found = [affine_of(function.get_pw_aff(k)) for k in range(function.dim(isl.dim_type.out))]
    values = [f for f in found if f is not None]
    if len(values) < len(found):
        return None
    space = relation.get_space()
    wide = affine_map(space.domain(), values)
    named = space.has_tuple_id(isl.dim_type.out)
    return wide.set_tuple_id(isl.dim_type.out, space.get_tuple_id(isl.dim_type.out)) if named else wide


def project(domain: Sized, names: Iterable[str]) -> Sized:
    """A domain, or a relation, without some of its parameters."""
    for name in names:
        position = domain.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            domain = domain.project_out(isl.dim_type.param, position, 1)
    return domain


def without_sizes(relation: isl.Map) -> isl.Map:
    """The relation of all parameters together."""
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))


def pinned(relation: isl.Map, loose: tuple[int, ...]) -> isl.Map:
    """`{ S[i] -> A[x] }` as a function: the subscripts that may be anything are 0."""
    rank, name = relation.dim(isl.dim_type.out), relation.get_tuple_id(isl.dim_type.out)
    for d in loose:
        relation = relation.project_out(isl.dim_type.out, d, 1).insert_dims(isl.dim_type.out, d, 1)
        relation = relation.fix_val(isl.dim_type.out, d, isl.Val.zero(relation.get_ctx()))
    assert relation.dim(isl.dim_type.out) == rank
    return relation.set_tuple_id(isl.dim_type.out, name)


def function_of(relation: isl.Map) -> isl.MultiAff | None:
    """The one expression that a function is part of, with no regard to where it is defined; None where it has several,
    or is none."""
    if relation.n_basic_map() != 1 or not relation.is_single_valued():
        return None
    found = multi_affs_of(relation)
    return found[0] if len(found) == 1 else None


def least_of(piece: isl.Set, of: int | isl.Aff) -> isl.Val:
    """The least value of a dimension, or of an expression, over a set; NaN over an empty one.

    isl's own (`isl_set_opt`, 0.27) takes 0 for the value in a piece that only remainders show to be empty.
    """
    found = [value for value in _in_pieces(piece, of, isl.Set.dim_min_val, isl.Set.min_val) if not value.is_nan()]
    return reduce(isl.Val.min, found) if found else isl.Val.nan(piece.get_ctx())


def greatest_of(piece: isl.Set, of: int | isl.Aff) -> isl.Val:
    """As `least_of`: the greatest."""
    found = [value for value in _in_pieces(piece, of, isl.Set.dim_max_val, isl.Set.max_val) if not value.is_nan()]
    return reduce(isl.Val.max, found) if found else isl.Val.nan(piece.get_ctx())


def _in_pieces(
    piece: isl.Set,
    of: int | isl.Aff,
    dimension: Callable[[isl.Set, int], isl.Val],
    expression: Callable[[isl.Set, isl.Aff], isl.Val],
) -> list[isl.Val]:
    """The extreme values in each convex piece of a set."""
    pieces = [isl.Set.from_basic_set(one) for one in piece.get_basic_sets()] if piece.n_basic_set() > 1 else [piece]
    return [dimension(one, of) if isinstance(of, int) else expression(one, of) for one in pieces]


def box_volume(piece: isl.Set, without: Collection[int] = (), strided: bool = False) -> float:
    """The number of points of the bounding box of a set without parameters.

    without: dimensions that are left out; strided: of `i += 4` each fourth value counts
    """
    if piece.is_empty():
        return 0.0
    volume = 1.0
    for d in range(piece.dim(isl.dim_type.set)):
        if d in without:
            continue
        low, high = least_of(piece, d), greatest_of(piece, d)
        if not (low.is_int() and high.is_int()):
            return float("inf")
        stride = piece.get_stride(d).to_python() if strided else 1
        volume *= (high.to_python() - low.to_python()) // stride + 1
    return volume


def free_volume(piece: isl.Set) -> float:
    """The same without the dimensions that the others decide: a wave of a skewed nest is no box of all its loops."""
    decided: set[int] = set()
    hull = piece.affine_hull()
    for constraint in hull.get_constraints():
        strided = constraint.involves_dims(isl.dim_type.div, 0, hull.dim(isl.dim_type.div))
        dims = range(piece.dim(isl.dim_type.set)) if constraint.is_equality() and not strided else ()
        involved = [d for d in dims if d not in decided and constraint.involves_dims(isl.dim_type.set, d, 1)]
        decided.update(involved[-1:])
    return box_volume(piece, decided, strided=True)


def box_extents(piece: isl.Set, known: isl.Set, fixed: Collection[int] = (), forms: int = 1) -> list[isl.PwAff] | None:
    """The extents of the bounding box of a set, from its parameters; None where one has more than so many forms, or no
    end.

    known: what holds of the parameters; fixed: dimensions that are left out
    """
    whole = piece.intersect_params(known)
    hull = isl.Set.from_basic_set(whole.simple_hull())
    extents = []
    for k in range(hull.dim(isl.dim_type.set)):
        if k in fixed:
            continue
        # Of 1 <= k <= |e - m| the hull has no end.
        box = next((one for one in (hull, whole) if one.dim_is_bounded(isl.dim_type.set, k)), None)
        if box is None:
            return None
        extent = box.dim_max(k).sub(box.dim_min(k)).add_constant_val(isl.Val.one(box.get_ctx())).coalesce()
        if extent.n_piece() > forms > 1:
            extent = _at_most(box, k, extent)
        if not 1 <= extent.n_piece() <= forms:
            return None
        extents.append(extent.gist(known).floor())  # `m / 2` where m is known to be even
    return extents


def _at_most(box: isl.Set, dimension: int, extent: isl.PwAff) -> isl.PwAff:
    """What an extent is not more than: by the two bounds at each end in which the fewest parameters occur."""
    count = box.dim(isl.dim_type.set)
    line = box.project_out(isl.dim_type.set, dimension + 1, count - dimension - 1).project_out(
        isl.dim_type.set, 0, dimension
    )
    ends = [_on_parameters(found) for found in _ends(line, 0)]
    if not all(ends):
        return extent
    low, high = (sorted(found, key=_parameters_of)[:2] for found in ends)
    most, least = high[0], low[0]
    for other in high[1:]:
        most = most.min(other)
    for other in low[1:]:
        least = least.max(other)
    return most.sub(least).add_constant_val(isl.Val.one(box.get_ctx())).coalesce()


def band_width(piece: isl.Set, dimension: int) -> isl.PwAff | None:
    """How many values a dimension has at most, whatever those before it are, from the parameters: 2 * w + 1 of
    max(0, i - w) <= j <= min(n - 1, i + w); None where no two of its bounds say that."""
    count = piece.dim(isl.dim_type.set)
    before = isl.Set.from_basic_set(piece.simple_hull())
    ends = _ends(before.project_out(isl.dim_type.set, dimension + 1, count - dimension - 1), dimension)
    lower, upper = ([one for one in found if one.involves_dims(isl.dim_type.in_, 0, dimension)] for found in ends)
    apart = [high.sub(low).add_constant_val(isl.Val.one(piece.get_ctx())) for low in lower for high in upper]
    widths = _on_parameters(one for one in apart if not one.involves_dims(isl.dim_type.in_, 0, dimension))
    return reduce(isl.PwAff.min, widths).coalesce() if widths else None


def _ends(piece: isl.Set, dimension: int) -> tuple[list[isl.Aff], list[isl.Aff]]:
    """The lower and the upper bounds of a dimension."""
    lower, upper = list[isl.Aff](), list[isl.Aff]()
    for one in (one for part in piece.remove_divs().get_basic_sets() for one in part.get_constraints()):
        for found, bounds in ((lower, one.is_lower_bound), (upper, one.is_upper_bound)):
            if bounds(isl.dim_type.set, dimension):
                found.append(one.get_bound(isl.dim_type.set, dimension))
    return lower, upper


def _on_parameters(found: Iterable[isl.Aff]) -> list[isl.PwAff]:
    return [isl.PwAff.from_aff(one.project_domain_on_params()) for one in found]


def _parameters_of(value: isl.PwAff) -> int:
    return sum(value.involves_dims(isl.dim_type.param, p, 1) for p in range(value.dim(isl.dim_type.param)))
