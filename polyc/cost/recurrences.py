"""Recurrences along the rows of an array: their latency, and how many rows at once, or what else, hides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import lvalues
from polyc.analysis.expressions.reductions import reduction_of
from polyc.analysis.readable import is_chosen
from polyc.cost.time import CHEAP_CALLS, SET_ERRNO
from polyc.machine import Cpu, load_cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.relations import IN, OUT, tuple_name
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Extension, Mark, Member, Node, Role, Sequence, child_nodes, walk
from polyc.nests.nest import Outer, has_loops
from polyc.nests.strides import dimension_of, step_of, strides_of
from polyc.poly import among, maps, names, value_on
from polyc.records import dataclass, replace

DIVISION_LATENCY, DIVISION = 13.0, 10.0
"""Cycles until a quotient is there, and until the next division of vectors can begin, on CPUs of the last ten years."""
QUOTIENT = 4.5
"""The same for divisions of single numbers."""
SINGLE = 2.0
"""Operations on single numbers in a cycle, at least: what is one unit for the widest vectors is two for these."""
MOVED = 2.0
"""Single elements that are loaded or stored in a cycle."""
CALL = 20.0
"""The same for a function of the mathematical library, of which compilers make no vectors."""
FORWARDED = 5.0
"""From a store to a load of the same element: compilers keep it in no register where another array is stored between,
which may be the same memory to them."""
MISTAKEN = 6.0
"""For a jump that data decide, if one of three is taken for another one."""
GAIN = 1.5
"""How many times longer than its operations an element has to wait for the one before it."""
SHORTEST = 8.0
"""Cycles that an element waits, below which rows behind each other cost more than they gain where memory has them:
`A[i][j] = c * A[i][j - 1] + A[i - 1][j]` over 3000 x 3000 doubles took 1.3 times as long."""
HIDDEN = 0.95
"""Of the time of loops beside each other, what one loop may take that does the same."""
LEAST, MOST = 8, 16
"""Rows at once: as many as a vector has elements, within these bounds. Each of them is another stretch of memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A nest in which each iteration of the innermost loops waits for the one before it, and a parallel loop around
    them that goes from row to row."""

    along: Member
    """The parallel loop: over the rows."""
    latency: float
    """Cycles from one element of a row to the next."""
    work: float
    """Cycles of one core for the operations of an element, by themselves."""
    count: int
    """How many rows hide the latency."""


@dataclass(frozen=True, slots=True)
class Chain:
    """An innermost loop of which each iteration waits for the one before, one element at a time."""

    latency: float
    """Cycles from one element to the next."""
    work: float
    """Cycles of one core for an element, where nothing waits."""
    rows: int
    """How many such loops at once hide the latency."""


def chain_of(program: Program, band: Band, around: tuple[Member, ...]) -> Chain | None:
    """What an innermost loop over floats waits for, if that takes longer than to compute them.

    around: the loops around it
    """
    own = [program.statements[name] for name in names(band.members[0].schedule.domain())]
    if has_loops(band.child) or any(s.opaque or not all(a.exact for a in s.accesses) for s in own):
        return None
    carried, machine = _carried(program, band, around), load_cpu(program.options.machine)
    if not carried or any(program.scop.arrays[a].element.kind != "float" for a in carried) or any(map(_calls, own)):
        return None
    latency, work = _waits(own, carried, _in_memory(own, program), machine), _alone(own, machine, 1)
    return Chain(latency, work, LEAST) if latency >= max(SHORTEST, GAIN * work) else None


def rows_of(program: Program, band: Band, apart: bool = False) -> Rows | None:
    """What a band runs, if its rows wait for themselves.

    apart: whether there may be steps beside these in which nothing waits, which stay as they are
    """
    below = list(walk(band))
    bands = [n for n in below if isinstance(n, Band)]
    along = next((m for m in reversed(band.members) if m.coincident), None)
    others = (Role.TILE, Role.REGISTER, Role.UNROLLED)  # what is unrolled waits in the vectors of a loop around it
    if along is None or any(m.role in others for b in bands for m in b.members):
        return None
    around = dict(innermost_bands(band, ()))
    inner = list(around)
    waiting = [b for b in inner if _carried(program, b, around[b])]
    strides = strides_of(along, program)
    if strides.gain > 0 and not all(strides_of(b.members[-1], program).far < strides.far for b in inner):
        return None  # it goes innermost as it is (`vectorize.py`)
    if (len(waiting) < len(inner) and not apart) or any(isinstance(n, Mark | Extension) for n in below):
        return None
    machine = load_cpu(program.options.machine)
    every = [program.statements[name] for name in names(along.schedule.domain())]
    sizes = [program.scop.arrays[a.array].element.size_bytes or 1 for s in every for a in s.accesses]
    lanes = machine.lanes(max(sizes, default=1))
    latency = work = 0.0
    for one in waiting:
        ran = set(names(one.members[-1].schedule.domain()))
        own = [s for s in program.statements.values() if s.name in ran]
        if not all(_moves(s, along, one.members[-1], program) for s in own):
            return None
        latency += MISTAKEN * sum(is_chosen(program, s) for s in own)
        own = [part for s in own for part in _updates(s, program)]
        carried = _carried(program, one, around[one])
        stored = {a.array for s in own for a in s.accesses if a.kind is not AccessKind.READ and not _is_scalar(a)}
        latency += _waits(own, carried, stored if len(stored) > 1 else set(), machine)
        work += sum(_work(s, machine, lanes) for s in own)
    if not waiting or latency < GAIN * work:
        return None
    return Rows(along, latency, work, max(LEAST, min(MOST, lanes)))


def waits_for_nothing(node: Node) -> bool:
    """Whether no iteration of the innermost loops waits for the one before it."""
    inner = (n for n in walk(node) if isinstance(n, Band) and not has_loops(n.child))
    return all(band.members[-1].coincident for band in inner)


def vectors_in_order(program: Program, band: Band, around: tuple[Member, ...]) -> bool:
    """Whether C compilers make vectors of the last loop of a band though it is not coincident: its iterations read what
    later ones overwrite, `v[i] = f(v[i + 1])`, and hand on nothing but counts of whole numbers.

    math: a vector of iterations runs statement by statement; of two accesses to one element of which one writes, the
          one of the earlier iteration stands in the same statement as the other, or before it
    around: the loops around it
    """
    last = band.members[-1]
    if last.coincident:
        return False
    statements = [program.statements[name] for name in in_text(band.child, names(last.schedule.domain()))]
    accesses = [(s, a) for s in statements for a in s.accesses]
    kept = {a.array for _, a in accesses if a.kind is AccessKind.MAY_WRITE and _is_scalar(a)}  # for the last iteration
    if not all(_is_counted(program, array, statements) for array in kept | _carried(program, band, around)):
        return False
    written = {a.array for _, a in accesses if a.kind is not AccessKind.READ and not _is_scalar(a)}
    moved = [(s, a) for s, a in accesses if a.array in written]
    positions = {s.name: dimension_of(value_on(last.schedule, s.domain.get_space())) for s in statements}
    if any((position := positions[s.name]) is None or step_of(a, position) != 1 for s, a in moved):
        return False
    writes = [(s, a) for s, a in moved if a.kind is not AccessKind.READ]
    if not writes:
        return True
    pairs = _meeting(moved, writes).union(_meeting(writes, moved))
    pairs = among(pairs, last.schedule.domain())
    pairs = Outer(around).same_iteration(pairs) if around else pairs
    order = isl.UnionMap.from_union_pw_aff(last.schedule)
    place = {s.name: k for k, s in enumerate(statements)}
    found = maps(pairs.intersect(order.lex_lt_union_map(order)))
    return all(place[tuple_name(one, IN)] <= place[tuple_name(one, OUT)] for one in found)


def in_text(node: Node, among_them: Iterable[str]) -> list[str]:
    """The statements below a node in the order in which one iteration runs them."""
    match node:
        case Sequence(children=steps):
            return [name for step in steps for name in in_text(step.child, names(step.filter))]
        case _:
            return list(among_them)


def _is_counted(program: Program, array: str, statements: list[Statement]) -> bool:
    """Whether some statements only add whole numbers to a variable."""
    own = program.scop.arrays[array]
    if own.rank or own.element.kind != "int":
        return False
    nodes = [node for s in statements for node in c.walk(s.body)]
    uses = sum(_is(node, array) for node in nodes)
    if any(isinstance(node, c.Assign) and node.op not in ("+=", "-=") and _is(node.target, array) for node in nodes):
        return False
    return uses == sum(_is(target, array) for s in statements for target in lvalues(s.body))


def _is(node: c.Node, array: str) -> bool:
    return isinstance(node, c.ArrayRef) and node.array == array


def _meeting(first: list[tuple[Statement, Access]], then: list[tuple[Statement, Access]]) -> isl.UnionMap:
    """`{ S[i] -> T[j] }`: instances that touch one element of an array."""
    one, other = (reduce(isl.UnionMap.union, (isl.UnionMap.from_map(a.relation) for _, a in e)) for e in (first, then))
    return one.apply_range(other.reverse())


def hides(program: Program, parts: list[tuple[Band, tuple[Member, ...]]], threads: bool) -> bool:
    """Whether a core does in one loop what loops beside each other do in the time that one of these waits for its own
    values, or sooner than all of them.

    parts: the bands whose last loops these are, each with the loops around that
    threads: whether some of the loops would run in parallel, and the one would not: then nothing may be left to do
    """
    machine = load_cpu(program.options.machine)
    apart, every, through = 0.0, list[Statement](), set[str]()
    for band, around in parts:
        inner = band.members[-1]
        own = [program.statements[name] for name in names(inner.schedule.domain())]
        carried = _carried(program, band, around)
        waits = _waits(own, carried, _in_memory(own, program), machine)
        lanes = _lanes(program, own, carried, machine)
        apart += max(waits, _alone(own, machine, lanes))
        through |= carried
        every += own
    latency = _waits(every, through, _in_memory(every, program), machine)
    together = max(latency, _alone(every, machine, _lanes(program, every, through, machine)))
    return together <= latency if threads else together <= HIDDEN * apart


def _lanes(program: Program, statements: list[Statement], carried: set[str], machine: Cpu) -> int:
    """Elements of the vectors that C compilers make of an innermost loop: also where it carries sums alone, of elements
    as wide as all others, which gcc adds up one by one from its vectors."""
    arrays = program.scop.arrays
    sizes = {arrays[a.array].element.size_bytes or 1 for s in statements for a in s.accesses}
    updates = [s for s in statements if any(a.array in carried for a in s.accesses)]
    sums = [found for s in updates if (found := reduction_of(s, arrays)) is not None and found[0] == "+"]
    in_order = len(updates) == len(sums) == len(carried) and {array for _, array in sums} == carried
    if any(_calls(s) for s in statements) or not (in_order and (not carried or len(sizes) == 1)):
        return 1
    return machine.lanes(max(sizes, default=1))


def _in_memory(statements: list[Statement], program: Program) -> set[str]:
    """Arrays of which elements stay in no register, since an array of the same type is stored to between."""
    stored = {a.array for s in statements for a in s.accesses if a.kind is not AccessKind.READ and not _is_scalar(a)}
    types = [program.scop.arrays[name].element for name in stored]
    return {name for name in stored if types.count(program.scop.arrays[name].element) > 1}


def _calls(statement: Statement) -> bool:
    """Whether a statement calls a function of which C compilers make no vectors."""
    calls = (node.function for node in c.walk(statement.body) if isinstance(node, c.Call))
    return any(function not in CHEAP_CALLS | SET_ERRNO for function in calls)


def _alone(statements: list[Statement], machine: Cpu, lanes: int) -> float:
    """Cycles of one core for an iteration of some statements, where nothing waits, in vectors of so many. What one of
    them has loaded or stored, the others have in a register."""
    nodes = [node for s in statements for node in _computed(s.body)]
    sums, products, quotients, calls = _counted(nodes)
    sums += sum(isinstance(node, c.Assign) and node.op != "=" for node in nodes)
    rate = machine.fma_per_cycle if lanes > 1 else max(machine.fma_per_cycle, SINGLE)
    divided = quotients * (DIVISION if lanes > 1 else QUOTIENT)  # in a unit of its own
    called = sum(1 / rate if function in CHEAP_CALLS else CALL for function in calls)
    accesses = [a for s in statements for a in s.accesses if not _is_scalar(a)]
    stored = {_place(a) for a in accesses if a.kind is not AccessKind.READ}
    loaded = {_place(a) for a in accesses if a.kind is AccessKind.READ} - stored
    moved = max(len(loaded) / machine.loads_per_cycle, len(stored) / machine.stores_per_cycle)
    return max(called + max(sums, products) / rate, divided, moved) / lanes


def _computed(node: c.Node) -> Iterator[c.Node]:
    """The nodes of a statement but for subscripts, which an innermost loop steps along."""
    yield node
    if not isinstance(node, c.ArrayRef):
        for child in c.children(node):
            yield from _computed(child)


def _place(access: Access) -> str:
    """A name for what is accessed, the same in each statement of a loop."""
    return f"{access.array}{access.relation.reset_tuple_id(isl.dim_type.in_)}"


def _moves(statement: Statement, along: Member, inner: Member, program: Program) -> bool:
    """Whether what a statement writes moves in both loops, so that it is no sum; what is private may be anything."""
    chosen = is_chosen(program, statement)
    certain = (a.exact and (chosen or a.kind is not AccessKind.MAY_WRITE) for a in statement.accesses)
    if (statement.opaque and not chosen) or not all(certain):
        return False
    space = statement.domain.get_space()
    row, column = (dimension_of(value_on(m.schedule, space)) for m in (along, inner))
    if row is None or column is None:
        return False
    written = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    if any(a.array in program.scop.privatizable for a in written):
        return True
    return all(step_of(a, column) and step_of(a, row) for a in written)


def _updates(statement: Statement, program: Program) -> list[Statement]:
    """What a statement does, whether its condition holds or not; the first part has all that it loads."""
    if not isinstance(statement.body, c.If) or not is_chosen(program, statement):
        return [statement]
    items = (*c.items(statement.body.then), *c.items(statement.body.otherwise))
    loads = (statement.accesses, *[()] * (len(items) - 1))
    return [replace(statement, body=item, accesses=own) for item, own in zip(items, loads, strict=True)]


def innermost_bands(node: Node, above: tuple[Member, ...]) -> Iterator[tuple[Band, tuple[Member, ...]]]:
    """The bands that have no others below them, each with the loops around its last one."""
    match node:
        case Band(members=members):
            if not has_loops(node.child):
                yield node, (*above, *members[:-1])
            yield from innermost_bands(node.child, above + members)
        case _:
            for child in child_nodes(node):
                yield from innermost_bands(child, above)


def _carried(program: Program, band: Band, around: tuple[Member, ...]) -> set[str]:
    """Arrays through which values go from one iteration of a band's last loop to a later one."""
    return carried_by(program, band.members[-1], around)


def carried_by(program: Program, member: Member, around: tuple[Member, ...]) -> set[str]:
    """Arrays through which values go from one iteration of a loop to a later one.

    around: the loops around it
    """
    if member.coincident:
        return set()
    instances = member.schedule.domain()
    found = set[str]()
    for array, flow in program.dependences.flow_by_array.items():
        here = among(flow, instances)
        here = here.intersect(Outer(around).same_iteration(here)) if around else here
        if not here.is_subset(Outer((member,)).same_iteration(here)):
            found.add(array)
    return found


def _is_scalar(access: Access) -> bool:
    return access.relation.dim(isl.dim_type.out) == 0


def _waits(statements: list[Statement], carried: set[str], stored: set[str], machine: Cpu) -> float:
    """Cycles from a value of an earlier iteration to what statements, in their order, make of it in the same place.

    stored: arrays whose values take the way through memory
    """

    def path(node: c.Node, added: bool, since: dict[str, float]) -> float | None:
        """From the last of some values below; `added`: to what it is, something is added."""
        if isinstance(node, c.ArrayRef):
            return since.get(node.array)
        parts = [path(n, isinstance(node, c.Binary) and node.op in "+-", since) for n in c.children(node)]
        longest = max((p for p in parts if p is not None), default=None)
        return None if longest is None else longest + _latency(node, added, machine)

    def around(start: str) -> float:
        """From an array's value to its next one."""
        since, longest = {start: FORWARDED if start in stored else 0.0}, 0.0
        for statement in statements:
            match statement.body:
                case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef(array=array), value=value)):
                    found = path(value, op in ("+=", "-="), since)
                    if op != "=" and array in since:
                        found = max(found or 0.0, since[array] + machine.fma_latency_cycles)
                    if found is not None:
                        since[array] = found
                        longest = max(longest, found if array == start else 0.0)
                    elif array != start:
                        since.pop(array, None)
        return longest

    return max(map(around, sorted(carried)), default=0.0)


def _latency(node: c.Node, added: bool, machine: Cpu) -> float:
    match node:
        case c.Binary(op="/"):
            return DIVISION_LATENCY
        case c.Binary(op="*") if added:
            return 0.0  # a multiply-add
        case c.Binary() | c.Ternary():
            return machine.fma_latency_cycles
        case c.Call():
            return CALL
        case _:
            return 0.0


def _counted(nodes: Iterable[c.Node]) -> tuple[float, float, float, list[str]]:
    """Sums and choices, products, quotients, and the functions that are called."""
    sums = products = quotients = 0.0
    calls: list[str] = []
    for node in nodes:
        match node:
            case c.Binary(op="/"):
                quotients += 1
            case c.Binary(op="*"):
                products += 1
            case c.Binary() | c.Ternary():
                sums += 1
            case c.Call(function=function):
                calls.append(function)
            case _:
                pass
    return sums, products, quotients, calls


def _work(statement: Statement, machine: Cpu, lanes: int) -> float:
    """Cycles of one core for an instance, where nothing waits: operations on vectors of rows, whose elements are loaded
    and stored one by one."""
    sums, products, quotients, calls = _counted(c.walk(statement.body))
    busy = DIVISION * quotients + CALL * lanes * len(calls)
    moved = sum(a.relation.dim(isl.dim_type.out) > 0 for a in statement.accesses)
    return (busy + max(sums, products) / machine.fma_per_cycle) / lanes + moved / MOVED


def looks_up(program: Program, loops: Iterable[Member], carried: Set[str]) -> bool:
    """Whether a step of a recurrence loads an element that the step before it tells: a core waits for it many cycles,
    in which it could be at the steps of other iterations, vectors or not.

    loops: those that might carry it; carried: the arrays in which values go from step to step
    """
    ran = {name for loop in loops if not loop.coincident for name in names(loop.schedule.domain())}
    statements = [program.statements[name] for name in sorted(ran)]
    read = [{a.array for a in s.accesses if a.kind is AccessKind.READ} for s in statements]
    written = [{a.array for a in s.accesses if a.kind is not AccessKind.READ} for s in statements]
    for statement, told in zip(statements, written, strict=True):
        places = (s for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) for s in n.subscripts)
        asked = {part.array for place in places for part in c.walk(place) if isinstance(part, c.ArrayRef)} & carried
        known, found = set[str](), set(told) if asked else set[str]()
        while found != known:  # what it gives goes into, step by step
            known = set(found)
            found |= {array for of, to in zip(read, written, strict=True) if of & found for array in to}
        if asked & found:
            return True
    return False
