"""Shapes of contractions on a CPU: a register tile, and the tiles of its caches, from the machine's description."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, lcm, prod

from polyc.cost.given_sizes import ASKED, rounded
from polyc.machine import Cpu
from polyc.records import dataclass, replace

ROWS_SHARE, COLUMNS_SHARE = 0.75, 0.1
"""Of the second level: what the panels may take. That of the columns streams into the first, and need not fit there."""
IN_PLACE_SHARES = 0.5, 1.5
"""The same for tiles that read what they write, whose panel of columns serves few rows: of the second level and of the
first."""
DEPTHS = (128, 384)
"""How deep panels are at least and at most: below, results come and go too often."""
WIDEST = 2304
"""Columns of a tile, about: a tile that is wider shares nothing more."""
ROWS = (64, 256)
"""Of a tile at least and at most: with fewer, filling the panel of columns takes too much of the time."""
USUAL = 2000
"""Rows and columns, where their number is not known: how many tiles there are for the cores depends on it."""
PANEL_BYTES = 1024 * 1024
"""What the panels of one contraction are to take of a thread's stack, at most."""
LINE_BYTES = 64
SHARED_ROWS = 512
"""Of a tile at most, where its panel is all threads': that of columns costs little for so many."""
IN_PLACE_ROWS = (128, 32)
"""Of a tile that reads what it writes, and of the tiles inside of the triangle on its diagonal: the triangle that is
left there is summed up without registers."""
WAITED = 0.3
"""Of the time that a panel takes from the second level: what is not hidden behind computing."""
KEPT, SPILL = 2, 0.25
"""Elements of a row that a compiler keeps in registers, since the next steps of a window read them again, and cycles
for each that finds no register (measured with gcc 12 on a Zen 4)."""
WORTH_ANOTHER_SHAPE = 1.05
"""How much faster another register tile than the usual one has to be: what is computed outside of the result counts."""
BORDER = 0.5
"""Of the time of a register tile: what one at the border takes more, since its copies have conditions."""
FEW_ROWS = 256
"""A loop that is shorter is made longer by other loops that are as good as rows, where there are any."""
UNKNOWN = 64
"""Of such rows in a tile at most, where their number is not known: panels at a border are filled whole."""
ROWS_OF_SEVERAL, DEPTH_OF_SEVERAL = 450, 1024
"""Rows of several loops in a tile, about, and how deep its panels are at most: its panel of columns is for the second
level."""
RESULT_BYTES = 208 * 1024
"""Of the result in such a tile: what reads it next may find it there, in a buffer on the stack."""
WINDOW = 3
"""How many elements a panel of rows may have for each row and step, where it is read through a window."""
TILES_OF_A_CORE = 4
"""Fewer leave cores idle at the end, where their number does not divide by that of cores."""

WRITTEN_IN_VECTORS, WRITTEN_BY_LANE = 4.0, 1.05
"""Multiply-adds that whole tiles do in the time of one as it was written: where a C compiler makes vectors of it; and
for each lane, where it sums up one by one (gcc 12, AVX-512, doubles and floats, 2 to 64 columns and steps)."""
STEPS_AROUND, TILES_AROUND = 24.0, 3.0
"""Steps of a sum that take as long as what is around it: a tile's results are fetched and stored. And rows of tiles
that take as long as filling the panel of columns."""


@dataclass(frozen=True, slots=True)
class MicroSize:
    """How `C[m, n] += A[m, k] * B[k, n]` is cut up."""

    block_m: int
    block_n: int
    """The tile of C that one thread takes at a time."""
    block_k: int
    """How deep the panels are: the panel of A has block_m x block_k elements, that of B block_k x columns."""
    rows: int
    columns: int
    """The tile of C in registers: `columns` is a multiple of `lanes`."""
    lanes: int
    """Elements of a vector."""
    reason: str
    """What bounds the register tile and the panels, with the numbers."""
    shared: bool = False
    """All threads share the panel of rows, and take strips of columns of one tile; else each takes tiles of its own."""
    more: tuple[int, ...] = ()
    """The tile of each further loop that is as good as rows (`Contraction.more`)."""
    inner_m: int = 0
    """Rows of the tiles inside of a triangle on the tile's diagonal; 0: it is summed up without registers."""
    turned: bool = False
    """Whether the rows of registers are columns of the result: those of a triangle, which end one by one."""

    @property
    def tile(self) -> tuple[int, int, int]:
        return self.block_m, self.block_n, self.block_k


def micro_sizes(
    machine: Cpu,
    m: int | None,
    n: int | None,
    k: int | None,
    element_bytes: int,
    panels: tuple[int, int] = (1, 1),
    in_place: bool = False,
    room_for_result: int | None = None,
    alone: bool = False,
) -> list[MicroSize]:
    """Shapes for a product, the best first.

    m, n, k:  extents, None where they are known at run time only.
    panels:   how many arrays move with the rows, and with the columns.
    in_place: rows read each other, so that the rows of one tile cannot take each other's from a panel.
    room_for_result: bytes that a tile's results may take, where they are in no array but in a buffer of the tile.
    alone:    no loops are around those of rows and columns, and all rows have all columns.
    source:  Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008: the panel
             of rows in the second level, that of columns in the first, the results in registers
    """
    lanes = machine.lanes(element_bytes)
    rows, vectors = _usual_or_fitting(machine, m, n, lanes)
    columns = vectors * lanes
    first, second = machine.levels[0].bytes, machine.levels[min(1, len(machine.levels) - 1)].bytes
    of_columns = columns * element_bytes * panels[1]
    for_columns = first * IN_PLACE_SHARES[1] if in_place else second * COLUMNS_SHARE
    depth = int(for_columns / of_columns)
    room = int(second * (IN_PLACE_SHARES[0] if in_place else ROWS_SHARE) / (element_bytes * panels[0]))
    depth = max(DEPTHS[0], min(DEPTHS[1], depth // 32 * 32, room // ROWS[0] // 32 * 32))
    if k is not None:
        depth = _even(k, depth, 8)
    reason = f"{machine.vector_registers} registers of {machine.vector_bytes} bytes"
    wanted = TILES_OF_A_CORE // 2 * machine.cores
    block_m = max(rows, min(room // depth, ROWS[1], max(ROWS[0], USUAL // wanted)) // rows * rows)
    block_n = WIDEST // columns * columns
    inner_m = 0
    if in_place:  # its columns are what runs in parallel
        inner_m = min(block_m, IN_PLACE_ROWS[1] // rows * rows)
        block_m = max(1, min(block_m, IN_PLACE_ROWS[0]) // inner_m) * inner_m
        # Equal parts where the extent is known; else more of them, since one thread may have one tile more to do.
        width = ceil(n / wanted / columns) if n is not None else USUAL // (2 * wanted) // columns
        block_n = max(8, min(WIDEST // columns, width)) * columns
    if room_for_result is not None:  # both panels are filled anew for each tile: the more square it is, the better
        cells = room_for_result // element_bytes
        while block_m > 2 * ROWS[0] and block_m * block_m > cells // 2:
            block_m = block_m // 2 // rows * rows
        block_n = max(columns, min(block_n, cells // block_m // columns * columns))
    if m is not None and not in_place:  # tiles of rows that read each other run in order
        tiles = ceil(m / block_m)
        if tiles > machine.cores and tiles < TILES_OF_A_CORE * machine.cores:
            tiles = ceil(tiles / machine.cores) * machine.cores
        block_m = max(rows, min(block_m, ceil(m / tiles / rows) * rows))
    own = MicroSize(block_m, block_n, depth, rows, columns, lanes, reason, inner_m=inner_m)
    if not alone or in_place or (USUAL if n is None else n) < TILES_OF_A_CORE * machine.cores * columns:
        return [own]
    # Every thread has strips of columns of its own, each with a panel that serves all rows of the tile: these are as
    # many as the stack holds. No thread waits for another one's tile, however many rows there are.
    # Each row of a panel has a line more, whichever of its dimensions is innermost.
    row_bytes, line = depth * element_bytes + LINE_BYTES, LINE_BYTES // element_bytes
    room = (PANEL_BYTES - depth * of_columns) // panels[0] // row_bytes - line
    block_m = max(rows, min(room, SHARED_ROWS) // rows * rows)
    block_m = block_m if m is None else _even(m, block_m, rows)
    return [MicroSize(block_m, WIDEST // columns * columns, depth, rows, columns, lanes, reason, True), own]


def written_of(lanes: int, in_vectors: bool) -> float:
    """How many multiply-adds whole tiles do in the time of one as it was written."""
    return WRITTEN_IN_VECTORS if in_vectors else WRITTEN_BY_LANE * lanes


def more_than_whole(extent: int, tile: int) -> float:
    """What tiles do beside an extent that is known, as a factor: the last one runs whole."""
    return ceil(extent / tile) * tile / max(extent, 1)


def may_pay(size: MicroSize, m: int | None, n: int | None, k: int | None, written: float) -> bool:
    """Whether tiles of registers are faster than the loops as written, where what is not known of rows, columns and
    steps is large."""
    rows = 1.0 if m is None else more_than_whole(m, size.rows)
    columns = 1.0 if n is None else more_than_whole(n, size.columns)
    steps = 1.0 if k is None else 1 + STEPS_AROUND / max(k, 1)
    return rows * columns * steps < written


def with_whole_vectors(size: MicroSize) -> MicroSize:
    """Fewer rows in a tile, where some fill whole vectors: along them a triangle's columns are summed up."""
    step = lcm(size.rows, size.lanes)
    return replace(size, block_m=size.block_m // step * step) if size.block_m >= step else size


def resized(size: MicroSize, tile: tuple[int, ...]) -> MicroSize:
    """Another tile and depth of panels with the same tile of registers, of which the tile has whole ones."""
    if tile == size.tile:
        return size
    block_m, block_n, block_k = tile
    step = size.inner_m or size.rows
    return replace(
        size, block_m=rounded(block_m, step), block_n=rounded(block_n, size.columns), block_k=block_k, reason=ASKED
    )


def fitted(machine: Cpu, size: MicroSize, n: int | None) -> MicroSize:
    """The shape with fewer vectors in a row of its register tile, and more rows, where that leaves less of a result of
    so many columns outside: tiles at its border run whole."""
    if n is None:
        return size
    best, least = size, ceil(n / size.columns) * size.columns
    for vectors in range(size.columns // size.lanes - 1, 1, -1):
        rows = (machine.vector_registers - vectors - 1) // vectors // 2 * 2
        columns = vectors * size.lanes
        padded = ceil(n / columns) * columns
        if padded < least:
            block_m = max(rows, size.block_m // rows * rows)
            best, least = replace(size, rows=rows, columns=columns, block_m=block_m), padded
    return best


def size_of_short_rows(
    machine: Cpu,
    m: int | None,
    more: tuple[int | None, ...],
    n: int,
    outer: int,
    inner: int,
    element_bytes: int,
    window: bool,
) -> MicroSize:
    """The shape of a sum over rows of several loops: `C[b, y, x, f] += A[b, y + u, x + v, c] * W[u, v, c, f]`.

    m:     iterations of the loop whose rows are in registers, x; more: of the others, outermost first, b and y; None
           where they are not known
    outer: iterations of the outermost loop of the sum, c; inner: of the others together, u and v
    """
    lanes = machine.lanes(element_bytes)
    rows, vectors = _fitting(machine, m or USUAL, n, lanes)
    columns = vectors * lanes
    block_m = _even(m, ROWS_OF_SEVERAL, rows) if m is not None else UNKNOWN // rows * rows
    wide, tiles = min(m or USUAL, block_m), []
    for extent in reversed(more):
        left = max(1, ROWS_OF_SEVERAL // wide)
        tiles.append(_part(extent, left) if extent is not None else left)
        wide *= tiles[-1]
    block_n = _even(n, max(1, RESULT_BYTES // (wide * element_bytes * columns)) * columns, columns)
    extents = ((m, block_m), *zip(more, reversed(tiles), strict=True))
    others = prod(ceil((e or USUAL) / size) for e, size in extents)
    while block_n > columns and others * ceil(n / block_n) < TILES_OF_A_CORE * machine.cores:
        block_n = ceil(block_n / 2 / columns) * columns
    second = machine.levels[min(1, len(machine.levels) - 1)].bytes
    room = second * 3 // 4 // (wide * element_bytes * (WINDOW if window else 1))
    depth = _part(outer, max(1, min(DEPTH_OF_SEVERAL // inner, room)))
    reason = f"{machine.vector_registers} registers of {machine.vector_bytes} bytes"
    return MicroSize(block_m, block_n, depth * inner, rows, columns, lanes, reason, more=tuple(reversed(tiles)))


def _part(extent: int, most: int) -> int:
    """A part of an extent, of about `most`: one that it is a multiple of, if there is one that is not much smaller."""
    for part in range(min(extent, most * 5 // 4), most // 2, -1):
        if extent % part == 0:
            return part
    return ceil(extent / ceil(extent / most))


def _usual_or_fitting(machine: Cpu, m: int | None, n: int | None, lanes: int) -> tuple[int, int]:
    """Rows and vectors of a register tile: the usual one, unless so much of it lies outside of the result that another
    one is worth it."""
    vectors = 3 if machine.vector_registers >= 32 else 2
    # Results, a row of the panel of columns, and one element of the other panel, broadcast.
    usual = (machine.vector_registers - vectors - 1) // vectors // 2 * 2, vectors
    if m is None or n is None:
        return usual
    inside = _speeds(machine, m, n, lanes, 0)

    def speed(shape: tuple[int, int]) -> float:
        rows, columns = shape[0], shape[1] * lanes
        whole = (m // rows) * (n // columns) / (ceil(m / rows) * ceil(n / columns))
        return inside(shape) / (1 + BORDER * (1 - whole))

    best = max(_shapes(machine), key=speed)
    return best if speed(best) > WORTH_ANOTHER_SHAPE * speed(usual) else usual


def _fitting(machine: Cpu, m: int, n: int, lanes: int) -> tuple[int, int]:
    """Rows and vectors of a register tile that does the most useful multiply-adds in a cycle, where a sum goes through
    a window, or through rows of several loops."""
    return max(_shapes(machine), key=_speeds(machine, m, n, lanes, KEPT))


def _shapes(machine: Cpu) -> list[tuple[int, int]]:
    """Rows and vectors that fit the registers: results, a row of the panel of columns, and one element of the other
    panel, broadcast."""
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, machine.vector_registers)
        if rows * vectors + vectors + 1 <= machine.vector_registers
    ]


def _speeds(machine: Cpu, m: int, n: int, lanes: int, kept: int) -> Callable[[tuple[int, int]], float]:
    """Useful multiply-adds in a cycle of a tile of so many rows and vectors, borders included. The panel of columns
    comes from the second level. kept: elements of each row that a compiler keeps in registers."""
    second = machine.levels[min(1, len(machine.levels) - 1)]

    def speed(shape: tuple[int, int]) -> float:
        rows, vectors = shape
        useful = m * n / (ceil(m / rows) * rows * ceil(n / (vectors * lanes)) * vectors * lanes)
        computing = max(rows * vectors / machine.fma_per_cycle, machine.fma_latency_cycles)
        loading = (vectors + rows) / machine.loads_per_cycle
        waiting = WAITED * vectors * machine.vector_bytes / machine.bytes_per_cycle(second)
        spilled = max(0, rows * vectors + vectors + kept * rows + 1 - machine.vector_registers)
        return useful * rows * vectors / (max(computing, loading) + waiting + SPILL * spilled + 1)

    return speed


def _even(extent: int, most: int, step: int) -> int:
    """The size of equal parts of an extent, of at most `most`: a multiple of a step."""
    most = max(step, most // step * step)
    parts = ceil(extent / most)
    return min(most, ceil(extent / parts / step) * step)
