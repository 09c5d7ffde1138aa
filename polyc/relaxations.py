"""Relaxations: what polyc gives up, one thing at a time, where passes come to nothing or a check refuses their program.

The driver (`pipeline.py`) runs the passes, asks `relaxation_for` what stands in the way, and runs them again with the
options that it changes. Each relaxation takes something away for good, so that this ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property, reduce

import islpy as isl

from polyc.analysis.expand import buffer_of
from polyc.analysis.loop_facts import loop_facts
from polyc.analysis.order import runs
from polyc.fallback import NOT_MAPPED, Refusal
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.program import Options, Program
from polyc.model.same import changed
from polyc.model.scop import AccessKind, Statement
from polyc.model.tree import Band, Mark, walk
from polyc.nests.nest import has_loops
from polyc.nests.strides import gain_of
from polyc.passes.buffers.windows import in_strips
from polyc.poly import names, out_name
from polyc.records import dataclass, field, replace

TREE, TEXT, UNREAD, DONE = "tree", "text", "unread", "done"
"""How the passes end: the check refuses the tree, the text is refused, reading the text takes too long, all is well."""
MOST_LEFT_OUT = 2
"""Passes that are left out of one region for refusals; each costs all other passes again."""
MOST_CHECKS = 8
"""Programs that are checked for one region in search of passes at fault."""
FORMING = ("registers", "coalesce", "reductions", "staging")
"""Passes that leave a GPU's loops in forms of their own, in order."""
MOST_OVER = 2
"""Checks over budget that end such a search."""

Verdict = Callable[[Program], Refusal | None]
"""Why a program is refused; None where it is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Blame:
    """The pass after which programs are refused."""

    culprit: str | None
    """Its name; None where none is known to be at fault."""
    right: Program | None
    """The program before it, ready to be printed; None where that is the region in its own order."""


NOBODY = Blame(None, None)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One run of the passes: how far it came, and what stood in the way."""

    stage: str
    """The pass after which it stopped, or TREE, TEXT, UNREAD, DONE."""
    initial: Program
    passes: tuple[tuple[str, Program], ...]
    """Each pass with the program after it."""
    final: Program
    search: Search
    refusal: Refusal | None = None
    rendered: Rendered | None = None

    @property
    def options(self) -> Options:
        return self.initial.options

    @property
    def unfinished(self) -> bool:
        """Whether it stopped after a pass."""
        return self.stage not in (TREE, TEXT, UNREAD, DONE)

    @cached_property
    def blame(self) -> Blame:
        """The pass at fault for the refusal."""
        known = self.refusal is None or self.refusal.code == NOT_MAPPED
        return NOBODY if known else self.search.blame(self)


@dataclass(slots=True)
class Search:
    """Finds passes at fault: the programs after each pass are checked, by bisection."""

    verdicts: Mapping[str, Verdict]
    """The checks, by TREE and TEXT."""
    ready: Callable[[Outcome, int], Program]
    """The program after so many passes, with what any program needs before it is printed."""
    finishing: tuple[str, ...]
    """The passes that it needs."""
    is_late: Callable[[], bool] = lambda: False
    """Whether the region has taken too long for another search."""
    left: int = field(default_factory=lambda: MOST_CHECKS)
    seen: list[tuple[str, Program, Refusal | None]] = field(default_factory=list)

    def refused(self, stage: str, program: Program, verdict: Verdict | None = None) -> Refusal | None:
        """The refusal of a program; one that differs in remarks only is not checked again.

        verdict: how to check one that is no part of a search
        """
        for known, other, refusal in self.seen:
            if known == stage and not changed(other, program):
                return refusal
        self.left -= verdict is None
        self.seen.append((stage, program, (verdict or self.verdicts[stage])(program)))
        return self.seen[-1][2]

    def blame(self, tried: Outcome) -> Blame:
        """The pass after which programs are refused. A program is not checked again after a pass that left it alone.

        math:     with p_0 the region in its own order and p_k the program after k passes, p_0 accepted and p_n refused:
                  some k with p_(k-1) accepted and p_k refused; the only one if no pass mends what another one broke
        """
        assert tried.refusal is not None
        programs = [tried.initial, *(program for _, program in tried.passes)]
        places = [0, *(k for k in range(1, len(programs)) if changed(programs[k - 1], programs[k]))]
        low, high, over = 0, len(places) - 1, 0
        if (
            high == 0
            or self.is_late()
            or (not tried.refusal.over and self.refused(tried.stage, tried.initial) is not None)
        ):
            return NOBODY  # not even the user's order is accepted: no pass is at fault
        right: Program | None = None
        middle = _simplest(programs, places) if tried.refusal.over else high // 2
        while high - low > 1 and over < MOST_OVER and self.left > 0 and not self.is_late():
            middle = min(max(middle, low + 1), high - 1)
            ready = self.ready(tried, places[middle])
            refusal = self.refused(tried.stage, ready)
            if refusal is None:
                low, right = middle, ready
            else:
                high, over = middle, over + refusal.over
            middle = (low + high) // 2
        if low:
            return Blame(tried.passes[places[low + 1] - 1][0], None if right is None or in_memory(right) else right)
        if tried.refusal.over or self.left <= 0:
            return NOBODY
        left = [name for name, _ in tried.passes if name in self.finishing and name not in tried.options.without]
        if self.refused(tried.stage, self.ready(tried, 0)) is not None:
            return Blame(left[0], None) if left else NOBODY
        return Blame(tried.passes[places[1] - 1][0], None)


def _simplest(programs: list[Program], places: list[int]) -> int:
    """The last program without tiles of groups, which is checked first where time is the reason."""
    return max((k for k, place in enumerate(places) if not programs[place].groups), default=len(places) // 2)


# --- the list --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Something that is given up."""

    name: str
    stages: tuple[str, ...]
    """The pass after which it is looked at, or TREE, TEXT, UNREAD."""
    applies: Callable[[Outcome], bool]
    options: Callable[[Outcome], Options]
    told: Callable[[Outcome], Program]
    """The program before all passes, with remarks that say why."""

    def relaxed(self, tried: Outcome) -> Program:
        """The program that the passes start from next."""
        return replace(self.told(tried), options=self.options(tried))


def relaxation_for(tried: Outcome) -> Relaxation | None:
    """The first relaxation that helps; None where the outcome stays."""
    return next((one for one in RELAXATIONS if tried.stage in one.stages and one.applies(tried)), None)


def _without_strips(name: str, stage: str, applies: Callable[[Outcome], bool], why: str) -> Relaxation:
    """Tiles that stand by themselves."""

    def told(tried: Outcome) -> Program:
        return tried.initial.remark("no-sliding-window", "windows", f"tiles stand by themselves: {why}")

    return Relaxation(
        name,
        (stage,),
        lambda tried: tried.options.strips is None and applies(tried),
        lambda tried: replace(tried.options, strips=0),
        told,
    )


def _not_expanded(tried: Outcome) -> Program:
    """The reasons why no tile keeps parts of new arrays."""
    known = tried.initial.remarks
    told = (remark for remark in tried.final.remarks if remark.code == "not-expanded" and remark not in known)
    return replace(tried.initial, remarks=(*known, *told))


def _with_refusal(tried: Outcome) -> Program:
    assert tried.refusal is not None
    left_out = "no statement was inlined, and temporaries stayed where they were"
    return tried.refusal.told(tried.initial, left_out, "inlining")


def _without_culprit(tried: Outcome) -> Program:
    assert tried.refusal is not None
    assert tried.blame.culprit is not None
    name = tried.blame.culprit
    return tried.refusal.told(tried.initial, f"the pass {name} was left out", name)


def _formed_by(tried: Outcome) -> str | None:
    """The last pass that changed loops of which there is no kernel, for their form; None where no other one is left."""
    if tried.refusal is None or "form" not in tried.refusal.data:
        return None
    before = [tried.initial, *(program for _, program in tried.passes)]
    done = (
        name
        for (name, after), program in zip(tried.passes, before, strict=False)
        if name in FORMING and name not in tried.options.without and changed(program, after)
    )
    return max(done, key=FORMING.index, default=None)


def _without_form(tried: Outcome) -> Program:
    name = _formed_by(tried)
    assert tried.refusal is not None
    assert name is not None
    why = f"the loops of the optimised program are no kernel ({tried.refusal.data['form']})"
    return Refusal("not-printed", "codegen", why, {}).told(tried.initial, f"the pass {name} was left out", name)


def _over(tried: Outcome) -> bool:
    return tried.refusal is not None and tried.refusal.over


def in_memory(program: Program) -> set[str]:
    """The new arrays of temporaries that are needed as a whole: no tile keeps parts of them."""
    step = program.relocated
    made = set() if step is None else set(step.after.arrays) - set(step.before.arrays)
    return {
        access.array
        for run in runs(program.tree)
        for access in program.statements[run.statement].accesses
        if access.array in made and buffer_of(program, run, access) is None
    }


def is_no_larger(program: Program, array: str, new: Collection[str]) -> bool:
    """Whether one of the new arrays has no more elements than another one that the region fills.

    math: W's elements are iterations p, and a statement T[p] writes an element of its own for each: { p -> A[g(p)] } is
          injective
    """
    statements = program.scop.statements.values()
    cells = [a.relation.range() for s in statements for a in s.accesses if a.array == array]
    own = reduce(isl.Set.union, cells).reset_tuple_id()
    return any(
        access.kind is AccessKind.WRITE
        and access.array not in new
        and statement.domain.dim(isl.dim_type.set) == own.dim(isl.dim_type.set)
        and access.relation.is_injective()
        and own.is_subset(statement.domain.reset_tuple_id())
        for statement in statements
        for access in statement.accesses
    )


def too_large(program: Program) -> bool:
    """Whether a new array asks for memory of another order than the region's own arrays, or has rows that tiles were to
    keep (`rows.py`)."""
    step, new = program.relocated, in_memory(program)
    rows = {out_name(m.relation) for m in step.moves if step.before.arrays[m.array].rank} if step is not None else set()
    return any(array in rows or not is_no_larger(program, array, new) for array in new)


def in_memory_for_nothing(program: Program) -> bool:
    """Whether new arrays are in memory whose sums have no registers."""
    served = served_sums(program)
    users = ({s.name for s in program.statements.values() if _uses(s, array)} for array in in_memory(program))
    return any(not names_ & served for names_ in users)


def _uses(statement: Statement, array: str) -> bool:
    return any(access.array == array for access in statement.accesses)


SERVED = frozenset({"register-tile", "jammed", "blocked", "row-blocks", "kept-rows"})
"""Remarks of what sums of products have that live in elements of arrays."""


def served_sums(program: Program) -> set[str]:
    """The statements for which living in elements of arrays has done something."""
    return {name for r in program.remarks if r.code in SERVED for name in r.statements}


def of_no_use(program: Program) -> bool:
    """Whether temporaries live in elements, and none of their sums has anything of it: C compilers keep a variable in a
    register, and may have to store an element in each step. Sums of several elements at once run in vectors."""
    moved = [set(r.statements) for r in program.remarks if r.code == "relocated"]
    if not moved:
        return False
    served = served_sums(program) | sums_in_vectors(program)
    return not any(statements & served for statements in moved)


def sums_in_vectors(program: Program) -> set[str]:
    """The statements that add to elements in a loop along memory which carries nothing."""
    inner = (n.members[-1] for n in walk(program.tree.child) if isinstance(n, Band) and not has_loops(n.child))
    along = (member for member in inner if member.coincident and gain_of(member, program) > 0)
    return {name for member in along for name in names(member.schedule.domain()) if adds(program.statements[name])}


def adds(statement: Statement) -> bool:
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="+=" | "-=")):
            return True
    return False


def without_threads(program: Program) -> bool:
    """Whether tiles that only let threads run at once are in no parallel loop."""
    tiled = [r for r in program.remarks if r.code == "time-tiled" and r.data.get("only for threads")]
    if not tiled or program.options.time_tile[0] != "auto":
        return False
    started = {name for name, facts in loop_facts(program).items() if facts.parallel}
    return any(not started & {*r.statements} for r in tiled)


def sliding(program: Program) -> bool:
    return any(buffer.window is not None for buffer in program.buffers.values())


def nearly_as_good(program: Program) -> bool:
    """Whether strips were chosen that save little, of tiles that do without them."""
    return sliding(program) and any(r.code == "cpu-sizes" and "near" in r.data for r in program.remarks)


def stand_still(program: Program) -> bool:
    """Whether tiles whose sizes were chosen for strips are in none."""
    groups = (n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "group" and n.strips)
    return any(not in_strips(group) for group in groups)


RELAXATIONS = (
    Relaxation(
        "expanded arrays of which no tile keeps parts",
        ("basteln",),  # what is in no tile now comes into none any more
        lambda tried: tried.options.expand and too_large(tried.final),
        lambda tried: replace(tried.options, expand=False),
        _not_expanded,
    ),
    Relaxation(
        "expanded arrays in memory whose sums have no registers",
        ("vectorize",),
        lambda tried: tried.options.expand and in_memory_for_nothing(tried.final),
        lambda tried: replace(tried.options, expand=False),
        _not_expanded,
    ),
    Relaxation(
        "temporaries that live in elements, and gain nothing there",
        ("vectorize",),  # what makes tiles in registers, and runs sums beside each other, has run
        lambda tried: tried.options.relocate and of_no_use(tried.final),
        lambda tried: replace(tried.options, relocate=False),
        lambda tried: tried.initial,
    ),
    Relaxation(
        "tiles over time for threads that are never started",
        ("parallel",),
        lambda tried: without_threads(tried.final),
        lambda tried: replace(tried.options, time_tile=("none", ())),
        lambda tried: tried.initial.remark(
            "not-time-tiled",
            "timetiles",
            "not tiled over time: its tiles would let threads run at once, and take less time than these take to start",
        ),
    ),
    _without_strips(
        "strips in which nothing slides",
        "windows",
        lambda tried: stand_still(tried.final),
        "tiles that were chosen for strips cannot slide through them",
    ),
    _without_strips(
        "strips that take too long to check",
        TREE,
        lambda tried: _over(tried) and sliding(tried.final),
        "with strips the program was not shown to be right within the budget",
    ),
    _without_strips(
        "strips that save little, and whose text takes too long to read",
        UNREAD,
        lambda tried: nearly_as_good(tried.final),
        "with strips the printed text was not compared within the budget",
    ),
    Relaxation(
        "another region than the one that was written, in which no program can be checked",
        (TREE,),
        lambda tried: (
            _over(tried)
            and bool(tried.final.inlined or tried.final.relocated is not None)
            and tried.blame.right is None
        ),
        lambda tried: replace(tried.options, inline=False, relocate=False),
        _with_refusal,
    ),
    Relaxation(
        "loops in forms that no kernel has",
        (TEXT,),
        lambda tried: _formed_by(tried) is not None,
        lambda tried: replace(tried.options, without=tried.options.without | {str(_formed_by(tried))}),
        _without_form,
    ),
    Relaxation(
        "the pass at fault",
        (TREE, TEXT),
        lambda tried: len(tried.options.without) < MOST_LEFT_OUT and tried.blame.culprit is not None,
        lambda tried: replace(tried.options, without=tried.options.without | {str(tried.blame.culprit)}),
        _without_culprit,
    ),
)
"""In the order in which they are tried: what is known to help stands before what has to be searched for."""
