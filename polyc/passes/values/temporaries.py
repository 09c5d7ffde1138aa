"""Temporaries that hide sums of products: a scalar that ends up in an element of an array lives there."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.dependences import compute_dependences
from polyc.analysis.expressions.elementwise import assigned
from polyc.analysis.extents import text_of
from polyc.analysis.order import Run, parting, runs
from polyc.analysis.witness import finder, first_of, overwriting
from polyc.model import ctree as c
from polyc.model.program import Move, Program, Relocation
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement, Storage
from polyc.model.tree import Domain, Filter, Member, Sequence, Step, restrict
from polyc.model.witness import Finder
from polyc.nests.sums import streams
from polyc.passes.buffers.promotion import loops_over
from polyc.passes.values.expansion import Rows, indices, is_long_window, new_name, sums_up, updates
from polyc.poly import in_name, maps, out_name, reaching
from polyc.records import dataclass, replace

STAGE = "temporaries"
_SET = isl.dim_type.set


def relocate_temporaries(program: Program) -> Program:
    """Let a scalar that sums up products live in the element that the sum is stored to in the end.

    rewrite:  w = A[i][j]; for k w -= A[i][k] * A[k][j]; A[i][j] = w / A[j][j];
              -> for k A[i][j] -= A[i][k] * A[k][j]; A[i][j] = A[i][j] / A[j][j];
    tree:     the same, without copies of a cell to itself
    math:     with p the loops around the store, which all statements of the live range share, and g(p) the element that
              it writes: M = { S[p, ..] -> A[g(p)] } is the place of w in each statement S
    requires: a scalar that is private to each p, of the same type as the elements; one statement begins its live range
              and one, the store, ends it, for each p; nobody else touches A[g(p)] in the same iteration
    ensures:  each operation has the same operands in the same order
    source:   ours; the opposite of scalar replacement (Callahan, Carr, Kennedy 1990), which polyc's register tiles
              (`micro.py`) do afterwards, for many sums at once
    """
    relocator = _Relocator(program)
    for name in sorted(program.dependences.flow_by_array):
        rank = program.scop.arrays[name].rank
        if rank == 0 and name in program.scop.privatizable:
            for statements in live_ranges(program, name):
                relocator.visit(name, statements)
        elif rank and relocator.expands and not program.options.gpu and _may_be_rows(program.scop, name):
            for statements in live_ranges(program, name):
                relocator.visit_rows(name, statements)
    return relocator.relocated()


def live_ranges(program: Program, array: str) -> list[tuple[str, ...]]:
    """The statements that hand values of a scalar to each other, in source order, apart from those that do not."""
    flow = program.dependences.flow_by_array[array]
    group = {name: {name} for piece in maps(flow) for name in (in_name(piece), out_name(piece))}
    for piece in maps(flow):
        one, other = group[in_name(piece)], group[out_name(piece)]
        if one is not other:
            one |= other
            for name in other:
                group[name] = one
    found = {id(names): names for names in group.values()}
    return [tuple(n for n in program.scop.statements if n in names) for names in found.values()]


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why a temporary stays where it is."""

    reason: str
    why: str
    dependence: Finder | None = None
    """Finds two iterations that show it, where a dependence is the reason."""


@dataclass(slots=True)
class _Relocator:
    """What has been found so far."""

    program: Program
    moves: tuple[Move, ...] = ()
    dropped: tuple[str, ...] = ()
    statements: dict[str, Statement] | None = None
    """Those that are changed."""
    made: tuple[Array, ...] = ()
    """Arrays that the region did not have."""
    added: tuple[Statement, ...] = ()
    """Statements that the region did not have, which run after all others."""

    @property
    def expands(self) -> bool:
        """Whether scalars may become arrays, and on a CPU rows; on a GPU each thread has its own of these."""
        return self.program.options.expand

    def visit(self, array: str, names: tuple[str, ...]) -> None:
        """Move one live range, or say why not, where that would make a sum of products of it."""
        scop = self.program.scop
        statements = [scop.statements[name] for name in names]
        deepest = max((len(s.loops) for s in statements if updates(s, array)), default=0)
        around = [s for s in statements if 1 <= len(s.loops) < deepest]
        stores = [s for s in around if _stored(scop, s, array) is not None]
        candidates = [_LiveRange.of(self.program, array, names, store) for store in stores]
        ranges = [found for found in candidates if found is not None and found.sums()]
        if not ranges:
            self.expand(array, names, around)
            return
        obstacles = [found.obstacle() or self.shared(found) for found in ranges]
        free = [live for live, obstacle in zip(ranges, obstacles, strict=True) if obstacle is None]
        if self.program.options.gpu:  # a thread's registers hold one element of a point
            free.sort(key=_LiveRange.uses_others)
        if free and not (self.program.options.gpu and free[0].uses_others() and self.expand(array, names, around)):
            self.move(free[0])
        if free or self.expand(array, names, around):
            return
        assert obstacles[0] is not None
        live, name = ranges[0], scop.arrays[array].c_name
        message = f"{name} does not live in {scop.arrays[live.place].c_name}: {obstacles[0].why}"
        told = self.program.remark("not-relocated", STAGE, message, live.names, reason=obstacles[0].reason)
        self.program = told.because(obstacles[0].dependence)

    def shared(self, live: _LiveRange) -> Hindrance | None:
        """The place is one that another temporary has in the same loops: `v` and `m` of `var = v - m * m`."""
        others = (one for one in self.moves if one.statement in live.runs and out_name(one.relation) == live.place)
        if (one := next(others, None)) is None:
            return None
        name, place = (self.program.scop.arrays[key].c_name for key in (one.array, live.place))
        return Hindrance("place-in-use", f"{name} lives in the elements of {place} already")

    def expand(self, array: str, names: tuple[str, ...], around: list[Statement]) -> bool:
        """Give each iteration of the loops around a reader an element of a new array; whether that is possible. Where
        several statements read it, each under another condition, these are the loops around what sets it."""
        if not self.expands:
            return False
        users = [s for s in around if any(a.array == array for a in s.accesses)]
        readers = [s for s in users if any(a.array == array and a.kind is AccessKind.READ for a in s.accesses)]
        for one in (*readers, *(s for s in users if s not in readers and len(readers) > 1)):
            made = _made_for(self.program.scop, array, one, self.made)
            live = _LiveRange.of(self.program, array, names, one, made) if made is not None else None
            if made is not None and live is not None and live.sums() and live.is_private():
                self.made = (*self.made, made)
                self.move(live)
                return True
        return False

    def visit_rows(self, array: str, names: tuple[str, ...]) -> None:
        """Give each iteration of outer loops a part of a new array, or say why not, where that would make a sum of
        products of an array that each of them fills anew."""
        rows = Rows.of(self.program, array, names)
        if rows is None:
            return
        scop, name = self.program.scop, self.program.scop.arrays[array].c_name
        why = rows.obstacle()
        made = rows.made(one.name for one in self.made) if why is None else None
        if made is None:
            message = f"{name} stays one for all iterations of the loops around it: {why or 'these have no known end'}"
            told = self.program.remark("not-expanded", STAGE, message, names, array=array)
            self.program = told.because(finder(scop, rows.crossing) if why is not None else None)
            return
        self.moves += tuple(Move(one, array, rows.cells(one, made.name)) for one in names)
        self.made = (*self.made, made)
        statements = self.statements if self.statements is not None else dict(scop.statements)
        self.statements = statements | {one: rows.changed(statements[one], made.name) for one in names}
        last = rows.last(made.name, (one.name for one in self.added))
        self.added += () if last is None else (last,)
        around = " and ".join(scop.statements[names[0]].loops[: rows.loops])
        sums = ", ".join(rows.sums())
        back = "" if last is None else "; the last values are copied back"
        self.program = self.program.remark(
            "expanded",
            STAGE,
            f"each iteration of {around} has a part of a new array, {made.name}, for {name}, so that none waits for "
            f"another one, and {sums} sums up products{back}",
            names,
            array=made.name,
        )

    def move(self, live: _LiveRange) -> None:
        scop = self.program.scop
        copies = tuple(name for name in live.names if live.is_copy(name))
        self.moves += tuple(Move(name, live.array, live.cell(name)) for name in live.names)
        self.dropped += copies
        statements = self.statements if self.statements is not None else dict(scop.statements)
        for name in live.names:
            if name in copies:
                del statements[name]
            else:
                statements[name] = live.changed(statements[name])
        self.statements = statements
        sums = tuple(live.sums())
        if live.made is None:
            where = f"the elements of {scop.arrays[live.place].c_name} that it is stored to"
        else:
            parts = "" if self.program.options.gpu else ", of which each tile has a part"
            where = f"an array of its own, {live.place}{parts}"
        self.program = self.program.remark(
            "relocated",
            STAGE,
            f"{scop.arrays[live.array].c_name} lives in {where}, where {', '.join(sums)} "
            f"{'is a sum' if len(sums) == 1 else 'are sums'} of products",
            live.names,
            array=live.place,
        )

    def relocated(self) -> Program:
        """The program with all of it."""
        if self.statements is None:
            return self.program
        program, scop = self.program, self.program.scop
        domain, child = scop.tree.domain, scop.tree.child
        for name in self.dropped:
            domain = domain.subtract(isl.UnionSet.from_set(scop.statements[name].domain))
        started = restrict(child, domain)
        statements = self.statements | {one.name: one for one in self.added}
        if self.added:
            steps = [isl.UnionSet.from_set(one.domain) for one in self.added]
            loops = [loops_over(one.loops, one.domain, coincident=False) for one in self.added]
            after_all = tuple(Filter(step, node) for step, node in zip(steps, loops, strict=True))
            child = Sequence((Filter(domain, child), *after_all))
            started = Sequence((Filter(domain, started), *after_all))
            for step in steps:
                domain = domain.union(step)
        arrays = scop.arrays | {made.name: made for made in self.made} if self.made else scop.arrays
        after = replace(scop, arrays=arrays, statements=statements, tree=Domain(domain, child))
        return replace(
            program,
            scop=after,
            tree=Domain(domain, started),
            statements=dict(statements),
            dependences=compute_dependences(after),
            relocated=Relocation(self.moves, self.dropped, scop, after, tuple(one.name for one in self.added)),
        )


def _may_be_rows(scop: Scop, array: str) -> bool:
    """Whether a statement sums up into an array in three or more loops, the outermost of which it does not mention."""
    for statement in scop.statements.values():
        if len(statement.loops) < 3 or not updates(statement, array):
            continue
        exact = [a for a in statement.accesses if a.array == array and a.exact]
        if exact and 0 not in indices(exact[0].relation):
            return True
    return False


def _stored(scop: Scop, statement: Statement, array: str) -> Access | None:
    """The write of a statement that stores what it computes from a scalar in an element of an array."""
    if assigned(statement) is None or not any(a.array == array for a in statement.accesses):
        return None
    (write,) = (a for a in statement.accesses if a.kind is not AccessKind.READ)
    place = scop.arrays[write.array]
    if write.kind is not AccessKind.WRITE or not write.exact or len(_target(statement).subscripts) != place.rank:
        return None
    return write if place.rank and place.name not in scop.privatizable else None


def _made_for(scop: Scop, array: str, reader: Statement, others: tuple[Array, ...]) -> Array | None:
    """A new array with one element for each iteration of the loops around a statement, by the values of these loops;
    None where some may be negative, or have no end, or several."""
    domain = reader.domain.intersect_params(scop.known)
    loops = range(len(reader.loops))
    zero = isl.Val.zero(domain.get_ctx())
    if assigned(reader) is None or not all(domain.is_subset(domain.lower_bound_val(_SET, k, zero)) for k in loops):
        return None
    if not all(domain.dim_has_upper_bound(_SET, k) for k in loops):
        return None
    name = new_name(scop, f"{scop.arrays[array].c_name}_each", (made.name for made in others))
    ends = tuple(reader.domain.dim_max(k).add_constant_val(isl.Val.one(domain.get_ctx())) for k in loops)
    texts = tuple(text_of(scop.parameters, end) for end in ends)
    if any(text is None for text in texts):
        return None
    return Array(name, name, scop.arrays[array].element, ends, texts, Storage.REGION)


def _element_of(made: Array, reader: Statement) -> Access:
    """`{ S[p] -> T[p] }`."""
    identity = isl.Map.identity(reader.domain.get_space().map_from_set())
    ident = isl.Id.read_from_str(reader.domain.get_ctx(), made.name)
    relation = identity.set_tuple_id(isl.dim_type.out, ident).intersect_domain(reader.domain)
    return Access("", made.name, AccessKind.WRITE, relation, True)


def _target(statement: Statement) -> c.ArrayRef:
    assign = assigned(statement)
    assert assign is not None
    assert isinstance(assign.target, c.ArrayRef)
    return assign.target


@dataclass(frozen=True, slots=True, eq=False)
class _LiveRange:
    """A scalar from where it is set to where it is stored, in one iteration of the loops around the store."""

    program: Program
    array: str
    names: tuple[str, ...]
    """The statements, in source order."""
    store: Statement
    write: Access
    """Of the store."""
    runs: dict[str, Run]
    """Of each statement of the region that runs in the loops around the store."""
    made: Array | None = None
    """A new array, where the "store" is just a reader, and stores elsewhere."""

    @staticmethod
    def of(
        program: Program, array: str, names: tuple[str, ...], store: Statement, made: Array | None = None
    ) -> _LiveRange | None:
        """None where the statements of the live range do not share these loops."""
        write = _stored(program.scop, store, array) if made is None else _element_of(made, store)
        found = runs(program.scop.tree)
        (own, *others) = (run for run in found if run.statement == store.name)
        if write is None or others or _depth(own) != len(store.loops):
            return None
        around = [step for step in own.path.steps if isinstance(step, Member)]
        inside = {run.statement: run for run in found if _members(run)[: len(around)] == around}
        once = all(sum(run.statement == name for run in found) == 1 for name in names)
        if not once or not set(names) <= set(inside):
            return None
        return _LiveRange(program, array, names, store, write, inside, made)

    @property
    def scop(self) -> Scop:
        return self.program.scop

    @property
    def place(self) -> str:
        return self.write.array

    def iteration(self, name: str) -> isl.Map:
        """`{ S[p, ..] -> store[p] }`."""
        depth = len(self.store.loops)
        back = self.runs[self.store.name].prefix(depth).reverse()
        return self.runs[name].prefix(depth).apply_range(back).coalesce()

    def cell(self, name: str) -> isl.Map:
        """M: `{ S[p, ..] -> A[g(p)] }`."""
        if name == self.store.name:
            return self.write.relation
        domain = self.scop.statements[name].domain
        whole = self.iteration(name).apply_range(self.write.relation)
        return whole.gist_domain(domain).intersect_domain(domain).coalesce()

    # --- is it worth it?

    def sums(self) -> list[str]:
        """The statements that would be sums of products."""
        return [name for name in self.names if self.is_sum(self.scop.statements[name])]

    def is_sum(self, statement: Statement) -> bool:
        """Whether a statement adds up products into the scalar (`expansion.py`), in loops inside of the store's."""
        around, cells = len(self.store.loops), self.cell(statement.name)
        kinds = ("float", "int") if self.program.options.gpu else ("float",)
        if len(statement.loops) <= around:
            return False
        if around >= 2 and sums_up(self.program, statement, self.array, cells, kinds):
            return True
        alone = streams(self.program.options) and len(self.names) <= 3 and len(statement.loops) == around + 1
        return alone and is_long_window(self.program, statement, self.array, cells)

    # --- is it allowed?

    def obstacle(self) -> Hindrance | None:
        """The first reason not to do it."""
        statements = [self.scop.statements[name] for name in self.names]
        if self.scop.arrays[self.place].element != self.scop.arrays[self.array].element:
            return Hindrance("other-type", "its values would be rounded otherwise")
        if not all(self.is_plain(s) for s in statements) or self.may_be_written():
            return Hindrance(
                "data-dependent", "whether one of the two is written depends on data, or on more than an assignment"
            )
        if not self.has_cells():
            stores = isl.UnionSet.from_set(self.store.domain)
            twice = overwriting(self.program, stores, stores, self.place)
            return Hindrance("stored-together", "several of its values are stored to one element", twice)
        if not self.has_places(statements):
            return Hindrance("not-stored", "some of its values are stored nowhere")
        if not self.begins_once(statements):
            return Hindrance("several-beginnings", "it is not clear which statement begins what is stored")
        if not all(self.is_before_store(s.name) for s in statements):
            why = "it is read again after it was stored"
            return Hindrance("read-later", why, finder(self.scop, self.read_later))
        if (other := self.in_between()) is not None:
            why = f"{other} uses the element before it is stored"
            user, store = (isl.UnionSet.from_set(s.domain) for s in (self.scop.statements[other], self.store))
            both = [overwriting(self.program, *pair, self.place) for pair in ((user, store), (store, user))]
            return Hindrance("place-in-use", why, first_of(both))
        return None

    def uses_others(self) -> bool:
        """Whether other elements of the place are used in the loops around the store: `c[j][i] = c[i][j];`."""
        return any(
            access.array == self.place and not access.relation.is_equal(self.cell(name))
            for name in self.runs
            for access in self.scop.statements[name].accesses
        )

    def has_cells(self) -> bool:
        """Whether each of its values has an element, in an iteration of the outer loops that do not choose it: these
        compute them again, as the iterations of a time loop.

        math: with p = (r, q), r the outermost loops that M does not depend on: { store[r, q] -> [r, A[g(q)]] } is
              injective
        """
        write, count = self.write.relation, 0
        depth, cell = write.dim(isl.dim_type.in_), write.gist_domain(write.domain())
        while count < depth and not cell.involves_dims(isl.dim_type.in_, count, 1):
            count += 1
        around = write.domain().identity().project_out(isl.dim_type.out, count, depth - count)
        return bool(write.range_product(around).is_injective())

    def is_plain(self, statement: Statement) -> bool:
        exact = all(a.exact and a.kind is not AccessKind.MAY_WRITE for a in statement.accesses if a.array == self.array)
        same = statement.loops[: len(self.store.loops)] == self.store.loops
        return exact and same and not statement.opaque and assigned(statement) is not None

    def is_private(self) -> bool:
        """Whether each iteration may have an element of its own: no value goes from one to another."""
        statements = [self.scop.statements[name] for name in self.names]
        return all(self.is_plain(s) for s in statements) and self.has_places(statements)

    def may_be_written(self) -> bool:
        """Whether there are writes of the place, anywhere, that may happen or not."""
        every = (access for statement in self.scop.statements.values() for access in statement.accesses)
        return any(access.array == self.place and access.kind is AccessKind.MAY_WRITE for access in every)

    def has_places(self, statements: list[Statement]) -> bool:
        """Whether each instance belongs to one of the store's, the same for all that hand on a value.

        math: dom I = S for I = { S[p, ..] -> store[p] }, a function, and F <= I . I^-1
        """
        whole = {s.name: self.iteration(s.name) for s in statements}
        known = self.scop.known
        for statement in statements:
            own = whole[statement.name]
            if not statement.domain.intersect_params(known).is_subset(own.domain()) or not own.is_single_valued():
                return False
        for piece in maps(self.program.dependences.flow_by_array[self.array]):
            if in_name(piece) not in whole:
                continue
            same = whole[in_name(piece)].apply_range(whole[out_name(piece)].reverse())
            if not piece.intersect_params(known).is_subset(same):
                return False
        return True

    def begins_once(self, statements: list[Statement]) -> bool:
        """Whether just one instance sets the scalar without reading it, in each iteration of the store."""
        begun = isl.Set.empty(self.store.domain.get_space())
        for statement in statements:
            if not self.begins(statement):
                continue
            own = self.iteration(statement.name)
            if not own.is_injective() or not begun.is_disjoint(own.range()):
                return False
            begun = begun.union(own.range())
        return bool(self.store.domain.intersect_params(self.scop.known).is_subset(begun))

    def begins(self, statement: Statement) -> bool:
        kinds = {a.kind for a in statement.accesses if a.array == self.array}
        return kinds == {AccessKind.WRITE}

    def is_before_store(self, name: str) -> bool:
        """Whether a statement stands before the store in the body of the store's loops."""
        if name == self.store.name:
            return True
        one, other = self.runs[name].path, self.runs[self.store.name].path
        position = parting(one, other)
        if position is None or sum(isinstance(s, Member) for s in one.steps[:position]) < len(self.store.loops):
            return False
        here, there = one.steps[position], other.steps[position]
        return isinstance(here, Step) and isinstance(there, Step) and here.index < there.index

    def read_later(self) -> Iterator[isl.UnionMap]:
        """The values of the scalar that statements after the store read."""
        later = [name for name in self.names if not self.is_before_store(name)]
        yield reaching(self.program.dependences.flow_by_array[self.array], later)

    def is_after_store(self, name: str) -> bool:
        """Whether a statement runs behind the store in each iteration of the loops that both are in."""
        position = parting(self.runs[name].path, self.runs[self.store.name].path)
        if position is None or name in self.names:
            return False
        here, there = (self.runs[one].path.steps[position] for one in (name, self.store.name))
        return isinstance(here, Step) and isinstance(there, Step) and here.index > there.index

    def in_between(self) -> str | None:
        """A statement that touches A[g(p)] in iteration p before the store, beside what begins the live range."""
        for name in self.runs:
            if self.is_after_store(name):
                continue
            statement = self.scop.statements[name]
            first = name in self.names and self.begins(statement)
            cell = self.iteration(name).apply_range(self.write.relation).intersect_params(self.scop.known)
            for access in statement.accesses:
                mine = access is self.write or (first and access.kind is AccessKind.READ)
                if access.array == self.place and not mine and not access.relation.is_disjoint(cell):
                    return name
        return None

    # --- doing it

    def is_copy(self, name: str) -> bool:
        """Whether a statement copies between the scalar and its place, and does nothing else."""
        statement = self.scop.statements[name]
        match statement.body:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(), value=c.ArrayRef())):
                pass
            case _:
                return False
        if {a.array for a in statement.accesses} != {self.array, self.place} or len(statement.accesses) != 2:
            return False
        (other,) = (a for a in statement.accesses if a.array == self.place)
        known = self.scop.known
        there, here = other.relation.intersect_params(known), self.cell(name).intersect_params(known)
        return other.exact and bool(there.is_equal(here))

    def changed(self, statement: Statement) -> Statement:
        """The statement with the element instead of the scalar."""
        subscripts = _target(self.store).subscripts
        if self.made is not None:
            subscripts = tuple(c.Name(loop) for loop in self.store.loops)

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array == self.array:
                return c.ArrayRef(self.place, subscripts, node.ref, node.span)
            return None

        cell = self.cell(statement.name)
        accesses = tuple(
            replace(a, array=self.place, relation=cell) if a.array == self.array else a for a in statement.accesses
        )
        return replace(statement, body=c.rewrite(statement.body, change), accesses=accesses)


def _members(run: Run) -> list[Member]:
    return [step for step in run.path.steps if isinstance(step, Member)]


def _depth(run: Run) -> int:
    return len(_members(run))
