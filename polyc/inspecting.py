"""What a region asks the data before it runs, as a program of its own: its passes, its checks, its text."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import islpy as isl

from polyc.analysis.dependences import compute_dependences
from polyc.analysis.loop_facts import achieved, original_nests
from polyc.bounded import isl_answer, isl_started, processor_seconds, within
from polyc.codegen import question_of
from polyc.errors import InternalError
from polyc.machine import load_cpu
from polyc.model.printed import Question
from polyc.model.program import Compiled, Options, Pass, Program, operations_for
from polyc.model.scop import Access, Region, Scop
from polyc.model.tree import Band, Domain, Node, rewrite
from polyc.nests.samples import sample_parameters
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.passes.loops.parallel import mark_loops
from polyc.passes.loops.reductions import mark_reductions
from polyc.passes.loops.small_regions import started
from polyc.passes.order.schedule import schedule_nests
from polyc.poly import OverBudget
from polyc.reread import NotComparable, text_faults
from polyc.verify import Fault, check
from polyc.verify.order.races import race_faults
from polyc.verify.region.inspected import inspection_faults

STAGE = "inspection"
KNOWN = (InternalError, NotComparable)
PATIENCE = 5.0
"""Seconds of processor time for what asks the data: whether that pays is seen after the passes have run twice more."""


class NotAsked(Exception):
    """The data cannot be asked. The message says why."""


class Refused(Exception):
    """The check found something wrong with what would ask the data."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Compiler(Protocol):
    """One region through all passes (`pipeline.py`)."""

    def __call__(
        self, region: Region, options: Options, told: Pass = ..., question: Question | None = None
    ) -> Compiled:
        """told: adds what is to be said of it before all else; question: what its data are asked first"""


def inspected(region: Region, options: Options, compiled: Compiler) -> Compiled:
    """A region whose model says something of the data: with a question before it, where that pays."""
    scop = region.scop
    assert scop.inspection is not None
    plain, (words, statements) = replace(region, scop=scop.inspection.plain), asked_of(scop)
    begun = processor_seconds()
    try:
        question = question_for(region, options)
        if options.budget and processor_seconds() - begun > PATIENCE:
            raise NotAsked("it takes too long to find out what to ask")
    except Refused as refused:
        message = f"the static check refused what would ask {words} ({refused})"
        fault = refused.fault
        faults = [{"kind": fault.kind, "message": fault.message, "witness": fault.witness}]
        return compiled(
            plain, options, lambda p: p.remark("verification-failed", "verify", message, statements, faults=faults)
        )
    except NotAsked as reason:
        why = str(reason)
    else:
        message = f"it is asked {words}; where they do not, the original loops run"
        asked = compiled(region, options, lambda p: p.remark("inspected", STAGE, message, statements), question)
        if asked.verified == options.verify and pays(asked, compiled(plain, replace(options, verify=False))):
            return asked
        why = "no more nests would be parallel, joined, or look things up in vectors"
    message = f"it is not asked {words}: {why}"
    return compiled(plain, options, lambda p: p.remark("not-inspected", STAGE, message, statements))


def question_for(region: Region, options: Options) -> Question:
    """What asks the data all that the model of a region takes for granted, checked. Raises NotAsked, Refused."""
    scop = region.scop
    assert scop.inspection is not None
    if options.gpu:
        raise NotAsked("the text for a GPU asks nothing of the data")
    chosen = replace(options, reassociate=True, tile_sizes=None, budget=operations_for(scop, options))
    answer, asking = scop.inspection.answer, scop.inspection.scop

    def made() -> tuple[Question, list[Fault]]:
        final = _parallel(_as_written(asking, chosen))
        question, rendered = question_of(final, answer)
        if not options.verify:
            return question, []
        faults = check(final, asking) + inspection_faults(_as_written(scop, chosen))
        read = replace(region, scop=asking)
        return question, faults or text_faults(final, read, rendered)

    try:
        step = within(scop.domain.get_ctx(), 3 * chosen.budget, made)
        question, faults = isl_answer(isl_started(step, known=KNOWN)) if chosen.budget else made()
    except OverBudget:
        raise NotAsked("asking them takes more isl operations than the budget allows") from None
    except (*KNOWN, isl.Error) as error:
        raise NotAsked((str(error) or type(error).__name__).splitlines()[0]) from None
    if faults:
        raise Refused(faults[0])
    return question


def _as_written(scop: Scop, options: Options) -> Program:
    return Program(scop, options, compute_dependences(scop), scop.tree, dict(scop.statements))


def _parallel(program: Program) -> Program:
    """The program with its outer loops parallel, where that is worth it."""
    program = mark_reductions(mark_loops(schedule_nests(program)), race_faults)
    tree = Domain(program.tree.domain, rewrite(program.tree.child, lambda node: _where_worth(program, node)))
    return place_private_arrays(replace(program, tree=tree))


def _where_worth(program: Program, node: Node) -> Node:
    """A band of which the parallel loop starts threads from some sizes on."""
    if not isinstance(node, Band) or not node.members[0].parallel:
        return node
    first = node.members[0]
    changed = started(program, load_cpu(program.options.machine), sample_parameters(program), (), first)
    return replace(node, members=(changed or replace(first, parallel=False, reductions=()), *node.members[1:]))


def asked_of(scop: Scop) -> tuple[str, tuple[str, ...]]:
    """What is asked, in words, and the statements that it is asked for."""
    assert scop.inspection is not None
    found = [(name, a.array) for name, s in scop.statements.items() for a in s.accesses if _is_asked(scop, a)]
    tables = sorted({scop.arrays[array].c_name for _, array in found})
    read = sorted(array.c_name for array in scop.inspection.scop.arrays.values() if array.rank)
    words = f"of {' and '.join(read)} whether subscripts of {' and '.join(tables)} stay in their rows"
    return words, tuple(dict.fromkeys(name for name, _ in found))


def _is_asked(scop: Scop, access: Access) -> bool:
    return scop.arrays[access.array].flat and any(position > 0 for position in access.loose)


def pays(asked: Compiled, plain: Compiled) -> bool:
    """Whether a program that asks its data first does better than one that takes them as they come: more of its nests
    are parallel, or as many, and more of them look things up in vectors or are joined.

    A question reads its arrays once; what becomes parallel or is joined reads them, or others, fewer times.
    """
    return _merits(asked.program, asked.initial) > _merits(plain.program, plain.initial)


def _merits(program: Program, initial: Program) -> tuple[int, int, int]:
    """Nests that are parallel, lookups in vectors, nests that are joined with others."""
    done = achieved(program, set(initial.scop.statements))
    found = [set(nest) for _, nest in original_nests(program.scop)]
    threads = program.options.target == "openmp"
    looked_up = sum(remark.code == "looked-up" for remark in program.remarks)
    parallel, fused = (sum(bool(nest & done[what]) for nest in found) for what in ("parallel", "fused"))
    return parallel if threads else 0, looked_up, fused
