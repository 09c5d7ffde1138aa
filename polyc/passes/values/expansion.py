"""Arrays that each iteration of outer loops fills anew, and that sum up products there: a part for each iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, combinations, count

import islpy as isl

from polyc.analysis.expressions.elementwise import assigned
from polyc.analysis.extents import text_of
from polyc.analysis.order import Run, runs
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement, Storage
from polyc.model.tree import Member
from polyc.nests.strides import step_of
from polyc.nests.sums import LONG_WINDOW
from polyc.passes.products.registers import SHORTEST, fewest
from polyc.poly import affine_of, empty_map, greatest_of, in_name, least_of, maps, out_name
from polyc.records import dataclass, replace

_OUT = isl.dim_type.out


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """An array whose values never go from one iteration of some outer loops to another one.

    rewrite:  for i { for j w[j] = 0; for j for k w[j] += A[i][k] * B[k][j]; for j C[i][j] = w[j]; }
              -> the same with W[i][j] for w[j];  for (i, j) that wrote it last: w[j] = W[i][j]
    math:     with p the outer loops, which all statements of the live range share and no access to w mentions:
              M = { S[p, ..] -> W[p, f] } for `{ S[p, ..] -> w[f] }`; F <= { S[p, ..] -> T[p, ..] } for the flow F of w
    source:   array expansion (Feautrier 1988) by the loops that need it only
    """

    program: Program
    array: str
    names: tuple[str, ...]
    """The statements of the live range, in source order."""
    loops: int
    """How many outer loops the new array has an index for."""

    @staticmethod
    def of(program: Program, array: str, names: tuple[str, ...]) -> Rows | None:
        """None where no sum of products comes of it."""
        scop = program.scop
        statements = [scop.statements[name] for name in names]
        if scop.arrays[array].element.kind != "float" or not any(updates(s, array) for s in statements):
            return None
        if any(len(s.loops) < 2 or not _touched_once(s, array) for s in statements):
            return None
        used = set().union(*(indices(_access(s, array).relation) for s in statements))
        if 0 in used:
            return None
        found = [run for run in runs(scop.tree) if run.statement in names]
        shared = min(_shared(found), min(used, default=len(statements[0].loops)))
        if not shared or len(found) != len(names):
            return None
        rows = Rows(program, array, names, shared)
        return rows if rows.sums() else None

    @property
    def scop(self) -> Scop:
        return self.program.scop

    def sums(self) -> list[str]:
        """The statements that become sums of products, and are none yet."""
        return [
            s.name
            for s in (self.scop.statements[name] for name in self.names)
            if sums_up(self.program, s, self.array, self.cells(s.name))
            and not sums_up(self.program, s, self.array, _access(s, self.array).relation)
        ]

    def obstacle(self) -> str | None:
        """The first reason not to do it."""
        scop = self.scop
        every = (a for s in scop.statements.values() for a in s.accesses)
        plain = all(not s.opaque and assigned(s) is not None for s in (scop.statements[n] for n in self.names))
        if not plain or any(a.array == self.array and a.kind is AccessKind.MAY_WRITE for a in every):
            return "whether it is written depends on data, or on more than an assignment"
        if any(not pairs.is_empty() for pairs in self.crossing()):
            return "values go from one iteration of the loops around to another one"
        for piece in maps(self.program.dependences.live_in):
            before = in_name(piece) in self.names and out_name(piece) == self.array
            if before and not piece.intersect_params(scop.known).is_empty():
                return "it is read before it is written"
        return None

    def crossing(self) -> Iterator[isl.UnionMap]:
        """The values that go from one iteration of the loops around to another one."""
        for piece in maps(self.program.dependences.flow_by_array[self.array]):
            if in_name(piece) in self.names:
                same = self.outer(in_name(piece)).apply_range(self.outer(out_name(piece)).reverse())
                yield isl.UnionMap.from_map(piece.intersect_params(self.scop.known).subtract(same))

    def outer(self, name: str) -> isl.Map:
        """`{ S[p, ..] -> [p] }`."""
        domain = self.scop.statements[name].domain
        whole = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
        rest = whole.dim(_OUT) - self.loops
        return whole.project_out(_OUT, self.loops, rest).reset_tuple_id(_OUT)

    def cells(self, name: str, made: str = "") -> isl.Map:
        """M: `{ S[p, ..] -> W[p, f] }`, with W the name of the new array."""
        own = _access(self.scop.statements[name], self.array).relation
        found = self.outer(name).flat_range_product(own.reset_tuple_id(_OUT))
        return found.set_tuple_id(_OUT, isl.Id.read_from_str(own.get_ctx(), made)) if made else found

    def made(self, others: Iterable[str]) -> Array | None:
        """W; None where an index may be negative, or has no end, or several."""
        array = self.scop.arrays[self.array]
        cells = isl.Set.empty(self.cells(self.names[0]).get_space().range())
        for name in self.names:
            cells = cells.union(self.cells(name).range())
        cells = cells.intersect_params(self.scop.known).coalesce()
        indices_ = range(cells.dim(isl.dim_type.set))
        zero, one = isl.Val.zero(cells.get_ctx()), isl.Val.one(cells.get_ctx())
        if not all(cells.is_subset(cells.lower_bound_val(isl.dim_type.set, k, zero)) for k in indices_):
            return None
        if not all(cells.dim_has_upper_bound(isl.dim_type.set, k) for k in indices_):
            return None
        ends = tuple(cells.dim_max(k).add_constant_val(one) for k in indices_)
        texts = tuple(text_of(self.scop.parameters, end) for end in ends)
        if any(text is None for text in texts):
            return None
        name = new_name(self.scop, f"{array.c_name}_each", others)
        return Array(name, name, array.element, ends, texts, Storage.REGION)

    def changed(self, statement: Statement, made: str) -> Statement:
        """A statement of the live range with the new array."""
        outer = tuple(c.Name(loop) for loop in statement.loops[: self.loops])

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array == self.array:
                return c.ArrayRef(made, (*outer, *node.subscripts), node.ref, node.span)
            return None

        cells = self.cells(statement.name, made)
        accesses = tuple(
            replace(a, array=made, relation=cells) if a.array == self.array else a for a in statement.accesses
        )
        return replace(statement, body=c.rewrite(statement.body, change), accesses=accesses)

    def last(self, made: str, others: Iterable[str] = ()) -> Statement | None:
        """`w[f] = W[p, f]` for the last values that are needed after the region; None where there are none.

        others: names that are taken
        """
        cells = empty_map(self.scop.domain)
        for piece in maps(self.program.dependences.last_writer):
            if in_name(piece) in self.names and out_name(piece) == self.array:
                own = piece.reverse().apply_range(self.cells(in_name(piece), made))
                cells = cells.union(isl.UnionMap.from_map(own))
        if cells.is_empty():
            return None
        (whole,) = maps(cells)
        name = new_name(self.scop, f"last_{self.array}", {*self.scop.statements, *others})
        ident = isl.Id.read_from_str(whole.get_ctx(), name)
        domain = whole.range().intersect_params(self.scop.known).set_tuple_id(ident).coalesce()
        around = self.scop.statements[self.names[0]]
        inner = tuple(f"x{k}" for k in range(self.scop.arrays[self.array].rank))
        loops = (*around.loops[: self.loops], *self.inner_names(inner))
        every = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
        read = every.set_tuple_id(_OUT, whole.get_tuple_id(_OUT))
        write = every.project_out(_OUT, 0, self.loops).set_tuple_id(_OUT, whole.get_tuple_id(isl.dim_type.in_))
        subscripts = tuple(c.Name(loop) for loop in loops)
        target = c.ArrayRef(self.array, subscripts[self.loops :], "r1")
        value = c.ArrayRef(made, subscripts, "r0")
        accesses = (
            Access("r0", made, AccessKind.READ, read, True),
            Access("r1", self.array, AccessKind.WRITE, write, True),
        )
        body = c.ExprStmt(c.Assign("=", target, value))
        text = f"copy of the last values of {self.scop.arrays[self.array].c_name}"
        types = (around.loop_types[0],) * len(loops)
        return Statement(name, domain, loops, types, accesses, body, text, around.span)

    def inner_names(self, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        """Names of loops over the array: those of a statement that runs over just these."""
        rank = len(otherwise)
        for name in self.names:
            own = self.scop.statements[name].loops[self.loops :]
            if len(own) == rank:
                return own
        return otherwise


def sums_up(
    program: Program, statement: Statement, array: str, cells: isl.Map, kinds: Collection[str] = ("float",)
) -> bool:
    """Whether a statement adds up products into an array, for two or more loops of the result that each stay with
    another operand (`contractions.py`), and over one more.

    cells: where the result is, a function of the statement's instances; kinds: of numbers that it may be
    """
    if not updates(statement, array) or program.scop.arrays[array].element.kind not in kinds:
        return False
    operands = [a for a in statement.accesses if a.array != array and a.relation.dim(_OUT)]
    if len(operands) < 2 or not all(a.exact for a in operands):
        return False
    loops = range(len(statement.loops))
    used = indices(cells)
    along = [indices(a.relation) for a in operands]
    if not _may_reach(statement, [k for k in loops if k not in used], SHORTEST):
        return False
    least = fewest(program.options)
    for pair in combinations([k for k in loops if k in used and _may_reach(statement, [k], least)], 2):
        moved = {(pair[0] in one, pair[1] in one) for one in along}
        if (True, True) not in moved and {(True, False), (False, True)} <= moved:
            return True
    return False


def is_long_window(program: Program, statement: Statement, array: str, cells: isl.Map) -> bool:
    """Whether a statement adds up many products along the rows of its result, `x[i + k] * h[k]` or `a[k][i] * x[k]`, of
    which several go into each of the result's vectors (`jam.py`).

    cells: where the result is, a function of the statement's instances
    """
    if not updates(statement, array) or program.scop.arrays[array].element.kind != "float":
        return False
    operands = [a for a in statement.accesses if a.array != array and a.relation.dim(_OUT)]
    inner, along = len(statement.loops) - 1, len(statement.loops) - 2
    if len(operands) != 2 or not all(a.exact for a in operands):
        return False
    low, high = least_of(statement.domain, inner), greatest_of(statement.domain, inner)
    if not (low.is_int() and high.is_int()) or high.to_python() - low.to_python() + 1 < LONG_WINDOW:
        return False
    result = step_of(replace(operands[0], relation=cells), along)
    return result == 1 and max(step_of(a, along) for a in operands) == 1


def updates(statement: Statement, array: str) -> bool:
    """Whether a statement reads and writes an array."""
    return {a.kind for a in statement.accesses if a.array == array} == {AccessKind.READ, AccessKind.WRITE}


def indices(relation: isl.Map) -> set[int]:
    """The loops that a function mentions."""
    cell = isl.PwMultiAff.from_map(relation)
    found: set[int] = set()
    for k in range(cell.dim(_OUT)):
        value, piece = affine_of(cell.get_pw_aff(k)), cell.get_pw_aff(k)
        mentions = piece if value is None else value
        loops = relation.dim(isl.dim_type.in_)
        found |= {d for d in range(loops) if mentions.involves_dims(isl.dim_type.in_, d, 1)}
    return found


def new_name(scop: Scop, wish: str, others: Iterable[str]) -> str:
    """The wish, or the wish with the first number that makes it free."""
    taken, wish = scop.used_names | scop.arrays.keys() | set(others), c.as_word(wish)
    return next(n for n in chain([wish], (f"{wish}{k}" for k in count(2))) if n not in taken)


def _may_reach(statement: Statement, loops: Iterable[int], values: int) -> bool:
    """Whether some loops together may have so many iterations: constant extents with such a product, or one without."""
    product = 1
    for loop in loops:
        low, high = least_of(statement.domain, loop), greatest_of(statement.domain, loop)
        if not (low.is_int() and high.is_int()):
            return True
        product *= int(high.sub(low).to_python()) + 1
    return product >= values


def _access(statement: Statement, array: str) -> Access:
    return next(a for a in statement.accesses if a.array == array)


def _touched_once(statement: Statement, array: str) -> bool:
    """Whether a statement touches one element of an array, by its own index expressions."""
    own = [a for a in statement.accesses if a.array == array]
    return all(a.exact and a.relation.is_equal(own[0].relation) for a in own)


def _shared(found: list[Run]) -> int:
    """How many outermost loops some leaves of a tree share, each over one index of all of them, in order."""
    every = [[step for step in run.path.steps if isinstance(step, Member)] for run in found]
    return sum(1 for _ in _common(every))


def _common(every: list[list[Member]]) -> Iterator[Member]:
    for members in zip(*every, strict=False):
        if any(member is not members[0] for member in members):
            return
        yield members[0]


__all__ = ["Rows", "indices", "new_name", "sums_up", "updates"]
