"""Shapes of contractions on a CPU: a register tile, and the tiles of its caches, from the machine's description."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

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
IN_PLACE_ROWS = (128, 32)
"""Of a tile that reads what it writes, and of the tiles inside of the triangle on its diagonal: the triangle that is
left there is summed up without registers."""
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
    inner_m: int = 0
    """Rows of the tiles inside of a triangle on the tile's diagonal; 0: it is summed up without registers."""


def micro_sizes(
    machine: Cpu,
    m: int | None,
    n: int | None,
    k: int | None,
    element_bytes: int,
    panels: tuple[int, int] = (1, 1),
    in_place: bool = False,
    room_for_result: int | None = None,
) -> list[MicroSize]:
    """Shapes for a product, the best first; one for now.

    m, n, k:  extents, None where they are known at run time only.
    panels:   how many arrays move with the rows, and with the columns.
    in_place: rows read each other, so that the rows of one tile cannot take each other's from a panel.
    room_for_result: bytes that a tile's results may take, where they are in no array but in a buffer of the tile.
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
    reason = f"{machine.vector_registers} registers of {machine.vector_bytes} bytes"
    return [MicroSize(block_m, block_n, depth, rows, columns, lanes, reason, inner_m)]


def _even(extent: int, most: int, step: int) -> int:
    """The size of equal parts of an extent, of at most `most`."""
    parts = ceil(extent / most)
    return min(most, ceil(extent / parts / step) * step)
