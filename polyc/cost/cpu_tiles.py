"""Tiles for a band on a CPU, constructed from vectors and lines upwards (ROLLER's construction)."""

from __future__ import annotations

from math import ceil

from polyc.cost.cpu_model import FULL, Prediction, TileModel
from polyc.nests.tiling import WHOLE
from polyc.records import dataclass, field, replace

TOP = 8
"""How many candidates are kept."""
AS_GOOD = 1.03
"""Times the least time: what is said to take less than that is as good, and the plainest of them is taken."""
MOST_STEPS = 40
WIDEST = 4
"""Times a row of the sample: what is cut only since its length is unknown is cut into pieces of less than that."""
LONG = 512
"""Pieces of rows that are shorter are those of small arrays, with little to gain."""
REPEATED = 1.02
"""Times the arithmetic: what tiles repeat along a loop, below which sliding saves nothing."""
SHORT = 1.01
"""Times the arithmetic, what strips of such tiles repeat at most: they are no longer than that. The next strip beside
one finds the pages of its rows in the table of pages that are in use."""
WORTH = 0.97
"""Of the time without windows: what they have to get below, since the text is longer, and checking it takes longer."""


@dataclass(frozen=True, slots=True)
class Construction:
    """What came out, the best first."""

    best: tuple[Prediction, ...]
    """At most TOP; without those that have as many tiles as the nest has iterations of its outer loop."""
    plain: Prediction
    """The nest without tiles."""
    stopped: str
    """Why the best tile did not grow further."""
    tried: int
    otherwise: Prediction | None = None
    """The best with sliding windows where there are none, and the other way round; None: windows were not tried."""
    near: bool = False
    """The best is as good as `otherwise` by the model, and its data stay in the first level."""
    innermost: int | None = None
    """The loop over tiles that goes innermost (`tile_loops.py`); None: they are in the order of the band."""


@dataclass(slots=True)
class Builder:
    """Grows tiles along their axes, and remembers what was tried."""

    model: TileModel
    axes: tuple[tuple[int, ...], ...]
    """Sizes of each loop, the least first; WHOLE the last one."""
    room: float
    """Bytes that what only lives in a tile may take."""
    known: dict[tuple[int, ...], Prediction] = field(default_factory=dict)
    stopped: dict[tuple[int, ...], str] = field(default_factory=dict)
    _at: dict[tuple[int, ...], Prediction] = field(default_factory=dict)
    """What was tried, by the places of its sizes."""

    def judged(self, places: tuple[int, ...]) -> Prediction:
        found = self._at.get(places)
        if found is None:
            tile = tuple([axis[p] for axis, p in zip(self.axes, places, strict=True)])
            if tile not in self.known:
                self.known[tile] = self.model.predicted(tile)
            found = self._at[places] = self.known[tile]
        return found

    def grown(self, start: tuple[int, ...], room: float, name: str) -> tuple[int, ...]:
        """Scale up: larger along the axis that saves the most time for a byte of the tile's data, until nothing is
        saved or the level is full."""
        now = start
        while True:
            here, full = self.judged(now), False
            steps: list[tuple[float, int, tuple[int, ...]]] = []
            for axis in range(len(self.axes)):
                if now[axis] + 1 == len(self.axes[axis]):
                    continue
                there = (*now[:axis], now[axis] + 1, *now[axis + 1 :])
                found = self.judged(there)
                if found.footprint_bytes > room or found.kept_bytes > self.room:
                    full = True
                elif found.alone < here.alone:
                    more = max(1.0, found.footprint_bytes - here.footprint_bytes)
                    steps.append(((here.alone - found.alone) / more, axis, there))
            if not steps:
                why = f"a larger tile does not fit {name}" if full else "a larger tile saves nothing"
                self.stopped.setdefault(here.tile, why)
                return now
            now = max(steps)[2]

    def improved(self, start: tuple[int, ...]) -> tuple[int, ...]:
        """Scale out: smaller along the axis that costs least, or larger, while all cores together get faster."""
        now = start
        for _ in range(MOST_STEPS):
            steps = []
            for axis, sizes in enumerate(self.axes):
                for place in (now[axis] - 1, now[axis] + 1, len(sizes) - 1):
                    if 0 <= place < len(sizes) and place != now[axis]:
                        there = (*now[:axis], place, *now[axis + 1 :])
                        found = self.judged(there)
                        if found.kept_bytes <= self.room:
                            steps.append((found.seconds, there))
            best = min(steps, default=None)
            if best is None or best[0] >= self.judged(now).seconds:
                return now
            now = best[1]
        return now


def construct(
    model: TileModel, steps: tuple[int, ...], room: float = float("inf"), along: int | None = None
) -> Construction:
    """Tiles for a band: those of `constructed`, or others that slide through strips, where these take less time.

    along: the loop along which they may slide; None: they may not
    """
    found = constructed(model, steps, room)
    if along is None or not found.best:
        return found
    if model.again(found.best[0].tile, along) >= REPEATED:
        sliding = constructed(replace(model, slides=along), steps, room)
        best = [one for one in sliding.best if one.strips]
        tried = found.tried + sliding.tried
        if best and best[0].seconds < WORTH * found.best[0].seconds:
            return replace(sliding, best=tuple(best), tried=tried, otherwise=found.best[0])
        found = replace(found, tried=tried, otherwise=best[0]) if best else found
    near = _near(model, steps, along, found.best[0])
    if near is None:
        return found
    why = f"a wider one does not fit {model.machine.levels[0].name}"
    return replace(found, best=(near, *found.best), stopped=why, otherwise=found.best[0], near=True)


def _near(model: TileModel, steps: tuple[int, ...], along: int, standing: Prediction) -> Prediction | None:
    """Flat tiles that slide, and whose data stay in the first level, if they are as good as tiles in a further one.

    Where the rows that run at once are made right before they are read, nothing that stages pass on leaves that level:
    Halide's `store_at` an outer loop and `compute_at` an inner one. The model takes such tiles for as good only, since
    what comes from the second level is hidden behind arithmetic for the most part; in fact they take 6 % less (harris).
    What waits for memory gains nothing, and loops whose ends are not known, or not a multiple of the rows, would have
    conditions in all tiles.
    """
    if model.is_near(standing.tile) or standing.bound != "computing" or None in model.known:
        return None
    every = [one for nest in model.nests if (one := nest.at_once()) is not None]
    rows = max((one.count for one in every if one.place == along), default=0)
    if not rows or rows >= model.extents[along] or model.extents[along] % rows:
        return None
    shared = replace(model, shared=True)
    found = _flat(replace(shared, slides=along), steps, along, rows)
    again = shared.predicted(standing.tile)
    if found is None or found.seconds >= AS_GOOD * again.seconds:
        return None
    # Groups have to pay without them, in the terms that all groups are compared in.
    more = max(1.0, found.seconds / again.seconds)
    return replace(found, seconds=more * standing.seconds, alone=more * standing.alone, computing=standing.computing)


def _flat(model: TileModel, steps: tuple[int, ...], along: int, rows: int) -> Prediction | None:
    """The widest tiles of so many rows that stay in the first level, in short strips."""
    inner = model.nests[-1].inner
    extent, step = model.extents[inner], steps[inner]

    def at(size: int, height: int = rows) -> tuple[int, ...]:
        tile = [1] * len(model.extents)
        tile[along], tile[inner] = height, size
        return tuple(tile)

    least, most = 0, ceil(extent / step)
    while least < most:  # the widest
        middle = (least + most + 1) // 2
        least, most = (middle, most) if model.is_near(at(middle * step)) else (least, middle - 1)
    if not least:
        return None
    tile = at(least * step if model.known[inner] is None else even(extent, least * step, step))
    strips, longest = 2, ceil(model.extents[along] / rows / model.cores)
    while strips < longest and model.again(at(tile[inner], strips * rows), along) > SHORT:
        strips *= 2
    each = max(1, longest // strips)  # for a core: the same for all of them
    return model.in_strips(tile, ceil(longest / each)) if longest > 1 else None


def constructed(model: TileModel, steps: tuple[int, ...], room: float) -> Construction:
    """Tiles for a band, the best first.

    steps:   what the size of each loop is a multiple of: a line's elements where some access runs along memory.
    room:    bytes for what only lives in a tile (`model.kept`). Beside producers a loop of unknown length is cut, since
             a buffer has a constant size.
    ensures: the same list for the same input. Sizes are multiples of `steps`, and of a known extent the last tile is
             less than a step for each tile shorter than the others.
    source:  ROLLER (Zhu et al. 2022), Section 4.3: scale up along the axis with the best data-reuse score, then scale
             out. There a tile is a tensor's, and grows in all axes of its operands; here it is a band's, whose loops
             have any accesses, and the score is the predicted time instead of traffic, which also counts short rows
    """
    fused = bool(model.kept) or len(model.nests) > 1
    fixed = model.known
    cut = fused
    axes = tuple(
        _axis(n, known, step, cut and known is None) for n, known, step in zip(model.extents, fixed, steps, strict=True)
    )
    builder = Builder(model, axes, room)
    inner = model.nests[-1].inner
    starts = [tuple(0 for _ in axes), tuple(len(axis) - 1 if k == inner else 0 for k, axis in enumerate(axes))]
    ends = []
    for level in model.machine.levels:
        capacity = FULL * model.machine.capacity(level, model.cores)
        ends += [builder.grown(start, capacity, level.name) for start in starts]  # with short rows, and with whole ones
    for end in dict.fromkeys(ends):
        builder.improved(end)
    plain = model.predicted(tuple(WHOLE for _ in axes))
    useful = [p for p in builder.known.values() if p.kept_bytes <= room and _cuts(p.tile, model, fused)]
    ranked = _ranked(useful)
    if together := max(nest.rows for nest in model.nests):
        ranked = _with_few_rows(ranked, together, model.parallel - 1)
    why = builder.stopped.get(ranked[0].tile, "") if ranked else ""
    best = ranked[:TOP]
    if cut and best and (rows := _whole_rows(builder, best[0])) is not None:
        best = [rows, *best]
    return Construction(tuple(best), plain, why or _reason(ranked, model), len(builder.known))


def _whole_rows(builder: Builder, standing: Prediction) -> Prediction | None:
    """Tiles with rows of the sample as a whole, where these have to be cut since their length is unknown, if they are
    as good as the best that cut them.

    Pieces of rows take longer than the model says: the ends of vector loops, and streams that begin anew. What groups
    are compared by stays what it was: what they would store instead takes new pages, of which the model knows nothing.
    """
    model, axes = builder.model, builder.axes
    inner = model.nests[-1].inner
    extent, size = model.extents[inner], axes[inner][-1]
    if model.known[inner] is not None or inner == 0 or not LONG <= size < extent or size != standing.tile[inner]:
        return None
    wide = Builder(model, (*axes[:inner], (2 * size,), *axes[inner + 1 :]), builder.room)
    now = [0 if k == inner else axis.index(t) for k, (axis, t) in enumerate(zip(axes, standing.tile, strict=True))]
    while model.made_bytes(wide.judged(tuple(now)).tile) > builder.room:
        highest = max((k for k in range(len(now)) if k != inner), key=lambda k: now[k])
        if not now[highest]:
            return None
        now[highest] -= 1
    found = wide.judged(tuple(now))
    if model.dealt(found.tile) == inner or found.seconds > AS_GOOD * standing.seconds:
        return None
    tile, kept, footprint = _widened(found, model, builder.room)
    return replace(
        standing,
        tile=tile,
        traffic=found.traffic,
        tiles=found.tiles,
        strips=found.strips,
        kept_bytes=kept,
        footprint_bytes=footprint,
    )


def _widened(one: Prediction, model: TileModel, room: float) -> tuple[tuple[int, ...], float, float]:
    """The widest of such tiles that have room for what they keep, in the level that the sample's have it in, and the
    bytes that they keep and touch: rows of larger arrays are not cut then either."""
    inner = model.nests[-1].inner
    size, step = one.tile[inner], one.tile[inner] // 2
    level = max(1, model.level(one.footprint_bytes))
    for wide in range((WIDEST * model.extents[inner] - 1) // step * step, size, -step):
        tile = (*one.tile[:inner], wide, *one.tile[inner + 1 :])
        kept, footprint = model.kept_bytes(tile), model.footprint(tile)
        if model.made_bytes(tile) <= room and model.level(footprint) <= level:
            return tile, kept, footprint
    return one.tile, one.kept_bytes, one.footprint_bytes


def _reason(ranked: list[Prediction], model: TileModel) -> str:
    if not ranked:
        return ""
    return f"enough tiles for {model.cores} cores" if model.cores > 1 else "the least time"


def _cuts(tile: tuple[int, ...], model: TileModel, fused: bool) -> bool:
    """Whether tiles differ from the nest as it is: one parallel loop is cut, and not just one that stays outermost."""
    if all(size == WHOLE for size in tile[: model.parallel]):
        return False
    return fused or model.strips or any(size != WHOLE for size in tile[1:])


def _ranked(found: list[Prediction]) -> list[Prediction]:
    """By time; of what is as good as the best, what cuts the fewest loops, repeats the least work, and has the longest
    rows comes first."""
    least = min((p.seconds for p in found), default=0.0)

    def key(one: Prediction) -> tuple[float, ...]:
        rows = tuple(-(size or float("inf")) for size in reversed(one.tile))
        if one.seconds > AS_GOOD * least:
            return (one.seconds, 0.0, 0.0, *rows)
        return (0.0, sum(size != WHOLE for size in one.tile), float(f"{one.computing:.3g}"), *rows)

    return sorted(found, key=key)


def _with_few_rows(ranked: list[Prediction], together: int, along: int) -> list[Prediction]:
    """What is as good as the best in another order: nests of recurrences run some rows at once, and where tiles have as
    many, one nest finds in a near cache what the other one has made.

    together: how many rows run at once; along: the loop over them
    """
    least = min((p.seconds for p in ranked), default=0.0)
    good = [p for p in ranked if p.seconds <= AS_GOOD * least]

    def key(one: Prediction) -> tuple[float, ...]:
        height = one.tile[along] or float("inf")
        return (float(height < together), height, *(-(size or float("inf")) for size in reversed(one.tile)))

    return sorted(good, key=key) + ranked[len(good) :]


def _axis(extent: int, known: int | None, step: int, cut: bool) -> tuple[int, ...]:
    """Sizes of one loop: twice the one before, in equal parts of an extent that is known; WHOLE the last one."""
    found = []
    size = step
    while size < extent:
        found.append(even(known, size, step) if known is not None else size)
        size *= 2
    if cut:
        return tuple(found) or (step,)
    return (*dict.fromkeys(found), WHOLE)


def even(extent: int, most: int, step: int) -> int:
    """The size of equal parts of an extent, a multiple of `step`, of at most `most`."""
    parts = ceil(extent / most)
    return min(most, ceil(extent / parts / step) * step)


__all__ = ["Builder", "Construction", "construct", "even"]
