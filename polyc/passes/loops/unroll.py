"""Loops whose neighbouring iterations share what they read, or differ only in whether they are even: written out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce

import islpy as isl

from polyc.cost.peeling import has_small_windows
from polyc.cost.rows_at_once import are_loaded_once, involves, pieces_of, plain_accesses, position_of, rows_at_once
from polyc.cost.time import operations
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import bounds_of, iterations, unrolled_below, usual_sizes
from polyc.nests.sums import streams
from polyc.nests.windows import first_inside, window_of
from polyc.poly import alike, box_volume, least_of, maps, names
from polyc.records import dataclass, replace

STAGE = "unroll"
PARTS = (2, 4)
"""Each d of `x / d` for which the d iterations with one value are written out: tiles begin where it divides x."""
LEAST_COLUMNS = 512
"""Iterations of the innermost loop below which loops of their own only make the text longer."""
LEAST_WINDOWS = 32
"""The same where C compilers make vectors of the loop only there: all of a window runs, or all statements do."""
LEAST_OPERATIONS = 12
"""Of an iteration, below which another loop of the last bytes saves next to nothing of a row."""


def unroll_loops(program: Program) -> Program:
    """Write out a few neighbouring iterations where they share what they read, or where x / 2 is the same for them.

    rewrite:  for i for j S(i, j);  ->  for i by 4 for j { S(i, j); S(i + 1, j); S(i + 2, j); S(i + 3, j); }
              for x S(x, x / 2);    ->  for h { S(2 h, h); S(2 h + 1, h); }
    tree:     band(i, j) - S  ->  band(i - i mod 4, j) - band(i mod 4, unrolled) - S
              band(x) - S     ->  band(x / 2) - band(x mod 2, unrolled) - S
    math:     i is coincident: given the loops around it, it carries no dependence, so that a part of it may be compared
              last; for x the order stays what it was
    requires: the innermost loop is coincident
    ensures:  loops of their own for whole groups of iterations inside of a clamp (`x == 0 ? 0 : 2 * x - 1`), where C
              compilers make vectors of consecutive elements; what is left over has its conditions
    source:   unroll-and-jam (Callahan, Carr, Kennedy 1990); index set splitting (Griebl, Feautrier, Lengauer 2000)
    """
    if not streams(program.options):
        return program
    unroller = _Unroller(program)
    child = unroller.at(program.tree.child, ())
    return replace(unroller.program, tree=Domain(program.tree.domain, child)) if unroller.made else program


@dataclass(frozen=True, slots=True)
class Cut:
    """The loop to cut, counted in the band, into parts of so many iterations; rows: parts of a loop that is not the
    innermost one; first: where one of them begins."""

    position: int
    count: int
    rows: bool = False
    first: int = 0


@dataclass(slots=True)
class _Unroller:
    program: Program
    made: bool = False

    def at(self, node: Node, above: tuple[Band | Filter | Extension, ...]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, (*above, s))) for s in steps))
            case Extension():
                return replace(node, child=self.at(node.child, (*above, node)))
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case Band():
                band = _joined(node)
                if any(isinstance(n, Band) for n in walk(band.child)):
                    cut = self.around(band, above)
                    return cut or replace(node, child=self.at(node.child, (*above, node)))
                return self.unrolled(band, above) or node

    def unrolled(self, band: Band, above: tuple[Band | Filter | Extension, ...]) -> Band | None:
        along = band.members[-1]
        if not along.coincident or any(m.role in (Role.TILE, Role.REGISTER) or m.lookups for m in band.members):
            return None
        statements = [self.program.statements[name] for name in names(along.schedule.domain())]
        if any(s.name in self.program.copies or (s.opaque and s.values) for s in statements):
            return None
        columns = iterations(along, self.program)
        long = columns is None or columns >= LEAST_COLUMNS
        known = not any(s.opaque for s in statements)  # of others it is not known what neighbours share
        wish = (
            ((self.halves(band, statements) if long else None) or self.rows(band, statements, above)) if known else None
        )
        inside = _free(self.program, statements, along) if long else None
        whole = self.whole(band, wish, inside, above) if wish is not None else None
        apart = False
        if whole is None:
            wish = None
            apart = (columns is None or columns >= LEAST_WINDOWS) and inside is None and self.ends_apart(band, above)
            whole = self.whole(band, None, inside, above) if inside is not None or apart else None
        narrow = self.short_end(statements, along) if whole is None and known else None
        whole = self.whole(band, None, narrow, above) if narrow is not None else whole
        if whole is None:
            return None
        child, members = band.child, band.members
        if wish is not None:
            digit, members = cut_members(members, wish)
            child = Band((digit,), True, child)
            depth = whole.dim(isl.dim_type.set) - len(band.members)
            self.program = deepened(self.program, band.child, wish, depth)
        self.made = True
        self.say(band, statements, wish, inside is not None, apart, narrow is not None)
        if wish is not None and wish.rows and iterations(band.members[wish.position], self.program) is None:
            return asked_inside(replace(band, members=members, child=child), wish.position, whole)
        return replace(band, members=members, child=child, whole=whole)

    def around(self, band: Band, above: tuple[Band | Filter | Extension, ...]) -> Band | None:
        """A loop around a few iterations that C compilers write out, with one of its own where all of these run, and no
        subscript needs a choice."""
        along = band.members[-1]
        plain = not any(m.role in (Role.TILE, Role.REGISTER) or m.lookups for m in band.members)
        if not (along.coincident and plain):
            return None
        columns = iterations(along, self.program)
        statements = [self.program.statements[name] for name in names(along.schedule.domain())]
        if not (unrolled_below(band, self.program) or has_small_windows(statements, band.members)):
            return None
        full = _full(statements, band.members)
        least = LEAST_COLUMNS if full is None else LEAST_WINDOWS
        if (columns is not None and columns < least) or any(s.opaque for s in statements):
            return None
        inside = [_free(self.program, statements, m) for m in band.members if m.coincident]
        inside.append(full)
        free = [one for one in inside if one is not None]
        whole = self.whole(band, None, None, above) if free else None
        if whole is None:
            return None
        simple = reduce(isl.UnionSet.intersect, free)
        for piece in maps(self.ran(band, above).subtract_domain(simple)):
            whole = whole.subtract(piece.range())
        whole = whole.coalesce().remove_redundancies()
        if whole.is_empty() or whole.n_basic_set() > 1:
            return None
        self.made = True
        self.say(band, statements, None, True, False, False)
        return replace(band, whole=whole)

    def ends_apart(self, band: Band, above: tuple[Band | Filter | Extension, ...]) -> bool:
        """Whether one of the statements starts earlier than another, or ends later: a loop over all of them would have
        a condition inside. One that sizes alone decide is no such: C compilers ask it once."""
        if not isinstance(band.child, Sequence):
            return False
        return not alike([piece.range() for piece in maps(self.ran(band, above))])

    def halves(self, band: Band, statements: list[Statement]) -> Cut | None:
        """The innermost loop in parts of d, where a subscript has x / d."""
        found = {
            divisor
            for statement in statements
            for position in [position_of(statement, band.members[-1])]
            for access in plain_accesses(statement)
            for multi, _ in pieces_of(access)
            for divisor in _divisors(multi, position)
        }
        if len(found) != 1 or not found <= set(PARTS):
            return None
        return Cut(len(band.members) - 1, found.pop())

    def rows(self, band: Band, statements: list[Statement], above: tuple[Band | Filter | Extension, ...]) -> Cut | None:
        """Another loop in parts of four or two, where its neighbouring iterations read the same elements."""
        found = rows_at_once(
            self.program, statements, band.members, lambda count, member: _divides(count, member.name, above)
        )
        if found is None or not are_loaded_once(self.program, statements):
            return None
        return Cut(found.place, found.count, rows=True, first=self.first(band, found.place, found.count, above))

    def first(self, band: Band, place: int, count: int, above: tuple[Band | Filter | Extension, ...]) -> int:
        """Where parts of a loop begin, counted from their multiples: with what is new in a tile that slides
        (`windows.py`), which is a window's height behind the tile's begin."""
        name = band.members[place].name
        around = [m for node in above if isinstance(node, Band) for m in node.members if m.role is Role.TILE]
        if all(m.coincident for m in around if m.name == name):
            return 0
        found = set()
        sizes = sample_parameters(self.program)  # wherever parts begin, the loop runs all its iterations
        for piece in maps(self.ran(band, above)):
            ran = piece.range().intersect_params(sizes)
            outer = ran.dim(isl.dim_type.set) - len(band.members)
            last = ran.project_out(isl.dim_type.set, outer, len(band.members)).lexmax()
            least = least_of(ran.intersect(last.add_dims(isl.dim_type.set, len(band.members))), outer + place)
            found.add(int(least.to_python()) % count if least.is_int() else 0)
        return found.pop() if len(found) == 1 else 0

    def ran(self, band: Band, above: tuple[Band | Filter | Extension, ...]) -> isl.UnionMap:
        """`{ S[i] -> [outer, own] }`: what a band runs, with the values of the loops above it and its own."""
        mine = reach_of(self.program, above).intersect_domain(band.members[0].schedule.domain())
        return mine.flat_range_product(values(band.members, mine.domain()))

    def whole(
        self,
        band: Band,
        wish: Cut | None,
        inside: isl.UnionSet | None,
        above: tuple[Band | Filter | Extension, ...],
    ) -> isl.Set | None:
        """`{ [outer, own] }`: where all iterations of a part run, inside of what makes subscripts simple."""
        inner = self.ran(band, above)
        if inside is not None:
            inner = inner.intersect_domain(inside)
        found: isl.Set | None = None
        for piece in maps(inner):
            ran = piece.range().coalesce()
            place = ran.dim(isl.dim_type.set) - len(band.members) + (0 if wish is None else wish.position)
            for digit in range(1 if wish is None else wish.count):
                part = ran if wish is None else ran.preimage_multi_aff(part_of(ran.get_space(), place, wish, digit))
                found = part if found is None else found.intersect(part)
        if found is None:
            return None
        if wish is not None and wish.rows:
            found = found.intersect(_multiples(found.get_space(), place, wish))
        found = found.coalesce().remove_redundancies()
        return None if found.is_empty() else found

    def short_end(self, statements: list[Statement], along: Member) -> isl.UnionSet | None:
        """The instances of the iterations that compilers run in vectors, of a loop over bytes; None where those that
        are left are few.

        gcc makes vectors, and of what is left vectors of half the length: up to 15 bytes of a row stay, and each takes
        as long as a vector. In a loop of their own they run in vectors again. Of wider elements fewer are left, and of
        rows of unknown length nobody knows how many.

        math: of N iterations, N - N mod V/2
        """
        bytes_ = [self.program.scop.arrays[a.array].element.size_bytes for s in statements for a in plain_accesses(s)]
        plain = all(a.exact for s in statements for a in s.accesses)
        calls = any(isinstance(n, c.Call) for s in statements for n in c.walk(s.body))
        work = sum(operations(s, False) for s in statements)
        if min(bytes_, default=0) != 1 or not plain or calls or work < LEAST_OPERATIONS:
            return None
        half = load_cpu(self.program.options.machine).vector_bytes // 2
        bounds = bounds_of(along, self.program, usual_sizes(self.program))
        positions = [position_of(s, along) for s in statements]
        if bounds is None or None in positions:
            return None
        left = (bounds[1] - bounds[0] + 1) % half
        if bounds[1] - bounds[0] < 2 * half or left < half // 2:
            return None
        last = isl.Val.int_from_si(along.schedule.get_ctx(), bounds[1] - left)
        instances = [
            s.domain.upper_bound_val(isl.dim_type.set, position, last)
            for s, position in zip(statements, positions, strict=True)
            if position is not None
        ]
        return _together(instances)

    def say(
        self, band: Band, statements: list[Statement], wish: Cut | None, clamped: bool, apart: bool, narrow: bool
    ) -> None:
        parts = []
        data: dict[str, object] = {}
        if wish is not None:
            name = band.members[wish.position].name
            why = "which share what they read" if wish.rows else f"in which {name} / {wish.count} is the same"
            parts.append(f"{wish.count} iterations of {name} at once, {why}")
            data = {"loop": name, "iterations": wish.count}
        if clamped:
            parts.append(f"loops of their own for {band.members[-1].name} where its subscripts need no choice")
        if apart:
            parts.append(f"a loop of their own for {band.members[-1].name} where all of them run")
        if narrow:
            parts.append(f"a loop of their own for the last iterations of {band.members[-1].name}, in shorter vectors")
        who = tuple(s.name for s in statements)
        message = f"{', '.join(who)}: {'; '.join(parts)}"
        self.program = self.program.remark("unrolled", STAGE, message, who, **data)


def deepened(program: Program, node: Node, wish: Cut, depth: int) -> Program:
    """What is declared below a band gets one more loop around it: `[…, y, x] = […, part + digit, x]`; `depth` loops
    stand around the band."""
    buffers = dict(program.buffers)
    for name in [n for mark in walk(node) if isinstance(mark, Mark) and mark.kind == "allocate" for n in mark.names]:
        old = buffers[name]
        corner = None if old.corner is None else old.corner.pullback_multi_aff(_before(old.corner, wish, depth))
        buffers[name] = replace(old, depth=old.depth + 1, corner=corner)
    return replace(program, buffers=buffers)


def _divides(count: int, name: str, above: tuple[Band | Filter | Extension, ...]) -> bool:
    """Whether all tiles of a loop have whole parts of so many iterations."""
    around = (member for node in above if isinstance(node, Band) for member in node.members)
    return all(m.size % count == 0 for m in around if m.role is Role.TILE and m.name == name)


def _joined(band: Band) -> Band:
    """A band and the one right below it, if all their loops are coincident, as one."""
    below = band.child
    every = (*band.members, *below.members) if isinstance(below, Band) else ()
    if not isinstance(below, Band) or any(not m.coincident or m.role is Role.TILE for m in every):
        return band
    return Band(band.members + below.members, band.permutable and below.permutable, below.child)


def cut_members(members: tuple[Member, ...], wish: Cut) -> tuple[Member, tuple[Member, ...]]:
    """The unrolled loop, and the band's members with one that counts its parts."""
    member = members[wish.position]
    count = isl.Val.int_from_si(member.schedule.get_ctx(), wish.count)
    first = isl.UnionPwAff.val_on_domain(
        member.schedule.domain(), isl.Val.int_from_si(member.schedule.get_ctx(), wish.first)
    )
    part = member.schedule.sub(first).scale_down_val(count).floor()
    corner = part.scale_val(count).add(first)
    digit = replace(member, schedule=member.schedule.sub(corner), role=Role.WRITTEN_OUT)
    if wish.rows:
        digit = replace(digit, role=Role.UNROLLED, name="r")
        cut = replace(member, schedule=corner, role=Role.POINT)
    else:
        cut = replace(member, schedule=part, role=Role.POINT, name=f"{member.name}{wish.count}")
    return digit, (*members[: wish.position], cut, *members[wish.position + 1 :])


def asked_inside(band: Band, place: int, whole: isl.Set) -> Band:
    """The band with one loop over all parts, which asks of each whether it is whole.

    Of n rows, the last n % 4 would have a loop of their own otherwise, whose subscripts are rounded.
    """
    below = Band(band.members[place + 1 :], band.permutable, band.child, whole)
    return replace(band, members=band.members[: place + 1], child=below)


def _before(corner: isl.MultiAff, wish: Cut, depth: int) -> isl.MultiAff:
    """`{ [v0, …, digit] -> [v0, …] }`: the values that loops had before one of them was cut, `depth` of them around the
    band."""
    target = corner.get_domain_space()
    count = target.dim(isl.dim_type.set)
    space = target.params().add_unnamed_tuple_ui(count + 1)
    here = isl.LocalSpace.from_space(space)
    found = isl.MultiAff.zero(space.map_from_domain_and_range(target))
    for k in range(count):
        value = isl.Aff.var_on_domain(here, isl.dim_type.set, k)
        if k == depth + wish.position:
            scale = isl.Val.int_from_si(space.get_ctx(), 1 if wish.rows else wish.count)
            value = value.scale_val(scale).add(isl.Aff.var_on_domain(here, isl.dim_type.set, count))
        found = found.set_aff(k, value)
    return found


def part_of(space: isl.Space, place: int, wish: Cut, digit: int) -> isl.MultiAff:
    """`{ [v0, …] -> [v0, …] }`: from the values of loops, one of which counts parts, to those of the loops uncut."""
    found = isl.MultiAff.identity_on_domain_space(space)
    scale, offset = (isl.Val.int_from_si(space.get_ctx(), v) for v in (1 if wish.rows else wish.count, digit))
    return found.set_aff(place, found.get_aff(place).scale_val(scale).add_constant_val(offset))


def _multiples(space: isl.Space, place: int, wish: Cut) -> isl.Set:
    """Where a part of a loop begins."""
    value = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, place)
    value = value.add_constant_val(isl.Val.int_from_si(space.get_ctx(), -wish.first))
    return value.mod_val(isl.Val.int_from_si(space.get_ctx(), wish.count)).zero_basic_set().to_set()


def reach_of(program: Program, above: tuple[Band | Filter | Extension, ...]) -> isl.UnionMap:
    """`{ S[i] -> [v] }`: what reaches a node, with the values of the loops above it."""
    return _reach(program.tree, above)


@lru_cache(maxsize=1000)
def _reach(tree: Domain, above: tuple[Band | Filter | Extension, ...]) -> isl.UnionMap:
    """`reach_of`, kept: the nodes of a sequence have the same ones above them, and each is asked for several times."""
    if not above:
        return values((), tree.domain)
    reach, node = _reach(tree, above[:-1]), above[-1]
    match node:
        case Filter():
            return reach.intersect_domain(node.filter)
        case Extension():
            return reach.union(node.relation.reverse())
        case Band():
            return reach.flat_range_product(values(node.members, reach.domain()))


def _divisors(multi: isl.MultiAff, position: int | None) -> Iterator[int]:
    """Each d of a subscript's `floor((x + …) / d)`."""
    if position is None:
        return
    for d in range(multi.dim(isl.dim_type.out)):
        aff = multi.get_aff(d)
        for k in range(aff.dim(isl.dim_type.div)):
            rounded = aff.get_div(k)
            if rounded.involves_dims(isl.dim_type.in_, position, 1):
                yield int(rounded.get_denominator_val().to_python())


def _free(program: Program, statements: list[Statement], along: Member) -> isl.UnionSet | None:
    """The instances in which all subscripts that depend on a loop somewhere do, in the way in which most do, if those
    are not all: outside, a clamp holds them, or they come back at the other end (`(x + 1) % n`)."""
    found: list[isl.Set] = []
    narrowed = False
    at = sample_parameters(program)
    for statement in statements:
        position = position_of(statement, along)
        here = statement.domain
        for access in plain_accesses(statement):
            ways: dict[str, isl.Set] = {}
            pieces = pieces_of(access)
            for multi, domain in pieces:
                if involves(multi, position) and not _once(domain, position):
                    way = _moving(multi, position)
                    ways[way] = ways[way].union(domain) if way in ways else domain
            most = max(ways.values(), key=lambda one: box_volume(one.intersect_params(at)), default=None)
            if most is not None and (len(ways) > 1 or not here.intersect_params(most.params()).is_subset(most)):
                here, narrowed = here.intersect(most.coalesce()), True
        found.append(here)
    return _together(found) if narrowed else None


def _full(statements: list[Statement], around: tuple[Member, ...]) -> isl.UnionSet | None:
    """The instances of which all neighbours in the loops below some others run, if those are not all: at the border of
    an image a window has fewer."""
    found: list[isl.Set] = []
    narrowed = False
    for statement in statements:
        domain, first = statement.domain, first_inside(statement, around)
        window = window_of(domain, first)
        if window is not None:
            count = domain.dim(isl.dim_type.set) - first
            reached = domain.project_out(isl.dim_type.set, first, count).add_dims(isl.dim_type.set, count)
            reached = reached.set_tuple_name(statement.name)
            fewer = reached.intersect(window).subtract(domain).project_out(isl.dim_type.set, first, count)
            fewer = fewer.add_dims(isl.dim_type.set, count).set_tuple_name(statement.name)
            inside = domain.subtract(fewer).coalesce()
            narrowed = narrowed or not domain.is_subset(inside)
            domain = inside
        found.append(domain)
    return _together(found) if narrowed else None


def _together(found: list[isl.Set]) -> isl.UnionSet:
    return reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, found))


def _moving(multi: isl.MultiAff, position: int | None) -> str:
    """The subscripts that depend on a loop."""
    affs = [multi.get_aff(d) for d in range(multi.dim(isl.dim_type.out))]
    return "; ".join(
        str(aff) for aff in affs if position is not None and aff.involves_dims(isl.dim_type.in_, position, 1)
    )


def _once(domain: isl.Set, position: int | None) -> bool:
    """Whether a loop runs a piece for one iteration: the end of a clamp, which isl may write as it writes the inside
    (`n - 1` at i = n - 1 is `i`)."""
    if position is None:
        return False
    fixed = True

    def look(piece: isl.BasicSet) -> None:
        nonlocal fixed
        hull = piece.affine_hull()
        fixed = fixed and any(
            one.is_equality() and one.involves_dims(isl.dim_type.set, position, 1)
            for one in (hull.get_constraint_list().get_at(k) for k in range(hull.n_constraint()))
        )

    domain.foreach_basic_set(look)
    return fixed
