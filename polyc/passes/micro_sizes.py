"""Shapes of contractions on a CPU: a register tile, and the tiles of its caches, from the machine's description."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from polyc.machine import Cpu

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
IN_PLACE_ROWS = 32
"""Of a tile that reads what it writes: the triangle on its diagonal is summed up without registers."""
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
    shared: bool = False
    """All threads share the panel of rows, and take strips of columns of one tile; else each takes tiles of its own."""


def micro_sizes(
    machine: Cpu,
    m: int | None,
    n: int | None,
    k: int | None,
    element_bytes: int,
    panels: tuple[int, int] = (1, 1),
    in_place: bool = False,
    alone: bool = False,
) -> list[MicroSize]:
    """Shapes for a product, the best first.

    m, n, k:  extents, None where they are known at run time only.
    panels:   how many arrays move with the rows, and with the columns.
    in_place: rows read each other, so that the rows of one tile cannot take each other's from a panel.
    alone:    no loops are around those of rows and columns, and all rows have all columns.
    source:  Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008: the panel
             of rows in the second level, that of columns in the first, the results in registers
    """
    lanes = machine.lanes(element_bytes)
    vectors = 3 if machine.vector_registers >= 32 else 2
    # Results, a row of the panel of columns, and one element of the other panel, broadcast.
    rows = (machine.vector_registers - vectors - 1) // vectors // 2 * 2
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
    own = MicroSize(block_m, block_n, depth, rows, columns, lanes, reason)
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


def _even(extent: int, most: int, step: int) -> int:
    """The size of equal parts of an extent, of at most `most`."""
    parts = ceil(extent / most)
    return min(most, ceil(extent / parts / step) * step)
