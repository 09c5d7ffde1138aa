"""The whole compiler on one page: the passes of each target, in order, and the check after each of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polyc.analysis.dependences import compute_dependences
from polyc.codegen import render_region
from polyc.errors import InternalError
from polyc.model.program import Compiled, Options, Program, Snapshot
from polyc.model.scop import Region, Scop
from polyc.passes.basteln import fuse_tiles
from polyc.passes.parallel import mark_loops
from polyc.passes.pretiling import fuse_quasi_identical
from polyc.passes.privatize import place_private_arrays
from polyc.passes.reductions import mark_reductions
from polyc.passes.schedule import schedule_nests
from polyc.passes.vectorize import sink_vector_loops
from polyc.poly import budget, is_over_budget
from polyc.verify import Fault, check

Pass = Callable[[Program], Program]


def passes_for(options: Options) -> list[tuple[str, Pass]]:
    """The passes of a CPU target, in order; `openmp` and `c` differ only in what is printed."""
    return [
        # isl finds each nest's permutable bands and coincident loops; with `--fuse basteln` it fuses nothing.
        ("schedule", schedule_nests),
        # Algorithm 1: what needs no overlap is fused before tiling.
        ("pretiling", fuse_quasi_identical),
        # Algorithms 2 to 4: tile the outputs, and pull into each tile what it reads.
        ("basteln", fuse_tiles),
        # Inside a tile, after fusion has fixed what is there: the loop along consecutive memory goes innermost.
        ("vectorize", sink_vector_loops),
        # Marks need the final loops; private copies need to know which loops are parallel.
        ("parallel", mark_loops),
        # Only with --reassociate: loops that carry a reduction and nothing else.
        ("reductions", mark_reductions),
        ("privatize", place_private_arrays),
    ]


def initial_program(scop: Scop, options: Options) -> Program:
    """The region as it was written, with its dependences."""
    return Program(scop, options, compute_dependences(scop), scop.tree, dict(scop.statements))


def compile_region(region: Region, options: Options) -> Compiled:
    """Run every pass on one region, check the result, and print the last program that is right."""
    timings: list[tuple[str, float]] = []
    start = time.perf_counter()
    initial = initial_program(region.scop, options)
    timings.append(("dependences", time.perf_counter() - start))
    snapshots = [Snapshot("initial", initial.tree, timings[0][1])]
    programs = [initial]
    for name, run in passes_for(options) if not initial.tree.domain.is_empty() else []:
        start = time.perf_counter()
        after = _declined_at_budget(name, run, programs[-1])
        seconds = time.perf_counter() - start
        timings.append((name, seconds))
        snapshots.append(Snapshot(name, after.tree, seconds))
        programs.append(after)
    start = time.perf_counter()
    final, verified = _last_right(programs) if options.verify else (programs[-1], False)
    timings.append(("verify", time.perf_counter() - start))
    start = time.perf_counter()
    try:
        text, ast = render_region(final, region, verified)
    except InternalError as error:
        # What the tree says is right, but it cannot be printed: the original order can.
        final = initial.remark("not-printed", "codegen", f"the optimised program could not be printed ({error})")
        text, ast = render_region(final, region, verified)
    timings.append(("codegen", time.perf_counter() - start))
    return Compiled(final, initial, tuple(snapshots), verified, text, ast, tuple(timings))


def _declined_at_budget(name: str, run: Pass, program: Program) -> Program:
    """The pass's program, or the one before with a remark where isl would take too long."""
    context = program.scop.domain.get_ctx()
    try:
        with budget(context, program.options.budget):
            return run(program)
    except isl.Error as error:
        if not is_over_budget(error):
            raise
        return program.remark("budget", name, f"the pass {name} ran over its budget of isl operations and was left out")


def _last_right(programs: list[Program]) -> tuple[Program, bool]:
    """The last program that the static check accepts. Parallel marks and private copies belong together, so the
    program without them is tried as a whole before passes are taken back one by one."""
    final = programs[-1]
    original = programs[0].scop
    faults = _faults(final, original)
    if not faults:
        return final, True
    tried = final
    for candidate in reversed(programs[:-1]):
        if candidate.tree is tried.tree:
            continue
        tried = candidate
        remade = place_private_arrays(mark_loops(candidate)) if candidate is not programs[0] else candidate
        if remade.tree is not final.tree and not _faults(remade, original):
            return _with_failure(remade, final, faults), True
    return _with_failure(programs[0], final, faults), not _faults(programs[0], original)


def _faults(program: Program, original: Scop) -> list[Fault]:
    context = program.scop.domain.get_ctx()
    try:
        with budget(context, 2 * program.options.budget):
            return check(program, original)
    except isl.Error as error:
        if not is_over_budget(error):
            raise
        return [Fault("budget", "the check did not end within its budget of isl operations", "")]


def _with_failure(program: Program, failed: Program, faults: list[Fault]) -> Program:
    first = faults[0]
    told = program.remark(
        "verification-failed",
        "verify",
        f"the static check refused the optimised program ({first.message}); "
        "an earlier, less optimised one that it accepts was printed",
        tuple(program.scop.statements),
        faults=[{"kind": f.kind, "message": f.message, "witness": f.witness} for f in faults],
    )
    kept = [r for r in failed.remarks if r not in program.remarks]
    return replace(told, remarks=(*program.remarks, *kept, told.remarks[-1]))
