"""Which tile sizes a band gets: the user's, the usual ones, or those that a GPU's description proposes."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.cost.cpu_model import Prediction
from polyc.cost.cpu_sizes import GAIN, CpuSizes, Judged
from polyc.cost.cpu_tiles import TOP, Construction
from polyc.cost.given_sizes import ASKED, TILES, given_tile
from polyc.cost.gpu_tiles import DATA, TileSize, tile_candidates
from polyc.cost.time import told_bytes, told_seconds
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.tree import Band
from polyc.nests.nest import Nest, Outer
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import iterations, strides_of, usual_sizes
from polyc.nests.sums import streams, sum_nest, tile_of_sums
from polyc.nests.tiling import WHOLE, meets_along_last, shared_among, sizes_for, told_sizes, worth_tiling
from polyc.nests.wishes import options_of
from polyc.passes.fusion.cluster import Cluster
from polyc.passes.products.registers import contraction_size, contraction_sizes, tile_of
from polyc.poly import budget, is_over_budget, names, share
from polyc.records import dataclass, replace

SMALLEST_TILE = 8
"""Rows below which a tile is not halved any more to make its data fit."""


@dataclass(frozen=True, slots=True)
class NotTiled:
    """Why a nest has no tiles."""

    reason: str
    why: str


class Sizes:
    """Proposes tiles for the bands of one program; what it constructed it remembers."""

    def __init__(self) -> None:
        self.cpu = CpuSizes()
        self.modelled: dict[int, tuple[Band, bool]] = {}
        self.known: dict[Band, list[TileSize]] = {}
        self.failed: dict[Band, str] = {}
        """Bands for which nothing could be constructed, and why."""
        self.typical: isl.Set | None = None

    def first(self, program: Program, band: Band, outer: Outer) -> tuple[int, ...]:
        """The tile size of each member of a band."""
        tiles = self.tiles(program, band, outer)
        if tiles:
            return tiles[0]
        found, usual = self.construction(program, band, outer), sizes_for(options_of(program, band), band)
        tile = self.given(program, band, found.best[0].tile) if found is not None and found.best else ()
        return (*tile, *usual[len(tile) :])

    @staticmethod
    def given(program: Program, band: Band | None, tile: tuple[int, ...]) -> tuple[int, ...]:
        """The user's sizes in the place of constructed ones."""
        return given_tile(program, TILES, tile, () if band is None else names(band.members[0].schedule.domain()))

    def construction(self, program: Program, band: Band, outer: Outer) -> Construction | None:
        """A CPU's tiles, where no other pass cuts the band in its own way and the user leaves the choice."""
        return self.cpu.construction(program, band, outer) if self.models(program, band) else None

    def models(self, program: Program, band: Band) -> bool:
        """Whether the model of a CPU's tiles chooses those of a band: sums in registers and streams have their own, and
        so have users."""
        if program.options.gpu or options_of(program, band).tile_sizes != "auto" or not band.permutable:
            return False
        if id(band) not in self.modelled:
            self.modelled[id(band)] = band, not self.tiles(program, band, Outer())
        return self.modelled[id(band)][1]

    def grouped(
        self,
        program: Program,
        outer: Outer,
        outputs: tuple[Nest, ...],
        producers: tuple[Nest, ...] | None,
        alone: tuple[int, ...],
    ) -> tuple[int, ...]:
        """Tiles of outputs with these producers, the nearest first; `alone` are those without any.

        Where the model says nothing, no loop is whole: buffers of a producer's values have a constant size.
        """
        found = self.cpu.group(program, outer, outputs, producers) if producers else None
        if found is not None and found.best:
            tile = self.given(program, outputs[-1].band, found.best[0].tile)
            return (*tile, *alone[len(tile) :])
        band = outputs[-1].band
        assert band is not None
        usual = sizes_for(options_of(program, band), band)
        count = band.coincident_prefix
        if not producers and self.tiles(program, band, outer):
            return alone
        tile = (*(a or u for a, u in zip(alone[:count], usual, strict=False)), *alone[count:])
        if outer.members or not self.models(program, band):
            return tile
        length = iterations(band.members[0], program, usual_sizes(program))
        return (shared_among(load_cpu(program.options.machine), tile[0], SMALLEST_TILE, length), *tile[1:])

    def strips(self, program: Program, cluster: Cluster, outer: Outer, sizes: tuple[int, ...]) -> int:
        """How many tiles of a cluster slide after each other by the model; 0 where they do not, or the sizes are not
        its own."""
        band = cluster.outputs[-1].band
        if band is None or not cluster.producers or not self.models(program, band):
            return 0
        found = self.cpu.group(program, outer, cluster.outputs, tuple(p.nest for p in reversed(cluster.producers)))
        if found is None or not found.best or found.best[0].tile != sizes[: len(found.best[0].tile)]:
            return 0
        return found.best[0].strips

    def innermost(
        self,
        program: Program,
        outer: Outer,
        outputs: tuple[Nest, ...],
        producers: tuple[Nest, ...] | None,
        sizes: tuple[int, ...],
    ) -> int | None:
        """The loop over tiles of these sizes that goes innermost by the model; None: they are in the band's order."""
        found = self.cpu.group(program, outer, outputs, producers) if producers else None
        if found is None or not found.best or found.best[0].tile != sizes[: len(found.best[0].tile)]:
            return None
        return found.innermost

    def covers(self, program: Program, outer: Outer, outputs: tuple[Nest, ...], producers: tuple[Nest, ...]) -> bool:
        """Whether the model says something of these producers together; of none of them `grouped` knows enough."""
        return not producers or self.cpu.group(program, outer, outputs, producers) is not None

    def judged(
        self, program: Program, outer: Outer, outputs: tuple[Nest, ...], producers: tuple[Nest, ...], nest: Nest
    ) -> Judged | None:
        """What the machine's model says of one producer more; None where it says nothing."""
        bands = [n.band for n in (*outputs, nest)]
        if any(band is None or not self.models(program, band) for band in bands):
            return None
        return self.cpu.judged(program, outer, outputs, producers, nest)

    def copied(
        self,
        program: Program,
        outer: Outer,
        outputs: tuple[Nest, ...],
        producers: tuple[Nest, ...],
        nest: Nest,
        readers: list[Nest],
    ) -> Judged | None:
        """The same, where each of its other readers computes the producer's values for itself, too."""
        judged = self.judged(program, outer, outputs, producers, nest)
        if judged is None:
            return None
        extra = 0.0
        for reader in readers:
            if reader.band is None or not self.models(program, reader.band):
                return None
            more = self.cpu.extra_seconds(program, outer, reader, nest)
            if more is None:
                return None
            extra += max(0.0, more)
        return Judged(replace(judged.fused, seconds=judged.fused.seconds + extra), judged.apart_seconds)

    def useless(self, program: Program, band: Band, outer: Outer) -> NotTiled | None:
        """Why tiles of a band save nothing; None where they are expected to save time."""
        found = self.construction(program, band, outer)
        if found is None or not found.best:
            if not worth_tiling(program, band):
                return NotTiled("no-reuse", "no tile would meet its data again")
            plain = not program.options.gpu and program.scop.inspection is None
            if plain and meets_along_last(program, band) and not strides_of(band.members[-1], program).far:
                return NotTiled("no-reuse", "its innermost loop meets its data again without tiles")
            return None
        if (
            len(band.members) == 1
            and band.members[0].coincident
            and not strides_of(band.members[0], program).consecutive
        ):
            return NotTiled("no-reuse", "what an iteration of its only common loop meets again is its own")
        best, machine = found.best[0], program.options.machine
        if best.seconds < GAIN * found.plain.seconds:
            return None
        if not worth_tiling(program, band):
            return NotTiled("no-reuse", "no tile would meet its data again")
        return NotTiled(
            "no-gain",
            f"tiles save nothing on the machine {machine}: {told_seconds(best.seconds)} predicted in tiles of "
            f"{told_sizes(best.tile)}, {told_seconds(found.plain.seconds)} without",
        )

    def smaller(self, program: Program, band: Band, outer: Outer, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        """The next sizes to try where the data of a tile did not fit; None where there are none."""
        if options_of(program, band).tile_sizes != "auto":
            return None
        tiles = self.tiles(program, band, outer)
        if tiles:
            return next((tile for tile in tiles if prod(tile) < prod(sizes)), None)
        cut = next((k for k, size in enumerate(sizes) if size != WHOLE), None)
        if cut is None or sizes[cut] <= SMALLEST_TILE:
            return None
        return (*sizes[:cut], sizes[cut] // 2, *sizes[cut + 1 :])

    def tiles(self, program: Program, band: Band, outer: Outer) -> list[tuple[int, ...]]:
        """Tiles of a band, the best first: for registers where it is a sum, else those that a GPU's description
        proposes."""
        contraction, sizes = contraction_sizes(program, band, outer)
        if contraction is not None and sizes:
            return list(dict.fromkeys(tile_of(contraction, size, len(band.members)) for size in sizes))
        sums = sum_nest(program, band) if streams(options_of(program, band)) else None
        if sums is not None:
            return [(*[1] * len(sums.outer), tile_of_sums(program, sums))]
        return [s.tile for s in self.shapes(program, band, outer)]

    def shapes(self, program: Program, band: Band, outer: Outer) -> list[TileSize]:
        """What a GPU's description proposes, the best first; none where something else decides."""
        options = program.options
        if not options.gpu or options.tile_sizes != "auto" or not band.coincident_prefix:
            return []
        if band not in self.known:
            self.known[band] = self.constructed(program, band, outer)
        return self.known[band]

    def constructed(self, program: Program, band: Band, outer: Outer) -> list[TileSize]:
        try:
            with budget(program.scop.domain.get_ctx(), share(program.options.budget, 5)):
                if self.typical is None:
                    self.typical = sample_parameters(program)
                return tile_candidates(program, band, outer, self.typical)
        except isl.Error as error:  # the usual sizes are right as well
            over = "measuring the data of its tiles took more isl operations than the budget allows"
            self.failed[band] = over if is_over_budget(error) else f"isl failed ({str(error).splitlines()[0]})"
            return []

    def block(
        self, program: Program, band: Band, outer: Outer, sizes: tuple[int, ...], statements: tuple[str, ...]
    ) -> tuple[Program, tuple[int, ...]]:
        """The threads for a band's tiles, and a remark that says why; () where nothing was constructed, or registers
        decide (`registers.py`)."""
        if contraction_size(program, band, sizes) is not None or not program.options.gpu:
            return program, ()
        shapes = self.shapes(program, band, outer)
        chosen = next((s for s in shapes if s.tile == sizes), None)
        what, machine = ", ".join(statements), program.options.machine
        if chosen is None:
            why = self.failed.get(band)
            message = f"the usual tiles for {what}: {why}"
            return (program if why is None else program.remark("gpu-sizes", "basteln", message, statements)), ()
        tile, block = (" x ".join(map(str, values)) for values in (chosen.tile, chosen.block))
        among = f"the best of {len(shapes)} shapes" if len(shapes) > 1 else "the only shape"
        best = [chosen, *(s for s in shapes if s is not chosen)][:TOP]
        then = f", then {told_shape(best[1])}" if len(best) > 1 else ""
        message = (
            f"tiles of {tile} for {what}, on blocks of {block} threads: bound by {chosen.bound}, of which "
            f"{100 * chosen.score:.0f} % is predicted; {among} for the machine {machine}{then}"
        )
        if chosen.bound == DATA:
            message = f"tiles of {tile} for {what}, a point a thread: the data say how long the loops inside of it are"
            return program.remark("gpu-sizes", "basteln", message, statements, **chosen.data()), chosen.block
        data = chosen.data() | {"tried": len(shapes), "candidates": [told_shape(one) for one in best]}
        return program.remark("gpu-sizes", "basteln", message, statements, **data), chosen.block

    def told(
        self, program: Program, cluster: Cluster, outer: Outer, statements: tuple[str, ...], sizes: tuple[int, ...]
    ) -> Program:
        """A remark that says why a CPU's tiles have their sizes; none where the model did not choose them."""
        band = cluster.outputs[-1].band
        assert band is not None
        if not self.models(program, band):
            return program
        what = ", ".join(statements)
        if cluster.producers:
            producers = tuple(p.nest for p in reversed(cluster.producers))
            found = self.cpu.group(program, outer, cluster.outputs, producers)
        else:
            found = self.construction(program, band, outer)
        why = self.cpu.failed.get(id(band))
        if why is not None:
            return program.remark("cpu-sizes", "basteln", f"the usual tiles for {what}: {why}", statements)
        if options_of(program, band).given(TILES) is not None:
            message = f"tiles of {told_sizes(sizes)} for {what}, {ASKED}"
            return program.remark("cpu-sizes", "basteln", message, statements, sizes=list(sizes))
        if found is None or not found.best or found.best[0].tile != sizes[: len(found.best[0].tile)]:
            return program
        best, *others = found.best
        bound = "by computing" if best.bound == "computing" else f"by what comes from {best.bound}"
        traffic = ", ".join(f"{told_bytes(moved)} from {name}" for name, moved in best.traffic)
        then = f", then {told_sizes(others[0].tile)} with {told_seconds(others[0].seconds)}" if others else ""
        message = (
            f"tiles of {told_sizes(best.tile)} for {what}, {told_seconds(best.seconds)} predicted, bound {bound} "
            f"({traffic}); {found.stopped}; the best of {found.tried} for the machine {program.options.machine}{then}"
            f"{_of_strips(found)}"
        )
        if cluster.innermost is not None:
            message += f"; the tiles along {cluster.tile[-1].name} one after the other, since they read the same"
        data = {
            "sizes": list(sizes),
            "bound": best.bound,
            "stopped": found.stopped,
            "seconds": float(f"{best.seconds:.3g}"),
            "traffic_bytes": {name: round(moved) for name, moved in best.traffic},
            "footprint_bytes": round(best.footprint_bytes),
            "candidates": [f"{told_sizes(p.tile)}: {told_seconds(p.seconds)}" for p in found.best],
        }
        if found.otherwise is not None:
            data |= {"strips": best.strips, "otherwise": _in_strips(found.otherwise)}
        if found.near:
            data |= {"near": True}
        if cluster.innermost is not None:
            data |= {"innermost": cluster.tile[-1].name}
        return program.remark("cpu-sizes", "basteln", message, statements, **data)


def _of_strips(found: Construction) -> str:
    """What sliding windows would have taken, or what they save."""
    if found.otherwise is None:
        return ""
    if found.best[0].strips:
        return f"; they slide in strips of {found.best[0].strips}, and would take {_in_strips(found.otherwise)}"
    return f"; sliding windows do not pay, with {_in_strips(found.otherwise)}"


def _in_strips(one: Prediction) -> str:
    how = f"in strips of {one.strips} tiles of" if one.strips else "by themselves, in tiles of"
    return f"{told_seconds(one.seconds)} {how} {told_sizes(one.tile)}"


def told_shape(shape: TileSize) -> str:
    """`16 x 64 on 32 x 8 threads: 84.4 %`, of the limit that binds it."""
    tile, block = (" x ".join(map(str, values)) for values in (shape.tile, shape.block))
    return f"{tile} on {block} threads: {100 * shape.score:.1f} %"
