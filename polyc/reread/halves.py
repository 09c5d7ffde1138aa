"""A long text read in two halves, at the same time.

Most of the check belongs to one statement of the text, or to one nest: it is done for each half in a process of its
own, as for a text that ends there, or begins there. Only (4) of `compare.py` is a matter of all of the text, but array
by array: what one half alone uses is shown there. For the arrays that both use, the second half tells the first where
its statements run, and when.

math: let the text be P; Q, one after the other, with no declaration beside them. No name that stands for a size is
      written in either, so that what P and Q say of their instances does not depend on the other one. All of P runs
      before all of Q, so the flow through an array of both is that of P and of Q's statements that use it, in their
      order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import islpy as isl

from polyc.analysis.order import Run, constant_column
from polyc.bounded import Started, isl_answer, isl_started, within
from polyc.codegen import render_later
from polyc.codegen.cut import Cut, Generated
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import CALLS, Region
from polyc.model.tree import Member, Path, Step
from polyc.poly import is_over_budget, sets
from polyc.reread.compare import header_faults, statement_faults
from polyc.reread.flow import declared_again, flow_faults
from polyc.reread.program import NotComparable, Undeclared, as_it_is_read, read_again
from polyc.reread.text import Local, Part, Reference, Text
from polyc.runtime.csource import plain_name
from polyc.verify.fault import Fault

FEWEST_STATEMENTS = 40
"""In a text that is read in halves: a process more does not pay for less."""
UNKNOWN = "?"
"""For the name of a place that is no variable and no element."""
PREFIX = "later_"
"""Of what the second half's statements are called in the first one."""
Body = tuple[c.Stmt, ...]


Way = tuple[tuple[int, int], ...]
"""The steps of a path: (0, position in a sequence), or (number of a loop, 1 or -1 for the way in which it counts)."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a statement of the second half runs, and when."""

    statement: str
    to_instance: str
    """`{ t -> S[i] }`, in isl's notation."""
    way: Way
    references: tuple[tuple[str, str, str], ...]
    """Array and label of the region's, and the text's array."""


@dataclass(frozen=True, slots=True)
class Later:
    """What the second half tells of arrays that both use."""

    text: str
    """As it was read."""
    parts: tuple[Placed, ...]
    locals: dict[str, tuple[str, Way]]
    """Local arrays that stand for them: what each is called in C, and where it is declared."""


class _Together(Exception):
    """The halves say nothing by themselves."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The second half of a text, which another process reads."""

    process: Started[object]
    statements: frozenset[str]
    """Those of the first half."""
    shared: frozenset[str]
    """Arrays that both use."""
    own: frozenset[str]
    """Arrays that the second half uses alone."""


def begin(program: Program, region: Region, made: Generated, cut: Cut | None) -> Begun | None:
    """Begin to print and to read what is behind a cut; None where there is none, or the halves say nothing."""
    if cut is None:
        return None
    return begin_with(program, region, cut.statements, lambda: render_later(program, made, cut))


def begin_with(
    program: Program,
    region: Region,
    statements: tuple[frozenset[str], frozenset[str]],
    second: Callable[[], tuple[Body, c.Expr | None]],
) -> Begun | None:
    """The same of any text.

    statements: those of the halves; second: makes the second one, and the condition around it
    """
    plain = all(isinstance(p.expr, c.Name) for p in program.scop.parameters) and CALLS not in program.scop.arrays
    if not plain:
        return None
    uses = [frozenset(a.array for name in names for a in program.statements[name].accesses) for names in statements]
    shared, own = uses[0] & uses[1], uses[1] - uses[0]
    later: list[Text] = []

    def told() -> Later:
        body, guard = second()
        later.append(_read(program, region, body, guard, statements[1]))
        return _told(later[0], as_it_is_read(body, guard), shared)

    def flow() -> list[Fault]:
        return flow_faults(later[0], own)

    limited = [within(program.scop.domain.get_ctx(), program.operations, step) for step in (told, flow)]
    return Begun(isl_started(*limited), statements[0], shared, own)


def shown_in_halves(
    program: Program, region: Region, halves: tuple[Body, Body], guard: c.Expr | None, begun: Begun
) -> bool:
    """Whether a text is right, as its halves show it; False says nothing. Raises OverBudget.

    begun: with the second half, as it was read
    """
    other = begun.process
    try:
        first = _read(program, region, halves[0], guard, begun.statements)
        found = isl_answer(other)
        if not isinstance(found, Later) or found.text != as_it_is_read(halves[1], guard):
            return False
        _append(first, found, begun.shared)
        return not flow_faults(first, frozenset(program.scop.arrays) - begun.own) and isl_answer(other) == []
    except (_Together, NotComparable, Undeclared, InternalError):
        return False
    except isl.Error as error:
        if is_over_budget(error):
            raise
        return False
    finally:
        other.end()


def _read(program: Program, region: Region, body: Body, guard: c.Expr | None, statements: frozenset[str]) -> Text:
    """A half, right as far as it goes. Raises NotComparable, Undeclared, _Together."""
    if not _is_apart(program, body) or header_faults(program, body):
        raise _Together
    text = Text(program, read_again(program, region, body, guard))
    sizes = {p.name for p in program.scop.parameters}
    if statement_faults(text) or {part.statement.name for part in text.parts} != statements:
        raise _Together
    if any(p.name not in sizes or not isinstance(p.expr, c.Name) for p in text.scop.parameters):
        raise _Together
    if declared_again(text):
        raise _Together
    return text


def _is_apart(program: Program, body: Body) -> bool:
    """Whether a half declares nothing for the other one, and changes nothing that the other one says."""
    if not all(isinstance(item, c.Comment | c.For | c.If | c.Block) for item in body):
        return False
    sizes = {UNKNOWN, *(name for p in program.scop.parameters for name in (p.name, plain_name(p)))}
    nodes = [node for item in body for node in c.walk(item)]
    return sizes.isdisjoint(map(_written, nodes)) and not any(isinstance(n, c.While | c.Jump) for n in nodes)


def _written(node: c.Node) -> str:
    """The name that a node declares or changes, or takes the address of; "" where there is none."""
    match node:
        case c.Decl(name=name):
            return name
        case c.Assign(target=place):
            pass
        case c.Postfix(operand=place):
            pass
        case c.Unary(op="++" | "--" | "&", operand=place):
            pass
        case _:
            return ""
    while isinstance(place, c.Member | c.Subscript):
        place = place.base
    return place.array if isinstance(place, c.ArrayRef) else place.name if isinstance(place, c.Name) else UNKNOWN


# --- what the second half tells ---------------------------------------------------------------------------------------


def _told(text: Text, lines: str, shared: frozenset[str]) -> Later:
    """What it tells of some arrays. Raises _Together."""
    loops: dict[int, int] = {}
    """Their numbers, by identity."""
    parts: list[Placed] = []
    locals_: dict[str, tuple[str, Way]] = {}
    for part in text.parts:
        if not any(access.array in shared for access in part.statement.accesses):
            continue
        mine = [r for r in part.references if r.then.array in shared]
        for reference in mine:
            local = text.local_of(reference.now)
            if local is not None and reference.now.array not in locals_:
                locals_[reference.now.array] = local.array.c_name, _way(local.run, loops)
        to_instance = part.to_instance.set_tuple_name(isl.dim_type.in_, f"{PREFIX}{part.run.statement}")
        names = tuple((r.then.array, r.then.ref, r.now.array) for r in mine)
        parts.append(Placed(part.statement.name, str(to_instance), _way(part.run, loops), names))
    return Later(lines, tuple(parts), locals_)


def _way(run: Run, loops: dict[int, int]) -> Way:
    """Raises _Together where a loop's values are not those of its variable."""
    found: list[tuple[int, int]] = []
    depth = 0
    for step, column in zip(run.path.steps, run.columns, strict=True):
        if isinstance(step, Step):
            found.append((0, step.index))
            continue
        ways = [way for way in (1, -1) if column.is_equal(_counter(run.instances.get_space(), depth, way))]
        if not ways:
            raise _Together
        found.append((loops.setdefault(id(step), len(loops) + 1), ways[0]))
        depth += 1
    return tuple(found)


def _counter(space: isl.Space, depth: int, way: int) -> isl.Map:
    """`t[.., i, ..] -> [i]`, or `[-i]`."""
    value = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, depth)
    return isl.Map.from_aff(value if way > 0 else value.neg())


# --- and what the first one makes of it -------------------------------------------------------------------------------


def _append(text: Text, later: Later, shared: frozenset[str]) -> None:
    """Let what is told run after the text. Raises _Together."""
    first = [part.run.path.steps[0] for part in text.parts]
    last = [step.index for step in first if isinstance(step, Step)]
    if not last or len(last) < len(first):
        raise _Together  # it is one nest
    nothing = isl.UnionPwAff.empty(isl.Space.params_alloc(text.program.scop.domain.get_ctx(), 0))
    loops: dict[int, Member] = {}

    def path_of(way: Way, instances: isl.Set) -> Path:
        steps = (loops.setdefault(loop, Member(nothing)) if loop else Step(value) for loop, value in way)
        return Path(isl.UnionSet.from_set(instances), (Step(max(last) + 1), *steps), None)

    for one in later.parts:
        to_instance = isl.Map.read_from_str(nothing.get_ctx(), one.to_instance)
        statement = text.program.statements[one.statement]
        accesses = tuple(access for access in statement.accesses if access.array in shared)
        instances = to_instance.domain()
        path = path_of(one.way, instances)
        run = Run(str(instances.get_tuple_name()), path, instances, to_instance, _columns(path, one.way))
        part = Part(replace(statement, accesses=accesses), statement, run)
        part.to_instance = to_instance
        for array, ref, now in one.references:
            stands = c.ArrayRef(f"{PREFIX}{now}")
            part.references.append(Reference(part, c.ArrayRef(array, (), ref), stands, statement))
        text.parts.append(part)
        for name, (c_name, way) in later.locals.items():
            # Of its declaration, only the place is asked for.
            like = replace(next(iter(text.program.scop.arrays.values())), name=f"{PREFIX}{name}", c_name=c_name)
            text.locals.setdefault(like.name, Local(like, replace(run, path=path_of(way, instances), columns=())))


def _columns(path: Path, way: Way) -> tuple[isl.Map, ...]:
    """Of what is told: `run.columns`."""
    (instances,) = sets(path.instances)
    values = iter([value for loop, value in way if loop])
    every = isl.Set.universe(instances.get_space())
    found: list[isl.Map] = []
    depth = 0
    for step in path.steps:
        if isinstance(step, Step):
            found.append(constant_column(every, step.index))
        else:
            found.append(_counter(instances.get_space(), depth, next(values)))
            depth += 1
    return tuple(found)
