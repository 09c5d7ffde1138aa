"""The text's local arrays: (3) of `compare.py`.

math: R is found from one reference, `{ [o, x] -> [o, y] }` with the loops o around the declaration, where what it says
      is one expression; the others agree where that expression, of what they touch by the region, is theirs. Both are
      functions of t then, so that no set has to be compared. What has several expressions (a border of the picture has
      its own) is compared as relations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import islpy as isl

from polyc.model.program import Buffer
from polyc.model.scop import Array
from polyc.passes.boxes import constant_of
from polyc.poly import affine_map, everywhere, function_of
from polyc.reread.twice.places import plain
from polyc.reread.twice.program import NotComparable
from polyc.reread.twice.text import Local, Part, Places, Reference, Text, members
from polyc.verify.dataflow import below
from polyc.verify.fault import Fault
from polyc.verify.shared import lives_apart
from polyc.verify.windows import along, clash, same_place


def local_faults(text: Text) -> list[Fault]:
    """(3), for every local array and each array that it stands for; several are one after the other there."""
    users: dict[str, dict[str, list[Reference]]] = {}
    for part in text.parts:
        for reference in part.references:
            if text.local_of(reference.now) is not None:
                users.setdefault(reference.now.array, {}).setdefault(reference.then.array, []).append(reference)
    found: list[Fault] = []
    for key, local in text.locals.items():
        for array, references in users.get(key, {}).items():
            found += _Stored(text, local, array, references).faults()
        for one, two in combinations(users.get(key, {}).items(), 2):
            above, known = len(local.run.path.steps) - 1, text.program.scop.known
            runs_of = [list(dict.fromkeys(r.part.run for r in references)) for _, references in (one, two)]
            if not lives_apart(runs_of[0], runs_of[1], above, local.depth, known):
                message = f"{local.array.c_name} stands for several arrays at once"
                found.append(Fault("text", message, f"{one[0]}, {two[0]}"))
    return found


@dataclass(slots=True, eq=False)
class _Rule:
    """R of a local array as one expression, `{ [o, x] -> [o, y] }` everywhere."""

    relation: isl.Map
    function: isl.MultiAff | None

    def gives(self, life: isl.MultiAff | None, places: Places) -> bool:
        """Whether it gives the text's elements, where all are expressions; False says nothing."""
        wanted, printed = places.wanted_function, places.printed_function
        if self.function is None or life is None or wanted is None or printed is None:
            return False
        by_rule = self.function.pullback_multi_aff(life.flat_range_product(plain(wanted)))
        found = life.flat_range_product(plain(printed)).align_params(by_rule.get_space())
        by_rule = by_rule.align_params(found.get_space())
        pairs = ((by_rule.get_at(k), found.get_at(k)) for k in range(found.dim(isl.dim_type.out)))
        unlike = [(one, other) for one, other in pairs if not one.plain_is_equal(other)]
        # The same rounding may be written in two ways: they agree where tiles begin.
        return all(places.instances.is_subset(isl.Set.from_basic_set(one.eq_basic_set(b))) for one, b in unlike)


@dataclass(slots=True, eq=False)
class _Stored:
    """A local array where it stands for one of the region's."""

    text: Text
    local: Local
    array: str
    references: list[Reference]
    _box: isl.Set | None = None

    def faults(self) -> list[Fault]:
        found: list[Fault] = []
        name = self.local.array.c_name
        known: list[Places] = []
        for reference in self.references:
            self.inside(reference.part)
            places = self.text.places(reference)
            if places is None:
                if self.local.array.rank:
                    raise NotComparable(f"a reference to {name} is not affine")
                continue
            if not places.covered:
                raise NotComparable(f"a reference to {name} is read in another form")
            found += [*self.missing(places), *self.outside(places)]
            known.append(places)
        window = self.window()
        rule = self.rule(known) if window is None else self.around(known)
        rest = [places for places in known if rule is None or not self.follows(rule, places)]
        if window is None and not rest:
            return found  # one rule, that is one-to-one
        stands = _all_of([*map(self.pairs, rest), *([] if rule is None else [rule.relation])])
        if rule is not None and rest and window is None and not _is_bijection(stands):
            stands = _all_of(map(self.pairs, known))  # the rule may say more than is so
        if _is_bijection(stands):
            return found
        assert stands is not None
        if window is None or not (stands.is_single_valued() and self.slides(window, known, stands)):
            message = f"two elements that live at once share one of {name}, or one has two"
            found.append(Fault("text", message, str(stands.sample())))
        return found

    def rule(self, known: list[Places]) -> _Rule | None:
        """R as the first reference says it that does so by one expression: most of the others agree."""
        for places in known:
            here = self.pairs(places)
            wide = everywhere(here)
            if wide is not None and not wide.is_injective():
                wide = self.spread(here, wide)
            if wide is not None and wide.is_injective():
                return _Rule(wide, function_of(wide))
        return None

    def spread(self, here: isl.Map, wide: isl.Map) -> isl.Map:
        """The function, with a place for each element along dimensions of which every life has one: `x - f(o)` in the
        place of 0, if x = f(o) there."""
        function, depth = function_of(wide), self.local.depth
        if function is None:
            return wide
        rank = here.dim(isl.dim_type.in_) - depth
        values = [function.get_at(k) for k in range(function.dim(isl.dim_type.out))]
        buffer = self.text.buffer_of(self.local.array.name, self.array)
        places = {d: e for e, d in enumerate(buffer.order)} if buffer is not None else {}
        for k in range(rank):
            at = depth + places.get(k, k)
            if at >= len(values) or not values[at].is_cst():
                continue
            one = here.domain().project_out(isl.dim_type.set, depth + k + 1, rank - k - 1)
            one = one.project_out(isl.dim_type.set, depth, k).reset_tuple_id()
            element = function_of(isl.Map.from_domain(one).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, depth, 1))
            if element is not None:
                space = isl.LocalSpace.from_space(here.get_space().domain())
                itself = isl.Aff.var_on_domain(space, isl.dim_type.set, depth + k)
                begin = element.get_at(0).insert_dims(isl.dim_type.in_, depth, rank)
                values[at] = values[at].add(itself.sub(begin))
        return affine_map(here.get_space().domain(), values)

    def inside(self, part: Part) -> None:
        """The part stands where the local array is declared: C says so, the frontend's tree has to agree."""
        if members(part.run)[: self.local.depth] != members(self.local.run):
            raise NotComparable(f"{part.statement.name} stands outside of the loops of {self.local.array.c_name}")

    def follows(self, rule: _Rule, places: Places) -> bool:
        """Whether a reference is where the rule says."""
        if places.loose:
            return False
        if rule.gives(places.part.life(self.local.depth), places):
            return True
        wanted, printed = self.in_life(places)
        return bool(wanted.apply_range(rule.relation).is_subset(printed))

    def in_life(self, places: Places) -> tuple[isl.Map, isl.Map]:
        """`{ t -> [o, x] }` and `{ t -> [o, y] }`."""
        run, depth = places.part.run, self.local.depth
        wanted, printed = (run.in_tile(m, depth).flatten_range() for m in (places.wanted, places.printed))
        return wanted.reset_tuple_id(isl.dim_type.out), printed.reset_tuple_id(isl.dim_type.out)

    def pairs(self, places: Places) -> isl.Map:
        """`{ [o, x] -> [o, y] }` of one reference."""
        wanted, printed = self.in_life(places)
        here = wanted.reverse().apply_range(printed)
        for d, e in places.loose:  # the same number in both
            here = here.equate(isl.dim_type.in_, self.local.depth + d, isl.dim_type.out, self.local.depth + e)
        return here

    # --- it is large enough

    def box(self, places: Places) -> isl.Set:
        """The elements that the local array has."""
        if self._box is None:
            self._box = _box(places.other.get_space().range(), self.local.array)
        return self._box

    def outside(self, places: Places) -> list[Fault]:
        """References beyond an end of the local array, of those that stay inside the region's array."""
        if any(extent is None for extent in self.local.array.extents):
            raise NotComparable(f"the size of {self.local.array.c_name} is not affine")
        box = self.box(places)
        function = places.printed_function
        if function is not None and places.instances.is_subset(box.preimage_multi_aff(function)):
            return []
        # Not of the range: without the instances, isl may take minutes for whether a set with remainders is empty.
        beyond = places.printed.subtract_range(box)
        if beyond.is_empty():
            return []
        # C says nothing of an instance that leaves the array as it was written.
        whole = _box(places.wanted.get_space().range(), self.text.program.scop.arrays[self.array])
        beyond = beyond.intersect_domain(places.wanted.intersect_range(whole).domain())
        if beyond.is_empty():
            return []
        return [Fault("text", f"{self.local.array.c_name} is too small", str(beyond.sample()))]

    def missing(self, places: Places) -> list[Fault]:
        """Elements that a reference may touch for some data, and that the local array has no place for."""
        if not places.loose:
            return []
        wanted = places.wanted
        rank, other = wanted.dim(isl.dim_type.out), places.printed.dim(isl.dim_type.out)
        pairs = wanted.range_product(places.printed).flatten_range()
        for d, e in places.loose:
            pairs = pairs.equate(isl.dim_type.out, d, isl.dim_type.out, rank + e)
        there = pairs.project_out(isl.dim_type.out, rank, other)
        beyond = wanted.reset_tuple_id(isl.dim_type.out).subtract(there)
        if beyond.is_empty():
            return []
        return [Fault("text", f"{self.local.array.c_name} is too small", str(beyond.sample()))]

    # --- circular arrays

    def window(self) -> Buffer | None:
        """The buffer of the program, if it is circular; what the text does is looked at."""
        return window_of(self.text, self.local, self.array)

    def around(self, known: list[Places]) -> _Rule | None:
        """R of a circular array, `{ [o, x] -> [o, (x - l(o)) mod M] }`, if one expression is that for all references:
        it is found by one that has to go around."""
        pairs = [self.in_life(places) for places in known if not places.loose]
        for wanted, printed in pairs:
            wide = everywhere(wanted.reverse().apply_range(printed))
            if wide is None or wide.is_injective():
                continue
            if all(one.apply_range(wide).is_subset(other) for one, other in pairs):
                return _Rule(wide, function_of(wide))
        return None

    def slides(self, window: Buffer, known: list[Places], stands: isl.Map) -> bool:
        """Whether elements that share a place of a circular array are never alive at once (`verify/windows.py`).

        stands: `{ [o, x] -> [o, place] }`
        """
        d, local = window.window, self.local
        assert d is not None
        extent = local.array.extents[window.order.index(d) if window.order else d]
        size = None if extent is None else constant_of(extent)
        if size is None or self.in_pragma():
            return False
        rank = stands.dim(isl.dim_type.in_)
        alike = same_place(stands.get_ctx(), rank, local.depth + d, size).reset_tuple_id(isl.dim_type.in_)
        uses = []
        touched: isl.Set | None = None
        for places in known:
            run = places.part.run
            uses.append((run, along(places.wanted, d)))
            cells = run.prefix(local.depth).range_product(places.wanted).flatten_range().range().reset_tuple_id()
            touched = cells if touched is None else touched.union(cells)
        if touched is None:
            return False
        pairs = stands.apply_range(stands.reverse())
        alike = alike.union(isl.Map.identity(pairs.get_space()))
        if not pairs.is_subset(alike):  # of what is touched: a dimension of one element has its place whatever it is
            pairs = pairs.intersect_domain(touched).intersect_range(touched)
        if not pairs.is_subset(alike):
            return False
        return not clash(uses, local.depth, size, self.text.program.scop.known)

    def in_pragma(self) -> bool:
        """Whether the loop right below the declaration does not run in order, or does not stand around all parts."""
        depth = self.local.depth
        for reference in self.references:
            around = members(reference.part.run)
            if len(around) <= depth:
                return True
            if any(members(note)[-1] is around[depth] for _, note, _ in self.text.loops):
                return True
        return False


def window_of(text: Text, local: Local, array: str) -> Buffer | None:
    """The program's buffer that a local array is, if it is circular."""
    buffer = text.buffer_of(local.array.name, array)
    return buffer if buffer is not None and buffer.window is not None else None


def _box(space: isl.Space, array: Array) -> isl.Set:
    """The cells below every extent that is known."""
    box = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        if extent is None:
            continue
        size = constant_of(extent)
        if size is None:
            box = box.intersect(below(space, position, extent.project_domain_on_params()))
        else:
            box = box.lower_bound_val(isl.dim_type.set, position, isl.Val.zero(space.get_ctx()))
            box = box.upper_bound_val(isl.dim_type.set, position, isl.Val.int_from_si(space.get_ctx(), size - 1))
    return box


def _all_of(pieces: Iterable[isl.Map]) -> isl.Map | None:
    stands: isl.Map | None = None
    for piece in pieces:
        stands = piece if stands is None else stands.union(piece)
    return stands


def _is_bijection(stands: isl.Map | None) -> bool:
    return stands is None or bool(stands.is_single_valued() and stands.is_injective())
