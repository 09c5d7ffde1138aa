"""Parallel loops that scatter: each thread with a copy of a small array, or atomic updates, or cells of its own."""

from __future__ import annotations

from dataclasses import replace

from polyc.analysis.coincident import within_iteration
from polyc.analysis.expressions.reductions import reductions_of, scatters_of
from polyc.analysis.expressions.updates import any_order, has_parts, sums_wrap
from polyc.analysis.witness import carried, loops_above
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import Array
from polyc.model.tree import Band, Domain, Extension, Mark, Node, Role, Sequence
from polyc.nests.nest import has_parallel
from polyc.nests.samples import sample_parameters
from polyc.nests.wishes import sequential
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.passes.loops.reductions import Races, carried_beside, own_arrays, swapped, without_not_parallel
from polyc.passes.loops.small_regions import started
from polyc.passes.scatter.owners import with_owners
from polyc.poly import among, box_volume, constant_of, names

STAGE = "scatters"
MOST_BYTES = 64 * 1024
"""Of the copies of a thread, which lie on its stack."""
UPDATE_CYCLES, ATOMIC_CYCLES = 4.0, 24.0
"""Of adding to a cell that is in a cache, alone and with a lock that nobody else waits for: `lock add` takes about 18
cycles on x86-64, a loop that compares and exchanges for a floating-point number a little more (Schweizer, Besta and
Hoefler, Evaluating the Cost of Atomic Operations on Modern Architectures, 2015)."""


def mark_scatters(program: Program, races: Races) -> Program:
    """Let loops run in parallel that carry nothing but sums into cells that depend on data.

    rewrite:  for i h[b[i]]++  ->  parallel for reduction(+: h[:256]) i  h[b[i]]++
              for e net[head[e]] += f  ->  parallel for e { atomic  net[head[e]] += f }
              for i if (d[i] < r) { h[b[i]]++; n++; }  ->  the same, with n beside h
              or, in order, as in `owners.py`
    tree:     band[-] -> the same with `parallel`, and the arrays that threads combine or update one at a time
    requires: marks on the coincident loops. Whole numbers may be added in any order, since they wrap; floating-point
              numbers with `--reassociate`
    ensures:  the race check accepts each loop: what it carries is these sums alone. Where a loop stays as it was, a
              remark says why
    """
    statements = program.statements
    scatters = {name: found for name in statements if (found := scatters_of(statements[name], program.scop.arrays))}
    if not scatters or program.options.target != "openmp":
        return program
    marker = _Marker(program, scatters, races)
    child = marker.below(program.tree.child)
    return replace(marker.program, tree=Domain(program.tree.domain, child))


class _Marker:
    """Goes down to the outermost sequential loops, and remembers the remarks."""

    def __init__(self, program: Program, scatters: dict[str, dict[str, str]], races: Races) -> None:
        self.program = program
        self.scatters = scatters
        self.races = races
        self.machine = load_cpu(program.options.machine)

    def below(self, node: Node, inside: bool = False) -> Node:
        """`inside`: of a loop, or of tiles."""
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.below(s.child, inside)) for s in steps))
            case Band(members=members) if any(m.parallel for m in members):
                return node
            case Band() if has_parallel(node) or node.members[0].role is Role.TILE:
                return replace(node, child=self.below(node.child, True))
            case Band():
                return self.marked(node, inside)
            case Mark() | Extension():
                return replace(node, child=self.below(node.child, True))
        return node

    def marked(self, band: Band, inside: bool) -> Band:
        """The band with its first loop parallel, where that is right and pays."""
        below = names(band.members[0].schedule.domain())
        found = {(op, array) for name in below for array, op in self.scatters.get(name, {}).items()}
        if not found or set(below) & sequential(self.program):
            return band
        first = band.members[0]
        own = self.own(band) | self.apart(band, {array for _, array in found})
        pairs = sorted((op, array) for op, array in found if array not in own)
        if not pairs:
            return band
        private, why = self.copies(below, pairs)
        scalars = tuple(sorted((op, array) for array, op in self.scalars(below).items() if array not in own))
        if private:
            changed = replace(first, parallel=True, reductions=(*pairs, *scalars))
        else:
            changed = replace(first, parallel=True, reductions=scalars, atomics=tuple(pairs))
            why = why if self.machine.cores * UPDATE_CYCLES <= ATOMIC_CYCLES else ""
        arrays = self.program.scop.arrays
        told = ", ".join(arrays[array].c_name for _, array in pairs)
        floats = [array for op, array in pairs if not sums_wrap(op, array, arrays)]
        if floats and not self.program.options.reassociate:
            order = "sums of floating-point numbers keep their order without --reassociate"
            why = self.race(band, replace(band, members=(changed, *band.members[1:])), reassociate=True) or order
        if why and not inside and (owned := self.owned(band, pairs)) is not None:
            how = f"each thread updates a part of the cells of {told}, in order"
            self.program = without_not_parallel(self.program, below).remark(
                "scatter-owned", STAGE, f"loop {first.name} runs in parallel: {how}", tuple(below)
            )
            return owned
        if why:
            return self.declined(band, told, why)
        at = sample_parameters(self.program)
        shared = changed if inside else started(self.program, self.machine, at, (), changed)
        if shared is None:
            return self.declined(band, told, "all of it takes less time than threads take to start")
        done = replace(band, members=(shared, *band.members[1:]))
        if (fault := self.race(band, done)) is not None:
            return self.declined(band, told, fault)
        how = "each thread adds up a copy of its own" if private else "updates of a cell are atomic"
        self.program = without_not_parallel(self.program, below).remark(
            "scatter", STAGE, f"loop {first.name} runs in parallel: of {told} {how}", tuple(below)
        )
        return done

    def own(self, band: Band) -> set[str]:
        """The arrays of which each iteration of the first loop has its own: threads have nothing to combine."""
        first, *others = band.members
        shared = replace(band, members=(replace(first, parallel=True), *others))
        child = swapped(self.program.tree.child, band, shared)
        tree = Domain(self.program.tree.domain, child)
        return own_arrays(place_private_arrays(replace(self.program, tree=tree)), shared)

    def apart(self, band: Band, arrays: set[str]) -> set[str]:
        """The arrays of which no iteration of the first loop reads what another one wrote: no sums of several."""
        first, above = band.members[0], loops_above(self.program.tree.child, band)
        flows, here = self.program.dependences.flow_by_array, first.schedule.domain()
        found = set[str]()
        for array in arrays & flows.keys():
            around = within_iteration(among(flows[array], here), above)
            if around.is_subset(within_iteration(around, (first,))):
                found.add(array)
        return found | (arrays - flows.keys())

    def scalars(self, below: list[str]) -> dict[str, str]:
        """The scalars that some statements only combine with values, in any order, with the operators."""
        arrays, allowed = self.program.scop.arrays, self.program.options.reassociate
        found: dict[str, set[str]] = {}
        for statement in map(self.program.statements.__getitem__, below):
            combined = reductions_of(statement, arrays)
            for access in statement.accesses:
                found.setdefault(access.array, set()).add(combined.get(access.array, ""))
        single = {array: op for array, (op, *more) in found.items() if op and not more}
        return {a: op for a, op in single.items() if allowed or any_order(op, a, self.program.scop)}

    def owned(self, band: Band, pairs: list[tuple[str, str]]) -> Band | None:
        """The loop run by the owners of cells; None where that is not right, or they have nothing to gain."""
        arrays = {array for _, array in pairs}
        if self.machine.cores < 2 or len(arrays) != 1:
            return None
        done = with_owners(self.program, band, self.program.scop.arrays[arrays.pop()])
        if done is None or self.race(band, done) is not None:
            return None
        return done

    def copies(self, below: list[str], pairs: list[tuple[str, str]]) -> tuple[bool, str]:
        """Whether each thread gets a copy of the arrays; if not, why atomic updates may not pay."""
        arrays = [self.program.scop.arrays[array] for _, array in pairs]
        cells = [cells_of(array) for array in arrays]
        size = sum(n * (a.element.size_bytes or 8) for n, a in zip(cells, arrays, strict=True) if n is not None)
        few = f"atomic updates by {self.machine.cores} threads would take longer than one thread without"
        if not all(array.c_name.isidentifier() for array in arrays):
            return False, f"OpenMP gives threads no copies of a member of a struct, and {few}"
        if any(n is None for n in cells):
            return False, f"its size is not known, so that threads cannot have copies, and {few}"
        if size > MOST_BYTES:
            return False, f"it has {size} bytes, too many for a copy on the stack of each thread, and {few}"
        at = sample_parameters(self.program)
        domains = (self.program.statements[name].domain for name in below if name in self.scatters)
        updates = sum(box_volume(domain.intersect_params(at)) for domain in domains)
        if updates < self.machine.cores * sum(n for n in cells if n is not None):
            return False, f"copies of it are more work than {updates:.0f} updates, and {few}"
        return True, ""

    def race(self, band: Band, done: Band, reassociate: bool = False) -> str | None:
        """What the loop carries beside the sums; with `reassociate`, beside those of floating-point numbers, too."""
        options = self.program.options
        options = replace(options, reassociate=options.reassociate or reassociate)
        return carried_beside(replace(self.program, options=options), self.races, band, done)

    def declined(self, band: Band, told: str, why: str) -> Band:
        below = tuple(names(band.members[0].schedule.domain()))
        message = f"loop {band.members[0].name} stays sequential, since it scatters into {told}: {why}"
        program = self.program.remark("sequential-scatter", STAGE, message, below)
        self.program = program.because(carried(program, loops_above(program.tree.child, band), band.members[0]))
        return band


def cells_of(array: Array) -> int | None:
    """How many cells each thread would have; None where that is not known, or not all of them are there for sure."""
    count = 1
    for extent in array.extents:
        size = constant_of(extent) if extent is not None else None
        if size is None:
            return None
        count *= size
    return count if has_parts(array) else None
