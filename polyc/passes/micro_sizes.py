"""Shapes of contractions on a CPU: a register tile, and the tiles of its caches, from the machine's description."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from polyc.machine import Cpu

L1_SHARE, L2_SHARE = 1.5, 0.5
"""Of a cache: what the panel of columns may take of the first level (it streams, and may come from the second), and the
panel of rows of the second."""
DEPTHS = (128, 384)
"""How deep panels are at least and at most: below, results come and go too often."""
WIDEST = 2304
"""Columns of a tile, about: a tile that is wider shares nothing more."""
ROWS = (64, 256)
"""Of a tile at least and at most: with fewer, filling the panel of columns takes too much of the time."""
USUAL = 2000
"""Rows and columns, where their number is not known: how many tiles there are for the cores depends on it."""
IN_PLACE_ROWS = 32
"""Of a tile that reads what it writes: the triangle on its diagonal is summed up without registers."""
WAITED = 0.3
"""Of the time that a panel takes from the second level: what is not hidden behind computing."""
KEPT, SPILL = 2, 0.25
"""Elements of a row that a compiler keeps in registers, since the next steps of a window read them again, and cycles
for each that finds no register (measured with gcc 12 on a Zen 4)."""
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
    more: tuple[int, ...] = ()
    """The tile of each further loop that is as good as rows (`Contraction.more`)."""


def micro_sizes(
    machine: Cpu,
    m: int | None,
    n: int | None,
    k: int | None,
    element_bytes: int,
    panels: tuple[int, int] = (1, 1),
    in_place: bool = False,
) -> list[MicroSize]:
    """Shapes for a product, the best first; one for now.

    m, n, k:  extents, None where they are known at run time only.
    panels:   how many arrays move with the rows, and with the columns.
    in_place: rows read each other, so that the rows of one tile cannot take each other's from a panel.
    source:  Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008: the panel
             of rows in the second level, that of columns in the first, the results in registers
    """
    lanes = machine.lanes(element_bytes)
    vectors = 3 if machine.vector_registers >= 32 else 2
    # Results, a row of the panel of columns, and one element of the other panel, broadcast.
    rows = (machine.vector_registers - vectors - 1) // vectors // 2 * 2
    columns = vectors * lanes
    first, second = machine.levels[0].bytes, machine.levels[min(1, len(machine.levels) - 1)].bytes
    depth = int(first * L1_SHARE / (columns * element_bytes * panels[1]))
    room = int(second * L2_SHARE / (element_bytes * panels[0]))
    depth = max(DEPTHS[0], min(DEPTHS[1], depth // 32 * 32, room // ROWS[0] // 32 * 32))
    if k is not None:
        depth = _even(k, depth, 8)
    wanted = TILES_OF_A_CORE // 2 * machine.cores
    block_m = max(rows, min(room // depth, ROWS[1], max(ROWS[0], USUAL // wanted)) // rows * rows)
    block_n = WIDEST // columns * columns
    if in_place:  # its columns are what runs in parallel
        block_m = min(block_m, IN_PLACE_ROWS // rows * rows)
        # Equal parts where the extent is known; else more of them, since one thread may have one tile more to do.
        width = ceil(n / wanted / columns) if n is not None else USUAL // (2 * wanted) // columns
        block_n = max(8, min(WIDEST // columns, width)) * columns
    if m is not None:
        tiles = ceil(m / block_m)
        if tiles > machine.cores and tiles < TILES_OF_A_CORE * machine.cores:
            tiles = ceil(tiles / machine.cores) * machine.cores
        block_m = max(rows, min(block_m, ceil(m / tiles / rows) * rows))
    reason = f"{machine.vector_registers} registers of {machine.vector_bytes} bytes"
    return [MicroSize(block_m, block_n, depth, rows, columns, lanes, reason)]


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
    return MicroSize(block_m, block_n, depth * inner, rows, columns, lanes, reason, tuple(reversed(tiles)))


def _part(extent: int, most: int) -> int:
    """A part of an extent, of about `most`: one that it is a multiple of, if there is one that is not much smaller."""
    for part in range(min(extent, most * 5 // 4), most // 2, -1):
        if extent % part == 0:
            return part
    return ceil(extent / ceil(extent / most))


def _fitting(machine: Cpu, m: int, n: int, lanes: int) -> tuple[int, int]:
    """Rows and vectors of a register tile that does the most useful multiply-adds in a cycle, borders included. The
    panel of columns comes from the second level."""
    second = machine.levels[min(1, len(machine.levels) - 1)]

    def speed(shape: tuple[int, int]) -> float:
        rows, vectors = shape
        useful = m * n / (ceil(m / rows) * rows * ceil(n / (vectors * lanes)) * vectors * lanes)
        computing = max(rows * vectors / machine.fma_per_cycle, machine.fma_latency_cycles)
        loading = (vectors + rows) / machine.loads_per_cycle
        waiting = WAITED * vectors * machine.vector_bytes / machine.bytes_per_cycle(second)
        spilled = max(0, rows * vectors + vectors + KEPT * rows + 1 - machine.vector_registers)
        return useful * rows * vectors / (max(computing, loading) + waiting + SPILL * spilled + 1)

    # Results, a row of the panel of columns, and one element of the other panel, broadcast.
    shapes = [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in range(1, machine.vector_registers)
        if rows * vectors + vectors + 1 <= machine.vector_registers
    ]
    return max(shapes, key=speed)


def _even(extent: int, most: int, step: int) -> int:
    """The size of equal parts of an extent, of at most `most`."""
    parts = ceil(extent / most)
    return min(most, ceil(extent / parts / step) * step)
