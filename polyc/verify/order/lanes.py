"""Vectors are whole: a loop that is printed as operations on vectors has the iterations that a vector has lanes.

math: for such a loop with L lanes, P the values of all loops and steps around it, and v its own: the instances that run
      have all (p, v) with 0 <= v < L for each p that one of them has, and no others. It is the innermost one.
      Indices of the statement that v does not depend on stand for the loops that only they decide: that asks for
      more, in fewer terms
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.order import Run, runs
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.tree import Band, Member, walk


def lane_faults(program: Program) -> list[Fault]:
    """Loops with lanes that have other iterations; `program` with its tiles as they run, borders included."""
    bands = [node for node in walk(program.tree.child) if isinstance(node, Band)]
    if not any(member.lanes for band in bands for member in band.members):
        return []
    faults: list[Fault] = []
    for run in runs(program.tree):
        members = [step for step in run.path.steps if isinstance(step, Member) and step.lanes]
        if not members:
            continue
        (last,) = run.path.steps[-1:]
        if members != [last]:
            faults.append(Fault("form", f"{run.statement} has a vector loop that is not its innermost one", ""))
            continue
        wrong = _not_whole(program, run, members[0].lanes)
        if not wrong.is_empty():
            message = f"{run.statement} does not run {members[0].lanes} lanes, in whole vectors"
            faults.append(Fault("form", message, str(wrong.sample_point())))
    return faults


def _not_whole(program: Program, run: Run, lanes: int) -> isl.Set:
    """Where there is a lane too few or too many, `{ [p, v] }`."""
    ran = _places(run).range().intersect_params(program.scop.known)
    last = ran.dim(isl.dim_type.set) - 1
    whole = ran.project_out(isl.dim_type.set, last, 1).add_dims(isl.dim_type.set, 1)
    whole = whole.lower_bound_val(isl.dim_type.set, last, isl.Val.zero(ran.get_ctx()))
    whole = whole.upper_bound_val(isl.dim_type.set, last, isl.Val.int_from_si(ran.get_ctx(), lanes - 1))
    missing = whole.subtract(ran)
    return missing if not missing.is_empty() else ran.subtract(whole)


def _places(run: Run) -> isl.Map:
    """`{ instance -> [p, v] }`."""
    if run.path.extension is not None:
        return run.order(len(run.columns))
    functions = [isl.PwMultiAff.from_map(column).get_pw_aff(0) for column in run.columns]
    count = run.instances.dim(isl.dim_type.set)
    moved = [d for d in range(count) if functions[-1].involves_dims(isl.dim_type.in_, d, 1)]
    found = isl.Map.identity(run.instances.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    for d in reversed(moved):
        found = found.project_out(isl.dim_type.out, d, 1)
    for column, function in zip(run.columns, functions, strict=True):
        if any(function.involves_dims(isl.dim_type.in_, d, 1) for d in moved):
            found = found.flat_range_product(column)
    return found.intersect_domain(run.instances)
