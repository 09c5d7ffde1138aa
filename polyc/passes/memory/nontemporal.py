"""Results that no cache holds: rows that go to memory without the lines being read first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce
from math import prod

import islpy as isl

from polyc.cost.time import multiply_adds, operations
from polyc.machine import GENERIC, Cpu, load_cpu
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Statement, Storage
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    PastCaches,
    Role,
    Sequence,
    Worth,
    walk,
)
from polyc.nests.nest import has_loops
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import dimension_of, iterations, step_of, usual_value
from polyc.poly import affine_of, box_volume, names, sets, value_on
from polyc.records import dataclass, field, replace

STAGE = "nontemporal"
ISA = "x86"
"""What has stores past the caches that C compilers know."""
HELD = 0.75
"""Of the last level: of a result that is smaller, enough is found there again, or overwritten there."""
HIDING = 1.5
"""Arithmetic that takes so many times what memory does hides that."""
READ_LATER = 2
"""Times more that an array has to have which another nest reads: the first elements have left the cache by then."""
LEAST_ROW = 256
"""Bytes of a row below which its ends, which are no whole lines, and its copy cost more than is saved."""

LINE = 64
"""Bytes of a line: shorter rows of tiles have no whole one."""


class _Declined(Exception):
    """Why a result goes through the caches."""


class _Small(Exception):
    """A cache holds the array, or it is not known how large it is."""


def store_past_caches(program: Program) -> Program:
    """Let vector loops store rows past the caches where the array is too large for any of them.

    rewrite:  for j A[i][j] = e;  ->  for j row[j] = e; stream A[i][0 .. n - 1] from row
    tree:     band(i, j) -> the same, with the array at the member j; it changes no order
    math:     of a plain store, the core reads the line first: of what a loop moves from and to memory, a result counts
              twice, and only once if whole lines are stored past the caches
    requires: a machine that was named, since the caches of others are not known; writes that happen, each element once,
              along consecutive memory, of an array that the nest does not read; more bytes than the last level keeps,
              twice as many where another nest reads it; memory is what the nest waits for, not arithmetic
    ensures:  a condition on the sizes where these are not known
    source:   ours; Intel 64 and IA-32 Architectures Optimization Reference Manual, "Non-temporal stores"; a write of a
              line costs its read as well: Treibig, Hager, the execution-cache-memory model, 2010
    """
    options = program.options
    if options.gpu or options.stores == "plain" or (options.stores == "auto" and options.machine == GENERIC):
        return program
    machine = load_cpu(options.machine)
    if not machine.isa.startswith(ISA):
        return program if options.stores == "auto" else _for_another_machine(program, machine)
    finder = _Finder(program, machine)
    child = finder.at(program.tree.child)
    return replace(finder.program, tree=Domain(program.tree.domain, child)) if finder.made else finder.program


def _for_another_machine(program: Program, machine: Cpu) -> Program:
    message = (
        f"results are stored through the caches: of stores past them, polyc knows those of {ISA}, not {machine.isa}"
    )
    return program.remark("not-nontemporal", STAGE, message, tuple(program.scop.statements))


@dataclass(slots=True)
class _Result:
    """An array that a loop stores."""

    array: Array
    writes: list[tuple[Statement, Access]]


@dataclass
class _Finder:
    program: Program
    machine: Cpu
    made: bool = False
    nest: frozenset[str] = frozenset()
    """The statements of the nest that is looked at."""
    told: set[str] = field(default_factory=set)
    tiles: tuple[Member, ...] = ()
    """The loops over tiles around what is looked at."""

    @cached_property
    def sizes(self) -> isl.Set:
        return sample_parameters(self.program)

    @cached_property
    def kept(self) -> frozenset[tuple[str, str]]:
        """Accesses that go to buffers."""
        return frozenset(pair for buffer in self.program.buffers.values() for pair in buffer.accesses)

    @cached_property
    def least_bytes(self) -> int:
        """Of an array that no cache holds."""
        last = self.machine.levels[-1]
        return int(HELD * last.bytes * max(1, self.machine.cores // max(1, last.shared_by)))

    def at(self, node: Node, inside: bool = False) -> Node:
        match node:
            case Leaf() | Mark(kind="tiles"):
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.step(s, inside)) for s in steps))
            case Extension() | Mark():
                return replace(node, child=self.at(node.child, inside))
            case Band():
                if not inside:
                    self.nest = _statements(node)
                around, self.tiles = self.tiles, (*self.tiles, *(m for m in node.members if m.role is Role.TILE))
                found = replace(node, child=self.at(node.child, True)) if has_loops(node.child) else self.marked(node)
                self.tiles = around
                return found

    def step(self, step: Filter, inside: bool) -> Node:
        return self.at(step.child, inside)

    def marked(self, band: Band) -> Band:
        """An innermost loop, with the arrays that it stores past the caches."""
        along = band.members[-1]
        if along.lanes or any(member.role is Role.REGISTER for member in band.members):
            return band
        found: list[tuple[str, Worth | None]] = []
        for result in self.results(along):
            try:
                worth = self.worth(result)
                self.check(result, along)
                if found and not _same(worth, found[0][1]):
                    raise _Declined("other sizes decide of another result of the loop")
                found.append((result.array.name, worth))
            except _Small:
                pass
            except _Declined as reason:
                self.tell(result, reason)
        if not found:
            return band
        self.made = True
        arrays = tuple(name for name, _ in found)
        member = replace(along, past_caches=PastCaches(arrays, found[0][1]))
        self.say(arrays, along, found[0][1])
        return replace(band, members=(*band.members[:-1], member))

    def results(self, along: Member) -> Iterator[_Result]:
        """The arrays that a loop stores elements of."""
        found: dict[str, _Result] = {}
        relocated = self.program.relocated
        copies = self.program.copies | (set(relocated.added) if relocated is not None else set())
        for name in names(along.schedule.domain()):
            statement = self.program.statements[name]
            for access in statement.accesses if name not in copies else ():
                array = self.program.scop.arrays[access.array]
                if access.kind is AccessKind.READ or not array.rank or (name, access.ref) in self.kept:
                    continue
                if array.name in self.program.scop.privatizable:
                    continue
                found.setdefault(array.name, _Result(array, [])).writes.append((statement, access))
        yield from found.values()

    def worth(self, result: _Result) -> Worth | None:
        """From which sizes on no cache holds the array; None: always. Raises _Small."""
        size = result.array.element.size_bytes
        if not size:
            raise _Small
        if self.program.options.stores == "nontemporal":
            return None
        # Without remainders: dozens of stores to every sixteenth cell take isl seconds, and so many cells do not count.
        first, *others = (access.relation.range().remove_divs() for _, access in result.writes)
        cells = reduce(isl.Set.union, others, first).coalesce()
        box = isl.Set.from_basic_set(cells.intersect_params(self.program.scop.known).simple_hull())
        ends = (box.dim_has_any_lower_bound, box.dim_has_any_upper_bound)
        if not all(bounded(isl.dim_type.set, d) for bounded in ends for d in range(result.array.rank)):
            raise _Small
        extents = []
        for d in range(box.dim(isl.dim_type.set)):
            extent = box.dim_max(d).sub(box.dim_min(d)).add_constant_val(isl.Val.one(box.get_ctx())).coalesce()
            if extent.n_piece() != 1:
                raise _Small
            extents.append(extent.gist(self.program.scop.known))
        constants = prod(int(e.max_val().to_python()) for e in extents if e.is_cst()) * size
        rest = tuple(e for e in extents if not e.is_cst())
        least = self.least_bytes * (READ_LATER if self.read(result.array) else 1)
        if rest:
            usual = [usual_value(extent, self.program) for extent in rest]
            if None not in usual and prod(one or 0 for one in usual) * constants < least:
                raise _Small  # whatever calls in the file pass
            return Worth(rest, least // max(constants, 1))
        if constants < least:
            raise _Small
        return None

    def read(self, array: Array) -> bool:
        """Whether another nest reads the array."""
        accesses = (a for s in self.program.statements.values() if s.name not in self.nest for a in s.accesses)
        return any(a.array == array.name and a.kind is AccessKind.READ for a in accesses)

    def check(self, result: _Result, along: Member) -> None:
        """Raises _Declined."""
        program, array = self.program, result.array
        accesses = [(s, a) for s in program.statements.values() for a in s.accesses if a.array == array.name]
        if any(a.kind is AccessKind.READ and s.name in self.nest for s, a in accesses):
            raise _Declined("the nest reads it")
        if array.storage is Storage.LOCAL and array.name not in program.scop.live_out:
            raise _Declined(
                "only the function has it: its pages are new, and their lines in a cache from being cleared"
            )
        stores = [a for _, a in accesses if a.kind is not AccessKind.READ]
        writes = isl.UnionMap.from_map(stores[0].relation)
        for access in stores:
            if access.kind is not AccessKind.WRITE or not access.exact:
                raise _Declined("it depends on data what is written")
            writes = writes.union(isl.UnionMap.from_map(access.relation))
        if not writes.is_injective():
            raise _Declined("elements are written several times")
        if not along.vector:
            kind = "the parallel loop of the nest" if along.parallel else "no vector loop"
            raise _Declined(f"the loop over {along.name} is {kind}")
        for statement, access in result.writes:
            if statement.name in program.padded:
                raise _Declined("tiles end in iterations that are left out")
            if not _consecutive(statement, access, along):
                raise _Declined(f"the loop over {along.name} does not go along its rows")
        for extent, least in ((iterations(along, program), LEAST_ROW), (self.tile_of(along), LINE)):
            if extent is not None and extent * array.element.size_bytes < least:
                raise _Declined(f"the loop over {along.name} stores {extent * array.element.size_bytes} bytes of a row")
        if program.options.stores == "auto":
            if any(not a.exact for s in names(along.schedule.domain()) for a in program.statements[s].accesses):
                raise _Declined("data say what is read, and memory is not what the loop waits for")
            computing, moving = self.seconds()
            if computing > HIDING * moving:
                raise _Declined(
                    f"arithmetic is what the nest waits for, {1e3 * computing:.1f} ms, and not memory, "
                    f"{1e3 * moving:.1f} ms"
                )

    def tile_of(self, along: Member) -> int | None:
        """How many iterations a loop has at most in a tile; None where it has no tiles."""
        sizes = (member.size for member in self.tiles if member.name == along.name and along.role is Role.POINT)
        return min(sizes, default=None)

    def seconds(self) -> tuple[float, float]:
        """What the nest's arithmetic takes, and what its arrays take from and to memory, on all cores.

        Each array moves once, results twice.
        """
        cycles, touched, written = 0.0, dict[str, isl.Set](), set[str]()
        for name in sorted(self.nest):
            statement = self.program.statements[name]
            domain = statement.domain.intersect_params(self.sizes)
            work = operations(statement, subscripts=False) - multiply_adds(self.program, statement)
            stored = [a for a in statement.accesses if a.kind is not AccessKind.READ]
            size = max((self.program.scop.arrays[a.array].element.size_bytes for a in stored), default=0) or 4
            cycles += box_volume(domain) * work / (self.machine.lanes(size) * self.machine.fma_per_cycle)
            for access in statement.accesses:
                array = self.program.scop.arrays[access.array]
                if not array.rank or (name, access.ref) in self.kept or array.name in self.program.scop.privatizable:
                    continue
                cells = access.relation.range().intersect_params(self.sizes)
                touched[array.name] = touched[array.name].union(cells) if array.name in touched else cells
                if access.kind is not AccessKind.READ:
                    written.add(array.name)
        moved = sum(
            box_volume(cells) * (self.program.scop.arrays[name].element.size_bytes or 4) * (1 + (name in written))
            for name, cells in touched.items()
        )
        computing = cycles / (self.machine.clock_ghz * 1e9 * self.machine.cores)
        return computing, moved / (self.machine.memory.all_gb_per_s * 1e9)

    def say(self, arrays: tuple[str, ...], along: Member, worth: Worth | None) -> None:
        statements = tuple(names(along.schedule.domain()))
        what = ", ".join(self.program.scop.arrays[name].c_name for name in arrays)
        later = any(self.read(self.program.scop.arrays[name]) for name in arrays)
        least = f"{self.least_bytes * (READ_LATER if later else 1) / 1e6:.3g} MB"
        if self.program.options.stores == "nontemporal":
            why = "as asked for"
        elif worth is None:
            why = f"no cache holds {least} or more"
        else:
            why = f"if no cache holds it, from {least} on"
        message = f"{', '.join(statements)}: rows of {what} go to memory past the caches: {why}"
        data = {"arrays": list(arrays), "least_bytes": self.least_bytes, "asked": worth is not None}
        self.program = self.program.remark("nontemporal", STAGE, message, statements, **data)

    def tell(self, result: _Result, reason: _Declined) -> None:
        if result.array.name in self.told:
            return
        self.told.add(result.array.name)
        statements = tuple(dict.fromkeys(s.name for s, _ in result.writes))
        message = f"{', '.join(statements)}: {result.array.c_name} is stored through the caches: {reason}"
        self.program = self.program.remark("not-nontemporal", STAGE, message, statements)


def _statements(node: Node) -> frozenset[str]:
    """All that runs in a subtree."""
    found: set[str] = set()
    for below in walk(node):
        if isinstance(below, Band):
            found.update(names(below.members[0].schedule.domain()))
        elif isinstance(below, Extension):
            found.update(str(s.get_tuple_name()) for s in sets(below.relation.range()))
    return frozenset(found)


def _consecutive(statement: Statement, access: Access, along: Member) -> bool:
    """Whether the loop goes along the array's rows, element by element, forwards."""
    position = dimension_of(value_on(along.schedule, statement.domain.get_space()))
    if position is None or step_of(access, position) != 1:
        return False
    cell = isl.PwMultiAff.from_map(access.relation)
    last = affine_of(cell.get_pw_aff(cell.dim(isl.dim_type.out) - 1))
    return last is not None and last.get_coefficient_val(isl.dim_type.in_, position).is_one()


def _same(one: Worth | None, other: Worth | None) -> bool:
    """Whether the sizes decide alike."""
    if one is None or other is None:
        return one is other
    if one.least != other.least or len(one.extents) != len(other.extents):
        return False
    return all(a.plain_is_equal(b) for a, b in zip(one.extents, other.extents, strict=True))
