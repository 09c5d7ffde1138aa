"""What fusing a producer costs and saves, on one interior tile of a sample size."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import frexp

import islpy as isl

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import constant, induction
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Statement
from polyc.nests.samples import middle_tile, written_cells
from polyc.poly import box_volume, greatest_of, least_of, maps, set_name, sets, without_sizes
from polyc.records import dataclass

CALL_OPERATIONS = 10
DIVIDED = 7
"""Operations that a division takes beyond one: a core begins a vector of quotients in 5 to 16 cycles, and two vectors
of products in each."""
UNKNOWN = 64
"""Iterations of a loop of which nobody knows how many it has."""
UNKNOWN_UNASKED = 16
"""The same in a region that nobody marked, which may be called for little: threads that are started for a microsecond's
work cost some twenty times of it."""
UNKNOWN_INSIDE = 4
"""The same of a loop in another one of which nobody knows that."""
CALLED = 10
"""Operations in a loop of a function that is called."""
INLINED = 4
"""Those of a function of the file without loops, of which compilers leave no call."""
CHEAP_CALLS = frozenset(
    name + kind
    for name in ("fabs", "fmax", "fmin", "floor", "ceil", "trunc", "rint", "creal", "cimag", "conj")
    for kind in ("", "f")
)
"""Functions for which machines have an instruction, or need none."""
SET_ERRNO = frozenset({"sqrt", "sqrtf"})
"""Functions that vectors have an instruction for, which compilers use where nobody reads the errno that they set."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one core does in a cycle; without a machine, what is common."""

    operations: float = 4.0
    bytes: float = 4.0
    """To and from memory, when all cores ask: copy bandwidth over clock."""


START_SECONDS = 5e-6
"""To start a kernel on a GPU, about."""
START_CYCLES = START_SECONDS * 1.4e9 * 64 / Rates().operations
"""What a kernel less saves on a GPU, whatever it does: what one multiprocessor with 64 operations a cycle does in the
time that it takes to start one. It decides for sizes only that do not fill a GPU."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """For one producer, over the whole region at the sample size."""

    instances: float
    """Instances as written."""
    repeated: float
    """Instances that run more than once, counted as often as they repeat."""
    extra_cycles: float
    saved_cycles: float
    fused_us: float | None = None
    """Predicted for the group with it, in microseconds, where a machine's model says it."""
    apart_us: float | None = None
    """The same for the group without it and for the producer by itself."""
    all_in_each: bool = False
    """Whether each tile runs all instances, of which there are several tiles."""

    @property
    def recompute_percent(self) -> float:
        return 100.0 * self.repeated / self.instances if self.instances else 0.0


@lru_cache(maxsize=10_000)
def operations(statement: Statement, subscripts: bool = True) -> float:
    """Arithmetic operations of one instance, calls counted as several. What stands there twice, as the operands of
    macros do, compilers compute once.

    subscripts: with those that compute which elements of arrays are meant. Where the elements do not depend on data,
                these are addresses, which an innermost loop steps along.
    """
    count = 0
    addresses: set[int] = set()
    seen: set[c.Node] = set()
    if not subscripts:
        known = {access.ref for access in statement.accesses if access.exact}
        for node in c.walk(statement.body):
            if isinstance(node, c.ArrayRef) and node.ref in known:
                addresses.update(id(inner) for subscript in node.subscripts for inner in c.walk(subscript))
    for node in c.walk(statement.body):
        if id(node) in addresses:
            continue
        if isinstance(node, c.Binary | c.Unary | c.Ternary | c.Call):
            plain = c.unlabelled(node)
            if plain not in seen:
                count += CALL_OPERATIONS if isinstance(node, c.Call) and node.function not in CHEAP_CALLS else 1
            seen.add(plain)
        elif isinstance(node, c.Assign):
            count += node.op != "="
    return float(max(count, 1))


def all_operations(program: Program, statement: Statement, guess: int = UNKNOWN) -> float:
    """The operations of an instance, with those of loops in it that the model knows nothing of, and of functions of the
    file with loops, as if these ran so many times, or as often as the only number says that a function is given."""
    known = 0.0
    for node in c.walk(statement.body):
        if isinstance(node, c.Call) and node.function in program.scop.looping_functions:
            numbers = [literal_value(one.text) for one in node.arguments if isinstance(one, c.Literal)]
            times = numbers[0] if len(numbers) == 1 and numbers[0] is not None else guess
            known += CALLED * min(guess, times)
    small = program.scop.own_functions - program.scop.looping_functions
    inlined = sum(isinstance(node, c.Call) and node.function in small for node in c.walk(statement.body))
    inside = _in_loops(c.Block((statement.body,)), program.scop.usual, guess)
    return operations(statement, False) + known + inside - inlined * (CALL_OPERATIONS - INLINED)


def _in_loops(node: c.Node, sizes: Mapping[str, int], guess: int) -> float:
    """The operations of the loops in a statement, beyond those of one iteration of each.

    guess: iterations of a loop whose head has other ends than numbers and sizes; of one in such a loop, fewer
    """
    found = 0.0
    for inner in c.children(node):
        if isinstance(inner, c.For) or (isinstance(inner, c.While) and not _is_once(inner)):
            times = _times(inner, sizes) if isinstance(inner, c.For) else None
            own = sum(isinstance(one, c.Binary | c.Assign | c.Call) for one in c.walk(inner.body))
            below = _in_loops(inner.body, sizes, guess if times is not None else UNKNOWN_INSIDE)
            found += (guess if times is None else times) * (own + below)
        else:
            found += _in_loops(inner, sizes, guess)
    return found


def _times(loop: c.For, sizes: Mapping[str, int]) -> int | None:
    """How often a loop runs, as its head says."""
    head = induction(loop)
    first = None if head is None else constant(head.start)
    match loop.condition:
        case c.Binary(op="<" | "<=" as op, right=end) if head is not None and first is not None and head.step > 0:
            last = sizes.get(end.name) if isinstance(end, c.Name) else constant(end)
            return None if last is None else max(0, -((first - last - (op == "<=")) // head.step))
    return None


def _is_once(node: c.While) -> bool:
    """`do { … } while (0)`"""
    return node.do_first and node.condition == c.Literal("0")


def multiply_adds(program: Program, statement: Statement) -> int:
    """How many sums of floats have a product as an operand: of these, C compilers make one operation, where the machine
    has it (`fma_per_cycle`) and nobody forbids it (`-ffp-contract=off`)."""
    if not _gives_floats(program, statement):
        return 0
    count = 0
    for node in c.walk(statement.body):
        match node:
            case c.Binary(op="+" | "-", left=left, right=right):
                count += _product(left) or _product(right)
            case c.Assign(op="+=" | "-=", value=value):
                count += _product(value)
    return count


def _gives_floats(program: Program, statement: Statement) -> bool:
    """Whether all that a statement writes are floats."""
    written = (program.scop.arrays[a.array].element for a in statement.accesses if a.kind is not AccessKind.READ)
    return all(element.kind == "float" for element in written)


def divisions(program: Program, statement: Statement) -> int:
    """How many quotients of floats an instance computes, but those by numbers of which compilers make products."""
    if not _gives_floats(program, statement):
        return 0
    found: set[c.Node] = set()
    for node in c.walk(statement.body):
        if isinstance(node, c.Binary | c.Assign) and node.op in ("/", "/="):
            by = node.right if isinstance(node, c.Binary) else node.value
            if not isinstance(by, c.Literal) or not _is_power_of_two(by.text):
                found.add(c.unlabelled(node))
    return len(found)


def _is_power_of_two(text: str) -> bool:
    """Whether a decimal number is one, of which a quotient is a product with another one."""
    try:
        return frexp(float(text.rstrip("fFlLuU")))[0] == 0.5
    except ValueError:
        return False


def _product(node: c.Expr) -> bool:
    return isinstance(node, c.Binary) and node.op == "*"


def estimate(
    program: Program,
    at: isl.Set,
    extension: isl.UnionMap,
    instances: isl.UnionSet,
    saved_bytes: float,
    outer: int = 0,
    rates: Rates | None = None,
    once: bool | None = None,
    known: dict[str, tuple[float, float, float]] | None = None,
) -> Estimate:
    """Compare the instances that the tiles run with those that there are.

    `at`: the sample sizes.
    `outer`: how many of the tile's coordinates belong to loops around; each of their iterations saves anew.
    `saved_bytes`: memory traffic that fusion saves for each cell that the producer writes.
    `once`: whether no two tiles run the same instance, where that is known.
    `known`: what was found of each statement for the same instances in tiles of another size.
    """
    total = ran = work = extra = 0.0
    widest, each = 0.0, 0.0
    known = {} if known is None else known
    alone = once is not None and instances.n_set() == 1
    for piece in sets(instances):
        relation = next(
            (m for m in maps(extension) if str(m.get_tuple_name(isl.dim_type.out)) == set_name(piece)), None
        )
        if relation is None:
            continue
        if (name := set_name(piece)) not in known:
            there = piece.intersect_params(at)
            known[name] = box_volume(there), operations(program.statements[name]), written_cells(program, there)
        every, ops, written = known[name]
        if every == 0.0:
            continue
        relation = without_sizes(relation.intersect_params(at))
        tiles = relation.domain()
        middle = middle_tile(tiles)
        if middle is None:
            continue
        one = box_volume(relation.intersect_domain(middle).range())
        alike = once or (alone and relation.dim(isl.dim_type.param) == 0)  # for the sample sizes as for all
        single = once if alike else relation.reverse().is_single_valued()
        runs = every if single else one * _tile_count(tiles)
        total += every
        each += one
        ran += max(runs, every)
        work += every * ops
        extra += max(runs - every, 0.0) * ops
        around = tiles.project_out(isl.dim_type.set, outer, tiles.dim(isl.dim_type.set) - outer)
        cells = written * _tile_count(around)
        widest = max(widest, cells)
    rates = rates or Rates()
    return Estimate(
        total,
        ran - total,
        extra / rates.operations,
        widest * saved_bytes / rates.bytes,
        all_in_each=ran > total and each >= total,
    )


def _tile_count(tiles: isl.Set) -> float:
    """How many tiles there are, by their steps in each dimension."""
    count = 1.0
    for d in range(tiles.dim(isl.dim_type.set)):
        low, high = least_of(tiles, d).to_python(), greatest_of(tiles, d).to_python()
        above = tiles.lower_bound_val(isl.dim_type.set, d, isl.Val.int_from_si(tiles.get_ctx(), low + 1))
        step = least_of(above, d).to_python() - low if not above.is_empty() else 1
        count *= (high - low) // max(step, 1) + 1
    return count


def told_seconds(seconds: float) -> str:
    """With three digits, in the unit that leaves some of them before the point."""
    return _told(seconds, (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)))


def told_bytes(count: float) -> str:
    return _told(count, (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)))


def _told(value: float, units: tuple[tuple[str, float], ...]) -> str:
    unit, size = next(((u, s) for u, s in units if value >= s), units[-1])
    return f"{value / size:.3g} {unit}"
