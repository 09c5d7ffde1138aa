"""Compile a program with a fault in one of polyc's passes, and say what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path

import pytest

import polyc.attempt as attempt
import polyc.fallback as fallback
import polyc.pipeline as pipeline
import polyc.relaxations as relaxations
import polyc.runtime.cuda_shim.library as library
import polyc.runtime.process.build as build
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options, Program
from polyc.model.scop import Region
from polyc.replay import Outcome as Replayed
from polyc.replay import replay
from polyc.runtime import compare

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = tuple(file.stem for file in sorted(FOLDER.glob("*.c")))
SIZES, LARGE_SIZES = (1, 4, 9, 23, 40), (1, 9, 23, 137, 300)
MORE_ROWS = {
    "streams": (1, 9, 67, 135),
    "solve": (1, 9, 67, 135),
    "filter": (1, 9, 67),
    "columns": (1, 9, 67),
    "own_rows": (1, 9, 67),
    "where_largest": (1, 9, 67),
    **dict.fromkeys(("planes_of_triangles", "upper", "row_sums", "masked", "ended"), (1, 9, 67)),
}
"""Sizes around those of their blocks."""
SEEDS = (0, 1)
REPLAY_FUEL = 200_000
"""Iterations of loops: more than a compile has time for, since what it misses is looked at."""
UNINITIALISED = "-ftrivial-auto-var-init=pattern"
"""What nobody wrote is not by chance what stood there in the iteration before."""
DETECTED = frozenset({"apart", "bounded", "from_one", "pieces"})
"""Programs without a marked region, whose arrays may overlap."""
REASSOCIATED = frozenset({"reduction", "sums", "begun"})
LARGE = (
    "triangle_sums",
    "sums_in_place",
    "sums_end",
    "two_products",
    "made_operand",
    "factors",
    "across",
    "afterwards",
)
"""Programs that run at the large sizes: with several panels and several blocks of what the pass chooses itself."""
TILES: dict[str, tuple[int, ...] | str | None] = {
    "partly_defined": (5, 7, 3),
    "chain": None,
    **dict.fromkeys(
        ("product", "any_columns", "made_panel", "short_rows", "not_short_rows", "sums", "begun", "ordered"), "auto"
    ),
    **dict.fromkeys(("accumulated", "not_accumulated", "expanded", "rows"), "auto"),
    **dict.fromkeys(
        ("streams", "packed", "solve", "filter", "columns", "own_rows", "where_largest", "counted", "blocks"), "auto"
    ),
    **dict.fromkeys(
        ("tensor", "row_walks", "counts", "planes_of_triangles", "upper", "row_sums", *LARGE),
        "auto",
    ),
    **dict.fromkeys(("looked_up", "not_looked_up", "histogram", "grid", "interleaved", "computed_twice"), "auto"),
    **dict.fromkeys(("sliding_rows", "any_rows", "points", "masked", "ended"), "auto"),
    "strips": (4, 8),
    "past_caches": (6, 16),  # a line of a cache
}
"""None: without tiles, so that no array has a buffer before the pass; auto: for passes that choose their own."""
TENSOR_CORES = frozenset({"tensor"})
TIME_TILES: dict[str, tuple[str, tuple[int, ...]]] = {
    "diamonds": ("diamond", (6,)),
    "skewed": ("skewed", (3, 7, 5)),
    "recurrence": ("skewed", (3, 6)),
    "factors": ("none", ()),
}
BY_MODEL = frozenset({"computed_twice"})
"""Programs that are fused where the model of the machine says so, since it is what decides on copies of nests."""
STRIPS = {"strips": 3, "sliding_rows": 3}
ASKED_SIZES = {"sliding_rows": (("tiles", (8, 16)),)}
MACHINES = {"looked_up": "x86-64-v3", "not_looked_up": "x86-64-v3", "sliding_rows": "zen4"}
"""With vectors that lookups need, and tiles that slide."""
WHERE = {
    "dependences": ("triangular", "private", "stencil_chain", "may_write"),
    "inline": ("inlined", "not_inlined", "multiplied"),
    "chosen": ("chosen", "not_chosen"),
    "temporaries": ("accumulated", "not_accumulated", "expanded"),
    "rows": ("rows",),
    "schedule": ("conv_relu", "jacobi", "may_write"),
    "orders": ("intervals",),
    **dict.fromkeys(("interchange", "regroup"), ("points",)),
    "straight": ("straight",),
    "pretiling": ("conv_relu", "shared_producer", "jacobi"),
    "overlapped": ("overlapped",),
    "basteln": ("conv_relu", "stencil_chain", "outputs"),
    "promotion": ("conv_relu", "stencil_chain", "partly_defined"),
    "vectorize": ("vectors", "private", "conv_relu"),
    "contract": ("chain", "conv_relu"),
    "share": ("stages",),
    "parallel": ("triangular", "jacobi", "conv_relu"),
    "reductions": ("reduction", "private"),
    "privatize": ("private", "conv_relu"),
    "codegen": ("conv_relu", "stencil_chain"),
    "guards": ("apart", "pieces", "bounded", "matmul_chain"),
    "padding": ("two_products", "triangle_sums"),
    "vectors": ("two_products", "product"),
    "blocks": ("looked_up", "scattered", "past_caches", "pieces"),
    "rowblocks": ("streams", "solve"),
    "pack": ("packed",),
    "edges": ("upwind", "classes", "clamped"),
    "jam": ("streams", "solve", "upper"),
    "spread": ("filter", "columns", "own_rows", "where_largest", "row_sums"),
    "rejoin": ("rejoined", "turns_of_rows", "started"),
    "feed": ("counted",),
    "ahead": ("scattered",),
    "prefetch": ("blocks",),
    "registers": ("product", "made_panel", "afterwards"),
    "cpu-registers": ("two_products", "sums_in_place"),
    "blocking": ("factors",),
    "timetiles": ("diamonds", "skewed", "recurrence"),
    "tensor-cores": ("tensor",),
    "coalesce": ("short_rows", "not_short_rows"),
    "gpu-reductions": ("sums", "begun"),
    "staging": ("row_walks", "across"),
    "gpu-scatters": ("counts",),
    "mapping": ("conv_relu", "triangular", "one_row", "jacobi"),
    "barriers": ("conv_relu", "partly_defined", "stencil_chain", "one_row"),
    "windows": ("strips",),
    "lookups": ("looked_up", "not_looked_up"),
    "nontemporal": ("past_caches",),
    "endings": ("masked", "ended"),
    "predicates": ("masked", "ended"),
    "scatters": ("histogram",),
    "cells": ("grid",),
    "interleave": ("interleaved",),
    "copies": ("computed_twice",),
    "interlaced": ("parities",),
    "boxed": ("parities",),
    "unroll": ("sliding_rows", "any_rows"),
    "inspection": ("bins",),
    "webs": ("webs",),
    "flat rows": ("padded_rows",),
    "transfers": ("transfers",),
    "members": ("members",),
    "turns": ("turns",),
    "buffers": ("buffers",),
    "lastprivate": ("work_rows",),
    "fission": ("sums_apart",),
    "invariants": ("invariants",),
    "choice": ("exchanged", "ways"),
}
"""Programs that each pass has something to do for."""
FRONTEND = frozenset(
    {
        *("webs", "flat rows", "choice", "transfers", "turns", "lastprivate", "fission", "invariants", "buffers"),
        "predicates",
    }
)
"""Their faults are looked for in regions that are read with them."""
GPU_STAGES = frozenset(
    {"registers", "tensor-cores", "coalesce", "gpu-reductions", "staging", "gpu-scatters", "mapping", "barriers"}
)
"""Their faults are looked for in CUDA, which runs in the shim: what it reports is a difference."""
ALSO = {
    "dependences: first row's flow dropped": ("conv_relu", "matmul_chain"),
    "schedule: may-writes as writes": ("may_write",),
    "schedule: source order whatever depends": ("triangular", "outputs"),
    "pretiling: all pairs in one iteration": ("jacobi", "triangular"),
    "basteln: first piece of a tile shape": ("shared_producer", "matmul_chain"),
    "basteln: later readers forgotten": ("shared_producer",),
    "basteln: in-place updates allowed": ("in_place", "overwritten"),
    "basteln: hazards allowed": ("in_place", "overwritten", "may_write", "jacobi"),
    "basteln: hazards and in-place allowed": ("in_place", "overwritten", "may_write", "jacobi"),
    "basteln: tiles may clash": ("in_place", "may_write", "triangular"),
    "basteln: opaque producers fused": ("may_write",),
    "basteln: sequential nests tiled": ("triangular", "vectors", "jacobi", "reduction"),
    "basteln: outer iterations mixed up": ("jacobi",),
    "basteln: left-over without its first row": ("shared_producer", "partly_defined"),
    "promotion: sizes without a guard": ("matmul_chain",),
    "promotion: guard twice as wide": ("matmul_chain",),
    "vectorize: private values cross": ("private",),
    "vectorize: strides mistaken": ("triangular", "matmul_chain"),
    "privatize: original order replaced": ("jacobi", "may_write", "triangular"),
    "codegen: division truncates": ("triangular",),
    "codegen: conditions dropped": ("branches",),
    "codegen: reduction clause not printed": ("reduction",),
    "codegen: loop variables mixed up": ("branches",),
    "codegen: no parentheses": ("in_place", "jacobi"),
    "cpu-registers: producers of the next cells": ("made_operand",),
    "cpu-registers: every statement alone": ("made_operand",),
    "cpu-registers: no factor in panels": ("triangle_sums",),
    "cpu-registers: another factor in panels": ("triangle_sums",),
    "cpu-registers: a sign in panels": ("triangle_sums",),
    "cpu-registers: the factor in the other panel": ("triangle_sums",),
    "cpu-registers: triangles not cut": ("triangle_sums",),
    "cpu-registers: triangles cut too short": ("triangle_sums",),
    "cpu-registers: results inside not copied out": ("triangle_sums",),
    "cpu-registers: zeros not told": ("product",),
    "mapping: single loops not dealt out": ("chain",),
    "mapping: single loops not dealt out, at the end": ("chain",),
    "mapping: all of a band parallel": ("private", "reduction", "last_value"),
    "mapping: every loop parallel": ("private", "reduction", "last_value", "may_write"),
    "mapping: first loops parallel": ("private", "reduction", "last_value", "may_write"),
    "mapping: kernels made one": ("outputs", "in_place"),
    "mapping: kernels made one with barriers": ("outputs", "in_place", "matmul_chain"),
    "barriers: last steps swapped": ("outputs",),
}
"""More programs, for faults that those have no place for."""

Patch = pytest.MonkeyPatch
Edit = Callable[[Program], Program]


class Verdict(Enum):
    NOT_APPLICABLE = "-"
    CAUGHT = "caught"
    REFUSED = "refused"
    """An exception: nothing is printed."""
    HARMLESS = "harmless"
    MISSED = "MISSED"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that a pass does wrong."""

    name: str
    stage: str
    what: str
    install: Callable[[Patch], None] = field(compare=False)
    programs: tuple[str, ...] = ()
    """Where it makes a difference; empty: tried everywhere."""


@dataclass(frozen=True, slots=True)
class Outcome:
    verdict: Verdict
    why: str = ""
    """The check's words, or what differs."""


def options_for(name: str, target: str = "openmp") -> Options:
    """Small tiles, so that small sizes have several, and as much fusion as there can be."""
    found = Options(
        target=target,
        tile_sizes=TILES.get(name, (6, 10)),
        threads="always",
        max_recompute=None if name in BY_MODEL else 1e6,
        stores="nontemporal" if name == "past_caches" else "auto",
        strips=STRIPS.get(name, 0),
        sizes=ASKED_SIZES.get(name, ()),
        machine=MACHINES.get(name, "generic"),
        time_tile=TIME_TILES.get(name, ("auto", ())),
        reassociate=name in REASSOCIATED,
        allow_tf32=name in TENSOR_CORES,
    )
    return replace(found, time_tile=("overlapped", (3, 7))) if name == "overlapped" else found


def target_of(fault: Fault) -> str:
    return "cuda" if fault.stage in GPU_STAGES else "openmp"


def programs_for(fault: Fault) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fault.programs or (*ALSO.get(fault.name, ()), *WHERE[fault.stage])))


@cache
def region_of(name: str) -> Region:
    (region,) = read(str(FOLDER / f"{name}.c"), InputOptions(detect=name in DETECTED)).regions
    return region


@cache
def unbroken(name: str, target: str = "openmp") -> Compiled:
    compiled = pipeline.compile_region(region_of(name), options_for(name, target))
    assert compiled.passed
    assert not any(r.code in ("verification-failed", "not-printed") for r in compiled.program.remarks)
    return compiled


CHECKS = ("tree", "text", "run")


def with_only(patch: Patch, check: str) -> None:
    """One check alone; the others accept everything."""

    def no_tree_faults(_program: Program, _scop: object, meanwhile: Callable[[], None] = lambda: None) -> list[object]:
        meanwhile()
        return []

    if check != "tree":
        patch.setattr(fallback, "faults_of", no_tree_faults)
    if check != "text":
        patch.setattr(attempt, "text_faults", lambda *_arguments: [])
    if check != "run":
        patch.setattr(attempt, "replay", lambda *_arguments: Replayed("not-run"))


def outcome_of(fault: Fault, name: str, run: bool = True, only: str = "") -> Outcome:
    """What becomes of a program when polyc has the fault. `run=False`: programs that pass the check are not run,
    and count as harmless. `only`: the one of CHECKS that is asked."""
    target = target_of(fault)
    region, options, before = region_of(name), options_for(name, target), unbroken(name, target)
    with Patch.context() as patch:
        fault.install(patch)
        if fault.stage in FRONTEND:
            region = region_of.__wrapped__(name)
        patch.setattr(relaxations, "MOST_LEFT_OUT", 0)  # it is caught or not: who is at fault is known
        patch.setattr(relaxations, "MOST_CHECKS", 0)
        if only:
            with_only(patch, only)
        try:
            compiled = pipeline.compile_region(region, options)
        except Exception as error:
            return Outcome(
                Verdict.REFUSED, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            )
    for remark in compiled.program.remarks:
        if remark.code in ("verification-failed", "not-printed") and remark not in before.program.remarks:
            if not compiled.passed:
                return Outcome(Verdict.MISSED, "the fallback was not verified")
            words = remark.data["faults"][0]["kind"] if "faults" in remark.data else remark.code
            return Outcome(Verdict.CAUGHT, words)
    taken_back = [r for r in compiled.program.remarks if r.code == "budget" and r not in before.program.remarks]
    if any(r.stage in ("verify", "dependences", "codegen") for r in taken_back):
        return Outcome(Verdict.CAUGHT, "budget")
    if code_of(printed(compiled)) == code_of(printed(before)):
        return Outcome(Verdict.NOT_APPLICABLE)
    if not run:
        return Outcome(Verdict.HARMLESS, "not run")
    wrong = differences(name, compiled)
    return Outcome(Verdict.MISSED, wrong) if wrong else Outcome(Verdict.HARMLESS)


def outcome_of_replay(fault: Fault, name: str, run: bool = True) -> Outcome:
    """What a replay alone would say of a program that polyc compiles with the fault, and with neither of its checks.
    For CPUs. `run=False`: programs that it accepts are not run, and count as harmless."""
    target = target_of(fault)
    if target != "openmp":
        return Outcome(Verdict.NOT_APPLICABLE)
    region, options = region_of(name), replace(options_for(name, target), verify=False)
    with Patch.context() as patch:
        fault.install(patch)
        try:
            compiled = pipeline.compile_region(region, options)
        except Exception as error:
            return Outcome(Verdict.REFUSED, type(error).__name__)
    if code_of(printed(compiled)) == code_of(printed(unchecked(name))):
        return Outcome(Verdict.NOT_APPLICABLE)
    found = replay(region, unchecked(name).program, compiled.text, REPLAY_FUEL)
    if found.kind == "differs":
        return Outcome(Verdict.CAUGHT, found.difference.kind if found.difference is not None else "")
    if not run:
        return Outcome(Verdict.HARMLESS, f"not run; {found.kind}")
    wrong = differences(name, compiled)
    return Outcome(Verdict.MISSED, f"{found.kind}: {wrong}") if wrong else Outcome(Verdict.HARMLESS)


@cache
def unchecked(name: str) -> Compiled:
    """The program as it is compiled without checks, and without faults."""
    return pipeline.compile_region(region_of(name), replace(options_for(name), verify=False))


def printed(compiled: Compiled) -> str:
    """All that is printed of a region: its statements, its kernels."""
    return "\n".join((compiled.text, *compiled.device))


def code_of(text: str) -> str:
    """The printed text without its comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


_known: dict[tuple[str, str], str] = {}


def differences(name: str, compiled: Compiled) -> str:
    """Build and run the printed text against the original: the first difference, or nothing."""
    key = name, code_of(printed(compiled))
    if key not in _known:
        # Sizes come from the scop of the file, so that a fault in what is assumed does not choose the sizes.
        region = region_of(name)
        program = replace(compiled.program, scop=region.scop)
        found = ""
        sizes = MORE_ROWS.get(name, LARGE_SIZES if name in LARGE else SIZES)
        with Patch.context() as patch:
            patch.setattr(build, "FLAGS", (*build.FLAGS, UNINITIALISED))
            patch.setattr(library, "COMPILE", [*library.COMPILE, UNINITIALISED])
            for seed in SEEDS:
                report = compare(region, replace(compiled, program=program), sizes, seed=seed, limit_seconds=20)
                assert report.rows or report.differences, report.skipped
                if report.differences:
                    found = report.differences[0].message
                    break
        _known[key] = found
    return _known[key]


def after_pass(stage: str, edit: Edit) -> Callable[[Patch], None]:
    """A fault that edits the program that a pass answered."""

    def install(patch: Patch) -> None:
        original = pipeline.passes_for

        def passes_for(options: Options) -> list[tuple[str, pipeline.Pass]]:
            return [(name, _then(run, edit) if name == stage else run) for name, run in original(options)]

        patch.setattr(pipeline, "passes_for", passes_for)

    return install


def _then(run: pipeline.Pass, edit: Edit) -> pipeline.Pass:
    return lambda program: edit(run(program))
