"""The whole compiler on one page: the passes of each target, in order, and the check after each of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import islpy as isl

from polyc.analysis.dependences import compute_dependences, no_dependences
from polyc.analysis.order import runs
from polyc.bounded import Started, isl_answer, isl_started, within
from polyc.codegen import (
    NotMappable,
    Question,
    Rendered,
    cut_of,
    generate,
    obstacle,
    render_as_written,
    render_region,
)
from polyc.errors import InternalError
from polyc.inspecting import STAGE as INSPECTION
from polyc.inspecting import NotAsked, Refused, asked_of, pays, question_for
from polyc.model.program import Compiled, Options, Program, Remark, Snapshot, operations_for
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
from polyc.passes.windows import in_strips, slide_windows
from polyc.passes.wishes import tell_unhonoured
from polyc.poly import OverBudget, budget
from polyc.reread import (
    FEWEST_STATEMENTS,
    Begun,
    NotComparable,
    begin,
    rewriting_faults,
    shown_in_halves,
    text_faults,
)
from polyc.stack import room_for_depth
from polyc.verify import INLINING, RELOCATION, Fault, check
from polyc.verify.expand import buffer_of
from polyc.verify.inspected import inspection_faults

Pass = Callable[[Program], Program]
OVER_BUDGET = "budget"
"""The kind of a fault that is none: the check did not end."""


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
            return _Run(region, options).compiled()
        return _inspected(region, options)


def _inspected(region: Region, options: Options) -> Compiled:
    """A region whose model says something of the data: with a question before it, where that pays."""
    scop = region.scop
    assert scop.inspection is not None
    plain, (words, statements) = replace(region, scop=scop.inspection.plain), asked_of(scop)
    try:
        question = question_for(region, options)
    except Refused as refused:
        message = f"the static check refused what would ask {words} ({refused})"
        fault = refused.fault
        faults = [{"kind": fault.kind, "message": fault.message, "witness": fault.witness}]
        return _Run(
            plain, options, lambda p: p.remark("verification-failed", "verify", message, statements, faults=faults)
        ).compiled()
    except NotAsked as reason:
        why = str(reason)
    else:
        message = f"it is asked {words}; where they do not, the original loops run"
        asked = _Run(
            region, options, lambda p: p.remark("inspected", INSPECTION, message, statements), question
        ).compiled()
        if asked.verified == options.verify and pays(asked, _Run(plain, replace(options, verify=False)).compiled()):
            return asked
        why = "no more nests would be parallel, joined, or look things up in vectors"
    message = f"it is not asked {words}: {why}"
    return _Run(plain, options, lambda p: p.remark("not-inspected", INSPECTION, message, statements)).compiled()


class _Run:
    """One region on its way through the compiler, with the time that each stage took."""

    def __init__(
        self, region: Region, options: Options, told: Pass = lambda program: program, question: Question | None = None
    ) -> None:
        self.region = region
        self.told = told
        self.question = question
        self.asked = options if region.scop.tile == "auto" else replace(options, tile_sizes=region.scop.tile)
        self.options = replace(self.asked, budget=operations_for(region.scop, options))
        self.timings: list[tuple[str, float]] = []
        self.snapshots: list[Snapshot] = []
        self.ahead: _Ahead | None = None
        self.unread = False
        """Whether reading a printed text again took too long."""

    def compiled(self) -> Compiled:
        try:
            return self._compiled()
        finally:
            self.end_ahead()

    def _compiled(self) -> Compiled:
        scop = self.region.scop
        untouched = self.told(Program(scop, self.asked, no_dependences(scop), scop.tree, dict(scop.statements)))
        with self.timed("dependences"):
            initial = _declined_at_budget(
                "dependences",
                lambda p: replace(initial_program(p.scop, p.options), remarks=p.remarks),
                untouched,
                "finding the dependences took more isl operations than the budget allows; the region stays as it was",
            )
        self.snapshots.append(Snapshot("initial", initial.tree, self.timings[-1][1]))
        if initial.dependences is untouched.dependences:
            return self.as_written(initial, initial)
        if self.options.verify and self.question is None and (wrong := self.bounded(initial)):
            return self.as_written(_with_failure(initial, initial, wrong), initial)
        if self.options.gpu and (reason := obstacle(scop)) is not None:
            return self.as_written(_not_mapped(initial, reason), initial)
        final, verified = self.transformed(initial)
        if final.tree is initial.tree and any(p.code in ("inlined", "relocated") for p in final.remarks):
            # Whatever it was: with the region as it was written there is less to go wrong, and to check.
            chosen = replace(self.asked, inline=False, relocate=False)
            left_out = replace(initial, options=chosen, remarks=(*initial.remarks, *_of_failure(final)))
            del self.snapshots[1:]
            final, verified = self.transformed(left_out)
        if (self.options.verify and not verified) or (self.options.gpu and final.tree is initial.tree):
            return self.as_written(final, initial)
        result = self.printed(final, initial, verified)
        if self.unread and self.options.strips is None and _nearly_as_good(result.program):
            why = "with strips the printed text was not read again within the budget"
            final, verified = self.without_strips(replace(initial, options=final.options), why)
            result = self.printed(final, initial, verified)
        return result

    def bounded(self, initial: Program) -> list[Fault]:
        """Subscripts that the model takes to stay in their rows, and nothing bounds them."""
        with self.timed("verify"):
            return inspection_faults(initial)

    def transformed(self, initial: Program) -> tuple[Program, bool]:
        """The program after the passes, or the last one that is right; whether that was shown."""
        programs = [initial]
        for name, run in passes_for(initial.options) if not initial.tree.domain.is_empty() else []:
            with self.timed(name):
                programs.append(_declined_at_budget(name, run, programs[-1]))
            self.snapshots.append(Snapshot(name, programs[-1].tree, self.timings[-1][1]))
            # What is in no tile now comes into none any more.
            if name == "basteln" and initial.options.expand and in_memory(programs[-1]):
                del self.snapshots[1:]
                told = (*initial.remarks, *(r for r in programs[-1].remarks if r.code == "not-expanded"))
                options = replace(initial.options, expand=False)
                return self.transformed(replace(initial, options=options, remarks=told))
            if name == "windows" and initial.options.strips is None and _stand_still(programs[-1]):
                return self.without_strips(initial, "tiles that were chosen for strips cannot slide through them")
        programs[-1] = tell_unhonoured(tell_unused(programs[-1]))
        if not self.options.verify:
            return programs[-1], False
        with self.timed("verify"):
            final, verified = _last_right(programs, lambda: self.print_ahead(programs[-1]))
        if final.tree is not programs[-1].tree and initial.options.strips is None and _sliding(programs[-1]):
            return self.without_strips(initial, "with strips the program was not shown to be right within the budget")
        return final, verified

    def without_strips(self, initial: Program, why: str) -> tuple[Program, bool]:
        """The passes again, with tiles that stand by themselves."""
        del self.snapshots[1:]
        told = initial.remark("no-sliding-window", "windows", f"tiles stand by themselves: {why}")
        return self.transformed(replace(told, options=replace(initial.options, strips=0)))

    def printed(self, final: Program, initial: Program, verified: bool) -> Compiled:
        """The program as C. One that is right and cannot be printed gives way to the original order."""
        told = final
        for program in (final, initial)[: 1 if self.options.gpu else 2]:
            told = replace(program, remarks=told.remarks)
            try:
                with self.timed("codegen"):
                    rendered = self.rendered(told, verified)
                with self.timed("text"):
                    reading = verified and not self.options.gpu
                    told, right = self.reread(told, rendered) if reading else (told, True)
                if right:
                    return self.result(told, initial, verified, rendered)
            except NotMappable as reason:
                told = _not_mapped(told, str(reason))
            except InternalError as error:
                told = told.remark("not-printed", "codegen", f"the optimised program could not be printed ({error})")
            except OverBudget:
                told = told.remark("budget", "codegen", "printing took more isl operations than the budget allows")
            except isl.Error as error:
                told = told.remark("not-printed", "codegen", f"isl could not print the program ({_first(error)})")
        return self.as_written(told, initial)

    def print_ahead(self, program: Program, verified: bool = True) -> None:
        """Print a program that is being checked, and begin to check its text: most programs are right."""
        self.end_ahead()
        reading = verified and not self.options.gpu
        with self.timed("codegen"):
            printing = self.start_printing(program, verified, reading)
            try:
                rendered = isl_answer(printing)
                assert isinstance(rendered, Rendered)
                self.ahead = _Ahead(program, rendered, printing if reading else None)
            except (InternalError, NotMappable, isl.Error) as error:
                self.ahead = _Ahead(program, error, None)
            finally:
                if self.ahead is None or self.ahead.text is None:
                    printing.end()

    def end_ahead(self) -> None:
        """What was printed ahead is not asked for."""
        if self.ahead is not None and self.ahead.text is not None:
            self.ahead.text.end()
        self.ahead = None

    def rendered(self, program: Program, verified: bool) -> Rendered:
        """The program's text. Raises InternalError, NotMappable, OverBudget, isl.Error."""
        if self.options.budget == 0:
            return render_region(program, self.region, verified, self.question)
        if self.ahead is None or not verified or self.ahead.program.tree is not program.tree:  # remarks do not matter
            self.print_ahead(program, verified)
        assert self.ahead is not None
        if isinstance(self.ahead.rendered, Exception):
            raise self.ahead.rendered
        return self.ahead.rendered

    def start_printing(self, program: Program, verified: bool, reading: bool) -> Started[Rendered | bool | list[Fault]]:
        """Print the program; where it will be read again, do so in the process that has its C tree."""
        texts: list[Rendered] = []
        later: list[Begun | None] = []

        def printed() -> Rendered:
            made = generate(program) if reading and not program.tree.domain.is_empty() else None
            cut = None if made is None else cut_of(made, FEWEST_STATEMENTS)
            later.append(None if made is None else begin(program, self.region, made, cut))
            texts.append(render_region(program, self.region, verified, self.question, made, cut))
            return replace(texts[0], body=(), guard=None, rewritten=())

        def in_halves() -> bool:
            (text,), (begun,) = texts, later
            if begun is None:
                return False
            if rewriting_faults(program, text.rewritten):
                begun.process.end()
                return False
            return shown_in_halves(program, self.region, text.halves, text.guard, begun)

        def read_again() -> list[Fault]:
            return self.text_faults(program, texts[0])

        budget = self.options.budget  # to read it again takes less than the compile itself
        steps: list[Callable[[], Rendered | bool | list[Fault]]] = [within(self.context, 2 * budget, printed)]
        if reading:
            steps += [within(self.context, budget, in_halves), within(self.context, budget, read_again)]
        return isl_started(*steps, known=(InternalError, NotMappable, NotComparable))

    def text_faults(self, program: Program, rendered: Rendered) -> list[Fault]:
        faults = rewriting_faults(program, rendered.rewritten)
        return faults or text_faults(program, self.region, rendered.body, rendered.guard)

    def reread(self, program: Program, rendered: Rendered) -> tuple[Program, bool]:
        """Whether the printed text, read again, is right; the program, with a remark where it is not, or is not known
        to be."""
        try:
            if self.ahead is None or self.ahead.text is None:
                faults = self.text_faults(program, rendered)
            else:
                faults = _faults_of_text(self.ahead.text)
        except NotComparable as reason:
            return program.remark("text-not-checked", "text", f"the printed text was not read again: {reason}"), True
        except OverBudget:
            self.unread = True
            message = "reading the printed text again took more isl operations than the budget allows"
            return program.remark("text-not-checked", "text", message), True
        except isl.Error as error:
            return program.remark("text-not-checked", "text", f"isl failed in reading it again ({_first(error)})"), True
        if not faults:
            return program, True
        message = f"the printed text was refused ({faults[0].message}); a simpler one stands in its place"
        found = [{"kind": f.kind, "message": f.message, "witness": f.witness} for f in faults]
        return program.remark("verification-failed", "text", message, faults=found), False

    def as_written(self, told: Program, initial: Program) -> Compiled:
        """The region's own loops: right by themselves. `told` has the remarks that say why."""
        kept = replace(initial, remarks=told.remarks)
        return self.result(kept, initial, True, Rendered(render_as_written(self.region), "", (), None))

    def result(self, final: Program, initial: Program, verified: bool, rendered: Rendered) -> Compiled:
        passes, timings = tuple(self.snapshots), tuple(self.timings)
        return Compiled(
            final, initial, passes, verified, rendered.text, rendered.ast, rendered.device, timings, rendered.origins
        )

    @property
    def context(self) -> isl.Context:
        return self.region.scop.domain.get_ctx()

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Adds a stage to the timings, without what is timed inside of it."""
        start, before = time.perf_counter(), len(self.timings)
        try:
            yield
        finally:
            inside = sum(seconds for _, seconds in self.timings[before:])
            self.timings.append((name, time.perf_counter() - start - inside))


@dataclass(frozen=True, slots=True, eq=False)
class _Ahead:
    """A program that was printed before it was shown to be right."""

    program: Program
    rendered: Rendered | Exception
    """Its text, or why it has none."""
    text: Started[Rendered | bool | list[Fault]] | None
    """The process that printed it, and checks its text; None where it does not."""


def _faults_of_text(reading: Started[Rendered | bool | list[Fault]]) -> list[Fault]:
    """What is wrong with a text that is read in halves first, and as a whole where these do not show that it is right.
    Raises as `isl_answer`, NotComparable."""
    if isl_answer(reading) is True:
        return []
    faults = isl_answer(reading)
    assert isinstance(faults, list)
    return faults


def _sliding(program: Program) -> bool:
    return any(buffer.window is not None for buffer in program.buffers.values())


def _nearly_as_good(program: Program) -> bool:
    """Whether strips were chosen that save little, of tiles that do without them."""
    return _sliding(program) and any(r.code == "cpu-sizes" and "near" in r.data for r in program.remarks)


def _stand_still(program: Program) -> bool:
    """Whether tiles whose sizes were chosen for strips are in none."""
    groups = (n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "group" and n.strips)
    return any(not in_strips(group) for group in groups)


def _not_mapped(program: Program, reason: str) -> Program:
    message = f"the region stays on the CPU, as it was written: {reason}"
    return program.remark("not-mapped", "codegen", message, tuple(program.scop.statements))


def _declined_at_budget(name: str, run: Pass, program: Program, message: str = "") -> Program:
    """The pass's program, or the one before with a remark where isl would take too long."""
    context = program.scop.domain.get_ctx()
    try:
        with budget(context, program.operations):
            return run(program)
    except OverBudget:
        why = f"the pass {name} took more isl operations than the budget allows and was left out"
        return program.remark("budget", name, message or why)
    except isl.Error as error:
        return program.remark(
            "isl-failed", name, f"isl failed in the pass {name}, which was left out ({_first(error)})"
        )


def _last_right(programs: list[Program], meanwhile: Callable[[], None]) -> tuple[Program, bool]:
    """The last program that the static check accepts. Parallel marks and private copies belong together, so the
    program without them is tried as a whole before passes are taken back one by one.

    meanwhile: what to do beside the first check, which most often is the only one
    """
    initial, final = programs[0], programs[-1]
    faults = _faults(final, initial.scop, meanwhile)
    if not faults:
        return final, True
    tried = final
    over = False
    wrong_region = any(fault.kind in (INLINING, RELOCATION) for fault in faults)  # all later programs are orders of it
    for candidate in reversed(programs[1:-1]) if not wrong_region else ():
        if candidate.tree is tried.tree or candidate.tree is initial.tree or (over and candidate.groups):
            continue
        tried = candidate
        remade = _declined_at_budget("privatize", _finished, candidate)
        if remade.tree is final.tree or in_memory(remade):
            continue
        left = _faults(remade, initial.scop)
        if not left:
            return _with_failure(remade, final, faults), True
        if _only_budget(left) and _only_budget(faults):
            if over:
                break
            over = True  # a simpler program also takes too long; the next one would too while it has tiles
    # What was written is right by itself.
    return _with_failure(initial, final, faults), True


def in_memory(program: Program) -> bool:
    """Whether a temporary's new array is needed as a whole: it might be larger than the stack."""
    step = program.relocated
    made = set() if step is None else set(step.after.arrays) - set(step.before.arrays)
    return bool(made) and any(
        access.array in made and buffer_of(program, run, access) is None
        for run in runs(program.tree)
        for access in program.statements[run.statement].accesses
    )


def _finished(program: Program) -> Program:
    """The passes that a tree of any earlier one needs before it is printed."""
    if program.options.gpu:
        mapped = any(isinstance(n, Mark) and n.kind == "kernel" for n in walk(program.tree.child))
        return place_barriers(place_private_arrays(program if mapped else map_to_kernels(program)))
    return place_private_arrays(mark_loops(program))


def _of_failure(program: Program) -> tuple[Remark, ...]:
    """What is left to tell of a program that was given up: the remarks of the check."""
    return tuple(remark for remark in program.remarks if remark.stage == "verify")


def _faults(program: Program, original: Scop, meanwhile: Callable[[], None] = lambda: None) -> list[Fault]:
    """What the check finds, in a child process: its operations may take any time."""
    context, operations = program.scop.domain.get_ctx(), 5 * program.operations
    try:
        if operations == 0:
            return check(program, original)
        checking = isl_started(within(context, operations, lambda: check(program, original)))
        try:
            meanwhile()
            return isl_answer(checking)
        finally:
            checking.end()
    except OverBudget:
        return [Fault(OVER_BUDGET, "the check did not end within its budget of isl operations", "")]
    except isl.Error as error:
        return [Fault("isl", f"isl failed in the check ({_first(error)})", "")]


def _first(error: isl.Error) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _only_budget(faults: list[Fault]) -> bool:
    return all(fault.kind == OVER_BUDGET for fault in faults)


def _with_failure(program: Program, failed: Program, faults: list[Fault]) -> Program:
    first = faults[0]
    if _only_budget(faults):
        message = (
            "checking the optimised program took more isl operations than the budget allows; an earlier form stays"
        )
        told = program.remark("budget", "verify", message)
        return replace(told, remarks=(*(r for r in failed.remarks if r not in told.remarks), *told.remarks))
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
