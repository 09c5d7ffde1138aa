"""Contractions on a GPU: a tile of the result in the threads' registers, panels of the operands in shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Sequence_
from itertools import count

import islpy as isl

from polyc.cost.cpu_tiles import TOP
from polyc.cost.given_sizes import REGISTER_TILES, given_tile
from polyc.cost.gpu_sizes import ContractionSize, contraction_candidates
from polyc.cost.micro_sizes import (
    FEW_ROWS,
    USUAL,
    MicroSize,
    fitted,
    may_pay,
    micro_sizes,
    resized,
    size_of_short_rows,
    with_whole_vectors,
    written_of,
)
from polyc.cost.storage import STACK_BYTES
from polyc.machine import load_cpu, load_gpu
from polyc.model.fragments import Fragment
from polyc.model.program import Options, Program
from polyc.model.scop import Access, CType
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Role, Sequence, child_nodes
from polyc.nests.contractions import (
    Contraction,
    contraction_of,
    extent_of,
    is_vector_as_written,
    is_window,
    loads_neighbours,
    result_first,
    tile_members_of,
    varies,
)
from polyc.nests.nest import NOWHERE, Outer
from polyc.nests.strides import repeats
from polyc.nests.sums import streams, sum_nest
from polyc.nests.tiling import WHOLE
from polyc.nests.wishes import options_of
from polyc.passes.products.fragment_loads import chain_weights, fragment_of, granule_of
from polyc.passes.products.fragment_nest import FragmentNest, NoFragments
from polyc.passes.products.panels import readers_of
from polyc.passes.products.register_nest import STAGE, NoRegisterTile, RegisterNest
from polyc.passes.products.widen import NotAffine, Widening, widened
from polyc.poly import names, set_name, sets
from polyc.records import dataclass, field, replace

SHORTEST, SMALLEST = 8, 16
"""Sums and tiles below are left to one point a thread."""
FEWEST = 8
"""Rows or columns of a result of which a CPU has register tiles: some of their lanes may stay empty."""


def fewest(options: Options) -> int:
    """Rows or columns of a result from which on it has register tiles."""
    return SMALLEST if options.gpu else FEWEST


USUAL_BATCH, USUAL_SIDE, USUAL_CHANNELS = 16, 64, 64
"""Of images, their sides, and filters, where sizes are known at run time only: products have larger ones."""


def tile_contractions(program: Program) -> Program:
    """Let each thread of a block sum up a small tile of a contraction, from panels that the block copies together.

    rewrite:  for i for j { C[i][j] = 0; for k C[i][j] += A[i][k] * B[k][j]; D[i][j] = f(C[i][j]); }   (in a tile)
              -> float c[8][8];  c = 0 for the thread's (i, j)
                 for kt { a = panel of A; b = panel of B; barrier; for k: c += a[k] * b[k] for the thread's (i, j) }
                 D = f(c) for the thread's (i, j)
    tree:     point(i, j) - sequence(x, band(k) - y, z)
              -> sequence(T - x, band(kt) - extension(copies) - sequence(copies, T - band(k) - R - y), T - R - z)
              with T the digits of i and j that are dealt out to threads, R those that a thread runs in registers
    math:     the digits come from a task mapping: repeat(q, q') * spatial(t, t') * repeat(c, c') (`model/tasks.py`).
              Tiles at the border run whole (`Program.padded`): what lies outside sums up into registers that nobody
              reads, from zeros in shared memory
    requires: i and j coincident, so that k may go outside of them; tiles that `contraction_size` chose
    ensures:  each cell of C in the tile is one register of one thread (`verify/places/padding.py` shows it again)
    source:   Zhao et al. 2024, Section 6.4 (promotion); Ding et al. 2023, Sections 4.1 and 4.2
    """
    return tiled_by(Tiler(program, frozenset(alone_in(program.tree.child))))


def tiled_by(tiler: Tiler) -> Program:
    """The program with what a tiler makes of its contractions."""
    program = tiler.program
    tree = Domain(program.tree.domain, tiler.at(program.tree.child, (), frozenset()))
    stored = {p for p, served in tiler.made.items() if readers_of(program, program.statements[p]) > set(served)}
    if stored:  # somebody reads what is in memory
        return tiled_by(type(tiler)(program, tiler.alone - stored))
    tree = _without(tree, tiler.made)
    try:
        return replace(_told(tiler.program, tiler.made), tree=widened(tree, tiler.widening))
    except NotAffine as reason:
        names_ = tuple(tiler.widening.statements)
        return program.remark("no-register-tile", STAGE, f"sums stay without register tiles: {reason}", names_)


def apart(program: Program, node: Node) -> Node:
    """The node, and where a contraction or another sum fills one band, the loops that sum up in a band of their own."""
    if not isinstance(node, Band):
        return node
    band = node if program.options.gpu else result_first(program, node)
    if not is_sum(program, band):
        return node
    count = band.coincident_prefix if program.options.gpu else tile_members_of(program, band)
    if count == len(band.members):
        return node
    return replace(band, members=band.members[:count], child=replace(band, members=band.members[count:]))


def is_sum(program: Program, band: Band) -> bool:
    """Whether registers hold what the nest adds up: as a contraction (`micro.py`), or as a stream (`jam.py`)."""
    if contraction_size(program, band if program.options.gpu else result_first(program, band)) is not None:
        return True
    return streams(options_of(program, band)) and sum_nest(program, band) is not None


def contraction_size(
    program: Program, band: Band, tile: tuple[int, ...] | None = None, outer: Outer = NOWHERE
) -> tuple[Contraction, ContractionSize | MicroSize] | None:
    """The shape for a nest on the machine that code is made for, where register tiles are worth it: the best one, or
    the best one for a tile that has been made already."""
    found, sizes = contraction_sizes(program, band, outer)
    for size in sizes:
        if found is not None and (tile is None or tile == tile_of(found, size, len(band.members))):
            return found, size
    return None


def contraction_sizes(
    program: Program, band: Band, outer: Outer = NOWHERE
) -> tuple[Contraction | None, Sequence_[ContractionSize] | Sequence_[MicroSize]]:
    """The contraction that a nest is, and shapes for it, the best first; none where one point a thread is as good.

    outer: the loops around it
    """
    options = options_of(program, band)
    if options.tile_sizes != "auto" or options.fuse != "basteln" or STAGE in options.without:
        return None, []
    found = contraction_of(program, band, in_place=not options.gpu)
    if found is None or (not options.gpu and repeats(band.members[found.columns], program)):
        return None, []
    element = program.scop.arrays[found.array].element
    if not is_summed(element, options.gpu):
        return None, []
    pair = (found.rows, found.columns)
    m, n = (extent_of(program, band.members[k], found.statement, outer) for k in pair)
    depth = _product(extent_of(program, member, found.statement) for member in found.chain)
    others = [member for k, member in enumerate(band.members) if k not in pair and member not in found.chain]
    batch = _product(extent_of(program, member, found.statement) for member in others)
    several = None if options.gpu else _with_more_rows(program, band, found, m, n, depth, element.size_bytes)
    in_vectors = not options.gpu and is_vector_as_written(program, found)
    if several is not None:
        rows = _product([m, *(extent_of(program, band.members[k], found.statement) for k in found.more)])
        pays = may_pay(several, rows, n, depth, written_of(several.lanes, in_vectors))
        return (found, [several]) if pays else (None, [])
    found = replace(found, more=())
    least = fewest(options)
    if any(e is not None and e < least for e in (m, n)) or (depth is not None and depth < SHORTEST):
        return None, []
    if not options.gpu:
        domain = program.statements[found.statement].domain
        panels = tuple(sum(varies(a, band.members[k], domain) for a in found.operands) for k in pair)
        # Rows in a block of a loop around are one tile: its columns are what runs in parallel.
        in_block = m is not None and extent_of(program, band.members[found.rows], found.statement) is None
        in_place = in_block or not all(band.members[k].coincident for k in pair)
        room = STACK_BYTES if lives_in_tiles(program, found.array) else None
        # Of a triangle's strips some are short, and threads would wait for each other at the end of each tile.
        cpu, alone = load_cpu(options.machine), not outer.members and not others and domain.is_box() and room is None
        moved = (panels[0], panels[1])
        sizes = micro_sizes(cpu, m, n, depth, element.size_bytes, moved, in_place, room, alone)
        sizes = sizes if domain.is_box() or in_place else [with_whole_vectors(size) for size in sizes]
        own = names(band.members[0].schedule.domain())
        sizes = [size for size in sizes if may_pay(size, m, n, depth, written_of(size.lanes, in_vectors))]
        sizes = [resized(size, given_tile(program, REGISTER_TILES, size.tile, own)) for size in sizes]
        return found, [replace(s, block_m=WHOLE) if in_block and (m or 0) <= s.block_m else s for s in sizes]
    machine = load_gpu(options.machine)
    rows, columns = (loads_neighbours(program, band, found, k) for k in pair)
    windows = [a for a in found.operands if is_window(a, found.chain, program.statements[found.statement].domain)]
    if windows:
        m, n = (e or usual_extent(program, found, windows, band.members[k]) for e, k in zip((m, n), pair, strict=True))
        batch = batch or USUAL_BATCH * USUAL_SIDE
    shapes = contraction_candidates(machine, m, n, depth, batch, element.size_bytes, vectors=(rows, columns))
    fragment = fragment_of(program, band, found)
    weights = chain_weights(program, found)
    if isinstance(fragment, Fragment) and weights is not None:
        granule = granule_of(fragment, weights)
        on_cores = contraction_candidates(
            machine, m, n, depth, batch, fragment.operand_bytes, fragment=fragment, granule=granule
        )
        shapes = on_cores + shapes
    if options.block is not None:
        plain = [s if s.fragment is not None else replace(s, warps=(0, 0)) for s in shapes]
        shapes = [s for s in plain if s.block == options.block[:2]]
    return found, shapes


def usual_extent(program: Program, found: Contraction, windows: list[Access], member: Member) -> int:
    """Taken for a loop of a convolution whose length is known at run time only."""
    domain = program.statements[found.statement].domain
    return USUAL_SIDE if any(varies(a, member, domain) for a in windows) else USUAL_CHANNELS


def is_summed(element: CType, gpu: bool) -> bool:
    """Whether registers hold sums of a type. A CPU's compilers compute a half as a float and round it in the end, and
    its vectors they round in each step; they find the vectors of whole numbers themselves."""
    if gpu and element.kind == "int":
        return element.size_bytes in (4, 8)
    return element.kind == "float" and element.size_bytes in ((2, 4, 8) if gpu else (4, 8))


def lives_in_tiles(program: Program, array: str) -> bool:
    """Whether an array was made for a temporary (`temporaries.py`): it exists only where tiles keep parts of it."""
    step = program.relocated
    return step is not None and array in step.after.arrays and array not in step.before.arrays


def _with_more_rows(
    program: Program, band: Band, found: Contraction, m: int | None, n: int | None, depth: int | None, element: int
) -> MicroSize | None:
    """The shape for a contraction whose rows are several loops: where it reads through a window, or where all is known
    and one of these loops is short."""
    more = [extent_of(program, band.members[k], found.statement) for k in found.more]
    outer, *inner = (extent_of(program, member, found.statement) for member in found.chain)
    steps = _product(inner)
    if steps is None or (not found.window and (not more or None in (m, n, outer, *more) or (m or 0) >= FEW_ROWS)):
        return None
    enough = (_product([m, *more]) or SMALLEST) >= SMALLEST and (n or FEWEST) >= FEWEST
    if not enough or (depth is not None and depth < SHORTEST):
        return None
    machine = load_cpu(program.options.machine)
    return size_of_short_rows(machine, m, tuple(more), n or USUAL, outer or USUAL, steps, element, found.window)


def _product(extents: Iterable[int | None]) -> int | None:
    """None where a factor is not known."""
    found = 1
    for extent in extents:
        if extent is None:
            return None
        found *= extent
    return found


def tile_of(contraction: Contraction, size: ContractionSize | MicroSize, count: int) -> tuple[int, ...]:
    """The sizes of a tile band of so many loops: one iteration of all but rows, more rows and columns."""
    block = {contraction.rows: size.block_m, contraction.columns: size.block_n}
    if isinstance(size, MicroSize):
        block |= dict(zip(contraction.more, size.more, strict=True))
    return tuple(block.get(k, 1) for k in range(count))


def alone_in(node: Node) -> Iterator[str]:
    """Statements that are the whole of a step outside of all tiles."""
    match node:
        case Sequence(children=steps):
            for step in steps:
                inside = names(step.filter)
                if len(inside) == 1:
                    yield inside[0]
                yield from alone_in(step.child)
        case Mark(kind="group"):
            return
        case _:
            for child in child_nodes(node):
                yield from alone_in(child)


def _without(tree: Domain, made: Mapping[str, object]) -> Domain:
    """The tree without the nests of statements that run for panels now."""
    if not made:
        return tree

    def left(node: Node) -> Node:
        match node:
            case Sequence(children=steps):
                kept = tuple(replace(s, child=left(s.child)) for s in steps if not set(names(s.filter)) <= set(made))
                return kept[0].child if len(kept) == 1 else Sequence(kept)
            case Mark(kind="group"):
                return node
            case Leaf():
                return node
            case Band() | Mark() | Extension():
                return replace(node, child=left(node.child))

    domain = tree.domain
    for piece in sets(tree.domain):
        if set_name(piece) in made:
            domain = domain.subtract(isl.UnionSet.from_set(piece))
    return Domain(domain, left(tree.child))


def _told(program: Program, made: dict[str, tuple[str, ...]]) -> Program:
    """The groups and remarks of a program whose producers run for panels: `{ producer: who read it }`."""
    groups = []
    for group in program.groups:
        inside = tuple(name for name, readers in made.items() if set(readers) & set(group.statements))
        if set(group.statements) <= set(made):
            continue
        groups.append(replace(group, fused=(*group.fused, *inside), statements=(*group.statements, *inside)))
    remarks = tuple(
        r for r in program.remarks if not (r.code in ("not-fused", "gpu-sizes") and {*r.statements} <= set(made))
    )
    program = replace(program, groups=tuple(groups), remarks=remarks)
    for name, readers in made.items():
        those = f"{readers[0]}, which reads" if len(readers) == 1 else f"{' and '.join(readers)}, which read"
        message = f"{name} runs for each panel of {those} it: its values are never stored"
        program = program.remark("fused", STAGE, message, (name, *readers))
    return program


@dataclass(slots=True)
class Tiler:
    program: Program
    alone: frozenset[str]
    made: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Producers that run for panels, and the sums that read these."""
    widening: Widening = field(default_factory=Widening)
    numbers: count[int] = field(default_factory=lambda: count(1))
    blocks: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The threads of a block, by the identity of the outermost tile loop of its kernel."""
    panels: dict[int, frozenset[str]] = field(default_factory=dict)
    """In the same way: the buffers that were made for a kernel."""

    def at(self, node: Node, above: tuple[Member, ...], added: frozenset[str]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above, added)) for s in steps))
            case Extension(relation=relation):
                inside = added | set(names(relation.range()))
                return replace(node, child=self.at(node.child, above, inside))
            case Mark():
                below = self.at(node.child, above, added)
                left = tuple(n for n in node.names if n not in self.widening.dropped)
                return replace(node, child=below, names=left) if left or node.kind != "allocate" else below
            case Band(members=members) if all(m.role is Role.POINT for m in members):
                return self.point(node, above, added)
            case Band(members=members):
                return replace(node, child=self.at(node.child, above + members, added))

    def run_for(self, producers: tuple[str, ...], reader: str) -> None:
        """Note that they run for panels of a sum."""
        for name in producers:
            self.made[name] = (*self.made.get(name, ()), reader)

    def point(self, band: Band, above: tuple[Member, ...], added: frozenset[str]) -> Node:
        tile = above[-len(band.members) :]
        sizes = tuple(m.size if m.role is Role.TILE else 0 for m in tile)
        contraction, found = contraction_sizes(self.program, band)
        if contraction is None:
            return band
        shapes = [s for s in found if isinstance(s, ContractionSize) and sizes == tile_of(contraction, s, len(sizes))]
        if not shapes:
            return band
        fragment = fragment_of(self.program, band, contraction)
        why_not = fragment if isinstance(fragment, str) else ""
        kernel = next(id(m) for m in above if m.role is Role.TILE)
        threads = self.blocks.get(kernel, shapes[0].block)
        alike = [s for s in shapes if kernel not in self.blocks or s.block == threads]
        on_cores = [s for s in alike if s.fragment is not None][:1]
        if isinstance(fragment, Fragment) and not on_cores:
            why_not = (
                "another sum of its kernel has blocks of another shape"
                if shapes[0].fragment
                else "no tile of theirs fits"
            )
        reason = NoRegisterTile("another sum of its kernel has blocks of another shape")
        for size in (*on_cores, *[s for s in alike if s.fragment is None][:1]):
            try:
                others = [s for s in found if isinstance(s, ContractionSize) and s is not size]
                return self.tiled(band, above, added, contraction, [size, *others], why_not)
            except NoFragments as refused:
                reason, why_not = refused, str(refused)
            except NoRegisterTile as refused:
                reason = refused
                break
        self.program = self.program.remark(
            "no-register-tile",
            STAGE,
            f"{contraction.statement} is summed up by one thread a point: {reason}",
            (contraction.statement,),
        ).because(reason.dependence)
        return band

    def tiled(
        self,
        band: Band,
        above: tuple[Member, ...],
        added: frozenset[str],
        contraction: Contraction,
        sizes: list[ContractionSize],
        why_not: str,
    ) -> Node:
        """The contraction with a tile of the first of some shapes, and the program with what that needs.

        Raises NoRegisterTile.
        """
        size = sizes[0]
        kernel = next(id(m) for m in above if m.role is Role.TILE)
        elsewhere = frozenset(p for k, made in self.panels.items() if k != kernel for p in made)
        alone = self.alone - set(self.made)
        kind = FragmentNest if size.fragment is not None else RegisterNest
        nest = kind(self.program, band, above, contraction, size, self.numbers, elsewhere, alone)
        nest.candidates = tuple(one.told for one in sizes[:TOP])
        if why_not:
            nest.on = f"; not by tensor cores: {why_not}"
        if nest.statements & added:
            raise NoRegisterTile("it is computed in the tiles of another nest")
        node = nest.node()
        self.blocks[kernel] = size.block
        made = frozenset(nest.program.buffers) - frozenset(self.program.buffers)
        self.panels[kernel] = self.panels.get(kernel, frozenset()) | made
        self.run_for(nest.made, contraction.statement)
        self.program = nest.program
        self.widening = self.widening.joined(nest.widening)
        return node


def size_in_rows(program: Program, band: Band, above: tuple[Member, ...]) -> tuple[Contraction, MicroSize] | None:
    """The sum in a tile that keeps whole rows of its result, as high as the tile; None for any other point band."""
    step = program.relocated
    tile = [m for m in above if m.role is Role.TILE]
    if step is None or not tile or len(tile) >= len(band.members):
        return None
    found, sizes = contraction_sizes(program, band)
    if found is None or not sizes or found.array in step.before.arrays:
        return None
    if not found.rows < len(tile) <= found.columns:
        return None
    size = size_for_rows(program, band, found, sizes[0])
    return found, replace(size, block_m=tile[found.rows].size, block_n=WHOLE)


def size_for_rows(program: Program, band: Band, found: Contraction, size: ContractionSize | MicroSize) -> MicroSize:
    """The shape of a sum whose tiles have all columns."""
    assert isinstance(size, MicroSize)
    columns = extent_of(program, band.members[found.columns], found.statement)
    return fitted(load_cpu(program.options.machine), size, columns)
