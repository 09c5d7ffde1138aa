"""Lookups in short rows of a table: the rows in vector registers, and a permutation instead of loads."""

from __future__ import annotations

from collections import Counter

import islpy as isl

from polyc.analysis.expressions.straight import Scalars, changes_nothing, is_repeatable, unconditional
from polyc.analysis.expressions.tables import BYTE_ROWS, BYTES_AT_ONCE, can_be_read, index_below, row_extent
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Lookups, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import unrolled, values
from polyc.nests.strides import UNROLLED, dimension_of, gain_of, in_rows, iterations
from polyc.nests.sums import streams
from polyc.passes.loops.unroll import Cut, cut_members, deepened, part_of, reach_of
from polyc.poly import constant_of, has_remainders, maps, names, pinned, value_on
from polyc.records import dataclass, field, replace

STAGE = "lookups"
STRIP = 64
"""Iterations whose lookups come before all else that they do: a multiple of each vector's lanes."""
ELEMENT_BYTES = 4
"""Of a table's elements: then there are as many indices in a vector."""
LEAST_BYTES = 32
"""Of a vector. Machines with shorter ones have no permutation by indices that are known at run time only."""
MOST = 32
"""References that are looked up in one loop: what they find stays in the first level of the cache."""


class _Declined(Exception):
    """Why a loop's lookups stay as they are."""


def look_up_in_registers(program: Program) -> Program:
    """Let loops find elements of short rows by permutations of vectors, where the rows stay the same for a while.

    rewrite:  for x S(t[x / 8][k(x)]);
              -> for xs by 64 { for r k_[r] = k(xs + r);
                                for h by 8 t_[h .. h + 7] = permute(t[(xs + h) / 8][0 .. n - 1], k_[h .. h + 7]);
                                for r S(t_[r]); }
    tree:     band(y, x) - S  ->  band(y, x / 64) - band(x mod 64, lookups) - S; inner loops of few iterations unrolled
    math:     x is coincident, so that all reads of 64 iterations may come before what they write; in w iterations from
              a multiple of w on, all subscripts of t but the last one are the same (`verify/region/table_rows.py`)
    requires: rows of w to 2 w elements (of an unknown number: that is asked for at run time), or of at most 1024 bytes;
              nothing but assignments
    source:   ours; permutations as tables: Mytkowicz, Musuvathi, Schulte, Data-parallel finite-state machines, 2014
    """
    if not streams(program.options):
        return program
    found = _Finder(program)
    child = found.at(program.tree.child, ())
    done = found.program
    return replace(done, tree=Domain(done.tree.domain, child)) if found.made else done


def tables_of(program: Program, band: Band) -> frozenset[str]:
    """Arrays of which a nest takes elements by permutations of their rows, if these are not in a tile's buffers."""
    if program.options.gpu:
        return frozenset()
    machine = load_cpu(program.options.machine)
    members = [m for m in band.members[: band.coincident_prefix] if in_rows(m, program) or gain_of(m, program) > 0]
    extent = iterations(members[-1], program) if members else 0
    if machine.vector_bytes < LEAST_BYTES or (extent is not None and extent < 2 * STRIP):
        return frozenset()
    statements = _in_order(program, band.child, band.members[-1])
    if statements is None or not any(_lookups(program, s) for s in statements):
        return frozenset()
    try:
        references = _references(program, statements, _inner_dimensions(band, statements))
        if {program.scop.arrays[a.array].element.size_bytes for _, a in references} != {ELEMENT_BYTES}:
            return frozenset()
        _Finder(program).width(references, members[-1], machine.lanes(ELEMENT_BYTES))
    except _Declined:
        return frozenset()
    return frozenset(access.array for _, access in references)


@dataclass(slots=True)
class _Finder:
    program: Program
    made: bool = False

    def at(self, node: Node, above: tuple[Band | Filter | Extension, ...]) -> Node:
        match node:
            case Leaf() | Mark(kind="tiles"):
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, (*above, s))) for s in steps))
            case Extension():
                return replace(node, child=self.at(node.child, (*above, node)))
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case Band():
                try:
                    found = self.looked_up(node, above)
                except _Declined as reason:
                    statements = tuple(names(node.members[-1].schedule.domain()))
                    message = f"{', '.join(statements)}: lookups stay loads: {reason}"
                    self.program = self.program.remark("not-looked-up", STAGE, message, statements)
                    return node
                return found or replace(node, child=self.at(node.child, (*above, node)))

    def looked_up(self, band: Band, above: tuple[Band | Filter | Extension, ...]) -> Band | None:
        along = band.members[-1]
        wanted = _wanted(self.program, band)
        if wanted is None:
            return None
        machine = load_cpu(self.program.options.machine)
        if machine.vector_bytes < LEAST_BYTES:
            raise _Declined(f"{machine.name} has no vectors of {LEAST_BYTES} bytes")
        references = _references(self.program, wanted, _inner_dimensions(band, wanted))
        sizes = {self.program.scop.arrays[a.array].element.size_bytes for _, a in references}
        if len(sizes) > 1:
            raise _Declined("tables have elements of different sizes")
        rows: tuple[tuple[str, int], ...] = ()
        if sizes == {1}:
            width, rows = self.byte_rows(references, along, machine.lanes(1))
        else:
            width = self.width(references, along, machine.lanes(ELEMENT_BYTES))
        cut = Cut(len(band.members) - 1, STRIP)
        whole = _whole(self.program, band, cut, above)
        digit, members = cut_members(band.members, cut)
        every = frozenset((statement.name, access.ref) for statement, access in references)
        digit = replace(digit, role=Role.POINT, vector=True, lookups=Lookups(width, every, rows), name="r")
        depth = whole.dim(isl.dim_type.set) - len(band.members)
        program = deepened(self.program, band.child, cut, depth)
        self.made = True
        tables = sorted({a.array for _, a in references})
        who = tuple(s.name for s in wanted)
        what = (
            "1 lookup in {} is a permutation" if len(every) == 1 else f"{len(every)} lookups in {{}} are permutations"
        )
        message = (
            f"{', '.join(who)}: {what.format(', '.join(tables))} of vectors of {width}: "
            f"{width} iterations of {along.name} take their elements of one row"
        )
        data = {"lookups": len(every), "width": width, "strip": STRIP}
        self.program = program.remark("looked-up", STAGE, message, who, **data)
        below = Band((digit,), True, unrolled(band.child))
        return replace(band, members=members, child=below, whole=whole)

    def byte_rows(
        self, references: list[tuple[Statement, Access]], along: Member, lanes: int
    ) -> tuple[int, tuple[tuple[str, int], ...]]:
        """How many iterations are one permutation, and how many elements of each table of bytes are read."""
        tables = ", ".join(sorted({a.array for _, a in references}))
        if lanes != BYTES_AT_ONCE:
            raise _Declined(f"a row of bytes of {tables} asks for vectors of {BYTES_AT_ONCE} bytes")
        found: dict[str, int] = {}
        for statement, access in references:
            count = _byte_row(self.program, statement, access)
            found[access.array] = max(count, found.get(access.array, 0))
        for _, access in references:
            if not can_be_read(self.program, access, found[access.array]):
                raise _Declined(f"it is not known whether {access.array} has {found[access.array]} elements")
        if not all(_stays(statement, access, along, BYTES_AT_ONCE) for statement, access in references):
            raise _Declined(f"{BYTES_AT_ONCE} iterations of {along.name} do not share a row of {tables}")
        return BYTES_AT_ONCE, tuple(sorted(found.items()))

    def width(self, references: list[tuple[Statement, Access]], along: Member, lanes: int) -> int:
        """The most iterations with the same rows, which fit two vectors of so many elements."""
        sizes = {_row(self.program, access) for _, access in references}
        tables = ", ".join(sorted({a.array for _, a in references}))
        widths = [w for w in (lanes, lanes // 2) if w * ELEMENT_BYTES >= LEAST_BYTES]
        fitting = [w for w in widths if all(n is None or w <= n <= 2 * w for n in sizes)]
        if not fitting:
            known = ", ".join(str(n) for n in sorted(n for n in sizes if n is not None))
            lanes_text = " or ".join(str(w) for w in widths)
            raise _Declined(f"a row of {known} elements of {tables} does not fit two vectors of {lanes_text}")
        for width in fitting:
            if all(_stays(statement, access, along, width) for statement, access in references):
                return width
        raise _Declined(f"{min(fitting)} iterations of {along.name} do not share a row of {tables}")


def _wanted(program: Program, band: Band) -> list[Statement] | None:
    """The statements of an innermost parallel loop with lookups; loops of a few iterations may stand below it.

    None where it is something else. Raises _Declined where it has lookups, and is more than assignments.
    """
    along = band.members[-1]
    if not along.coincident or along.lookups or band.whole is not None:
        return None
    if any(m.role in (Role.REGISTER, Role.UNROLLED, Role.WRITTEN_OUT) for m in band.members) or along.role is Role.TILE:
        return None
    below = list(walk(band.child))
    total = 1
    for inner in (n for n in below if isinstance(n, Band)):
        for member in inner.members:
            total *= max(iterations(member, program) or UNROLLED + 1, 1)
    extent = iterations(along, program)
    if total > UNROLLED or (extent is not None and extent < 2 * STRIP):
        return None
    statements = _in_order(program, band.child, along)
    if statements is None or not any(_lookups(program, s) for s in statements):
        return None
    if any(isinstance(n, Extension) or (isinstance(n, Mark) and n.kind != "allocate") for n in below):
        raise _Declined("more is computed in each iteration")
    if any(s.name in program.copies or s.name in program.padded for s in statements):
        raise _Declined("what it fills is a part of a tile")
    return statements


def _in_order(program: Program, node: Node, along: Member) -> list[Statement] | None:
    """The statements below a loop, each at one place."""
    found: list[str] = []

    def descend(node: Node, reaching: isl.UnionSet) -> bool:
        match node:
            case Leaf():
                found.extend(names(reaching))
                return len(names(reaching)) == 1
            case Sequence(children=steps):
                return all(descend(s.child, reaching.intersect(s.filter)) for s in steps)
            case Band(child=child) | Mark(child=child) | Extension(child=child):
                return descend(child, reaching)

    whole = descend(node, along.schedule.domain())
    return [program.statements[n] for n in found] if whole and len(set(found)) == len(found) else None


def _lookups(program: Program, statement: Statement) -> list[Access]:
    """Its reads of elements of which the data decide the last subscript; none where a loop of its own may decide it."""
    if c.has_loops(statement.body):
        return []
    return [
        a
        for a in statement.accesses
        if a.kind is AccessKind.READ and a.ref and a.loose == (program.scop.arrays[a.array].rank - 1,)
    ]


def _inner_dimensions(band: Band, statements: list[Statement]) -> dict[str, set[str]]:
    """The loops of each statement that stand below a band."""
    found: dict[str, set[str]] = {s.name: set() for s in statements}
    for inner in (n for n in walk(band.child) if isinstance(n, Band)):
        for member in inner.members:
            for statement in statements:
                position = _position(statement, member)
                if position is not None:
                    found[statement.name].add(statement.loops[position])
    return found


def _position(statement: Statement, member: Member) -> int | None:
    if statement.name not in names(member.schedule.domain()):
        return None
    return dimension_of(value_on(member.schedule, statement.domain.get_space()))


@dataclass(slots=True)
class _Body:
    """What the statements of an iteration do, one after the other."""

    program: Program
    inner: dict[str, set[str]]
    written: set[str]
    scalars: Scalars
    found: list[tuple[Statement, Access]] = field(default_factory=list)

    def add(self, statement: Statement) -> None:
        match statement.body:
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef() as target, value=value)) if changes_nothing(value):
                pass
            case _:
                raise _Declined(f"{statement.name} is more than an assignment")
        lookups = {a.ref: a for a in _lookups(self.program, statement)}
        always = {r.ref: r for r in unconditional(value)}
        for reference in (n for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) and n.ref in lookups):
            if reference.ref not in always:
                raise _Declined(f"{reference.array} is read under a condition, or by a subscript")
            self.check(statement, reference)
            self.found.append((statement, lookups[reference.ref]))
        others = [a for a in statement.accesses if a.loose and a.ref not in lookups]
        if others:
            raise _Declined(f"{others[0].array} is read or written where data say so, too")
        assert isinstance(target, c.ArrayRef)
        if not self.scalars.run(statement.body):
            raise _Declined(f"{statement.name} is more than an assignment")

    def check(self, statement: Statement, reference: c.ArrayRef) -> None:
        """Whether the index is known before the iteration begins."""
        array = self.program.scop.arrays[reference.array]
        if array.element.size_bytes not in (1, ELEMENT_BYTES) or array.element.kind not in ("int", "float"):
            raise _Declined(f"elements of {reference.array} do not have {ELEMENT_BYTES} bytes, or one")
        if any((statement.name, reference.ref) in b.accesses for b in self.program.buffers.values()):
            raise _Declined(f"{reference.array} lies in the tile")
        index = self.scalars.settled(reference.subscripts[-1])
        nodes = list(c.walk(index))
        read = {n.array for n in nodes if isinstance(n, c.ArrayRef)} | {reference.array}
        hidden = set().union(*self.inner.values())
        if read & self.written or not is_repeatable(index):
            raise _Declined(f"the index into {reference.array} is computed on the way")
        if any(isinstance(n, c.Name) and n.name in hidden for n in nodes):
            raise _Declined(f"the index into {reference.array} changes in an inner loop")


def _references(
    program: Program, statements: list[Statement], inner: dict[str, set[str]]
) -> list[tuple[Statement, Access]]:
    """All lookups of an iteration."""
    written = {a.array for s in statements for a in s.accesses if a.kind is not AccessKind.READ}
    arrays = program.scop.arrays
    setters = Counter(a.array for s in statements for a in s.accesses if a.kind is not AccessKind.READ)

    def kind(name: str) -> str | None:
        """The type of a scalar that each iteration has for itself, and that one statement sets."""
        array = arrays.get(name)
        private = array is not None and not array.rank and name in program.scop.privatizable
        return array.element.text if array is not None and private and setters[name] == 1 else None

    body = _Body(program, inner, written, Scalars(kind))
    for statement in statements:
        body.add(statement)
    if len(body.found) > MOST:
        raise _Declined(f"there are more than {MOST}")
    return body.found


def _row(program: Program, access: Access) -> int | None:
    """The elements of a row, where that is a constant. Raises _Declined where no number is known at all."""
    array = program.scop.arrays[access.array]
    extent = row_extent(array)
    if extent is None or array.extents_c[-1] is None:
        raise _Declined(f"it is not known how many elements a row of {access.array} has")
    return constant_of(extent)


def _byte_row(program: Program, statement: Statement, access: Access) -> int:
    """The elements that hold all that an index may name. Raises _Declined where there are too many, or nobody knows."""
    count = index_below(program, statement, access)
    fitting = [n for n in BYTE_ROWS if count is not None and n >= count]
    if not fitting:
        least = "an unknown number of" if count is None else str(count)
        raise _Declined(f"a row of {least} bytes of {access.array} does not fit 16 vectors")
    return fitting[0]


def _stays(statement: Statement, access: Access, along: Member, width: int) -> bool:
    """Whether the row is the same for so many iterations, from a multiple on."""
    space = statement.domain.get_space()
    value = value_on(along.schedule, space)
    position = dimension_of(value)
    if position is None:
        return False
    others = isl.Map.identity(space.map_from_set()).reset_tuple_id(isl.dim_type.out)
    others = others.project_out(isl.dim_type.out, position, 1)
    for d in reversed(range(others.dim(isl.dim_type.out))):  # a condition may tie another loop to this one
        one = others.project_out(isl.dim_type.out, d + 1, others.dim(isl.dim_type.out) - d - 1)
        one = one.project_out(isl.dim_type.out, 0, d).intersect_domain(statement.domain)
        if isl.Map.from_pw_aff(value).intersect_domain(statement.domain).reverse().apply_range(one).is_single_valued():
            others = others.project_out(isl.dim_type.out, d, 1)
    group = isl.Map.from_pw_aff(value.scale_down_val(isl.Val.int_from_si(space.get_ctx(), width)).floor())
    together = others.flat_range_product(group).intersect_domain(statement.domain)
    return bool(together.reverse().apply_range(pinned(access.relation, access.loose)).is_single_valued())


def _whole(program: Program, band: Band, cut: Cut, above: tuple[Band | Filter | Extension, ...]) -> isl.Set:
    """`{ [outer, own] }`: the strips of which all iterations run: of a convex set, where the first and the last one do.
    Raises _Declined."""
    mine = reach_of(program, above).intersect_domain(band.members[0].schedule.domain())
    inner = mine.flat_range_product(values(band.members, mine.domain()))
    found: isl.Set | None = None
    ranges = [piece.range().coalesce() for piece in maps(inner)]
    if any(not ran.is_equal(ranges[0]) for ran in ranges[1:]):
        raise _Declined("some of its statements run in a part of the iterations")
    for ran in ranges:
        place = ran.dim(isl.dim_type.set) - len(band.members) + cut.position
        digits = (0, cut.count - 1, *range(1, cut.count - 1))
        parts = (ran.preimage_multi_aff(part_of(ran.get_space(), place, cut, digit)) for digit in digits)
        ends = next(parts).intersect(next(parts))
        convex = ran.n_basic_set() == 1 and not has_remainders(ran)
        if not convex and not all(ends.is_subset(part) for part in parts):
            raise _Declined(f"no {cut.count} iterations follow each other")
        found = ends if found is None else found.intersect(ends)
    found = None if found is None else found.coalesce().remove_redundancies()
    if found is None or found.is_empty():
        raise _Declined(f"no {cut.count} iterations follow each other")
    return found


__all__ = ["look_up_in_registers", "tables_of"]
