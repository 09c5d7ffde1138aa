"""The check of the printed text: polyc's own frontend reads it again, and its flow is the original's.

The static check proves the schedule tree right. What is printed of it (loops, conditions, subscripts, declarations,
pragmas) is read here like a user's program, in C with notes beside each statement that say which instance it is.

math: let t be an instance of the text, c(t) the instance of the region that its note names, and R the relation from a
      cell of the region's array to the cell of a local array that the text uses for it. Shown is that
        (1) the text of t is that of c(t), with loop variables replaced by their values at c(t),
        (2) each exact reference touches the cell that c(t) touches, or R of it,
        (3) R is a one-to-one function during the life of the local array, and stays inside it,
        (4) under c the flow, the first reads and the last writers are the original's (`verify/dataflow.py`),
        (5) no loop with a pragma carries a dependence (as in `verify/races.py`).
source: pet checks its generated code by (4) alone, Verdoolaege and Grosser 2012, Section 6
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import combinations

import islpy as isl

from polyc.analysis.order import Run, order_map, runs
from polyc.codegen.instances import NOTED
from polyc.flow import Accesses
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Array, Parameter, Region, Scop, Statement, Storage, Value
from polyc.model.tree import LEAF, Mark, Member, Path
from polyc.passes.boxes import constant_of
from polyc.poly import at_sizes, empty_map, everywhere
from polyc.reread.nodes import bare, flat
from polyc.reread.pragmas import pragma_faults, storage_faults
from polyc.reread.program import NotComparable, read_again
from polyc.runtime.csource import plain_name
from polyc.verify.dataflow import below, dataflow_faults, is_panel
from polyc.verify.expand import Expanded
from polyc.verify.fault import Fault
from polyc.verify.races import carried_by
from polyc.verify.shared import lives_apart
from polyc.verify.windows import along, clash, same_place


def text_faults(program: Program, region: Region, body: tuple[c.Stmt, ...], guard: c.Expr | None) -> list[Fault]:
    """What is wrong with the printed text; empty means that it is shown to be right. Raises NotComparable.

    `body`: the printed statements with their notes; `guard`: the condition under which they run.
    """
    if program.padded:
        raise NotComparable("its tiles run whole at the border of the iteration space")
    if any(buffer.places is not None for buffer in program.buffers.values()):
        raise NotComparable("a scalar has a place for each iteration of a loop")
    faults = pragma_faults(program, body) + storage_faults(body)
    if faults:
        return faults
    read = _Text(program, read_again(program, region, body, guard))
    foreign = read.sort()
    return [foreign] if foreign is not None else read.faults()


# --- its statements and the region's ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """The text of one statement of the program."""

    statement: Statement
    note: Statement
    run: Run
    """Of the note: where and when the part runs."""
    texts: list[Statement] = field(default_factory=list)
    pairs: list[tuple[c.ArrayRef, c.ArrayRef, Statement]] = field(default_factory=list)
    """A reference of the region, the text's, and the statement of the text that has it."""

    @property
    def to_instance(self) -> isl.Map:
        """`{ t -> S[i] }`."""
        (access,) = (a for a in self.note.accesses if a.kind is not AccessKind.READ)
        name = isl.Id.read_from_str(access.relation.get_ctx(), self.statement.name)
        loops, values = len(self.statement.loops), len(self.statement.values)
        alone = access.relation.project_out(isl.dim_type.out, loops, values) if values else access.relation
        return alone.set_tuple_id(isl.dim_type.out, name)

    def values(self) -> Iterator[tuple[Value, isl.Map]]:
        """The values that the note names after the instance's, each with `{ t -> [v] }`."""
        (access,) = (a for a in self.note.accesses if a.kind is not AccessKind.READ)
        plain = access.relation.reset_tuple_id(isl.dim_type.out)
        for position, value in enumerate(self.statement.values, len(self.statement.loops)):
            rest = plain.dim(isl.dim_type.out) - position - 1
            one = plain.project_out(isl.dim_type.out, position + 1, rest)
            yield value, one.project_out(isl.dim_type.out, 0, position)


@dataclass(slots=True)
class _Local:
    """A local array of the text."""

    array: Array
    run: Run
    """Of the note after its declaration."""

    @property
    def depth(self) -> int:
        return len(_members(self.run))


class _Text:
    """The text's statements, sorted by what they stand for."""

    def __init__(self, program: Program, scop: Scop) -> None:
        self.program = program
        self.scop = scop
        self.parts: list[_Part] = []
        self.locals: dict[str, _Local] = {}
        self.loops: list[tuple[str, Run, set[str]]] = []
        """Kind, place of the note, and arrays that are reduced into, of each loop with a pragma."""
        self.runs = {run.statement: run for run in runs(self.scop.tree)}

    def sort(self) -> Fault | None:
        """Find what each statement of the text stands for; a fault where one stands for nothing."""
        known = self.program.scop.known
        if not known.is_subset(self.scop.known):
            raise NotComparable("it makes assumptions of its own on the sizes")
        part: _Part | None = None
        for item in self.scop.statements.values():
            kind, name = self.note_of(item)
            run = self.runs[item.name]
            if kind == "at":
                part = _Part(self.program.statements[name], item, run)
                self.parts.append(part)
            elif kind == "end":
                part = None
            elif kind == "declared":
                (read,) = (a for a in item.accesses if a.kind is AccessKind.READ)
                self.locals[read.array] = _Local(self.scop.arrays[read.array], run)
            elif kind == "reduced":
                self.loops[-1][2].update(a.array for a in item.accesses if a.kind is AccessKind.READ)
            elif kind:
                self.loops.append((kind, run, set()))
            elif part is not None:
                part.texts.append(item)
            elif any(self.scop.arrays[a.array].storage is not Storage.REGION for a in item.accesses if _writes(a)):
                return Fault("text", "a statement of the text belongs to none of the region", item.text)
        for part in self.parts:
            other = self.match(part)
            plain = all(isinstance(item, c.ExprStmt) for item in flat(part.statement.body))
            if other is not None and plain and not part.statement.opaque:
                return Fault("text", other, part.statement.text)
            if other is not None:
                raise NotComparable(other)
        return None

    def note_of(self, item: Statement) -> tuple[str, str]:
        """The kind of a note and the statement it names; "" for a statement of the text."""
        body = item.body
        if isinstance(body, c.ExprStmt) and isinstance(body.expr, c.Assign):
            target = body.expr.target
            if isinstance(target, c.ArrayRef):
                name = self.scop.arrays[target.array].c_name
                if name.startswith(NOTED):
                    kind, _, rest = name.removeprefix(NOTED).partition("_")
                    return kind, rest
        return "", ""

    def match(self, part: _Part) -> str | None:
        """(1): the part's text is its statement's; collects the references that stand for each other.

        What differs otherwise. Opaque statements, and those for the value of a variable after its loop, have conditions
        and loops: the frontend may read them in another form.
        """
        wanted = list(flat(part.statement.body))
        found = [(simple, item) for item in part.texts for simple in flat(item.body)]
        if len(wanted) != len(found):
            return f"{part.statement.name} is read as other statements"
        (place,) = (n for n in c.walk(part.note.body) if isinstance(n, c.ArrayRef) and n.array == self.noted(part))
        names = (*part.statement.loops, *(value.name for value in part.statement.values))
        values = {name: bare(value) for name, value in zip(names, place.subscripts, strict=True)}
        for then, (now, item) in zip(wanted, found, strict=True):
            if not self.same(then, now, part, item, values):
                return f"the text of {part.statement.name} is read in another form"
        return None

    def noted(self, part: _Part) -> str:
        """The variable that the part's note assigns."""
        (written,) = (a.array for a in part.note.accesses if _writes(a))
        return written

    def same(self, then: c.Node, now: c.Node, part: _Part, item: Statement, values: dict[str, c.Node]) -> bool:
        if isinstance(then, c.Name) and then.name in values:
            return bare(now) == values[then.name]
        for parameter in self.program.scop.parameters:
            if then == parameter.expr:
                return bare(now) in (c.Name(plain_name(parameter)), parameter.expr) or self.is_variable(now, parameter)
        if isinstance(then, c.Block) or isinstance(now, c.Block):
            two = list(flat(then)), list(flat(now))  # type: ignore[arg-type]
            return len(two[0]) == len(two[1]) and all(
                self.same(a, b, part, item, values) for a, b in zip(*two, strict=True)
            )
        if isinstance(then, c.Name) and isinstance(now, c.Name) and then != now:
            # A variable of the statement's own, which the frontend may name otherwise.
            fresh = now not in values.values() and now.name not in {p.name for p in self.scop.parameters}
            values[then.name] = now
            return fresh
        if isinstance(then, c.Decl) and isinstance(now, c.Decl) and then.name != now.name:
            # The same: from here on the statement's name is that of its own variable.
            if c.Name(now.name) in values.values() or now.name in {p.name for p in self.scop.parameters}:
                return False
            values[then.name] = c.Name(now.name)
            then = replace(then, name=now.name)
        if isinstance(then, c.ArrayRef) and isinstance(now, c.Name):
            return not then.subscripts and self.program.scop.arrays[then.array].c_name == now.name
        if type(then) is not type(now):
            return False
        if isinstance(then, c.ArrayRef) and isinstance(now, c.ArrayRef):
            part.pairs.append((then, now, item))
            return self.same_place(then, now, part, item, values)
        for one in fields(then):
            if one.name in ("span", "ref"):
                continue
            a, b = getattr(then, one.name), getattr(now, one.name)
            if isinstance(a, tuple) and isinstance(b, tuple):
                if len(a) != len(b) or not all(self.same(x, y, part, item, values) for x, y in zip(a, b, strict=True)):
                    return False
            elif isinstance(a, str | bool | int) or a is None or b is None:
                if a != b:
                    return False
            elif not self.same(a, b, part, item, values):
                return False
        return True

    def same_place(
        self, then: c.ArrayRef, now: c.ArrayRef, part: _Part, item: Statement, values: dict[str, c.Node]
    ) -> bool:
        """Whether subscripts are alike as far as relations do not show it (`reference_faults`, `local_faults`)."""
        wanted, printed = _placed(part.statement, then), _placed(item, now)
        if wanted is not None and printed is not None and wanted.exact and printed.exact:
            return True
        pairs = list(zip(then.subscripts, now.subscripts, strict=False))
        if len(then.subscripts) != len(now.subscripts):
            if self.program.scop.arrays[then.array].flat:
                raise NotComparable(f"a subscript of {now.array} is divided into dimensions in another way")
            return False
        # In a local array, what depends on data is there as it was written; the rest is a matter of relations.
        known = wanted is not None and printed is not None and wanted.loose == printed.loose
        if known and wanted is not None and self.local_of(now) is not None:
            pairs = [pairs[d] for d in wanted.loose]
        return all(self.same(a, b, part, item, values) for a, b in pairs)

    def is_variable(self, now: c.Node, parameter: Parameter) -> bool:
        """Whether the text reads a parameter as any other variable: no bound and no subscript of it has one."""
        if not isinstance(now, c.ArrayRef) or now.subscripts:
            return False
        array = self.scop.arrays[now.array]
        return array.storage is not Storage.REGION and array.c_name == plain_name(parameter)

    # --- what has to hold

    def faults(self) -> list[Fault]:
        faults = [fault for part in self.parts for fault in self.place_faults(part)]
        if faults:
            return faults  # the flow would be that of other instances
        faults = [f for part in self.parts for f in (*self.value_faults(part), *self.reference_faults(part))]
        faults += self.local_faults()
        if faults:
            return faults
        expanded = self.expanded()
        return dataflow_faults(self.text_program(), expanded) + self.race_faults(expanded)

    def place_faults(self, part: _Part) -> list[Fault]:
        """Instances that the region does not have, or that run where the model does not hold."""
        scop, name = self.program.scop, part.statement.name
        to_instance = part.to_instance
        if not to_instance.is_single_valued():
            raise NotComparable(f"the instances of {name} are not affine")
        if not to_instance.domain().is_equal(part.run.instances):
            raise NotComparable(f"the instances of {name} are not affine everywhere")
        found: list[Fault] = []
        extra = at_sizes(to_instance, scop.known).subtract_range(part.statement.domain)
        if not extra.is_empty():
            found.append(Fault("text", f"the text runs an instance of {name} that is none", str(extra.sample())))
        outside = at_sizes(part.run.instances, scop.context).params().subtract(scop.known.params())
        if not outside.is_empty():
            found.append(Fault("text", "the condition around the text is too weak", str(outside.sample())))
        return found

    def value_faults(self, part: _Part) -> Iterator[Fault]:
        """The loop variables of what was inlined have the values that the text computes for them."""
        for value, printed in part.values():
            if not printed.is_single_valued():
                raise NotComparable(f"a value that {part.statement.name} computes is not affine")
            known = self.program.scop.known
            wanted = at_sizes(part.to_instance.apply_range(value.relation), known)
            if not wanted.is_subset(printed):
                message = f"a producer in {part.statement.name} is computed for another iteration"
                yield Fault("text", message, str(wanted.subtract(printed).sample()))

    def reference_faults(self, part: _Part) -> list[Fault]:
        """(2), for the references that go to the region's own arrays."""
        found: list[Fault] = []
        for then, now, item in part.pairs:
            if self.local_of(now) is not None:
                continue
            if self.program.scop.arrays[then.array].c_name != self.scop.arrays[now.array].c_name:
                found.append(Fault("text", f"{part.statement.name} uses {now.array} for {then.array}", ""))
                continue
            pair = self.pair(part, then, now, item)
            if pair is None or pair[2]:
                continue  # as it was written
            wanted, printed = (relation.reset_tuple_id(isl.dim_type.out) for relation in pair[:2])
            if not wanted.is_subset(printed):
                message = f"a reference of {part.statement.name} to {then.array} touches another element"
                found.append(Fault("text", message, str(wanted.subtract(printed).sample())))
        return found

    def pair(
        self, part: _Part, then: c.ArrayRef, now: c.ArrayRef, item: Statement
    ) -> tuple[isl.Map, isl.Map, tuple[int, ...]] | None:
        """`{ t -> A[x] }` by the region, and as printed, at the sizes that can be; and which subscripts depend on data
        (`same` has found these alike)."""
        one, other = _placed(part.statement, then), _placed(item, now)
        if one is None or other is None or one.loose != other.loose:
            return None
        known = self.program.scop.known
        wanted = at_sizes(part.to_instance.apply_range(one.relation), known)
        printed = other.relation.set_tuple_id(isl.dim_type.in_, part.run.instances.get_tuple_id())
        return wanted, at_sizes(printed, known), one.loose

    def local_faults(self) -> list[Fault]:
        """(3), for every local array and each array that it stands for; several are one after the other there."""
        users: dict[str, dict[str, list[_Part]]] = {}
        for part in self.parts:
            for then, now, _ in part.pairs:
                if self.local_of(now) is not None:
                    parts = users.setdefault(now.array, {}).setdefault(then.array, [])
                    if not parts or parts[-1] is not part:
                        parts.append(part)
        found: list[Fault] = []
        for key, local in self.locals.items():
            for array, parts in users.get(key, {}).items():
                found += self.cell_faults(key, local, array, parts)
            for one, two in combinations(users.get(key, {}).items(), 2):
                above, known = len(local.run.path.steps) - 1, self.program.scop.known
                runs_of = [part.run for part in one[1]], [part.run for part in two[1]]
                if not lives_apart(*runs_of, above, local.depth, known):
                    message = f"{local.array.c_name} stands for several arrays at once"
                    found.append(Fault("text", message, f"{one[0]}, {two[0]}"))
        return found

    def cell_faults(self, key: str, local: _Local, array: str, parts: list[_Part]) -> list[Fault]:
        """(3), for a local array where it stands for one of the region's."""
        found: list[Fault] = []
        stands: isl.Map | None = None
        every: isl.Map | None = None
        """What the first reference says of R, for all elements: most others agree, which is simple to see."""
        window = self.window_of(local, array)
        if window is not None:
            every = self.around(key, local, array, parts)
        for part in parts:
            for then, now, item in part.pairs:
                if (now.array, then.array) != (key, array):
                    continue
                self.inside(part, local)
                pair = self.pair(part, then, now, item)
                if pair is None:
                    if self.scop.arrays[key].rank:
                        raise NotComparable(f"a reference to {local.array.c_name} is not affine")
                    continue
                loose = pair[2]
                found += self.missing(local, *pair) if loose else []
                if not pair[0].domain().is_subset(pair[1].domain()):
                    raise NotComparable(f"a reference to {local.array.c_name} is read in another form")
                found += self.outside(local, pair[1].intersect_domain(self.defined(then.array, pair[0])))
                life = part.run.prefix(local.depth)
                wanted, printed = (life.range_product(relation).flatten_range() for relation in pair[:2])
                wanted, printed = (m.reset_tuple_id(isl.dim_type.out) for m in (wanted, printed))
                if not loose and every is not None and wanted.apply_range(every).is_subset(printed):
                    continue
                here = wanted.reverse().apply_range(printed)
                for d in loose:  # the same number in both
                    place = life.dim(isl.dim_type.out) + d
                    here = here.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
                stands = here if stands is None else stands.union(here)
                every = every or (_one_to_one(here) if window is None else None)
        if every is not None:
            stands = every if stands is None else stands.union(every)
        if stands is None or (stands.is_single_valued() and stands.is_injective()):
            return found
        if window is None or not (stands.is_single_valued() and self.slides(local, array, window, parts, stands)):
            message = f"two elements that live at once share one of {local.array.c_name}, or one has two"
            found.append(Fault("text", message, str(stands.sample())))
        return found

    def around(self, key: str, local: _Local, array: str, parts: list[_Part]) -> isl.Map | None:
        """R of a circular array, `{ [o, x] -> [o, (x - l(o)) mod M] }`, if one expression is that for all references:
        it is found by one that has to go around."""
        pairs: list[tuple[isl.Map, isl.Map]] = []
        for part in parts:
            for then, now, item in part.pairs:
                pair = self.pair(part, then, now, item) if (now.array, then.array) == (key, array) else None
                if pair is None or pair[2]:
                    continue
                life = part.run.prefix(local.depth)
                wanted, printed = (life.range_product(m).flatten_range() for m in pair[:2])
                pairs.append((wanted.reset_tuple_id(isl.dim_type.out), printed.reset_tuple_id(isl.dim_type.out)))
        for wanted, printed in pairs:
            wide = everywhere(wanted.reverse().apply_range(printed))
            if wide is None or wide.is_injective():
                continue
            if all(one.apply_range(wide).is_subset(other) for one, other in pairs):
                return wide
        return None

    def window_of(self, local: _Local, array: str) -> Buffer | None:
        """The buffer of the program, if it is circular; what the text does is looked at."""
        named = [b for b in self.program.buffers.values() if (b.name, b.array) == (local.array.c_name, array)]
        return named[0] if len(named) == 1 and named[0].window is not None else None

    def slides(self, local: _Local, array: str, window: Buffer, parts: list[_Part], stands: isl.Map) -> bool:
        """Whether elements that share a place of a circular array are never alive at once (`verify/windows.py`).

        stands: `{ [o, x] -> [o, place] }`
        """
        d = window.window
        assert d is not None
        extent = local.array.extents[window.order.index(d) if window.order else d]
        size = None if extent is None else constant_of(extent)
        if size is None or self.in_pragma(local, parts):
            return False
        rank = stands.dim(isl.dim_type.in_)
        alike = same_place(stands.get_ctx(), rank, local.depth + d, size).reset_tuple_id(isl.dim_type.in_)
        uses = []
        touched: isl.Set | None = None
        for part in parts:
            for then, now, item in part.pairs:
                pair = (
                    self.pair(part, then, now, item) if (now.array, then.array) == (local.array.name, array) else None
                )
                if pair is not None:
                    uses.append((part.run, along(pair[0], d)))
                    cells = part.run.prefix(local.depth).range_product(pair[0]).flatten_range().range()
                    cells = cells.reset_tuple_id()
                    touched = cells if touched is None else touched.union(cells)
        if touched is None:
            return False
        pairs = stands.apply_range(stands.reverse())
        alike = alike.union(isl.Map.identity(pairs.get_space()))
        if not pairs.is_subset(alike):  # of what is touched: a dimension of one element has its place whatever it is
            pairs = pairs.intersect_domain(touched).intersect_range(touched)
        if not pairs.is_subset(alike):
            return False
        return not clash(uses, local.depth, size, self.program.scop.known)

    def in_pragma(self, local: _Local, parts: list[_Part]) -> bool:
        """Whether the loop right below the declaration does not run in order, or does not stand around all parts."""
        for part in parts:
            members = _members(part.run)
            if len(members) <= local.depth:
                return True
            if any(_members(note)[-1] is members[local.depth] for _, note, _ in self.loops):
                return True
        return False

    def inside(self, part: _Part, local: _Local) -> None:
        """The part stands where the local array is declared: C says so, the frontend's tree has to agree."""
        if _members(part.run)[: local.depth] != _members(local.run):
            raise NotComparable(f"{part.statement.name} stands outside of the loops of {local.array.c_name}")

    def defined(self, array: str, wanted: isl.Map) -> isl.Set:
        """The instances whose reference stays inside the array as it was written: C says nothing of others."""
        return wanted.intersect_range(_box(wanted.get_space().range(), self.program.scop.arrays[array])).domain()

    def outside(self, local: _Local, printed: isl.Map) -> list[Fault]:
        if any(extent is None for extent in local.array.extents):
            raise NotComparable(f"the size of {local.array.c_name} is not affine")
        # Not of the range: without the instances, isl may take minutes for whether a set with remainders is empty.
        beyond = printed.subtract_range(_box(printed.get_space().range(), local.array))
        if beyond.is_empty():
            return []
        return [Fault("text", f"{local.array.c_name} is too small", str(beyond.sample()))]

    def missing(self, local: _Local, wanted: isl.Map, printed: isl.Map, loose: tuple[int, ...]) -> list[Fault]:
        """Cells that a reference may touch for some data, and that the local array has no place for."""
        rank = wanted.dim(isl.dim_type.out)
        pairs = wanted.range_product(printed).flatten_range()
        for d in loose:
            pairs = pairs.equate(isl.dim_type.out, d, isl.dim_type.out, rank + d)
        there = pairs.project_out(isl.dim_type.out, rank, rank)
        beyond = wanted.reset_tuple_id(isl.dim_type.out).subtract(there)
        if beyond.is_empty():
            return []
        return [Fault("text", f"{local.array.c_name} is too small", str(beyond.sample()))]

    def local_of(self, reference: c.ArrayRef) -> _Local | None:
        return self.locals.get(reference.array)

    def expanded(self) -> Expanded:
        """The text's instances with the region's accesses, a local array's cells apart for each of its lives."""
        itself = self.declared_again()
        start = empty_map(self.program.scop.domain)
        by_kind = dict.fromkeys(AccessKind, start)
        contraction = start
        per_run: list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]] = []
        for part in self.parts:
            contraction = contraction.union(isl.UnionMap.from_map(part.to_instance))
            one: list[tuple[Access, isl.Map]] = []
            inside: list[tuple[_Local, str]] = []
            for access in part.statement.accesses:
                relation = part.to_instance.apply_range(access.relation)
                local = self.storage(part, access)
                if local is not None and local.array.name not in itself:
                    inside.append((local, access.array))
                    name = isl.Id.read_from_str(relation.get_ctx(), _cells(local, access.array))
                    life = part.run.prefix(local.depth)
                    relation = life.range_product(relation).flatten_range().set_tuple_id(isl.dim_type.out, name)
                by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(relation))
                one.append((access, relation))
            path = _marked(part.run.path, inside)
            run = replace(part.run, statement=part.statement.name, contraction=part.to_instance, path=path)
            per_run.append((run, tuple(one)))
        accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
        found = [run for run, _ in per_run]
        return Expanded(tuple(found), order_map(found), accesses, contraction, tuple(per_run))

    def declared_again(self) -> set[str]:
        """Local arrays that are the region's own: declared once, around everything, as the model has it.

        What such an array holds at first, nobody wrote; the model calls it the array's value from before the region.
        """
        users: dict[str, set[str]] = {}
        for then, now, _ in (pair for part in self.parts for pair in part.pairs):
            users.setdefault(then.array, set()).add(now.array)
        return {
            key
            for name, keys in users.items()
            for key in keys
            if len(keys) == 1
            and key in self.locals
            and self.locals[key].depth == 0
            and self.program.scop.arrays[name].storage is Storage.REGION
        }

    def storage(self, part: _Part, access: Access) -> _Local | None:
        """The local array that the text uses for an access."""
        by_ref = {now.array for then, now, _ in part.pairs if access.ref and then.ref == access.ref}
        by_name = {now.array for then, now, _ in part.pairs if then.array == access.array}
        used = by_ref or by_name
        if len(used) > 1:
            raise NotComparable(f"{part.statement.name} uses several arrays for {access.array}")
        return self.locals.get(next(iter(used), ""))

    def text_program(self) -> Program:
        buffers = {}
        panels = [b for b in self.program.buffers.values() if is_panel(self.program, b)]
        ordered = {b.name: b.order for b in panels}
        for part in self.parts:
            for then, now, _ in part.pairs:
                local = self.local_of(now)
                if local is not None:
                    key, name = _cells(local, then.array), local.array.c_name
                    window = self.window_of(local, then.array)
                    buffers[key] = Buffer(
                        key,
                        name,
                        then.array,
                        None,
                        local.depth,
                        (),
                        "private",
                        frozenset(),
                        order=ordered.get(name, ()),
                        window=None if window is None else window.window,
                    )
        return replace(self.program, buffers=buffers)

    def race_faults(self, expanded: Expanded) -> list[Fault]:
        """(5)."""
        found: list[Fault] = []
        for kind, note, reduced in self.loops:
            member = _members(note)[-1]
            position = note.path.steps.index(member)
            names = {self.scop.arrays[name].c_name for name in reduced}
            skipped = {name for name, array in self.program.scop.arrays.items() if array.c_name in names}
            below_it = [
                (run, [(a, m) for a, m in accesses if a.array not in skipped])
                for run, accesses in expanded.per_run
                if len(run.path.steps) > position and run.path.steps[position] is member
            ]
            for array, witness in carried_by(below_it, position, self.program.scop):
                message = f"the {kind} loop of the text carries a dependence on {array}"
                found.append(Fault("race", message, witness))
        return found


def _members(run: Run) -> list[Member]:
    return [step for step in run.path.steps if isinstance(step, Member)]


def _marked(path: Path, inside: list[tuple[_Local, str]]) -> Path:
    """The path with a mark for each local array in whose block it ends, as the tree has where buffers are declared."""
    for local, array in inside:
        above = len(local.run.path.steps) - 1
        path = replace(
            path,
            marks=(*path.marks, Mark("allocate", LEAF, names=(_cells(local, array),))),
            mark_depths=(*path.mark_depths, local.depth),
            mark_steps=(*path.mark_steps, above),
        )
    return path


def _cells(local: _Local, array: str) -> str:
    """What the elements of a local array are called while it stands for an array of the region."""
    return f"{local.array.name}_text_{array}"


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _placed(item: Statement, reference: c.ArrayRef) -> Access | None:
    for access in item.accesses:
        if access.ref == reference.ref and access.ref and access.placed:
            return access
    return None


def _box(space: isl.Space, array: Array) -> isl.Set:
    """The cells below every extent that is known."""
    box = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        if extent is not None:
            box = box.intersect(below(space, position, extent.project_domain_on_params()))
    return box


def _one_to_one(relation: isl.Map) -> isl.Map | None:
    """An affine function without its domain, if it is one-to-one."""
    wide = everywhere(relation)
    return wide if wide is not None and wide.is_injective() else None
