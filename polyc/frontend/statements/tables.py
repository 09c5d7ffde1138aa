"""Tables: arrays with an element for each iteration of some loops, and whether there is room for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import permutations
from math import ceil, floor, prod

import islpy as isl

from polyc.analysis.extents import text_of
from polyc.frontend.c.state import along, variable
from polyc.frontend.sets.accesses import Raw, element_of
from polyc.frontend.statements.extract import Draft
from polyc.frontend.statements.varying import Nest
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, CType
from polyc.poly import affine_of, constant_of, project
from polyc.records import dataclass

_SET = isl.dim_type.set
TABLE_BYTES = 1 << 16
"""Of a table of constant size that need not be read again and again."""
MOST_BYTES, FEWEST_READS = 1 << 25, 4
"""Of a table that is larger than the data, for functions: one call of them, with its store, takes as long as some ten
elements of memory; below so many reads of each element nobody would notice."""
FEWEST_LOOKS = 128
"""Questions to the data for each value of a table of which they may need none: a function takes as long as some twenty
of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """An array with an element for each iteration of some loops."""

    name: str
    loops: tuple[str, ...]
    firsts: tuple[c.Expr | None, ...]
    """What is taken away from the value of each; None for nothing."""
    values: tuple[isl.PwAff, ...]
    """The subscripts."""

    @property
    def subscripts(self) -> tuple[c.Expr, ...]:
        return tuple(
            c.Name(key) if first is None else c.Binary("+", c.Name(key), first)
            for key, first in zip(self.loops, self.firsts, strict=True)
        )

    def raw(self, domain: isl.Set, kind: AccessKind, ref: str) -> Raw:
        return element_of(self.name, self.values, domain, kind, ref)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of a nest."""

    nest: Nest
    taken: frozenset[str]
    """Names that no new array may have."""

    def made(
        self,
        wish: str,
        element: CType,
        loops: tuple[str, ...],
        domains: list[isl.Set],
        repeated: frozenset[str],
        inside: Draft | None = None,
    ) -> Table | None:
        """A new array for the values of some loops; None where it would be large, or C has no words for its size.

        repeated: the loops that call a function again for the same value
        inside: the statement in which data decide whether they are needed
        """
        region, known = self.nest.region, self.nest.known
        whole = reduce(isl.Set.union, domains)
        firsts: list[c.Expr | None] = []
        values: list[isl.PwAff] = []
        ends: list[isl.PwAff] = []
        one = isl.Val.one(whole.get_ctx())
        for key in loops:
            own = self.values(whole, key, loops)
            if own is None:
                return None
            end, first, value = own.dim_max(0).add_constant_val(one), None, variable(key)
            if not own.lower_bound_val(_SET, 0, isl.Val.zero(own.get_ctx())).is_equal(own):
                least = own.dim_min(0).neg()
                only = affine_of(least)
                first = text_of(region.parameters.values(), least)
                if only is None or first is None:
                    return None
                end = end.add(least)
                shift = isl.PwAff.from_aff(only).project_domain_on_params()
                value = value.add(shift.insert_domain(value.domain().get_space()))
            firsts.append(first)
            values.append(value)
            simpler = end.gist_params(known)  # where m = 4 * n is known, it may be m / 4
            ends.append(end if text_of(region.parameters.values(), simpler) is None else simpler)
        texts = tuple(text_of(region.parameters.values(), end) for end in ends)
        if any(text is None for text in texts):
            return None
        if inside is not None:
            if not self.pays_unread(dict(zip(loops, ends, strict=True)), element, inside):
                return None
        elif not self.fits(ends, element, whole) and not self.pays(ends, element, whole, repeated):
            return None
        name = region.make(wish, element, tuple(ends), texts, self.taken)
        return Table(name, loops, tuple(firsts), tuple(values))

    def fits(self, ends: list[isl.PwAff], element: CType, domain: isl.Set) -> bool:
        """Whether a table is small, or has in each dimension no more elements than the nest touches of one array."""
        sizes = [constant_of(end) for end in ends]
        if all(size is not None for size in sizes):
            return prod(size for size in sizes if size is not None) * element.size_bytes <= TABLE_BYTES
        where = project(domain, self.nest.around).params().intersect(self.nest.known)
        return any(
            all(where.is_subset(size.ge_set(end).params()) for size, end in zip(chosen, ends, strict=True))
            for touched in self.touched()
            for chosen in permutations(touched, len(ends))
        )

    def pays(self, ends: list[isl.PwAff], element: CType, domain: isl.Set, repeated: frozenset[str]) -> bool:
        """Whether a table is read often enough to be larger than the data, and not too large; what sizes have to be for
        that is assumed, as long as it leaves any."""
        known = self.nest.known
        counts = [count for key in sorted(repeated) if (count := self.count(domain, key)) is not None]
        sure = prod(size for count in counts if (size := constant_of(count)) is not None)
        unsure = [count for count in counts if constant_of(count) is None]
        elements = MOST_BYTES // element.size_bytes // prod(constant_of(end) or 1 for end in ends)
        if not elements or not counts or (sure < FEWEST_READS and not unsure):
            return False
        needed = known
        if sure < FEWEST_READS:
            least = -(-FEWEST_READS // sure)
            needed = reduce(isl.Set.union, (_at_least(count, least) for count in unsure)).intersect(known)
        return self.assumes(needed, [end for end in ends if constant_of(end) is None], elements)

    def pays_unread(self, sizes: dict[str, isl.PwAff], element: CType, draft: Draft) -> bool:
        """Whether a table is not too large, and small beside the iterations of the loops that find out whether anything
        of it is needed: nobody notices if nothing is. What sizes have to be for that is assumed.

        sizes: of the table, for each of its loops
        math: loops around the statement find out as often as the table has elements along them. Along each loop inside
              of it whose size is not known, it has at most as many as another loop around it has iterations; those of
              the others are `FEWEST_LOOKS` for each element along the loops whose sizes are known
        """
        known = self.nest.known
        elements = MOST_BYTES // element.size_bytes
        others = (self.count(draft.env.domain, key) for key in draft.env.dims if key not in sizes)
        counts = [count for count in others if count is not None]
        ends = [size for key, size in sizes.items() if key not in draft.env.dims]
        looks = FEWEST_LOOKS * prod(constant_of(end) or 1 for end in ends)
        looks = -(-looks // prod(constant_of(count) or 1 for count in counts))
        open_ends = [end for end in ends if constant_of(end) is None]
        needed = isl.Set.empty(known.get_space())
        for order in permutations(count for count in counts if constant_of(count) is None):
            first, rest = order[: len(open_ends)], order[len(open_ends) :]
            if len(first) < len(open_ends) or (looks > 1 and not rest):
                continue
            least = ceil(looks ** (1 / len(rest))) if rest else 0
            large = [_at_least(count.sub(end), 0) for count, end in zip(first, open_ends, strict=True)]
            large += [_at_least(count, least) for count in rest]
            needed = needed.union(reduce(isl.Set.intersect, large, known))
        return self.assumes(needed, list(sizes.values()), elements)

    def assumes(self, needed: isl.Set, ends: list[isl.PwAff], elements: int) -> bool:
        """Whether any sizes are left where some are needed, and a table has at most so many elements: these are assumed
        then."""
        region, known = self.nest.region, self.nest.known
        for end in ends:
            needed = needed.intersect(_at_least(end.neg(), -floor(elements ** (1 / len(ends)) + 1e-9)))
        if not needed.is_empty():
            region.assumed = region.assumed.intersect_params(needed.gist(known)).coalesce()
        return not needed.is_empty()

    def values(self, domain: isl.Set, key: str, loops: Iterable[str] = ()) -> isl.Set | None:
        """The values of a loop, one of these or of the nest; None where it has no end."""
        own = along(project(domain, {*self.nest.around, *loops} - {key}), key)
        own = own.intersect_params(self.nest.known).coalesce()
        return None if own.is_empty() or not own.dim_is_bounded(_SET, 0) else own

    def count(self, domain: isl.Set, key: str) -> isl.PwAff | None:
        """How many iterations a loop has between its first and its last one; None where it has no end."""
        own = self.values(domain, key)
        return None if own is None else _length(own)

    def touched(self) -> Iterator[list[isl.PwAff]]:
        """Of each reference to an array: how many elements of each dimension the nest touches."""
        for draft in self.nest.inside:
            for raw in draft.accesses:
                rank = raw.relation.dim(isl.dim_type.out)
                if not raw.exact or not rank:
                    continue
                cells = project(raw.relation, draft.env.dims).range().reset_tuple_id()
                own = [cells.project_out(_SET, d + 1, rank - d - 1).project_out(_SET, 0, d) for d in range(rank)]
                if all(one.dim_is_bounded(_SET, 0) for one in own):
                    yield [_length(one) for one in own]


def _at_least(value: isl.PwAff, least: int) -> isl.Set:
    """The parameters for which a value is not smaller."""
    return value.add_constant_val(isl.Val.int_from_si(value.get_ctx(), -least)).nonneg_set().params()


def _length(values: isl.Set) -> isl.PwAff:
    """How many values there are from the first to the last one."""
    return (values.dim_max(0) - values.dim_min(0)).add_constant_val(isl.Val.one(values.get_ctx()))
