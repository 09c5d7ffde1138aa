"""One region on its way through the compiler: what was seen and timed, and its text, printed and compared with it.

Decides nothing of the order of the steps (`pipeline.py`): it says for a program what its text is, and whether that is
right. While the check of a program runs in one child process, a second one prints it and compares the text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from types import TracebackType

import islpy as isl

from polyc.analysis.loop_facts import loop_facts
from polyc.bounded import Started, isl_answer, isl_started, processor_seconds, within
from polyc.codegen import (
    NoKernelForm,
    NotMappable,
    certified,
    for_other_values,
    in_order,
    is_asked,
    render_as_written,
    render_region,
    specialised,
)
from polyc.errors import InternalError
from polyc.fallback import declined_at_budget, first_line, not_mapped
from polyc.model import ctree as c
from polyc.model.certificate import NOT_SHOWN, SHOWN, WRITTEN, Certificate
from polyc.model.printed import Question, Rendered
from polyc.model.program import Compiled, Options, Pass, Program, Snapshot, operations_for
from polyc.model.scop import Apart, Memory, Region, Scop, Search, without_rows
from polyc.poly import OverBudget, constant_of
from polyc.records import dataclass, replace
from polyc.replay import FUEL, Outcome, replay
from polyc.reread import NotComparable, both_faults, next_version_faults, special_faults, text_faults
from polyc.verify import Fault

PRIVATE_BYTES = 4096
"""The largest array of which each thread of a GPU has a copy."""
LATE = 15.0
"""Seconds of processor time of a region, its children included, after which no search for the pass at fault begins."""
MOST_UNMARKED = 8.0
"""Seconds after which one of the many regions that nobody marked stays as it was written, where it is refused."""
PRINTING, READING = 3, 4
"""How many times the isl operations of a pass printing a program may take, and comparing the text with it."""


class Attempt:
    """One region on its way through the compiler, with the time that each stage took.

    Used in a `with`, which ends the processes that nobody waits for any more.
    """

    def __init__(self, region: Region, options: Options, told: Pass, question: Question | None) -> None:
        """told: adds what is to be said of the region before all else; question: what its data are asked first."""
        self.region = region if not options.gpu else replace(region, scop=as_gpus_run_it(region.scop))
        self.told = told
        self.question = question
        self.asked = options if region.scop.tile == "auto" else replace(options, tile_sizes=region.scop.tile)
        self.options = replace(self.asked, budget=operations_for(region.scop, options))
        self.timings: list[tuple[str, float]] = []
        self.snapshots: list[Snapshot] = []
        self.ahead: _Ahead | None = None
        self.unread = False
        """Whether comparing a printed text took too long."""
        self.begun = processor_seconds()

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end_ahead()

    @property
    def context(self) -> isl.Context:
        return self.region.scop.domain.get_ctx()

    @property
    def compares_text(self) -> bool:
        """Whether the text of programs that are right is compared with them."""
        return not self.options.gpu

    @property
    def is_late(self) -> bool:
        """Whether the region has taken so much processor time that nothing else is tried where it is refused."""
        return self.options.budget > 0 and processor_seconds() - self.begun > min(LATE, self.most)

    @property
    def is_over(self) -> bool:
        """Whether it has taken so much that the region stays as it was written."""
        return self.options.budget > 0 and processor_seconds() - self.begun > self.most

    @property
    def most(self) -> float:
        """Seconds of processor time after which the region stays as it was written."""
        return MOST_UNMARKED if self.region.scop.unmarked else 2 * LATE

    # --- what was seen -------------------------------------------------------------------------------------------

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Adds a stage to the timings, without what is timed inside of it."""
        start, before = time.perf_counter(), len(self.timings)
        try:
            yield
        finally:
            inside = sum(seconds for _, seconds in self.timings[before:])
            self.timings.append((name, time.perf_counter() - start - inside))

    def ran(self, name: str, run: Pass, program: Program, message: str = "", shown: str = "") -> Program:
        """The program after a pass, or the same with a remark (`message`) where isl would take too long.

        shown: the name of its tree for whoever wants to see all of them, if it is not that of the pass
        """
        with self.timed(name):
            after = declined_at_budget(name, run, program, message)
        self.snapshots.append(Snapshot(shown or name, after.tree, self.timings[-1][1]))
        return after

    def start_again(self) -> None:
        """The passes run from the start: those that were run are not shown."""
        del self.snapshots[1:]

    def as_written(self, told: Program, initial: Program) -> Compiled:
        """The region's own loops: right by themselves. `told` has the remarks that say why."""
        kept = replace(initial, remarks=told.remarks)
        text = render_as_written(self.region)
        return self.result(kept, initial, Rendered(text, "", (), None, certificate=WRITTEN))

    def result(self, final: Program, initial: Program, rendered: Rendered) -> Compiled:
        versions = rendered.ast or (self.region.scop.has_versions and final.options.target in ("openmp", "c"))
        text = rendered.text if versions else ""
        final, special = with_known_sizes(final, text, self.region, rendered.condition)
        return Compiled(
            final,
            initial,
            tuple(self.snapshots),
            rendered.certificate,
            rendered.text,
            rendered.ast,
            rendered.device,
            tuple(self.timings),
            rendered.origins,
            special,
        )

    # --- the text ------------------------------------------------------------------------------------------------

    def text_of(self, program: Program, verified: bool) -> tuple[Rendered | None, Program]:
        """The program's text, compared with it, and the program; None where none is right, and a remark why."""
        try:
            with self.timed("codegen"):
                rendered = self.rendered(program, verified)
            if not verified or not self.compares_text:
                return rendered, program
            with self.timed("text"):
                return self.reread(program, rendered)
        except NotMappable as reason:
            return None, not_mapped(program, str(reason), isinstance(reason, NoKernelForm))
        except InternalError as error:
            message = f"the optimised program could not be printed ({error})"
            return None, program.remark("not-printed", "codegen", message)
        except OverBudget:
            message = "printing took more isl operations than the budget allows"
            return None, program.remark("budget", "codegen", message)
        except isl.Error as error:
            message = f"isl could not print the program ({first_line(error)})"
            return None, program.remark("not-printed", "codegen", message)

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

    def print_ahead(self, program: Program, verified: bool = True) -> None:
        """Print a program that is being checked, and begin to check its text: most programs are right."""
        self.end_ahead()
        reading = verified and self.compares_text
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

    def start_printing(self, program: Program, verified: bool, reading: bool) -> Started[Rendered | Look]:
        """Print the program; where its text will be checked, do so in the process that has its C tree."""
        texts: list[Rendered] = []

        def printed() -> Rendered:
            texts.append(render_region(program, self.region, verified, self.question))
            return replace(texts[0], body=(), guard=None, steps=(), question=None, heap=(), vectors={})

        def looked() -> Look:
            return look(program, self.region, texts[0])

        budget = self.options.budget
        steps: list[Callable[[], Rendered | Look]] = [within(self.context, PRINTING * budget, printed)]
        if reading:
            steps.append(within(self.context, READING * budget, looked))
        return isl_started(*steps, known=(InternalError, NoKernelForm, NotMappable))

    def reread(self, program: Program, rendered: Rendered) -> tuple[Rendered | None, Program]:
        """The text with what was shown of it, and the program, with a remark where that is not all; None for the text
        where it is wrong."""
        reason = ""
        try:
            found = look(program, self.region, rendered) if self.ahead is None else self.ahead.look()
        except OverBudget:
            found = run_beside(program, self.region, rendered, alone=True)
            self.unread = not found.faults
            reason = "comparing it took more isl operations than the budget allows"
        except isl.Error as error:
            found = run_beside(program, self.region, rendered, alone=True)
            reason = f"isl failed in comparing it ({first_line(error)})"
        if found.faults:
            first = found.faults[0]
            message = f"the printed text was refused ({first.message}); a simpler one stands in its place"
            faults = [{"kind": f.kind, "message": f.message, "witness": f.witness} for f in found.faults]
            return None, program.remark("verification-failed", "text", message, faults=faults)
        reason = reason or found.reason
        certificate = Certificate(SHOWN, NOT_SHOWN if reason else SHOWN, found.run)
        if reason:
            program = program.remark(
                "text-not-checked", "text", f"the printed text was not shown to be right: {reason}"
            )
        return certified(rendered, certificate), program


LONG_RUN = 10
"""How many times longer than others a text may run that was not compared with its program."""


def as_gpus_run_it(scop: Scop) -> Scop:
    """The region as GPUs run it: their threads have copies of small arrays only, and what it writes is copied back from
    the array's first element on, whatever the first one is that it touches: all of that has to be apart from the rest.
    """
    scop = without_rows(scop)

    def size(name: str) -> int:
        extents = (None if extent is None else constant_of(extent) for extent in scop.arrays[name].extents)
        return prod(extent or PRIVATE_BYTES for extent in extents) * scop.arrays[name].element.size_bytes

    small = {name for name in scop.privatizable if not scop.arrays[name].rank or size(name) <= PRIVATE_BYTES}
    search = scop.search if isinstance(scop.reach, str) else scop.reach
    apart = tuple(Apart(_copied_back(pair.one, search), _copied_back(pair.two, search)) for pair in scop.apart)
    return replace(scop, privatizable=frozenset(small), apart=apart, search=search)


def _copied_back(memory: Memory, search: Search | None) -> Memory:
    """What a copy of the memory overwrites; a search before it begins at the first element."""
    if memory.seen is not None and search is not None and isinstance(memory.base, c.Name):
        return replace(memory, seen=search.ends[memory.base.name])
    if memory.low is None or not memory.written:
        return memory
    return replace(memory, low=memory.low.min(memory.low.sub(memory.low)))


def worth_versions(program: Program) -> bool:
    """Whether threads run loops of which the C compiler makes more where it knows the sizes. Register tiles have
    constant sizes as they are; around them it makes less (syrk, syr2k and doitgen took 10 to 20 % more time)."""
    tiles = any(remark.code == "register-tile" for remark in program.remarks)
    return program.scop.has_versions or (program.options.target == "openmp" and not tiles)


def with_known_sizes(
    program: Program, text: str, region: Region, condition: c.Expr | None = None
) -> tuple[Program, str]:
    """A text with a version for what the file knows of its sizes, "" for none, and the program with a remark on it.

    condition: what the text asks for, where its other branch is the region as it was written
    """
    special = specialised(text, region, condition) if text and worth_versions(program) else ""
    if not special:
        return program, ""
    if faults := special_faults(program, region, text, special):
        message = f"the version for the sizes that calls pass was refused ({faults[0].message}), and left out"
        return program.remark("verification-failed", "special", message), ""
    return told_of_version(program, special), special


def with_other_values(found: Compiled, other: Compiled, region: Region) -> Compiled:
    """A region compiled for what its factors mostly are, or for sizes that pay, and for all: one text with both."""
    done = loop_facts(other.program).values()
    gained = other.program.scop.computes_once or any(facts.tiled or facts.parallel or facts.vector for facts in done)
    if not other.ast or not gained:
        return found  # whose other branch has the region as it was written
    both = for_other_values(found.text, other.text, region)
    if not both:
        return other if region.scop.supposed else found
    if faults := both_faults(region, found.text, other.text, both):
        return without_branch(found, faults[0])
    program = replace(found.program, remarks=tuple(r for r in found.program.remarks if r.code != "known-sizes"))
    program, special = with_known_sizes(program, both, region)
    return replace(found, program=program, text=both, special=special)


def with_next_version(found: Compiled, other: Compiled, region: Region) -> Compiled:
    """A region compiled for two sets of values that calls pass: one text with both, as it was written for one of them
    if nothing is gained there."""
    if not found.ast and not other.ast:
        return replace(found, special="")
    best = found if found.ast else other
    both = in_order(found.special, other.special, region)
    if faults := next_version_faults(region, found.special, other.special, both):
        return without_branch(best, faults[0])
    return replace(best, special=both)


def without_branch(found: Compiled, fault: Fault) -> Compiled:
    message = f"the text for other values was refused ({fault.message}), and left out"
    return replace(found, program=found.program.remark("verification-failed", "special", message))


def told_of_version(program: Program, special: str) -> Program:
    """The program with a remark on what its text has a version for."""
    asked = ", ".join(f"{one.name} = {one.value}" for one in program.scop.always if is_asked(one, special))
    message = f"the text has a version for {asked}: the calls of {program.scop.function} in this file have no other"
    return program.remark("known-sizes", "special", message)


@dataclass(frozen=True, slots=True)
class Look:
    """What the checks of a text found."""

    faults: tuple[Fault, ...] = ()
    reason: str = ""
    """Why the text cannot be compared with the program; "" where it was."""
    run: str = "not run"
    """As in `Certificate`."""


def look(program: Program, region: Region, rendered: Rendered) -> Look:
    """Compare a text with the program, and run it beside the region at small sizes."""
    reason = ""
    try:
        faults = text_faults(program, region, rendered)
    except NotComparable as why:
        faults, reason = [], str(why)
    if faults:
        return Look(tuple(faults))
    return replace(run_beside(program, region, rendered, bool(reason)), reason=reason)


def run_beside(program: Program, region: Region, rendered: Rendered, alone: bool) -> Look:
    """Run a text beside the region at small sizes: that asks nothing of isl.

    alone: nothing else looks at the text, so that it may take longer
    """
    try:
        outcome = replay(region, program, rendered.text)
        if alone and outcome.kind == "not-run":
            outcome = replay(region, program, rendered.text, LONG_RUN * FUEL)
    except (ArithmeticError, MemoryError, ValueError) as why:  # numbers that Python's own loops do not take
        outcome = Outcome("not-run", str(why))
    if outcome.kind == "differs":
        witness = "" if outcome.difference is None else outcome.difference.witness
        return Look((Fault("replay", f"run at small sizes it differs from the region: {outcome.reason}", witness),))
    return Look((), "", "agrees" if outcome.kind == "agrees" else "not run")


@dataclass(slots=True, eq=False)
class _Ahead:
    """A program that was printed before it was shown to be right."""

    program: Program
    rendered: Rendered | Exception
    """Its text, or why it has none."""
    text: Started[Rendered | Look] | None
    """The process that printed it, and checks its text; None where it does not."""

    found: Look | None = None

    def look(self) -> Look:
        """What the check of the text found. Raises as `isl_answer`."""
        if self.found is None:
            assert self.text is not None
            found = isl_answer(self.text)
            assert isinstance(found, Look)
            self.found = found
        return self.found
