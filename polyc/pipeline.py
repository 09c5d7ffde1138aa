"""The whole compiler on one page: the passes of each target, in order, and the check after each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from polyc import fallback
from polyc.analysis.coincident import is_parallel, is_serial, with_coincident_loops
from polyc.analysis.dependences import Known, compute_dependences, has_large_factors, no_dependences
from polyc.analysis.loop_facts import achieved
from polyc.analysis.members import with_members_apart
from polyc.attempt import Attempt, with_next_version, with_other_values
from polyc.bounded import within_time
from polyc.codegen import obstacle
from polyc.cost.given_sizes import tell_unused
from polyc.fallback import Refusal
from polyc.inspecting import inspected, pays
from polyc.model.certificate import SHOWN
from polyc.model.printed import Question, Rendered
from polyc.model.program import Compiled, Options, Pass, Program
from polyc.model.same import changed, same, same_tree
from polyc.model.scop import Region, Scop, without_rows
from polyc.nests.wishes import tell_unhonoured
from polyc.passes.blocks.blocking import block_updates
from polyc.passes.blocks.rowblocks import block_rows
from polyc.passes.buffers.contract import contract_buffers
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.passes.buffers.share import share_buffers
from polyc.passes.buffers.windows import slide_windows
from polyc.passes.forms import Form, Step, checked
from polyc.passes.fusion.basteln import fuse_tiles
from polyc.passes.fusion.pretiling import fuse_quasi_identical
from polyc.passes.fusion.regroup import regroup_nests
from polyc.passes.fusion.rows import keep_rows
from polyc.passes.gpu.barriers import place_barriers
from polyc.passes.gpu.coalesce import coalesce_loops
from polyc.passes.gpu.gpu_reductions import mark_gpu_reductions
from polyc.passes.gpu.gpu_scatters import mark_gpu_scatters
from polyc.passes.gpu.mapping import map_to_kernels
from polyc.passes.gpu.staging import stage_rows
from polyc.passes.loops.edges import part_edges
from polyc.passes.loops.endings import end_loops, has_endings
from polyc.passes.loops.interleave import interleave_rows
from polyc.passes.loops.pack import pack_rows
from polyc.passes.loops.parallel import mark_loops
from polyc.passes.loops.reductions import mark_reductions
from polyc.passes.loops.rejoin import rejoin_recurrences
from polyc.passes.loops.spread import spread_iterations
from polyc.passes.loops.unroll import unroll_loops
from polyc.passes.loops.vectorize import sink_vector_loops
from polyc.passes.memory.ahead import ask_ahead
from polyc.passes.memory.lookups import look_up_in_registers
from polyc.passes.memory.nontemporal import store_past_caches
from polyc.passes.memory.prefetch import prefetch_streams
from polyc.passes.order.interchange import interchange_loops
from polyc.passes.order.orders import straighten_nests
from polyc.passes.order.schedule import schedule_nests
from polyc.passes.order.spaced import with_spaced_values, with_undivided_loops, without_shifts
from polyc.passes.products.jam import jam_sums
from polyc.passes.products.micro import tile_contractions_for_cpu
from polyc.passes.products.registers import tile_contractions
from polyc.passes.scatter.feed import feed_scatters
from polyc.passes.scatter.scatters import mark_scatters
from polyc.passes.timetiles.timetiles import tile_time_loops
from polyc.passes.values.chosen import inline_chosen
from polyc.passes.values.inline import inline_elementwise
from polyc.passes.values.temporaries import relocate_temporaries
from polyc.poly import OverBudget, budget
from polyc.relaxations import DONE, TEXT, TREE, UNREAD, Outcome, Search, relaxation_for
from polyc.stack import room_for_depth
from polyc.verify.order.races import race_faults
from polyc.verify.region.inspected import inspection_faults

FINISHING = ("mapping", "parallel", "privatize", "barriers")
"""The passes that any program needs before it is printed, whatever else is left out."""
INSTEAD: dict[str, Pass] = {"schedule": with_coincident_loops}
"""Stand-ins of passes that are left out: who else would say which loops carry no dependence?"""
OTHER_LOOPS: tuple[tuple[str, Pass], ...] = (
    ("unshifted", without_shifts),
    ("undivided", with_undivided_loops),
    ("spaced", with_spaced_values),
)
"""Ways to have isl make other loops of the same order, where those that it made are refused."""
MOST_SERIAL = 24
"""Statements of a region that nobody marked, beyond which nothing is tried where all of its loops carry dependences."""
AS_WRITTEN = "the region stays as it was written"


class _NoStrips(Exception):
    """No flag of a region ends a strip: its other form is the better one."""


def fuses(options: Options) -> bool:
    """Whether polyc fuses, and not isl's scheduler."""
    return options.fuse == "basteln"


def chooses_tiles(options: Options) -> bool:
    """Whether polyc chooses the sizes of tiles."""
    return options.tile_sizes == "auto"


def is_free(options: Options) -> bool:
    """Whether polyc chooses the order of loops and the sizes of tiles."""
    return fuses(options) and chooses_tiles(options)


def orders(options: Options) -> bool:
    """Whether polyc chooses the order of loops: not where somebody names the sizes of the tiles over them."""
    return fuses(options) and not isinstance(options.tile_sizes, tuple)


def constructs(options: Options) -> bool:
    """Whether polyc is free to choose a CPU's loops."""
    return not options.gpu and is_free(options)


def stages_rows(options: Options) -> bool:
    """Whether blocks fetch the rows along which threads walk. PoCL's vectoriser, its default, gives other values for
    gesummv's kernel, where its other methods and CUDA are right: for OpenCL threads load their rows themselves."""
    return chooses_tiles(options) and options.target == "cuda"


def relocates(options: Options) -> bool:
    """Whether temporaries may move."""
    return options.relocate and is_free(options)


def slides(options: Options) -> bool:
    """Whether tiles may slide through strips."""
    return not options.gpu and options.strips not in (0, 1)


def keeps_sums(options: Options) -> bool:
    """Whether polyc chooses the loops, and each sum keeps its order."""
    return constructs(options) and not options.reassociate


def common_steps() -> list[Step]:
    """The passes of every target, in order."""
    return [
        # Algorithm 5, first, so that all others see fewer nests. What fuses without overlap is left to `pretiling`.
        Step("inline", inline_elementwise, ("inline",), keeps=(Form.AS_WRITTEN,)),
        # The same where data choose which value is read. After it: what was inlined may be what they choose.
        Step("chosen", inline_chosen, ("inline",), keeps=(Form.AS_WRITTEN,)),
        # Before the scheduler, which would take a loop that sums up into a scalar for one that has to stay inside.
        Step("temporaries", relocate_temporaries, ("expand",), relocates, needs=(Form.AS_WRITTEN,)),
        # isl finds each nest's permutable bands and coincident loops; with `--fuse basteln` it fuses nothing.
        Step("schedule", schedule_nests, ("fuse", "budget"), promises=(Form.NO_TILES, Form.NO_THREADS)),
        # Triangular solves: blocks of rows that earlier rows serve first. Before nests are joined that stand alone yet.
        Step("rowblocks", block_rows),
        # While each nest is a band of its own: what is fused, or tiled, has its loops in this order.
        Step("interchange", interchange_loops, when=constructs),
        # Algorithm 1: what needs no overlap is fused before tiling.
        Step("pretiling", fuse_quasi_identical, when=fuses),
        # Factorisations: updates that a block of steps does not need wait for its end (not on a GPU).
        Step("blocking", block_updates, when=constructs),
        # Before tiles of space: what they would cut up anew in each step is tiled over steps as a whole.
        Step("timetiles", tile_time_loops, ("time_tile",)),
        # What isl skewed and no time tile took: before it gets tiles of space, which would be skewed as well.
        Step("orders", straighten_nests, when=orders),
        # Rows that `temporaries` made for each iteration: whatever touches them runs in the tiles that keep them.
        Step("rows", keep_rows),
        # Loops that were written in the same parallel ones, and that nothing has joined or tiled yet (not on a GPU).
        Step("regroup", regroup_nests, when=constructs),
        # Algorithms 2 to 4: tile the outputs, and pull into each tile what it reads.
        Step("basteln", fuse_tiles, ("budget", "fuse", "tile_sizes"), promises=(Form.NO_THREADS,)),
    ]


def gpu_steps() -> list[Step]:
    """What follows for `cuda` and `opencl`, which differ only in what is printed."""
    return [
        # Sums of products: a small tile of the result in each thread's registers.
        Step("registers", tile_contractions, ("block", "fuse", "tile_sizes", "without")),
        # Short rows without shared data; before buffers have a depth, since tile loops go.
        Step("coalesce", coalesce_loops, when=chooses_tiles),
        # What adds into one cell, of floats only with --reassociate; a block for each row has no tile loops either.
        Step("reductions", mark_gpu_reductions, ("grid", "reassociate")),
        # What is still sequential, and adds whole numbers into cells that depend on data.
        Step("gpu-scatters", partial(mark_gpu_scatters, races=race_faults)),
        # Threads that walk along rows of their own: parts of these rows by all threads together.
        Step("staging", stage_rows, ("block", "tile_sizes", "target"), when=stages_rows),
        # What stays in one iteration is a register, not shared memory.
        Step("contract", contract_buffers, promises=(Form.DECLARED,)),
        # Tiles to blocks, points to threads; what no kernel can hold runs on the host.
        Step("mapping", map_to_kernels, ("block", "grid")),
        Step("privatize", place_private_arrays, promises=(Form.DECLARED,)),
        # Last: they depend on what the threads of a block share.
        Step("barriers", place_barriers),
    ]


def cpu_steps() -> list[Step]:
    """What follows for `openmp` and `c`."""
    return [
        # Sums of products: a small tile of the result in vector registers, panels in the caches.
        Step("registers", tile_contractions_for_cpu),
        # What such sums read row by row, and outer loops again: in a layout that the next passes make vectors of.
        Step("pack", pack_rows, when=keeps_sums),
        # Sums that stream through an array: several at once, before their loops are sunk.
        Step("jam", jam_sums),
        # Recurrences of neighbouring columns: what would keep their loop outside gets a place for each of them.
        Step("spread", spread_iterations),
        # Recurrences along the rows: several rows at once. Before the next pass, which likes memory only.
        Step("interleave", interleave_rows),
        # Recurrences that none of these has taken: in one loop, if they were in one. Before scalars lose their arrays.
        Step("rejoin", rejoin_recurrences, when=keeps_sums),
        # Inside a tile, after fusion has fixed what is there: the loop along consecutive memory goes innermost.
        Step("vectorize", sink_vector_loops, keeps=(Form.NO_THREADS,)),
        # What stays in one iteration needs no array, once the loops are where they stay.
        Step("contract", contract_buffers, promises=(Form.DECLARED,)),
        # Tiles of strips that keep what the tile before has made: of buffers that are left, and below final loops.
        Step("windows", slide_windows, ("strips",), slides, keeps=(Form.NO_THREADS,)),
        # Lookups in short rows by permutations of vectors: of the loop that stays innermost, before others are cut.
        Step("lookups", look_up_in_registers),
        # Rows that share what they read, x / 2, clamps at an image's edge: once it is known which loop is innermost.
        Step("unroll", unroll_loops, keeps=(Form.NO_THREADS,)),
        # Choices that read what may not be there, at the edges: of final innermost loops, and before these get threads.
        Step("edges", part_edges, keeps=(Form.NO_THREADS,)),
        # What is left are buffers of whole tiles: those that follow each other take one place.
        Step("share", share_buffers),
        # Strips that data end: of final loops, and of flags that have places.
        Step("endings", end_loops),
        # Marks need the final loops; private copies need to know which loops are parallel.
        Step("parallel", mark_loops, ("threads",), needs=(Form.NO_THREADS,)),
        # Loops that carry a reduction and nothing else; of floats only with --reassociate.
        Step("reductions", partial(mark_reductions, races=race_faults), ("reassociate", "threads", "machine")),
        # What is still sequential, and adds into cells that depend on data.
        Step("scatters", partial(mark_scatters, races=race_faults), ("reassociate",)),
        # What these add up is made in their loops, once it is known which of these run in parallel.
        Step("feed", feed_scatters, ("tile_sizes",), fuses),
        # Loops that scatter in order, once it is known which these are.
        Step("ahead", ask_ahead),
        Step("privatize", place_private_arrays, promises=(Form.DECLARED,)),
        # The text of black boxes, once it is known which arrays they have buffers of.
        Step("prefetch", prefetch_streams),
        # Results that no cache holds: of the loops as they are printed, and once it is known which are vector loops.
        Step("nontemporal", store_past_caches, ("stores",)),
    ]


def steps_for(options: Options) -> list[Step]:
    """The passes of a target, in order."""
    return [*common_steps(), *(gpu_steps() if options.gpu else cpu_steps())]


def passes_for(options: Options) -> list[tuple[str, Pass]]:
    """The passes of a target by their names; one that has nothing to do with these options changes nothing."""
    return [(step.name, checked(step, options)) for step in steps_for(options)]


def initial_program(scop: Scop, options: Options, known: Known | None = None) -> Program:
    """The region as it was written, with its dependences. known: as of `compute_dependences`."""
    return Program(scop, options, compute_dependences(scop, known), scop.tree, dict(scop.statements))


def compile_region(region: Region, options: Options) -> Compiled:
    """Run every pass on one region, check the result, and print the last program that is right.

    Where no program was shown to be right within the budget, the region stays as it was written.
    """
    with room_for_depth():
        return _with_flags(region, options)


def _with_flags(region: Region, options: Options) -> Compiled:
    """One region, with flags for what data decide if strips end by them, else with statements that hold their loops."""
    flagged = region.scop.flagged
    if flagged is None or options.gpu:
        return _for_values(region, options)
    try:
        found = _for_values(replace(region, scop=flagged), options)
    except _NoStrips:
        return _for_values(region, options)
    if found.ast and has_endings(found.program):
        return found
    return _with_refusals(_for_values(region, options), found)


def _for_values(region: Region, options: Options) -> Compiled:
    """One region, for the values of its factors that the calls pass, one after the other, and for all others; GPUs have
    only what is made for all of them."""
    scop = region.scop
    if scop.general is None:
        return _with_loops_parted(region, options)
    if not options.gpu and scop.has_versions and not scop.general.supposed:  # no call has others
        return _with_loops_parted(region, options)
    other = _for_values(replace(region, scop=scop.general), options)
    if options.gpu:
        return other
    found = _with_loops_parted(region, options)
    if scop.has_versions:
        return with_next_version(found, other, region)
    if not found.ast or found.verified != options.verify or pays(other, found):
        return other
    return with_other_values(found, other, region)


def _with_loops_parted(region: Region, options: Options) -> Compiled:
    """One region, with what may run behind a loop put there, if the loop runs in parallel or gets tiles then, and with
    what is computed once before it."""
    if region.scop.ordered:
        return _with_rows(region, _in_order(options))
    if region.scop.unasked is not None and not options.gpu:
        other = _with_rows(replace(region, scop=region.scop.unasked), _in_order(options))
        found = _with_rows(region, options)
        return with_other_values(found, other, region) if found.ast else other
    found, whole = _with_rows(region, options), region.scop.whole
    if whole is None:
        return found
    own = found.program.scop.arrays.keys() - whole.arrays.keys()
    users = {name for name, s in region.scop.statements.items() if any(a.array in own for a in s.accesses)}
    done = achieved(found.program, users)
    gained = bool(found.ast and (region.scop.computes_once or users & (done["parallel"] | done["tiled"])))
    if options.target == "openmp" and not region.scop.computes_once and not users <= done["parallel"]:
        gained = gained and not _has_threads(whole, options)  # all of it, as it was written
    if gained and (options.gpu or not _asks_more(region.scop, whole)):
        return found
    other = _with_rows(replace(region, scop=whole), options)
    if gained:
        return with_other_values(found, other, region)
    return _with_refusals(other, found)


def _with_refusals(other: Compiled, tried: Compiled) -> Compiled:
    """A region with what was refused of another form of it."""
    refused = tuple(remark for remark in tried.program.remarks if remark.code == fallback.REFUSED)
    return replace(other, program=replace(other.program, remarks=(*refused, *other.program.remarks)))


def _has_threads(scop: Scop, options: Options) -> bool:
    """Whether all outermost loops of a region carry nothing as they were written, if the budget says so."""
    try:
        with budget(scop.domain.get_ctx(), options.budget):
            return is_parallel(initial_program(scop, options))
    except OverBudget:
        return False


def _in_order(options: Options) -> Options:
    """The options for a region in which memory may overlap: nothing is copied, and nothing changes places."""
    return replace(options, without=options.without | {step.name for step in steps_for(options)} - {*FINISHING})


def _asks_more(scop: Scop, whole: Scop) -> bool:
    """Whether a region whose loops are parted is for fewer sizes than it is as a whole: not only for those for which
    its new arrays have elements."""
    known = whole.known
    for name in scop.arrays.keys() - whole.arrays.keys():
        for extent in scop.arrays[name].extents:
            known = known if extent is None else known.intersect_params(extent.pos_set().params())
    return not known.is_subset(scop.known)


def _with_rows(region: Region, options: Options) -> Compiled:
    """One region, with private rows whose lengths the sizes decide where it has any use for them."""
    found = _asked(region, options)
    rows = region.scop.rows
    own = {buffer.array for buffer in found.program.buffers.values()}
    if rows is None or options.gpu or own & rows.arrays.keys():  # GPUs run it without these rows anyway
        return found
    return _asked(replace(region, scop=without_rows(region.scop)), options)


def _asked(region: Region, options: Options) -> Compiled:
    """One region, behind questions to the data if there are some."""
    return _compiled(region, options) if region.scop.inspection is None else inspected(region, options, _compiled)


def _compiled(
    region: Region, options: Options, told: Pass = lambda program: program, question: Question | None = None
) -> Compiled:
    """One region, of which `told` has something to say, with a question before it or with none."""
    with Attempt(region, options, told, question) as attempt:
        return _attempted(attempt)


def _attempted(attempt: Attempt) -> Compiled:
    """Dependences, then passes, checks and text, again with less wherever `RELAXATIONS` has something that helps."""
    scop, options = attempt.region.scop, attempt.options
    parted = with_members_apart(scop)
    dependences, statements = no_dependences(parted), dict(parted.statements)
    untouched = attempt.told(Program(parted, attempt.asked, dependences, scop.tree, statements, parted=parted))
    initial = _with_dependences(attempt, untouched)
    if initial.dependences is untouched.dependences:
        return attempt.as_written(initial, initial)
    if options.verify and attempt.question is None:  # subscripts that stay in their rows for all that bounds them
        with attempt.timed("verify"):
            wrong = inspection_faults(initial)
        if wrong:
            return attempt.as_written(fallback.refused_tree(wrong).told(initial, AS_WRITTEN), initial)
    if options.gpu and scop.ordered:
        return attempt.as_written(fallback.not_mapped(initial, "its arrays may overlap"), initial)
    if options.gpu and (reason := obstacle(attempt.region, options.target)) is not None:
        return attempt.as_written(fallback.not_mapped(initial, reason), initial)
    if scop.unmarked and len(scop.statements) > MOST_SERIAL and is_serial(initial):
        return attempt.as_written(initial, initial)
    search = Search(
        {TREE: partial(_refused_tree, attempt), TEXT: partial(_refused_text, attempt)},
        _ready,
        FINISHING,
        lambda: attempt.is_late,
    )
    tried = _tried(attempt, initial, search)
    first = tried
    # Each takes something away for good. Passes that wait for one have made no text.
    while (relaxation := relaxation_for(tried)) is not None and (tried.unfinished or not attempt.is_late):
        attempt.start_again()
        tried = _tried(attempt, relaxation.relaxed(tried), search)
        first = first if first.refusal is not None else tried
    if tried.rendered is None:
        return _simpler(attempt, initial, tried, first)
    if options.gpu and same_tree(tried.final, initial):
        return attempt.as_written(tried.final, initial)
    final = tried.final if first.refusal is None else fallback.with_losses(tried.final, first.final, scop)
    return attempt.result(final, initial, tried.rendered)


def _with_dependences(attempt: Attempt, untouched: Program) -> Program:
    """The region as it was written; with its dependences, unless finding them takes too long."""
    message = "finding the dependences took more isl operations than the budget allows; the region stays as it was"

    def found(program: Program) -> Program:
        known: Known = {}
        step = partial(initial_program, program.scop, program.options, known)
        operations = fallback.checking(program.scop) * program.operations
        initial = within_time(attempt.context, operations, step, known.__len__, has_large_factors(program.scop))
        return replace(initial, remarks=program.remarks, parted=program.parted)

    return attempt.ran("dependences", found, untouched, message, shown="initial")


def _tried(attempt: Attempt, initial: Program, search: Search) -> Outcome:
    """One run of the passes, its check, its text and the check of that, as far as they go."""
    program, passes = initial, list[tuple[str, Program]]()
    for name, run in passes_for(initial.options) if not initial.tree.domain.is_empty() else []:
        left_out = name in initial.options.without
        program = attempt.ran(name, INSTEAD.get(name, _unchanged) if left_out else run, program)
        if name in INSTEAD and fallback.was_left_out(name, program):
            program = fallback.declined_at_budget(name, INSTEAD[name], program)
        passes.append((name, program))
        if name == "endings" and program.scop.endings and not left_out and not has_endings(program):
            raise _NoStrips
        outcome = Outcome(name, initial, tuple(passes), program, search)
        if relaxation_for(outcome) is not None:
            return outcome
    final = tell_unhonoured(tell_unused(program))
    outcome = Outcome(DONE, initial, tuple(passes), final, search)
    attempt.unread = False
    if attempt.is_over and (refusal := fallback.unfinished(final, FINISHING)) is not None:
        return replace(outcome, stage=TREE, refusal=refusal)
    if attempt.options.verify:
        meanwhile = partial(attempt.print_ahead, final)  # most programs are right
        refusal = search.refused(TREE, final, partial(_refused_tree, attempt, meanwhile=meanwhile))
        if refusal is not None:
            return replace(outcome, stage=TREE, refusal=fallback.unfinished(final, FINISHING) or refusal)
    rendered, told = _text_of(attempt, final, search)
    if rendered is None:
        return replace(outcome, stage=TEXT, final=told, refusal=fallback.refused_text(told.remarks[-1]))
    return replace(outcome, stage=UNREAD if attempt.unread else DONE, final=told, rendered=rendered)


def _text_of(attempt: Attempt, program: Program, search: Search) -> tuple[Rendered | None, Program]:
    """As `Attempt.text_of`, for a program that was checked: where its text is wrong, or no kernel, isl's loops may be,
    and others of the same order are tried. Instead of wrong ones they are taken only where they were shown to be right.
    """
    rendered, told = attempt.text_of(program, attempt.options.verify)
    refused = told.remarks[-1].code if rendered is None else ""
    if refused not in (fallback.REFUSED, fallback.NOT_MAPPED, "not-printed"):
        return rendered, told
    for name, run in OTHER_LOOPS:
        other = fallback.declined_at_budget(name, run, program)
        if other.options is program.options or search.refused(TREE, other) is not None:
            continue
        rendered, told_of_other = attempt.text_of(other, attempt.options.verify)
        if rendered is not None and (refused == fallback.NOT_MAPPED or rendered.certificate.text == SHOWN):
            return rendered, told_of_other
        attempt.unread = False
    return None, told


def _unchanged(program: Program) -> Program:
    """The place of a pass that is left out."""
    return program


def _refused_tree(attempt: Attempt, program: Program, meanwhile: Callable[[], None] = lambda: None) -> Refusal | None:
    """The refusal of the static check."""
    with attempt.timed("verify"):
        faults = fallback.faults_of(program, attempt.region.scop, meanwhile)
    return fallback.refused_tree(faults) if faults else None


def _refused_text(attempt: Attempt, program: Program) -> Refusal | None:
    """The refusal of the text: what is wrong with it, or why there is none."""
    rendered, told = attempt.text_of(program, attempt.options.verify)
    return fallback.refused_text(told.remarks[-1]) if rendered is None else None


def _ready(tried: Outcome, done: int) -> Program:
    """The program after so many passes, with what any program needs before it is printed. Loops of the user's own
    order run in parallel where they carry no dependence."""
    program = tried.passes[done - 1][1] if done else tried.initial
    if not program.options.gpu and same(program.tree, program.scop.tree):
        program = fallback.declined_at_budget("coincidence", with_coincident_loops, program)
    for name, run in passes_for(program.options)[done:]:
        if name in FINISHING and name not in program.options.without:
            program = fallback.declined_at_budget(name, run, program)
    return program


def _before(tried: Outcome, name: str) -> Program | None:
    """The program before a pass, with what any program needs before it is printed; None where the pass did nothing."""
    programs = [tried.initial, *(program for _, program in tried.passes)]
    k = next((k for k, (one, _) in enumerate(tried.passes) if one == name), None)
    return None if k is None or not changed(programs[k], programs[k + 1]) else _ready(tried, k)


def _simpler(attempt: Attempt, initial: Program, tried: Outcome, first: Outcome) -> Compiled:
    """A program before the pass at fault, or the user's order with its parallel loops; else the region's own text."""
    verify, search, refusal = attempt.options.verify, tried.search, tried.refusal
    assert refusal is not None
    assert first.refusal is not None
    if refusal.code == fallback.NOT_MAPPED:
        told = replace(initial, remarks=(*initial.remarks, tried.final.remarks[-1]))
        return attempt.as_written(fallback.with_losses(told, first.final, initial.scop), initial)
    blame = tried.blame
    choices = [(blame.right, f"the pass {blame.culprit} and those after it were left out", str(blame.culprit))]
    if not attempt.options.gpu:
        order = _ready(replace(tried, initial=replace(initial, options=tried.options)), 0)
        choices.append((order, "the order as written was kept", fallback.ALL))
    if attempt.is_late:  # nobody looks for the pass at fault, and it is most likely the one that makes most copies
        choices = [(_before(tried, "registers"), "the pass registers and those after it were left out", "registers")]
    for program, what, left_out in choices if not attempt.is_over else ():
        if program is None or (verify and search.refused(TREE, program) is not None):
            continue
        told = refusal.told(tell_unhonoured(tell_unused(program)), what, left_out)
        rendered, told = attempt.text_of(told, verify)
        if rendered is not None:
            return attempt.result(fallback.with_losses(told, first.final, initial.scop), initial, rendered)
    left = fallback.with_losses(first.refusal.told(initial, AS_WRITTEN), first.final, initial.scop)
    return attempt.as_written(left, initial)
