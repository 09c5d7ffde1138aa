"""Faults of the passes that choose what a loop is: `vectorize`, `parallel` and `reductions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polyc.nests.strides as strides
import polyc.passes.loops.parallel as parallel
import polyc.passes.loops.reductions as reductions
import polyc.passes.loops.vectorize as vectorize
import polyc.pipeline as pipeline
from polyc.analysis.expressions import reductions as recognised
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Array, Statement
from polyc.model.tree import Band, Node
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- vectorize -------------------------------------------------------------------------------------------------------


def any_loop_sinks(original: Any) -> Any:
    def sunk(band: Band, program: Program) -> Node:
        everything = e.all_coincident(band)
        assert everything is not None
        return original(everything, program)  # type: ignore[no-any-return]

    return sunk


def first_loop_sinks(_original: Any) -> Any:
    """The outermost loop goes innermost, whatever it carries."""

    def sunk(band: Band, _program: Program) -> Node:
        below = vectorize.sink(band.members[0], band.child)
        return replace(band, members=band.members[1:], child=below) if len(band.members) > 1 else below

    return sunk


add("vectorize", "loops that carry sink", "all count as coincident", patched(vectorize, "_sunk", any_loop_sinks))
add("vectorize", "first loop sinks", "whatever it carries", patched(vectorize, "_sunk", first_loop_sinks))
add("vectorize", "private values cross", "private_across says no", always(vectorize, "private_across", False))
add(
    "vectorize",
    "private values cross, first loop sinks",
    "both",
    together(always(vectorize, "private_across", False), patched(vectorize, "_sunk", any_loop_sinks)),
)
add("vectorize", "windows are not unrolled", "unrolled_below says no", always(vectorize, "unrolled_below", False))
add(
    "vectorize",
    "sunk members not restricted",
    "to their step",
    patched(vectorize, "_restricted", lambda _o: lambda m, _i: m),
)
add(
    "vectorize",
    "strides mistaken",
    "every loop looks consecutive",
    always(strides, "strides_of", strides.Strides(3, 0, 0)),
)

# --- parallel --------------------------------------------------------------------------------------------------------


def marked(change: Callable[[Band], Band | None], position: int | None = None) -> Install:
    at = e.band_edit(change)
    return after_pass("parallel", e.everywhere(at) if position is None else e.nth(at, position))


def all_coincident_before(original: Any) -> Any:
    def mark_loops(program: Program) -> Program:
        return original(e.everywhere(e.band_edit(e.all_coincident))(program))  # type: ignore[no-any-return]

    return mark_loops


add("parallel", "every first loop parallel", "of each band", marked(e.parallel_first))
add("parallel", "every last loop parallel", "of each band", marked(e.parallel_last))
add("parallel", "every last loop a vector loop", "of each band", marked(e.vector_last))
for position_ in (0, 1, 2):
    add("parallel", f"first loop of band {position_} parallel", "from the inside", marked(e.parallel_first, position_))
    add("parallel", f"last loop of band {position_} parallel", "from the inside", marked(e.parallel_last, position_))
    add("parallel", f"last loop of band {position_} vector", "from the inside", marked(e.vector_last, position_))
add(
    "parallel",
    "coincidence not read",
    "the outermost loop is parallel",
    patched(pipeline, "mark_loops", all_coincident_before),
)
add(
    "parallel",
    "all loops inside share the threads",
    "whatever they carry",
    patched(parallel._Shares, "collapsed", lambda _o: lambda _s, _f, inner, _b: tuple(map(e.shared, inner))),
    "interleaved",
    "recurrence",
    "skewed",
)
add("parallel", "loops below not seen", "has_loops says no", always(parallel, "has_loops", False))

# --- reductions ------------------------------------------------------------------------------------------------------


def any_update(original: Any) -> Any:
    def reductions_of(statement: Statement, arrays: Mapping[str, Array]) -> dict[str, str]:
        match statement.body:
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array))):
                return {array: "+"} if not arrays[array].rank else {}
            case _:
                return original(statement, arrays)  # type: ignore[no-any-return]

    return reductions_of


def product_as_sum(original: Any) -> Any:
    def reductions_of(statement: Statement, arrays: Mapping[str, Array]) -> dict[str, str]:
        found = original(statement, arrays)
        return {array: "*" if operator == "+" else "+" for array, operator in found.items()}

    return reductions_of


def without_asking(original: Any) -> Any:
    def mark_reductions(program: Program, races: Any) -> Program:
        allowed = replace(program, options=replace(program.options, reassociate=True))
        return replace(original(allowed, races), options=program.options)

    return mark_reductions


def clause_lost(node: Node) -> Node | None:
    if not isinstance(node, Band) or not any(m.reductions for m in node.members):
        return None
    return replace(node, members=tuple(replace(m, reductions=()) for m in node.members))


def operator_wrong(node: Node) -> Node | None:
    if not isinstance(node, Band) or not any(m.reductions for m in node.members):
        return None
    return replace(
        node,
        members=tuple(replace(m, reductions=tuple(("*", a) for _, a in m.reductions)) for m in node.members),
    )


def reduction_of_anything(program: Program) -> Program:
    """Every sequential loop is parallel, with a reduction of each array that is written below."""
    written = {a.array for s in program.statements.values() for a in s.accesses if a.kind.value != "read"}

    def change(node: Node) -> Node | None:
        if not isinstance(node, Band) or node.members[0].coincident:
            return None
        clause = tuple(("+", a) for a in sorted(written))
        return replace(node, members=(replace(node.members[0], parallel=True, reductions=clause), *node.members[1:]))

    return e.everywhere(change)(program)


NO_RACES: Install = always(pipeline, "race_faults", [])
add(
    "reductions",
    "a false associative reduction",
    "x = 3 * x + a counts as a sum",
    together(patched(reductions, "reductions_of", any_update), NO_RACES),
)
add(
    "reductions",
    "a false associative reduction in the analysis",
    "which the check reads as well",
    together(
        patched(reductions, "reductions_of", any_update),
        patched(recognised, "reductions_of", any_update),
        NO_RACES,
        lambda patch: patch.setattr(
            "polyc.verify.order.races.reductions_of", any_update(recognised.reductions_of), raising=False
        ),
    ),
)
add(
    "reductions",
    "a sum as a product",
    "the wrong operator",
    together(patched(reductions, "reductions_of", product_as_sum), NO_RACES),
)
add(
    "reductions",
    "without --reassociate",
    "in any program",
    together(patched(pipeline, "mark_reductions", without_asking), NO_RACES),
)
add(
    "reductions",
    "clause lost",
    "parallel without a reduction clause",
    after_pass("reductions", e.everywhere(clause_lost)),
)
add("reductions", "wrong operator", "after the pass", after_pass("reductions", e.everywhere(operator_wrong)))
add("reductions", "anything reduced", "all sequential loops", after_pass("reductions", reduction_of_anything))
add("reductions", "races not asked", "every candidate is taken", NO_RACES)
