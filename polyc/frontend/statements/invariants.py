"""Values that some of the loops around them do not change: computed once, in loops of their own before the nest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from itertools import permutations
from math import ceil, floor, prod

import islpy as isl

from polyc.analysis.expressions.straight import changes_nothing
from polyc.analysis.extents import text_of
from polyc.analysis.inside import (
    Bounds,
    Counted,
    given,
    is_total,
    with_changes,
    without_unread,
    written_out,
)
from polyc.frontend.c.functions import real_type
from polyc.frontend.c.state import Region, along, variable
from polyc.frontend.idioms.helpers import is_arithmetic
from polyc.frontend.sets.accesses import READ, WRITE, Raw, element_of
from polyc.frontend.sets.affine import Affine
from polyc.frontend.statements.build import drafts, without_empty
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.frontend.statements.fission import type_in
from polyc.frontend.statements.flow import without_dead
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, CType
from polyc.poly import affine_of, constant_of, greatest_of, least_of, project
from polyc.records import dataclass, field, replace

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set
_CHEAP = """
sqrt fabs floor ceil trunc rint nearbyint round fmin fmax fma copysign fdim ldexp scalbn scalbln logb nan
"""
CHEAP = frozenset(_CHEAP.split())
"""Functions of `<math.h>` that take no longer than to load a value."""
TABLE_BYTES = 1 << 16
"""Of a table of constant size that need not be read again and again."""
MOST_BYTES, FEWEST_READS = 1 << 25, 4
"""Of a table that is larger than the data, for functions: one call of them, with its store, takes as long as some ten
elements of memory; below so many reads of each element nobody would notice."""
FEWEST_LOOKS = 128
"""Questions to the data for each value of a table of which they may need none: a function takes as long as some twenty
of them."""


def with_invariants_apart(
    items: list[Item], region: Region, taken: frozenset[str], reachable: frozenset[str] = frozenset()
) -> list[Item]:
    """The items with what some loops of a nest do not change in loops of its own before the nest; the same list where
    there is nothing of that.

    rewrite:  for i for j { s = 0; for k s += a[i][k] * a[i][k]; b[i][j] = f(s, cos(j)); }
              -> for i { t[i] = 0; for k t[i] += a[i][k] * a[i][k]; }  for j u[j] = cos(j);
                 for i for j b[i][j] = f(t[i], u[j]);
    math:     with L the loops around the declaration of s, D those of them that what s is given mentions, in
              subscripts, bounds, and in other such variables: instances of equal D compute equal values, if nothing
              that they read is written in the nest. A table of s keeps its last value, if nobody else reads an
              earlier one; an expression of s also changes with the loops inside of L in which s does
    requires: that it takes a loop, or a function that takes long; a table that is small, or has in each dimension no
              more elements than the nest touches of some array, or, for a function, that has at most `MOST_BYTES` and
              is read `FEWEST_READS` times, which is assumed of sizes
    source:   loop-invariant code motion (Allen and Cocke 1972), of whole loops, and with a table for each value

    taken: names that no new array may have
    reachable: arrays and variables that may change by other names
    """
    found: list[Item] = []
    before = len(region.made)
    for item in items:
        parted = _Nest(region, item, taken, reachable).parted() if isinstance(item, LoopItem) else [item]
        found += [_with_inner_nests(one, region, taken, reachable) for one in parted]
    return found if len(region.made) > before else items


def _with_inner_nests(root: Item, region: Region, taken: frozenset[str], reachable: frozenset[str]) -> Item:
    """A loop over steps, with what some loops of the nests in it do not change before these nests, in each step."""
    before = len(region.made)

    def below(item: Item, around: tuple[str, ...]) -> Item:
        if not isinstance(item, LoopItem):
            return item
        items: list[Item] = []
        for one in item.items:
            inner = (*around, item.key)
            nest = _Nest(region, one, taken, reachable, frozenset(inner), root) if isinstance(one, LoopItem) else None
            items += [below(part, inner) for part in (nest.parted_in_steps() if nest is not None else [one])]
        return replace(item, items=tuple(items))

    found = below(root, ())
    return root if len(region.made) == before else without_dead([found], region)[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
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


@dataclass(eq=False)
class _Nest:
    region: Region
    root: LoopItem
    taken: frozenset[str]
    reachable: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    """The loops around the nest, in each iteration of which it is looked at by itself."""
    outermost: Item | None = None
    """Of these."""
    moves: dict[str, frozenset[str]] = field(default_factory=dict)
    """Variables -> the loops around their declaration that their values change with."""
    tables: dict[str, _Table] = field(default_factory=dict)
    """Of variables."""
    expressions: list[tuple[c.Expr, isl.Set, _Table]] = field(default_factory=list)
    """Those with a table, without labels, and where they are computed."""
    before: list[Item] = field(default_factory=list)
    """What fills the tables."""
    references: int = 0
    """To tables of expressions, so far."""

    @cached_property
    def inside(self) -> list[Draft]:
        return drafts((self.root,))

    @cached_property
    def around(self) -> frozenset[str]:
        """All loops of the nest."""
        return frozenset(loop for draft in self.inside for loop in draft.env.variables)

    @cached_property
    def written(self) -> set[str]:
        return {raw.array for draft in self.inside for raw in draft.accesses if raw.kind is not READ}

    @cached_property
    def writers(self) -> dict[str, list[Draft]]:
        """Of the variables that iterations of the nest declare, and plain statements alone give values."""
        found: dict[str, list[Draft]] = {}
        for draft in self.inside:
            for key in {raw.array for raw in draft.accesses if raw.kind is not READ}:
                found.setdefault(key, []).append(draft)
        return {key: own for key, own in found.items() if self.is_plain(key, own)}

    def is_plain(self, key: str, own: list[Draft]) -> bool:
        region = self.region
        around, symbol = region.declared.get(key), region.symbol(key)
        if (
            not around
            or symbol is None
            or region.rank(symbol)
            or not is_arithmetic(symbol.shape.element, region.scope.types)
        ):
            return False
        if key in region.hidden | region.exposed | region.renamed or symbol.volatile:
            return False
        return all(_assignment(d, key) is not None and d.env.dims[: len(around)] == around for d in own)

    # --- what loops change

    def mentioned(self, node: c.Node, draft: Draft, own: str = "") -> frozenset[str]:
        """The loops around a statement that the value of an expression in it changes with."""
        dims, found = draft.env.dims, set[str]()
        for one in c.walk(node):
            match one:
                case c.Name(name=name) if name in dims:
                    found.add(name)
                case c.Name(name=name) | c.ArrayRef(array=name) if name != own and not self.is_steady(name):
                    found |= self.moves.get(name, frozenset(dims)) | self.shared(name, draft)
                case c.Call(function=name) if real_type(name) is None and name not in ("abs", "labs"):
                    found |= set(dims)
        return frozenset(found)

    def shared(self, key: str, draft: Draft) -> frozenset[str]:
        """The loops around a statement, inside of the declaration of a variable, that give it other values."""
        mine, found = self.loops_of[id(draft)], set[str]()
        first = len(self.region.declared.get(key, ())) - (len(draft.env.dims) - len(mine))
        for own in self.writers.get(key, ()):
            both = [one for one in self.loops_of[id(own)] if any(one is loop for loop in mine)]
            found |= {loop.key for loop in both[max(first, 0) :]}
        return frozenset(found)

    @cached_property
    def loops_of(self) -> dict[int, tuple[LoopItem, ...]]:
        """The loops of the nest around each of its statements: loops beside each other may have one name."""
        found: dict[int, tuple[LoopItem, ...]] = {}

        def visit(item: Item, around: tuple[LoopItem, ...]) -> None:
            found[id(item)] = around
            if isinstance(item, LoopItem):
                for inner in item.items:
                    visit(inner, (*around, item))

        visit(self.root, ())
        return found

    def is_last(self, key: str, draft: Draft) -> bool:
        """Whether a statement comes behind all those that give a variable a value."""
        before = self.inside[: self.inside.index(draft)]
        return not self.shared(key, draft) and all(own in before for own in self.writers.get(key, ()))

    def is_read_between(self, key: str) -> bool:
        """Whether others read values of a variable that are not the last one, which alone a table keeps."""
        own = self.writers[key]
        readers = (d for d in self.inside if d not in own and any(raw.array == key for raw in d.accesses))
        return not all(self.is_last(key, d) for d in readers)

    def is_steady(self, name: str) -> bool:
        """Whether nothing in the nest writes a variable or an array."""
        return name not in self.written | self.reachable | self.region.exposed | self.region.hidden

    def learn(self) -> None:
        """Find `moves`, from nothing upwards."""
        declared, whole = self.region.declared, set[str]()
        while True:
            self.moves = {key: frozenset(declared[key]) if key in whole else frozenset() for key in self.writers}
            before: dict[str, frozenset[str]] = {}
            while before != self.moves:
                before = dict(self.moves)
                for key, own in self.writers.items():
                    met = reduce(frozenset.union, (self.mentioned(d.body, d, key) for d in own), self.moves[key])
                    self.moves[key] = met & frozenset(declared[key])
            wrong = {key for key in self.writers if key not in whole and not self.is_product(key)}
            if not wrong:
                return
            whole |= wrong

    def is_product(self, key: str) -> bool:
        """Whether the loops that a variable's value does not change with decide nothing of whether and how often it is
        changed."""
        around, own = self.region.declared[key], self.writers[key]
        free = [loop for loop in around if loop not in self.moves[key]]
        if not free:
            return True
        reached = reduce(isl.Set.union, (project(d.env.domain, d.env.dims[len(around) :]) for d in own))
        return all(project(d.env.domain, free).intersect(reached).is_equal(d.env.domain) for d in own)

    # --- what is worth a table

    def is_dear(self, node: c.Node) -> bool:
        """Whether an expression calls a function that takes long, of anything but constants: compilers fold these."""
        calls = (one for one in c.walk(node) if isinstance(one, c.Call) and _is_dear(one.function))
        return any(isinstance(part, c.Name | c.ArrayRef) for call in calls for part in c.walk(call))

    def producers(self, read: Iterable[str]) -> set[str]:
        """The variables without a table that some are computed of, with these."""
        found, waiting = set[str](), list(read)
        while waiting:
            key = waiting.pop()
            if key in self.writers and key not in found and key not in self.tables:
                found.add(key)
                waiting += [raw.array for d in self.writers[key] for raw in d.accesses if raw.kind is READ]
        return found

    def ordered(self) -> list[str]:
        """The variables, each behind those that it is computed of."""
        found: list[str] = []
        seen = set[str]()

        def visit(key: str) -> None:
            if key in self.writers and key not in seen:
                seen.add(key)
                for raw in (raw for draft in self.writers[key] for raw in draft.accesses):
                    visit(raw.array)
                found.append(key)

        for key in self.writers:
            visit(key)
        return found

    def is_promising(self) -> bool:
        """Whether anything in the nest takes long enough for a table."""
        around = self.region.declared
        sums = (len(d.env.dims) > len(around[key]) for key, own in self.writers.items() for d in own)
        return any(self.is_dear(draft.body) for draft in self.inside) or any(sums)

    def parted(self) -> list[Item]:
        """The nest with what goes before it; alone, where nothing does."""
        if any(draft.exit_of for draft in self.inside) or not self.is_promising():
            return [self.root]
        self.learn()
        for key in self.ordered():
            self.tabulate(key)
        rest: list[Item] = [self.without_expressions(self.root)]
        if not self.before:
            return [self.root]
        rest = without_empty(rest, lambda d: None if self.is_gone(d) else self.taking(d))
        return [*self.before, *without_dead(rest, self.region)]

    def parted_in_steps(self) -> list[Item]:
        """The same for expressions in a nest below loops over steps, which change what these read."""
        if any(draft.exit_of for draft in self.inside) or not any(self.is_dear(draft.body) for draft in self.inside):
            return [self.root]
        self.learn()
        rest = self.without_expressions(self.root)
        return [*self.before, rest]

    def is_of_step(self, node: c.Expr, draft: Draft) -> bool:
        """Whether an expression reads what all steps share and some write: so they run one after the other, and a table
        in each of them holds none back; or each has its own of it, and of the table."""
        assert self.outermost is not None
        written = {r.array for d in drafts((self.outermost,)) for r in d.accesses if r.kind is not READ}
        refs = {one.ref for one in c.walk(node) if isinstance(one, c.ArrayRef)}
        return any(
            raw.array in written
            and raw.relation.intersect_params(draft.env.domain.params()).is_equal(
                project(raw.relation, self.steps).intersect_params(draft.env.domain.params())
            )
            for raw in draft.accesses
            if raw.ref in refs
        )

    def tabulate(self, key: str) -> None:
        """Give a variable a table, where it is worth one."""
        own, around = self.writers[key], self.region.declared[key]
        group = self.producers([key])
        dear = any(self.is_dear(d.body) for one in group for d in self.writers[one])
        long = any(len(d.env.dims) > len(around) for d in own)
        if len(self.moves[key]) == len(around) or not (long or dear):
            return
        if self.is_repeated(key) or self.is_read_between(key):
            return
        loops = tuple(loop for loop in around if loop in self.moves[key])
        element = self.region.scope.symbols[key].shape.element
        dropped = frozenset(around) - self.moves[key]
        table = self.table(f"{key}_of", element, loops, [d.env.domain for d in own], dropped if dear else frozenset())
        if table is not None:
            self.tables[key] = table
            self.before += self.filling(group, dropped, own[0])
            self.told(key, own[0], dropped)

    def is_repeated(self, key: str) -> bool:
        """Whether another variable is given the same value, as in both turns of two arrays: one table of the expression
        is for both."""
        values = [[c.unlabelled(_given(d, one)) for d in own] for one, own in self.writers.items() if one != key]
        return [c.unlabelled(_given(d, key)) for d in self.writers[key]] in [one for one in values if len(one) == 1]

    def is_gone(self, draft: Draft) -> bool:
        """Whether a statement gives a variable a value that has a table."""
        return any(raw.kind is not READ and raw.array in self.tables for raw in draft.accesses)

    def told(self, key: str, draft: Draft, free: Iterable[str]) -> None:
        symbol = self.region.symbol(key)
        name = f"'{symbol.c_name}'" if symbol is not None else key
        loops = [one.c_name if (one := self.region.symbol(k)) is not None else k for k in draft.env.dims if k in free]
        message = f"{name} does not change with {' and '.join(loops)}: it is computed once, before the nest"
        self.region.note("computed-once", message, draft.span)

    # --- tables

    def table(
        self,
        wish: str,
        element: CType,
        loops: tuple[str, ...],
        domains: list[isl.Set],
        repeated: frozenset[str],
        inside: Draft | None = None,
    ) -> _Table | None:
        """A new array for the values of some loops; None where it would be large, or C has no words for its size.

        repeated: the loops that call a function again for the same value
        inside: the statement in which data decide whether they are needed
        """
        known = self.region.context.intersect(self.region.assumed).params()
        whole = reduce(isl.Set.union, domains)
        firsts: list[c.Expr | None] = []
        values: list[isl.PwAff] = []
        ends: list[isl.PwAff] = []
        one = isl.Val.one(whole.get_ctx())
        for key in loops:
            own = along(project(whole, {*self.around, *loops} - {key}), key).intersect_params(known).coalesce()
            if own.is_empty() or not (own.dim_has_upper_bound(_SET, 0) and own.dim_has_lower_bound(_SET, 0)):
                return None
            end, first, value = own.dim_max(0).add_constant_val(one), None, variable(key)
            if not own.lower_bound_val(_SET, 0, isl.Val.zero(own.get_ctx())).is_equal(own):
                least = own.dim_min(0).neg()
                only = affine_of(least)
                first = text_of(self.region.parameters.values(), least)
                if only is None or first is None:
                    return None
                end = end.add(least)
                shift = isl.PwAff.from_aff(only).project_domain_on_params()
                value = value.add(shift.insert_domain(value.domain().get_space()))
            firsts.append(first)
            values.append(value)
            simpler = end.gist_params(known)  # where m = 4 * n is known, it may be m / 4
            ends.append(end if text_of(self.region.parameters.values(), simpler) is None else simpler)
        texts = tuple(text_of(self.region.parameters.values(), end) for end in ends)
        if any(text is None for text in texts):
            return None
        if inside is not None:
            if not self.pays_unread(dict(zip(loops, ends, strict=True)), element, inside):
                return None
        elif not self.fits(ends, element, whole, known) and not self.pays(ends, element, whole, repeated):
            return None
        name = self.region.make(wish, element, tuple(ends), texts, self.taken)
        return _Table(name, loops, tuple(firsts), tuple(values))

    def fits(self, ends: list[isl.PwAff], element: CType, domain: isl.Set, known: isl.Set) -> bool:
        """Whether a table is small, or has in each dimension no more elements than the nest touches of one array."""
        sizes = [constant_of(end) for end in ends]
        if all(size is not None for size in sizes):
            return prod(size for size in sizes if size is not None) * element.size_bytes <= TABLE_BYTES
        where = project(domain, self.around).params().intersect(known)
        for touched in self.touched():
            for chosen in permutations(touched, len(ends)):
                if all(where.is_subset(size.ge_set(end).params()) for size, end in zip(chosen, ends, strict=True)):
                    return True
        return False

    def pays(self, ends: list[isl.PwAff], element: CType, domain: isl.Set, repeated: frozenset[str]) -> bool:
        """Whether a table is read often enough to be larger than the data, and not too large; what sizes have to be for
        that is assumed, as long as it leaves any."""
        region = self.region
        known = region.context.intersect(region.assumed).params()
        counts = [count for key in sorted(repeated) if (count := self.count(domain, key, known)) is not None]
        sure = prod(size for count in counts if (size := constant_of(count)) is not None)
        unsure = [count for count in counts if constant_of(count) is None]
        elements = MOST_BYTES // element.size_bytes // prod(constant_of(end) or 1 for end in ends)
        if not elements or not counts or (sure < FEWEST_READS and not unsure):
            return False
        needed = known
        if sure < FEWEST_READS:
            least = -(-FEWEST_READS // sure)
            needed = reduce(isl.Set.union, (_at_least(count, least) for count in unsure)).intersect(known)
        sizes = [end for end in ends if constant_of(end) is None]
        for end in sizes:
            needed = needed.intersect(_at_least(end.neg(), -floor(elements ** (1 / len(sizes)) + 1e-9)))
        if needed.is_empty():
            return False
        region.assumed = region.assumed.intersect_params(needed.gist(known)).coalesce()
        return True

    def pays_unread(self, sizes: dict[str, isl.PwAff], element: CType, draft: Draft) -> bool:
        """Whether a table is not too large, and small beside the iterations of the loops that find out whether anything
        of it is needed: nobody notices if nothing is. What sizes have to be for that is assumed.

        sizes: of the table, for each of its loops
        math: loops around the statement find out as often as the table has elements along them. Along each loop inside
              of it whose size is not known, it has at most as many as another loop around it has iterations; those of
              the others are `FEWEST_LOOKS` for each element along the loops whose sizes are known
        """
        region = self.region
        known = region.context.intersect(region.assumed).params()
        elements = MOST_BYTES // element.size_bytes
        others = (self.count(draft.env.domain, key, known) for key in draft.env.dims if key not in sizes)
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
        for end in sizes.values():
            needed = needed.intersect(_at_least(end.neg(), -floor(elements ** (1 / len(sizes)) + 1e-9)))
        if needed.is_empty():
            return False
        region.assumed = region.assumed.intersect_params(needed.gist(known)).coalesce()
        return True

    def count(self, domain: isl.Set, key: str, known: isl.Set) -> isl.PwAff | None:
        """How many iterations a loop has between its first and its last one; None where it has no end."""
        own = along(project(domain, self.around - {key}), key).intersect_params(known).coalesce()
        if own.is_empty() or not (own.dim_has_upper_bound(_SET, 0) and own.dim_has_lower_bound(_SET, 0)):
            return None
        return (own.dim_max(0) - own.dim_min(0)).add_constant_val(isl.Val.one(own.get_ctx()))

    def touched(self) -> Iterator[list[isl.PwAff]]:
        """Of each reference to an array: how many elements of each dimension the nest touches."""
        for draft in self.inside:
            for raw in draft.accesses:
                rank = raw.relation.dim(isl.dim_type.out)
                if not raw.exact or not rank:
                    continue
                cells = project(raw.relation, draft.env.dims).range().reset_tuple_id()
                own = [cells.project_out(_SET, d + 1, rank - d - 1).project_out(_SET, 0, d) for d in range(rank)]
                if all(one.dim_has_upper_bound(_SET, 0) and one.dim_has_lower_bound(_SET, 0) for one in own):
                    unit = isl.Val.one(cells.get_ctx())
                    yield [(one.dim_max(0) - one.dim_min(0)).add_constant_val(unit) for one in own]

    # --- new loops

    def filling(self, group: set[str], dropped: frozenset[str], place: Draft, made: Draft | None = None) -> list[Item]:
        """The loops that give a group of variables their values, without some of those around a statement. Others may
        have the same variables.

        made: a statement beside them, in the place of this one
        """
        own = {id(d) for key in group for d in self.writers[key]}

        def build(items: Iterable[Item], gone: frozenset[str] = frozenset()) -> list[Item]:
            found: list[Item] = []
            for item in items:
                if isinstance(item, LoopItem):
                    drops = item.key in dropped and place in drafts(item.items)
                    inner = build(item.items, gone | {item.key} if drops else gone)
                    if drops:
                        found += inner
                    elif inner:
                        found.append(replace(item, items=tuple(inner)))
                elif item is place and made is not None:
                    found.append(self.taking(made))
                elif id(item) in own:
                    taken = self.taking(_projected(item, gone))
                    found.append(replace(taken) if taken is item else taken)  # it may stay in the nest as well
            return found

        return build([self.root])

    def taking(self, draft: Draft) -> Draft:
        """A statement with tables in the places of variables."""
        met = {raw.array for raw in draft.accesses} & self.tables.keys()
        if not met:
            return draft

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array in met:
                table = self.tables[node.array]
                return replace(node, array=table.name, subscripts=table.subscripts)
            return None

        accesses = tuple(
            self.tables[raw.array].raw(draft.env.domain, raw.kind, raw.ref) if raw.array in met else raw
            for raw in draft.accesses
        )
        return replace(draft, accesses=accesses, body=c.rewrite(draft.body, change))

    # --- expressions

    def without_expressions(self, item: Item) -> Item:
        """The loops with tables in the places of expressions that take long."""
        if isinstance(item, LoopItem):
            return replace(item, items=tuple(map(self.without_expressions, item.items)))
        match item.body:
            case c.ExprStmt(expr=c.Assign(value=value)) if not self.is_gone(item):
                return self.with_tables(item, value, item)
            case c.ExprStmt():
                return item
        kept = self.steps or not item.opaque or not self.is_dear(item.body)
        return item if kept else self.with_tables_inside(item)

    def with_tables(self, draft: Draft, node: c.Expr, first: Draft) -> Draft:
        """A statement with tables in the places of the largest parts of an expression that take long, that a loop
        around does not change, and that a table has room for. first: the statement without any"""
        if not self.is_dear(node):
            return draft
        mentioned = self.mentioned(node, first)
        worth = isinstance(node, c.Call | c.Binary | c.Unary) and changes_nothing(node)
        repeated = frozenset(draft.env.dims) - mentioned - self.steps
        if worth and repeated and mentioned - self.steps and self.is_in_place(node, draft, mentioned):
            return draft
        if worth and repeated and (not self.steps or self.is_of_step(node, draft)):
            table = self.table_of(node, draft, mentioned, first)
            if table is not None:
                return self.with_table(draft, node, table)
        for inner in _evaluated(node):
            draft = self.with_tables(draft, inner, first)
        return draft

    def is_in_place(self, node: c.Expr, draft: Draft, mentioned: frozenset[str]) -> bool:
        """Whether an expression is better computed in each iteration of the outer loops, before the inner ones that do
        not change it (`parted_in_steps`): variables of these iterations are in it, which would be computed twice."""
        refs = {one.ref for one in c.walk(node) if isinstance(one, c.ArrayRef)}
        read = [raw.array for raw in draft.accesses if raw.ref in refs]
        around = mentioned | self.steps
        return bool(self.producers(read)) and around == set(draft.env.dims[: len(around)])

    def table_of(self, expr: c.Expr, draft: Draft, mentioned: frozenset[str], first: Draft) -> _Table | None:
        """The table of an expression in a statement, filled before the nest; None where there is no room for one."""
        loops = tuple(loop for loop in draft.env.dims if loop in mentioned - self.steps)
        dropped = frozenset(draft.env.dims) - mentioned - self.steps
        own, plain = _projected(draft, dropped), c.unlabelled(expr)
        refs = {node.ref for node in c.walk(expr) if isinstance(node, c.ArrayRef)}
        needed = tuple(raw for raw in own.accesses if raw.ref in refs)
        last = all(self.is_last(raw.array, first) for raw in needed)
        for known, where, table in self.expressions:
            if known == plain and own.env.domain.is_subset(where) and last:
                return table
        element = type_in(self.region, expr)
        found = None if element is None else self.table("table", element, loops, [draft.env.domain], dropped)
        if found is None:
            return None
        store = c.ExprStmt(c.Assign("=", c.ArrayRef(found.name, found.subscripts, "e0"), expr), draft.span)
        opaque = own.opaque and not all(raw.exact for raw in needed)
        stored = found.raw(own.env.domain, WRITE, "e0")
        made = replace(own, body=store, accesses=(*needed, stored), opaque=opaque)
        if last:
            self.expressions.append((plain, own.env.domain, found))
        self.before += self.filling(self.producers(raw.array for raw in needed), dropped, first, made)
        return found

    # --- inside of statements that are kept whole

    def with_tables_inside(self, draft: Draft) -> Draft:
        """A statement that is kept whole with tables in the places of expressions that take long, of loops around it
        and inside of it: data decide how often they are computed, if at all."""
        values = given(draft.body, self.is_steady, draft.env.dims)
        added: list[Raw] = []

        def change(expr: c.Expr, loops: tuple[Counted, ...]) -> c.Expr:
            if not self.is_dear(expr):
                return expr
            found = self.cell_inside(written_out(expr, values), loops, draft)
            if found is not None:
                added.append(found[1])
                return found[0]
            inner = {id(part): change(part, loops) for part in c.children(expr)}  # type: ignore[arg-type]
            return c.rewrite(expr, lambda node: inner.get(id(node)))

        body = with_changes(draft.body, change)
        if not added:
            return draft
        body = without_unread(body, values)
        refs = {node.ref for node in c.walk(draft.body) if isinstance(node, c.ArrayRef)}
        gone = refs - {node.ref for node in c.walk(body) if isinstance(node, c.ArrayRef)}
        accesses = tuple(raw for raw in draft.accesses if raw.ref not in gone)
        message = "a part of this does not change with all loops around it: it is computed once, before the nest"
        self.region.note("computed-once", message, draft.span)
        return replace(draft, body=body, accesses=(*added, *accesses))

    def cell_inside(self, expr: c.Expr, loops: tuple[Counted, ...], draft: Draft) -> tuple[c.ArrayRef, Raw] | None:
        """The element of a table for an expression inside of a statement, and its access; None where there is none."""
        if not isinstance(expr, c.Call | c.Binary | c.Unary) or not changes_nothing(expr):
            return None
        inner = {loop.key: loop for loop in loops}
        names = {node.name for node in c.walk(expr) if isinstance(node, c.Name)}
        read = [node for node in c.walk(expr) if isinstance(node, c.ArrayRef)]
        if not names <= inner.keys() | set(draft.env.dims) or not all(map(self.is_fixed, read)):
            return None
        around = tuple(loop for loop in draft.env.dims if loop in names)
        keys = (*around, *(key for key in inner if key in names))
        domain = self.reached(draft, loops)
        if domain is None or len(around) == len(draft.env.dims):
            return None
        found = self.table_inside(expr, draft, keys, project(domain, (self.around | inner.keys()) - set(keys)))
        if found is None:
            return None
        ref = self.label(draft)
        raw = found.raw(domain, READ, ref)
        relation = project(raw.relation, inner)
        loose = tuple(k for k, key in enumerate(keys) if key not in around)
        exact = not loose
        return c.ArrayRef(found.name, found.subscripts, ref), replace(raw, relation=relation, exact=exact, loose=loose)

    def is_fixed(self, node: c.ArrayRef) -> bool:
        """Whether a reference is to a variable that nothing in the nest writes."""
        return not node.subscripts and self.is_steady(node.array)

    def reached(self, draft: Draft, loops: tuple[Counted, ...]) -> isl.Set | None:
        """Where a place inside of a statement may be reached, `[n, i, t] -> { [] : … }`; None where nobody knows."""
        affine, region, domain = Affine(self.region), self.region, draft.env.domain
        env, before = draft.env, region.strict
        region.strict = True
        for loop in loops:
            env = replace(env, inner=(*env.inner, loop.key))
            for bound in loop.bounds:
                holds = affine.condition(c.rewrite(bound, _named), env)
                if holds is None:
                    region.strict = before
                    return None
                domain = domain.intersect(holds)
            env = replace(env, domain=domain)
        region.strict = before
        return domain.coalesce()

    def table_inside(self, expr: c.Expr, draft: Draft, keys: tuple[str, ...], domain: isl.Set) -> _Table | None:
        """The table of an expression inside of a statement, filled before the nest."""
        region, plain = self.region, c.unlabelled(expr)
        for known, where, filled in self.expressions:
            if known == plain and filled.loops == keys and domain.is_subset(where):
                return filled
        element = type_in(region, expr)
        if element is None:
            return None
        assumed = region.assumed
        table = self.table("table", element, keys, [domain], frozenset(), draft)
        if table is None or not self.is_total(expr, keys, domain):
            region.assumed = assumed
            return None
        needed = {node.ref for node in c.walk(expr) if isinstance(node, c.ArrayRef)}
        reads = dict.fromkeys(raw.ref for raw in draft.accesses if raw.ref in needed)
        first = {ref: next(raw for raw in draft.accesses if raw.ref == ref) for ref in reads}
        space = [key for key in draft.env.variables if key not in keys]
        accesses = tuple(replace(raw, relation=project(raw.relation, space)) for raw in first.values())
        store = c.ExprStmt(c.Assign("=", c.ArrayRef(table.name, table.subscripts, "e0"), expr), draft.span)
        made = replace(
            draft,
            env=replace(draft.env, domain=domain, dims=keys, inner=()),
            body=store,
            accesses=(*accesses, table.raw(domain, WRITE, "e0")),
            opaque=False,
        )
        self.expressions.append((plain, domain, table))
        item: Item = made
        for key in reversed(keys):
            item = LoopItem(key, 1, (item,))
        self.before.append(item)
        return table

    def is_total(self, expr: c.Expr, keys: tuple[str, ...], domain: isl.Set) -> bool:
        """Whether an expression may be computed for all values of some loops, as those of data that never come."""
        region = self.region
        known = region.context.intersect(region.assumed).params()
        bounds: dict[str, Bounds] = {}
        for key in keys:
            own = along(project(domain, set(keys) - {key}), key).intersect_params(known)
            least, most = least_of(own, 0), greatest_of(own, 0)
            if not (least.is_int() and most.is_int()):
                return False
            bounds[key] = int(least.to_python()), int(most.to_python())

        def is_real(name: str) -> bool | None:
            element = region.element(name)
            return None if element is None or element.kind not in ("int", "float") else element.kind == "float"

        return is_total(expr, bounds, is_real, lambda name: real_type(name) is not None)

    def label(self, draft: Draft) -> str:
        """Of a new reference."""
        taken = {raw.ref for raw in draft.accesses}
        self.references += 1
        while f"e{self.references}" in taken:
            self.references += 1
        return f"e{self.references}"

    def with_table(self, draft: Draft, expr: c.Expr, table: _Table) -> Draft:
        """A statement with an element of a table in the place of an expression."""
        ref = self.label(draft)
        cell = c.ArrayRef(table.name, table.subscripts, ref)
        after = c.rewrite(draft.body, lambda node: cell if node is expr else None)
        left = {node.ref for node in c.walk(after) if isinstance(node, c.ArrayRef)}
        accesses = tuple(raw for raw in draft.accesses if raw.ref in left)
        message = "a part of this does not change with all loops around it: it is computed once, before the nest"
        self.region.note("computed-once", message, draft.span)
        return replace(draft, body=after, accesses=(table.raw(draft.env.domain, READ, ref), *accesses))


def _evaluated(node: c.Expr) -> list[c.Expr]:
    """The parts of an expression that are evaluated whenever it is."""
    match node:
        case c.Ternary(condition=condition):
            return [condition]
        case c.Binary(op="&&" | "||", left=left):
            return [left]
        case _:
            return c.children(node)  # type: ignore[return-value]


def _named(node: c.Node) -> c.Node | None:
    """Variables as names, as they are written."""
    return c.Name(node.array, node.span) if isinstance(node, c.ArrayRef) and not node.subscripts else None


def _at_least(value: isl.PwAff, least: int) -> isl.Set:
    """The parameters for which a value is not smaller."""
    return value.add_constant_val(isl.Val.int_from_si(value.get_ctx(), -least)).nonneg_set().params()


def _is_dear(function: str) -> bool:
    plain = function.removeprefix("__builtin_")
    return real_type(function) is not None and not {plain, plain.removesuffix("f")} & CHEAP


def _assignment(draft: Draft, key: str) -> c.Assign | None:
    """What a statement does that gives one variable a value, and does nothing else."""
    if draft.opaque or draft.exit_of or draft.value_of:
        return None
    if any(raw.kind is not READ and (raw.kind is not WRITE or raw.array != key) for raw in draft.accesses):
        return None
    match draft.body:
        case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array, subscripts=()), value=value) as found):
            return found if array == key and changes_nothing(value) else None
    return None


def _given(draft: Draft, key: str) -> c.Expr:
    """The value that a statement gives a variable, and nothing else does."""
    found = _assignment(draft, key)
    assert found is not None
    return found.value


def _projected(draft: Draft, dropped: Iterable[str]) -> Draft:
    """A statement without some of the loops around it."""
    names = [loop for loop in draft.env.dims if loop in dropped]
    if not names:
        return draft
    domain = project(draft.env.domain, names).coalesce()
    dims = tuple(loop for loop in draft.env.dims if loop not in names)
    accesses = tuple(replace(raw, relation=project(raw.relation, names)) for raw in draft.accesses)
    return replace(draft, env=replace(draft.env, domain=domain, dims=dims), accesses=accesses)


__all__ = ["with_invariants_apart"]
