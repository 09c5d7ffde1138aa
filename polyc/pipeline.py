"""The whole compiler on one page: the passes of each target, in order, and the check after each of them."""

from __future__ import annotations

from dataclasses import replace

from polyc import fallback
from polyc.analysis.dependences import compute_dependences, no_dependences
from polyc.attempt import Attempt
from polyc.codegen import obstacle
from polyc.inspecting import inspected
from polyc.model.printed import Question
from polyc.model.program import Compiled, Options, Pass, Program
from polyc.model.scop import Region, Scop
from polyc.model.tree import Mark, walk
from polyc.passes.ahead import ask_ahead
from polyc.passes.basteln import fuse_tiles
from polyc.passes.blocking import block_updates
from polyc.passes.chosen import inline_chosen
from polyc.passes.coalesce import coalesce_loops
from polyc.passes.contract import contract_buffers
from polyc.passes.feed import feed_scatters
from polyc.passes.given_sizes import tell_unused
from polyc.passes.gpu_reductions import mark_gpu_reductions
from polyc.passes.inline import inline_elementwise
from polyc.passes.interleave import interleave_rows
from polyc.passes.jam import jam_sums
from polyc.passes.kept_rows import keep_rows
from polyc.passes.lookups import look_up_in_registers
from polyc.passes.mapping import map_to_kernels, place_barriers
from polyc.passes.micro import tile_contractions_for_cpu
from polyc.passes.nontemporal import store_past_caches
from polyc.passes.orders import straighten_nests
from polyc.passes.parallel import mark_loops
from polyc.passes.prefetch import prefetch_streams
from polyc.passes.pretiling import fuse_quasi_identical
from polyc.passes.privatize import place_private_arrays
from polyc.passes.reductions import mark_reductions
from polyc.passes.registers import tile_contractions
from polyc.passes.row_blocks import block_rows
from polyc.passes.scatters import mark_scatters
from polyc.passes.schedule import schedule_nests
from polyc.passes.sharing import share_buffers
from polyc.passes.spread import spread_scalars
from polyc.passes.temporaries import relocate_temporaries
from polyc.passes.time_tiles import tile_time_loops
from polyc.passes.unroll import unroll_loops
from polyc.passes.vectorize import sink_vector_loops
from polyc.passes.windows import slide_windows
from polyc.passes.wishes import tell_unhonoured
from polyc.stack import room_for_depth
from polyc.verify.inspected import inspection_faults


def passes_for(options: Options) -> list[tuple[str, Pass]]:
    """The passes of a target, in order; `openmp` and `c`, `cuda` and `opencl` differ only in what is printed."""
    common: list[tuple[str, Pass]] = [
        # Algorithm 5, first, so that all others see fewer nests. What fuses without overlap is left to `pretiling`.
        ("inline", inline_elementwise),
        # The same where data choose which value is read. After it: what was inlined may be what they choose.
        ("chosen", inline_chosen),
        # Before the scheduler, which would take a loop that sums up into a scalar for one that has to stay inside.
        ("temporaries", relocate_temporaries),
        # isl finds each nest's permutable bands and coincident loops; with `--fuse basteln` it fuses nothing.
        ("schedule", schedule_nests),
        # Triangular solves: blocks of rows that earlier rows serve first. Before nests are joined that stand alone yet.
        ("rowblocks", block_rows),
        # Algorithm 1: what needs no overlap is fused before tiling.
        ("pretiling", fuse_quasi_identical),
        # Factorisations: updates that a block of steps does not need wait for its end (not on a GPU).
        ("blocking", block_updates),
        # Before tiles of space: what they would cut up anew in each step is tiled over steps as a whole.
        ("timetiles", tile_time_loops),
        # What isl skewed and no time tile took: before it gets tiles of space, which would be skewed as well.
        ("orders", straighten_nests),
        # Rows that `temporaries` made for each iteration: whatever touches them runs in the tiles that keep them.
        ("rows", keep_rows),
        # Algorithms 2 to 4: tile the outputs, and pull into each tile what it reads.
        ("basteln", fuse_tiles),
    ]
    if options.gpu:
        return [
            *common,
            # Sums of products: a small tile of the result in each thread's registers.
            ("registers", tile_contractions),
            # Short rows without shared data; before buffers have a depth, since tile loops go.
            ("coalesce", coalesce_loops),
            # Only with --reassociate: what adds into one cell; a block for each row has no tile loops either.
            ("reductions", mark_gpu_reductions),
            # What stays in one iteration is a register, not shared memory.
            ("contract", contract_buffers),
            # Tiles to blocks, points to threads; what no kernel can hold runs on the host.
            ("mapping", map_to_kernels),
            ("privatize", place_private_arrays),
            # Last: they depend on what the threads of a block share.
            ("barriers", place_barriers),
        ]
    return [
        *common,
        # Sums of products: a small tile of the result in vector registers, panels in the caches.
        ("registers", tile_contractions_for_cpu),
        # Sums that stream through an array: several at once, before their loops are sunk.
        ("jam", jam_sums),
        # Recurrences of neighbouring columns: what would keep their loop outside gets a place for each of them.
        ("spread", spread_scalars),
        # Recurrences along the rows: several rows at once. Before the next pass, which likes memory only.
        ("interleave", interleave_rows),
        # Inside a tile, after fusion has fixed what is there: the loop along consecutive memory goes innermost.
        ("vectorize", sink_vector_loops),
        # What stays in one iteration needs no array, once the loops are where they stay.
        ("contract", contract_buffers),
        # Tiles of strips that keep what the tile before has made: of buffers that are left, and below final loops.
        ("windows", slide_windows),
        # Lookups in short rows by permutations of vectors: of the loop that stays innermost, before others are cut.
        ("lookups", look_up_in_registers),
        # Rows that share what they read, x / 2, clamps at an image's edge: once it is known which loop is innermost.
        ("unroll", unroll_loops),
        # What is left are buffers of whole tiles: those that follow each other take one place.
        ("share", share_buffers),
        # Marks need the final loops; private copies need to know which loops are parallel.
        ("parallel", mark_loops),
        # Only with --reassociate: loops that carry a reduction and nothing else.
        ("reductions", mark_reductions),
        # What is still sequential, and adds into cells that depend on data.
        ("scatters", mark_scatters),
        # What these add up is made in their loops, once it is known which of these run in parallel.
        ("feed", feed_scatters),
        # Loops that scatter in order, once it is known which these are.
        ("ahead", ask_ahead),
        ("privatize", place_private_arrays),
        # The text of black boxes, once it is known which arrays they have buffers of.
        ("prefetch", prefetch_streams),
        # Results that no cache holds: of the loops as they are printed, and once it is known which are vector loops.
        ("nontemporal", store_past_caches),
    ]


def initial_program(scop: Scop, options: Options) -> Program:
    """The region as it was written, with its dependences."""
    return Program(scop, options, compute_dependences(scop), scop.tree, dict(scop.statements))


def compile_region(region: Region, options: Options) -> Compiled:
    """Run every pass on one region, check the result, and print the last program that is right.

    Where no program was shown to be right within the budget, the region stays as it was written.
    """
    with room_for_depth():
        if region.scop.inspection is None:
            return _compiled(region, options)
        return inspected(region, options, _compiled)


def _compiled(
    region: Region, options: Options, told: Pass = lambda program: program, question: Question | None = None
) -> Compiled:
    """One region, of which `told` has something to say, with a question before it or with none."""
    with Attempt(region, options, told, question) as attempt:
        return _attempted(attempt)


def _attempted(attempt: Attempt) -> Compiled:
    """Dependences, the passes and their check, the text and its check: what fails gives way to what was before it."""
    scop, options = attempt.region.scop, attempt.options
    untouched = attempt.told(Program(scop, attempt.asked, no_dependences(scop), scop.tree, dict(scop.statements)))
    initial = _with_dependences(attempt, untouched)
    if initial.dependences is untouched.dependences:
        return attempt.as_written(initial, initial)
    if options.verify and attempt.question is None:  # subscripts that stay in their rows for all that bounds them
        with attempt.timed("verify"):
            wrong = inspection_faults(initial)
        if wrong:
            return attempt.as_written(fallback.with_failure(initial, initial, wrong), initial)
    if options.gpu and (reason := obstacle(scop)) is not None:
        return attempt.as_written(fallback.not_mapped(initial, reason), initial)
    final, verified = _transformed(attempt, initial)
    if final.tree is initial.tree and any(p.code in ("inlined", "relocated") for p in final.remarks):
        # Whatever it was: with the region as it was written there is less to go wrong, and to check.
        chosen = replace(attempt.asked, inline=False, relocate=False)
        left_out = replace(initial, options=chosen, remarks=(*initial.remarks, *fallback.of_failure(final)))
        attempt.start_again()
        final, verified = _transformed(attempt, left_out)
    if (options.verify and not verified) or (options.gpu and final.tree is initial.tree):
        return attempt.as_written(final, initial)
    result = _printed(attempt, final, initial, verified)
    if attempt.unread and options.strips is None and fallback.nearly_as_good(result.program):
        why = "with strips the printed text was not read again within the budget"
        final, verified = _without_strips(attempt, replace(initial, options=final.options), why)
        result = _printed(attempt, final, initial, verified)
    return result


def _with_dependences(attempt: Attempt, untouched: Program) -> Program:
    """The region as it was written; with its dependences, unless finding them takes too long."""
    message = "finding the dependences took more isl operations than the budget allows; the region stays as it was"

    def found(program: Program) -> Program:
        return replace(initial_program(program.scop, program.options), remarks=program.remarks)

    return attempt.ran("dependences", found, untouched, message, shown="initial")


def _transformed(attempt: Attempt, initial: Program) -> tuple[Program, bool]:
    """The program after the passes, or the last one that is right; whether that was shown."""
    programs, options = [initial], initial.options
    for name, run in passes_for(options) if not initial.tree.domain.is_empty() else []:
        programs.append(attempt.ran(name, run, programs[-1]))
        # What is in no tile now comes into none any more.
        if name == "basteln" and options.expand and fallback.in_memory(programs[-1]):
            attempt.start_again()
            told = (*initial.remarks, *(r for r in programs[-1].remarks if r.code == "not-expanded"))
            return _transformed(attempt, replace(initial, options=replace(options, expand=False), remarks=told))
        if name == "windows" and options.strips is None and fallback.stand_still(programs[-1]):
            return _without_strips(attempt, initial, "tiles that were chosen for strips cannot slide through them")
    programs[-1] = tell_unhonoured(tell_unused(programs[-1]))
    if not attempt.options.verify:
        return programs[-1], False
    with attempt.timed("verify"):
        final, verified = fallback.last_right(programs, _finished, lambda: attempt.print_ahead(programs[-1]))
    if final.tree is not programs[-1].tree and options.strips is None and fallback.sliding(programs[-1]):
        why = "with strips the program was not shown to be right within the budget"
        return _without_strips(attempt, initial, why)
    return final, verified


def _without_strips(attempt: Attempt, initial: Program, why: str) -> tuple[Program, bool]:
    """The passes again, with tiles that stand by themselves."""
    attempt.start_again()
    told = initial.remark("no-sliding-window", "windows", f"tiles stand by themselves: {why}")
    return _transformed(attempt, replace(told, options=replace(initial.options, strips=0)))


def _finished(program: Program) -> Program:
    """The passes that a tree of any earlier one needs before it is printed."""
    if program.options.gpu:
        mapped = any(isinstance(n, Mark) and n.kind == "kernel" for n in walk(program.tree.child))
        return place_barriers(place_private_arrays(program if mapped else map_to_kernels(program)))
    return place_private_arrays(mark_loops(program))


def _printed(attempt: Attempt, final: Program, initial: Program, verified: bool) -> Compiled:
    """The program as C. One that is right and cannot be printed gives way to the original order."""
    told = final
    for program in (final, initial)[: 1 if attempt.options.gpu else 2]:
        text, told = attempt.text_of(replace(program, remarks=told.remarks), verified)
        if text is not None:
            return attempt.result(told, initial, verified, text)
    return attempt.as_written(told, initial)
