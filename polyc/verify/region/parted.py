"""Does the region whose loops the frontend parted compute what it computes with each iteration in its place?

Nothing is taken from the frontend: which statement stands for which one is found by their texts.

math: let S be a statement of the whole region. Of the parted one, X stores in a new array N what it computes, and
      nothing but such X does; the others are T. An array that is new and no N is another name of one that was there,
      or has an element for each value that a variable had. An instance of T, or X, stands for all of S with its loops'
      values: for one, or for all iterations of the loops that T is not in. Where S is kept whole, X may have loops
      that are inside of it.
      Shown is that
        (1) the text of each T is that of an S, with the values that X store instead of what it reads of N, and other
            names; T and these X access what S accesses, and they stand for instances of S alone; each instance that
            writes what is needed elsewhere has one that stands for it
        (2) T reads of N what X stored in the instance of the same loops, in the type in which C computes it, and a new
            array holds nothing before; for loops inside of T that is shown in `inside.py`,
        (3) each access of a T, and of the X that it reads, sees what stands for the instance whose value that of S
            sees, or the same cell from before the region, and each live-out cell has the same last writer,
        (4) where data decide what is written, writes to one cell keep their order.
      By induction an instance computes what each does that it stands for; where data decide, all that may have written
      is the same and in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import product

import islpy as isl

from polyc.analysis.dependences import accesses_of
from polyc.analysis.inside import Counted, given, with_changes, without_unread, written_out
from polyc.analysis.order import order_of
from polyc.frontend.c.ctype import INT, basic, common, promote
from polyc.frontend.c.functions import real_type
from polyc.frontend.idioms.helpers import type_of_literal
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.scop import Access, AccessKind, Array, CType, Scop, Statement, Storage
from polyc.poly import empty_map, equal_at, maps, out_name, sets, union_of
from polyc.records import dataclass, field, replace
from polyc.verify.region.handed import Values, access_of, cells_of
from polyc.verify.region.inside import Element, is_steady

KIND = "parting"
_Stores = Mapping[str, Statement]
"""N -> the X that stored what is read of it."""


def parting_faults(whole: Scop, parted: Scop) -> list[Fault]:
    """What is wrong with a region whose loops were parted."""
    step = _Parting(whole, parted)
    for one in (step.form_faults, step.statement_faults, step.flow_faults, step.order_faults):
        if faults := list(one()):
            return faults
    return []


@dataclass(frozen=True, slots=True, eq=False)
class _Event:
    """An access that reads, of a T or of an X for it, and that of S which it stands for."""

    statement: Statement
    position: int
    then: Statement
    place: int
    pairs: isl.Map
    """`{ T[i] -> S[i, j] }`"""

    @property
    def reader(self) -> isl.UnionMap:
        """`{ T[i] -> [T[i] -> ref[]] }`."""
        return _labelled(self.statement, self.position)

    @property
    def then_reader(self) -> isl.UnionMap:
        return _labelled(self.then, self.place)


@dataclass(slots=True, eq=False)
class _Parting:
    whole: Scop
    parted: Scop
    stores: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    """N -> each X."""
    names: dict[str, str] = field(default_factory=dict)
    """Other names -> arrays that were there."""
    stands_for: dict[str, Statement] = field(default_factory=dict)
    """The name of T -> S."""

    # --- (1), in names ---

    def form_faults(self) -> Iterator[Fault]:
        whole, parted = self.whole, self.parted
        if whole.live_out != parted.live_out:
            yield Fault(KIND, "parting the loops changed what is needed after the region", "")
        if not parted.known.is_subset(whole.known):
            yield Fault(KIND, "parting the loops forgot what the region's guard has to ask", "")
        for name in sorted(parted.arrays.keys() - whole.arrays.keys()):
            array = parted.arrays[name]
            if array.storage is not Storage.REGION or array.constant:
                yield Fault(KIND, f"the new array {name} does not belong to the region alone", "")
            for touched in sets(accesses_of(parted, frozenset([name])).all.range().intersect_params(parted.known)):
                if not touched.is_subset(cells_of(array, touched)):
                    yield Fault(KIND, f"cells outside of the new array {name} are touched", str(touched))
            writers = [s for s in parted.statements.values() if any(a.array == name and _writes(a) for a in s.accesses)]
            values = [value for one in writers if (value := _stored(one, name)) is not None]
            if not writers or len(values) < len(writers):
                continue
            if all(self.is_store(name, one) for one in writers):
                self.stores[name] = tuple(writers)
                if any(extent is None for extent in array.extents):
                    yield Fault(KIND, f"the new array {name} has no length", "")
                for one, value in zip(writers, values, strict=True):
                    if not self.is_kept(value, parted.arrays[name].element, one):
                        yield Fault(KIND, f"{name} may hold other values than {one.name} computes", "")

    def is_store(self, name: str, one: Statement) -> bool:
        """Whether a statement that writes a new array alone is an X, and no T with another name of what it writes."""
        if self.is_copied(name, one):
            return True
        names = self.names
        for then in self.whole.statements.values():
            if self.is_part(one, then) and not self.is_there(then):
                return False
            self.names = names
        return True

    def is_there(self, then: Statement) -> bool:
        """Whether all of an S is there under the names that it has: in an inlined body, where all statements have one
        place, `m_each[i] = m` is no other name of what `u[i] = m` writes then."""
        plain = _plain(then.body, {}, set())
        return any(
            own.span == then.span
            and _plain(own.body, {}, set()) == plain
            and then.domain.is_subset(self.instances(own, then).range())
            for own in self.parted.statements.values()
        )

    def is_copied(self, name: str, store: Statement) -> bool:
        """Whether the statement whose value is stored is there itself, and takes it from the new array: so this is no
        other name of what it writes."""
        for one in self.parted.statements.values():
            match one.body:
                case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=own), value=c.ArrayRef(array=taken))):
                    if taken == name and own in self.whole.arrays and one.span == store.span:
                        return True
        return False

    def is_kept(self, value: c.Expr, element: CType, store: Statement) -> bool:
        """Whether C computes an expression in the type of some elements, or reads it from such."""
        if isinstance(value, c.ArrayRef) and len(value.subscripts) == self.parted.arrays[value.array].rank:
            return self.parted.arrays[value.array].element == element
        whole = {parameter.expr: parameter.type for parameter in self.parted.parameters}
        whole |= {c.Name(loop): kind for loop, kind in zip(store.loops, store.loop_types, strict=True)}
        found = _type(value, self.parted.arrays, whole)
        return found is not None and _size(found) == _size(element)

    def statement_faults(self) -> Iterator[Fault]:
        known, made = self.parted.known, {one.name for stores in self.stores.values() for one in stores}
        found: dict[str, isl.Set] = {}
        for own in self.parted.statements.values():
            if own.name in made:
                if sum(_writes(a) for a in own.accesses) != 1 or own.opaque:
                    yield Fault(KIND, f"{own.name} stores a value, and does more", own.text)
                continue
            then = self.counterpart(own, found)
            if then is None:
                yield Fault(KIND, f"no statement of the region computes what {own.name} computes", own.text)
                return
            self.stands_for[own.name] = then
            same = self.instances(own, then).intersect_params(known)
            if not own.domain.intersect_params(known).is_subset(same.domain()):
                yield Fault(KIND, f"parting the loops added instances of {then.name}", own.text)
            ran = same.range()
            if self.is_seen(then) and then.name in found and not found[then.name].is_disjoint(ran):
                yield Fault(KIND, f"parting the loops runs instances of {then.name} twice", own.text)
            found[then.name] = found[then.name].union(ran) if then.name in found else ran
        for then in self.whole.statements.values():
            ran = found.get(then.name, then.domain.subtract(then.domain))
            missing = then.domain.intersect_params(known).subtract(ran)
            if self.is_seen(then) and not missing.is_empty():
                yield Fault(KIND, f"parting the loops lost instances of {then.name}", then.text)

    def counterpart(self, own: Statement, ran: Mapping[str, isl.Set]) -> Statement | None:
        """The S that a T stands for. Where a function's body stands in the place of its call, several may have one text
        and one place: then the first one that has these instances, and of which no other T has run them.

        ran: the instances of each S that other T stand for
        """
        known, names = self.parted.known, self.names
        alike: list[tuple[Statement, dict[str, str]]] = []
        for then in self.whole.statements.values():
            if not self.is_part(own, then):
                continue
            same = self.instances(own, then).intersect_params(known)
            again = self.is_seen(then) and then.name in ran and not ran[then.name].is_disjoint(same.range())
            if not again and own.domain.intersect_params(known).is_subset(same.domain()):
                return then
            alike.append((then, self.names))
            self.names = names
        if not alike:
            return None
        first, self.names = alike[0]
        return first

    def is_seen(self, statement: Statement) -> bool:
        """Whether anybody but its readers in the region sees what a statement does."""
        return any(_writes(a) and a.array not in self.whole.privatizable for a in statement.accesses)

    def is_part(self, own: Statement, then: Statement) -> bool:
        """Whether a T does what an S does, in names; if so, its other names are known from now on."""
        if own.span != then.span or own.values or then.values or own.opaque != then.opaque:
            return False
        if any(pair not in _loops(then) for pair in _loops(own)):
            return False
        choices = self.choices(own)
        return all(any(self.is_named(now, body) for now, body in self.texts(own, then, one)) for one in choices)

    def choices(self, own: Statement) -> list[dict[str, Statement]]:
        """An X for each N that a T reads, in all ways."""
        read = sorted({access.array for access in own.accesses} & self.stores.keys())
        return [dict(zip(read, chosen, strict=True)) for chosen in product(*(self.stores[name] for name in read))]

    def texts(self, own: Statement, then: Statement, stores: _Stores) -> Iterator[tuple[c.Stmt, c.Stmt]]:
        """A T with the values that X store, and S; of statements that are kept whole also with their names' values."""
        yield c.rewrite(own.body, lambda node: self.stored(node, own, stores)), then.body
        if own.opaque and own.body != then.body and not isinstance(own.body, c.ExprStmt):
            yield self.written_out(own.body, own, own, stores), self.written_out(then.body, then, own, stores)

    def is_named(self, now: c.Stmt, body: c.Stmt) -> bool:
        """Whether a text is another one but for other names; if so, these are known from now on."""
        names = dict(self.names)
        for one, other in zip(_references(now), _references(body), strict=False):
            if one.array not in self.whole.arrays and other.array in self.whole.arrays:
                a, b = self.parted.arrays[one.array], self.whole.arrays[other.array]
                if a.element != b.element or (b.rank and a.rank != b.rank):
                    return False
                if names.setdefault(one.array, other.array) != other.array:
                    return False
        scalars = {name for name, old in names.items() if not self.whole.arrays[old].rank}
        if _plain(now, names, scalars) != _plain(body, {}, set()):
            return False
        self.names = names
        return True

    def stored(
        self, node: c.Node, own: Statement, stores: _Stores, loops: tuple[Counted, ...] | None = None
    ) -> c.Node | None:
        """What stands for an element of an N in a T: the value that X stores there. loops: those inside of T, around
        the place"""
        if not isinstance(node, c.ArrayRef) or node.array not in stores:
            return None
        store = stores[node.array]
        value = _assignment(store).value
        same = node.subscripts == _cell(store).subscripts
        if loops is None:
            same = same and set(store.loops) <= set(own.loops)
        else:
            same = same and len(self.stores[node.array]) == 1
            same = same and Element(own, store, value, node.ref, loops).holds_its_value(self.whole, self.parted)
        return value if same else c.Name("(another cell)")

    def written_out(self, body: c.Stmt, statement: Statement, own: Statement, stores: _Stores) -> c.Stmt:
        """A statement that is kept whole with what X store, and with the values of the names that it gives some."""

        def with_stored(expr: c.Expr, loops: tuple[Counted, ...]) -> c.Expr:
            return c.rewrite(expr, lambda node: self.stored(node, own, stores, loops))

        names = {*statement.loops, *(p.expr.name for p in self.parted.parameters if isinstance(p.expr, c.Name))}
        body = with_changes(body, with_stored)
        values = given(body, lambda name: is_steady(self.whole, name), names)
        return without_unread(with_changes(body, lambda expr, _: written_out(expr, values)), values)

    # --- (1), in accesses ---

    def events(self) -> Iterator[_Event]:
        """Each access of an S that reads, in each T, or in the X that it reads. Raises KeyError where something is
        accessed that S does not access, or not all of it."""
        for own in self.parted.statements.values():
            if own.name not in self.stands_for:
                continue
            for stores in self.choices(own):
                yield from self.events_of(own, self.stands_for[own.name], stores)

    def events_of(self, own: Statement, then: Statement, stores: _Stores) -> Iterator[_Event]:
        """The events of one T with some X, whose values it reads. Raises KeyError."""
        here = [(own, k) for k, a in enumerate(own.accesses) if a.array not in stores]
        read = [stores[a.array] for a in own.accesses if a.array in stores]
        there = [(store, k) for store in read for k, a in enumerate(store.accesses) if not _writes(a)]
        where = self.instances(own, then).range()
        stand = {one.name: self.instances(one, then).intersect_range(where) for one in (own, *read)}
        for position, access in enumerate(then.accesses):
            labelled = [(s, k) for s, k in here if s.accesses[k].ref == access.ref]
            for among, left in ((labelled, here), (there, there)):
                found = next((one for one in among if self.is_same(one, access, stand[one[0].name])), None)
                if found is None and left is there:
                    found = next((one for one in there if self.is_copied_unasked(one, access)), None)
                if found is not None:
                    left.remove(found)
                    break
            else:
                raise KeyError(own.name)
            if not _writes(access):
                yield _Event(*found, then, position, stand[found[0].name].intersect_range(access.relation.domain()))
        if here or not all(self.is_seen_again(*one, then, stand) for one in there):
            raise KeyError(own.name)

    def is_seen_again(self, store: Statement, position: int, then: Statement, stand: Mapping[str, isl.Map]) -> bool:
        """Whether an X reads what S reads in another place, of what nothing writes."""
        if not is_steady(self.whole, store.accesses[position].array):
            return False
        return any(self.is_same((store, position), access, stand[store.name]) for access in then.accesses)

    def is_same(self, one: tuple[Statement, int], access: Access, stand: isl.Map) -> bool:
        """Whether an access of a T, or of an X for it, is that of S. stand: what their instances stand for"""
        statement, position = one
        found = statement.accesses[position]
        array = self.names.get(found.array, found.array)
        if (array, found.kind) != (access.array, access.kind):
            return False
        if found.array in self.names and not access.relation.dim(isl.dim_type.out):
            return True  # which element of the table is seen where the flow is compared
        mine = found.relation.set_tuple_name(isl.dim_type.out, array)
        wanted = access.relation.intersect_domain(stand.range())
        return equal_at(stand.reverse().apply_range(mine), wanted, self.parted.known)

    def is_copied_unasked(self, one: tuple[Statement, int], access: Access) -> bool:
        """Whether an X reads a scalar wherever it runs, and S where a condition holds: what S does not read is copied
        all the same, and has to be there."""
        statement, position = one
        found = statement.accesses[position]
        if (found.array, found.kind) != (access.array, access.kind) or found.relation.dim(isl.dim_type.out):
            return False
        first = Values.of(self.parted, {found.array}).first.intersect_params(self.parted.known)
        reader = isl.UnionMap.from_map(access_of(found, position).domain_map()).domain()
        return bool(first.intersect_domain(reader).is_empty())

    def instances(self, statement: Statement, then: Statement) -> isl.Map:
        """`{ T[i] -> S[i, j] }`: what an instance of T, or X, stands for; loops inside of S make no instances."""
        relation = isl.Map.from_domain_and_range(statement.domain, then.domain)
        for k, loop in enumerate(statement.loops):
            if loop in then.loops:
                relation = relation.equate(isl.dim_type.in_, k, isl.dim_type.out, then.loops.index(loop))
        return relation

    # --- (2) and (3) ---

    def flow_faults(self) -> Iterator[Fault]:
        try:
            events = list(self.events())
        except KeyError as where:
            yield Fault(KIND, f"{where.args[0]} accesses something else than the statement that it stands for", "")
            return
        stand, places = self.stand(), self.places()
        touched = {a.array for s in self.parted.statements.values() for a in s.accesses if _writes(a)}
        renamed = {*self.names, *self.names.values(), *self.stores}
        asked = renamed & touched | {name for name in touched - renamed if self.is_turned(name, places)}
        before = Values.of(self.whole, (asked | renamed) & self.whole.arrays.keys())
        now = Values.of(self.parted, asked)
        yield from self.store_faults(now)
        known = self.parted.known
        for event in events:
            array = event.statement.accesses[event.position].array
            if array in asked or event.then.accesses[event.place].array in asked | renamed:
                yield from self.event_faults(event, before, now, stand)
        left = now.final.apply_domain(stand).intersect_params(known)
        then_final = before.final.intersect_params(known)
        if not left.is_equal(then_final):
            yield Fault(KIND, "with the loops parted, live-out cells have other last writers", "")

    def event_faults(self, event: _Event, before: Values, now: Values, stand: isl.UnionMap) -> Iterator[Fault]:
        """(3) for one access: what it reads stands for what S reads, whichever instance it stands for itself."""
        known = self.parted.known
        pairs = isl.UnionMap.from_map(event.pairs.intersect_params(known))
        of_pair, of_then = pairs.domain_map(), pairs.range_map()
        mine, its = of_pair.apply_range(event.reader), of_then.apply_range(event.then_reader)
        sources = mine.apply_range(now.flow.reverse())
        wanted = its.apply_range(before.flow.reverse())
        other = wanted.subtract(sources.apply_range(stand))
        if other.is_empty():
            other = sources.subtract(wanted.apply_range(stand.reverse()))
        if not other.is_empty():
            yield Fault(KIND, f"with the loops parted, {event.statement.name} reads other values", str(other.sample()))
        if not mine.apply_range(now.first).is_equal(its.apply_range(before.first)):
            message = f"with the loops parted, {event.statement.name} reads other values from before the region"
            yield Fault(KIND, message, "")

    def stand(self) -> isl.UnionMap:
        """`{ T[i] -> S[i, j] }`, of all T."""
        found = empty_map(self.parted.domain)
        for name, then in self.stands_for.items():
            found = found.union(isl.UnionMap.from_map(self.instances(self.parted.statements[name], then)))
        return found

    def is_turned(self, array: str, places: isl.UnionMap) -> bool:
        """Whether two accesses to a cell, of which one writes, change places: if none do, each sees what it saw."""
        accesses = accesses_of(self.parted, frozenset([array]))
        accesses = replace(accesses, reads=accesses.reads.intersect_params(self.parted.known))
        pairs = accesses.all_writes.apply_range(accesses.all.reverse())
        now = order_of(self.parted.tree).intersect_domain(accesses.all.domain())
        then = places.intersect_domain(accesses.all.domain())
        left = [one for one in maps(pairs.union(pairs.reverse())) if not _in_one_order(one, now, then)]
        pairs = union_of(left, empty_map(pairs))
        if pairs.is_empty():
            return False
        return not _not_before(_before(pairs, now), then).is_empty()

    def places(self) -> isl.UnionMap:
        """`{ T[i] -> θ(S[i]) }`, and that of X for each T that reads it: the order in the whole region."""
        found = self.stand()
        for array, store in ((array, one) for array, stores in self.stores.items() for one in stores):
            for name, then in self.stands_for.items():
                if any(a.array == array for a in self.parted.statements[name].accesses):
                    found = found.union(isl.UnionMap.from_map(self.instances(store, then)))
        return found.apply_range(order_of(self.whole.tree))

    def store_faults(self, values: Values) -> Iterator[Fault]:
        """(2)."""
        made = self.parted.arrays.keys() - self.whole.arrays.keys()
        for piece in maps(values.first.intersect_params(self.parted.known)):
            if out_name(piece) in made:
                yield Fault(KIND, f"{out_name(piece)} is read where nothing was stored in it", str(piece.sample()))
        writing = {store.name: store for stores in self.stores.values() for store in stores}
        for piece in maps(values.flow.intersect_params(self.parted.known)):
            store = writing.get(piece.get_tuple_name(isl.dim_type.in_))
            if store is None:
                continue
            reader = self.parted.statements[piece.range().unwrap().get_tuple_name(isl.dim_type.in_)]
            same = isl.Map.universe(piece.get_space())
            for k, loop in enumerate(store.loops):
                if loop in reader.loops:  # else it is inside of the reader, which `Element` looks at
                    same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, reader.loops.index(loop))
            if not piece.is_subset(same):
                yield Fault(KIND, f"what {store.name} stores is read in another iteration", str(piece.sample()))

    # --- (4) ---

    def order_faults(self) -> Iterator[Fault]:
        order, now = order_of(self.whole.tree), order_of(self.parted.tree)
        later = self.stand().reverse().apply_range(now)
        for name in sorted(self.whole.arrays):
            accesses = accesses_of(self.whole, frozenset([name]))
            if accesses.may_writes.is_empty():
                continue
            writes = accesses.all_writes.intersect_params(self.parted.known)
            pairs = writes.apply_range(writes.reverse())
            pairs = union_of((one for one in maps(pairs) if not _in_one_order(one, order, later)), empty_map(pairs))
            pairs = _before(pairs, order)
            wrong = pairs.subtract(_before(pairs, later))
            if not wrong.is_empty():
                yield Fault(KIND, f"writes to {name} change places", str(wrong.sample()))


def _before(pairs: isl.UnionMap, order: isl.UnionMap) -> isl.UnionMap:
    """The pairs of which the first comes before the second."""
    return _ordered(pairs, order, isl.UnionMap.lex_lt_union_map)


def _not_before(pairs: isl.UnionMap, order: isl.UnionMap) -> isl.UnionMap:
    return _ordered(pairs, order, isl.UnionMap.lex_ge_union_map)


def _ordered(
    pairs: isl.UnionMap, order: isl.UnionMap, how: Callable[[isl.UnionMap, isl.UnionMap], isl.UnionMap]
) -> isl.UnionMap:
    """The pairs in an order, two statements at a time: comparing the places of all of them takes isl long."""
    found = empty_map(pairs)
    for piece in maps(pairs):
        one, other = (_places_of(order, end) for end in (piece.domain(), piece.range()))
        found = found.union(isl.UnionMap.from_map(piece).intersect(how(one, other)))
    return found


def _places_of(order: isl.UnionMap, instances: isl.Set) -> isl.UnionMap:
    """Where a statement's instances run, without what is known of these."""
    own = order.intersect_domain(isl.UnionSet.from_set(isl.Set.universe(instances.get_space())))
    known = isl.UnionSet.from_set(instances)
    return own.gist_domain(known) if known.is_subset(own.domain()) else own


def _in_one_order(pairs: isl.Map, now: isl.UnionMap, then: isl.UnionMap) -> bool:
    """Whether two statements are in one order now and then, as their steps in the outermost sequences say, and what is
    inside of these, which is the same: most are, and comparing their places takes isl long."""
    ends = [isl.UnionSet.from_set(isl.Set.universe(one.get_space())) for one in (pairs.domain(), pairs.range())]
    found = [[_step_of(order.intersect_domain(end)) for end in ends] for order in (now, then)]
    if any(one is None for both in found for one in both):
        return False
    (one, other), (before, after) = ([step for step in both if step is not None] for both in found)
    if one[0] != other[0]:
        return (one[0] < other[0]) == (before[0] < after[0]) and before[0] != after[0]
    same = all(a[1].is_equal(b[1]) for a, b in ((one, before), (other, after)))
    return before[0] == after[0] and same


def _step_of(order: isl.UnionMap) -> tuple[int, isl.UnionMap] | None:
    """The constant that a statement's place begins with, and the rest of the place; None where it is no constant."""
    places = maps(order)
    if len(places) != 1:
        return None
    (place,) = places
    first = place.project_out(isl.dim_type.out, 1, place.dim(isl.dim_type.out) - 1).range()
    value = first.plain_get_val_if_fixed(isl.dim_type.set, 0)
    if not value.is_int():
        return None
    return int(value.to_python()), isl.UnionMap.from_map(place.project_out(isl.dim_type.out, 0, 1))


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _labelled(statement: Statement, position: int) -> isl.UnionMap:
    """`{ S[i] -> [S[i] -> ref[]] }`."""
    return isl.UnionMap.from_map(access_of(statement.accesses[position], position).domain_map().reverse())


def _stored(statement: Statement, array: str) -> c.Expr | None:
    """What a statement stores in the cell of its instance; None where it does anything else."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=own), value=value)) if not statement.values:
            return value if own == array else None
    return None


def _cell(store: Statement) -> c.ArrayRef:
    """What an X stores in."""
    target = _assignment(store).target
    assert isinstance(target, c.ArrayRef)
    return target


def _assignment(store: Statement) -> c.Assign:
    """Of an X."""
    assert isinstance(store.body, c.ExprStmt)
    assert isinstance(store.body.expr, c.Assign)
    return store.body.expr


def _references(node: c.Node) -> list[c.ArrayRef]:
    return [one for one in c.walk(node) if isinstance(one, c.ArrayRef)]


def _type(expr: c.Expr, arrays: Mapping[str, Array], whole: Mapping[c.Expr, CType]) -> CType | None:
    """The type in which C computes an expression; None where that is not known.

    whole: the types of sizes, and of the loops' variables
    """
    if expr in whole:
        return promote(whole[expr])

    def of(*parts: c.Expr) -> CType | None:
        types = [_type(part, arrays, whole) for part in parts]
        known = [type_ for type_ in types if type_ is not None]
        if len(known) < len(types):
            return None
        floats = [type_ for type_ in known if type_.kind == "float"]
        return max(floats, key=lambda t: t.size_bytes) if floats else reduce(common, map(promote, known))

    match expr:
        case c.Literal(text=text):
            return type_of_literal(text)
        case c.ArrayRef(array=name, subscripts=subscripts) if len(subscripts) == arrays[name].rank:
            element = arrays[name].element
            return element if element.kind in ("int", "float") else None
        case c.Cast(type=text):
            return basic(text, text) if text in _PLAIN else None
        case c.Unary(op="-" | "+" | "~", operand=operand):
            return of(operand)
        case c.Unary(op="!") | c.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"):
            return INT
        case c.Binary(op="<<" | ">>", left=left):
            return of(left)
        case c.Binary(left=left, right=right) | c.Ternary(then=left, otherwise=right):
            return of(left, right)
        case c.Call(function=name) if (real := real_type(name)) is not None:
            return basic(real, real)
        case c.Call(function="abs"):
            return INT
    return None


def _size(type_: CType) -> tuple[str, int, bool]:
    return type_.kind, type_.size_bytes, type_.signed


_PLAIN = frozenset({"float", "double", "int", "unsigned int", "long", "unsigned long"})


def _loops(statement: Statement) -> list[tuple[str, CType]]:
    return list(zip(statement.loops, statement.loop_types, strict=True))


def _plain(node: c.Stmt, names: dict[str, str], scalars: set[str]) -> c.Stmt:
    """A text without places and labels, and with the names from before; `scalars` had no subscripts there."""

    def change(one: c.Node) -> c.Node | None:
        if isinstance(one, c.ArrayRef):
            inside = () if one.array in scalars else tuple(c.rewrite(s, change) for s in one.subscripts)
            return replace(one, ref="", array=names.get(one.array, one.array), subscripts=inside)
        return None

    return c.rewrite(c.placed(node, None), change)


__all__ = ["KIND", "parting_faults"]
