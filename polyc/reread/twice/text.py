"""What the statements of a printed text stand for: the notes beside them, and the region's references.

math: (1) of `compare.py`: the text of t is that of c(t), with loop variables replaced by their values at c(t). With it
      come the references that stand for each other, of which the other modules show where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import islpy as isl

from polyc.analysis.order import Run, runs
from polyc.codegen.instances import NOTED
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Array, Parameter, Scop, Statement, Storage, Value
from polyc.model.tree import Member
from polyc.poly import at_sizes, function_of
from polyc.reread.nodes import bare, flat
from polyc.reread.twice.program import NotComparable
from polyc.runtime.csource import plain_name
from polyc.verify.fault import Fault

Loose = tuple[tuple[int, int], ...]
"""Subscripts of the region's reference and of the text's that depend on data, and are the same number."""


@dataclass(eq=False)
class Part:
    """The text of one statement of the program."""

    statement: Statement
    note: Statement
    run: Run
    """Of the note: where and when the part runs."""
    texts: list[Statement] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    _cells: dict[Access, isl.Map] = field(default_factory=dict, init=False, repr=False)
    _lives: dict[int, isl.MultiAff | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def to_instance(self) -> isl.Map:
        """`{ t -> S[i] }`."""
        (access,) = (a for a in self.note.accesses if a.kind is not AccessKind.READ)
        name = isl.Id.read_from_str(access.relation.get_ctx(), self.statement.name)
        loops, values = len(self.statement.loops), len(self.statement.values)
        alone = access.relation.project_out(isl.dim_type.out, loops, values) if values else access.relation
        return alone.set_tuple_id(isl.dim_type.out, name)

    @cached_property
    def instance(self) -> isl.MultiAff | None:
        """The function that `to_instance` is part of, if it is one expression."""
        return function_of(self.to_instance)

    def values(self) -> Iterator[tuple[Value, isl.Map]]:
        """The values that the note names after the instance's, each with `{ t -> [v] }`."""
        (access,) = (a for a in self.note.accesses if a.kind is not AccessKind.READ)
        plain = access.relation.reset_tuple_id(isl.dim_type.out)
        for position, value in enumerate(self.statement.values, len(self.statement.loops)):
            rest = plain.dim(isl.dim_type.out) - position - 1
            one = plain.project_out(isl.dim_type.out, position + 1, rest)
            yield value, one.project_out(isl.dim_type.out, 0, position)

    def cells(self, access: Access) -> isl.Map:
        """`{ t -> A[x] }` of an access of the statement."""
        if access not in self._cells:
            self._cells[access] = self.to_instance.apply_range(access.relation)
        return self._cells[access]

    def life(self, depth: int) -> isl.MultiAff | None:
        """`{ t -> [o] }`, the values of the outermost loops around it, if they are expressions."""
        if depth not in self._lives:
            self._lives[depth] = function_of(self.run.prefix(depth))
        return self._lives[depth]


@dataclass(frozen=True, eq=False)
class Reference:
    """A reference of the region, and the one of the text that stands for it."""

    part: Part
    then: c.ArrayRef
    now: c.ArrayRef
    item: Statement
    """The statement of the text that has it."""


@dataclass(eq=False)
class Places:
    """The elements that a reference and the text's touch, at the sizes that can be.

    Most agree as expressions, which needs no set of them; what is needed of others is computed when it is asked for.
    """

    part: Part
    access: Access
    """Of the region's reference."""
    other: isl.Map
    """`{ t -> B[y] }` of the text's."""
    loose: Loose
    known: isl.Set
    """The sizes."""
    function: isl.MultiAff | None
    """The one expression of the access, in the region, if it has one."""

    @cached_property
    def instances(self) -> isl.Set:
        """The part's, at the sizes."""
        return at_sizes(self.part.run.instances, self.known)

    @cached_property
    def wanted(self) -> isl.Map:
        """`{ t -> A[x] }` by the region."""
        return at_sizes(self.part.cells(self.access), self.known)

    @cached_property
    def printed(self) -> isl.Map:
        """`{ t -> B[y] }` as printed."""
        return at_sizes(self.other, self.known)

    @cached_property
    def wanted_function(self) -> isl.MultiAff | None:
        """The one expression that `wanted` is part of, if it has one."""
        if self.part.instance is None:
            return None
        if self.function is None:  # a border of the picture has its own, and parts that stay inside it
            return function_of(self.part.cells(self.access))
        return self.function.pullback_multi_aff(self.part.instance)

    @cached_property
    def printed_function(self) -> isl.MultiAff | None:
        return function_of(self.other)

    @cached_property
    def covered(self) -> bool:
        """Whether the text's reference is evaluated wherever the region's is."""
        domain, instances = self.other.domain(), self.part.run.instances
        if domain.plain_is_equal(instances) or instances.is_subset(domain):
            return True
        return bool(self.wanted.domain().is_subset(domain))


@dataclass(slots=True)
class Local:
    """A local array of the text."""

    array: Array
    run: Run
    """Of the note after its declaration."""

    @property
    def depth(self) -> int:
        return len(members(self.run))


class Text:
    """The text's statements, sorted by what they stand for."""

    def __init__(self, program: Program, scop: Scop) -> None:
        self.program = program
        self.scop = scop
        self.parts: list[Part] = []
        self.locals: dict[str, Local] = {}
        self.loops: list[tuple[str, Run, set[str]]] = []
        """Kind, place of the note, and arrays that are reduced into, of each loop with a pragma."""
        self.runs = {run.statement: run for run in runs(self.scop.tree)}
        self._placed: dict[Reference, Places | None] = {}
        self._functions: dict[Access, isl.MultiAff | None] = {}

    def sort(self) -> Fault | None:
        """Find what each statement of the text stands for; a fault where one stands for nothing."""
        known = self.program.scop.known
        if not known.is_subset(self.scop.known):
            raise NotComparable("it makes assumptions of its own on the sizes")
        part: Part | None = None
        for item in self.scop.statements.values():
            kind, name = self.note_of(item)
            run = self.runs[item.name]
            if kind == "at":
                part = Part(self.program.statements[name], item, run)
                self.parts.append(part)
            elif kind == "end":
                part = None
            elif kind == "declared":
                (read,) = (a for a in item.accesses if a.kind is AccessKind.READ)
                self.locals[read.array] = Local(self.scop.arrays[read.array], run)
            elif kind == "reduced":
                self.loops[-1][2].update(a.array for a in item.accesses if a.kind is AccessKind.READ)
            elif kind:
                self.loops.append((kind, run, set()))
            elif part is not None:
                part.texts.append(item)
            elif any(self.scop.arrays[a.array].storage is not Storage.REGION for a in item.accesses if writes(a)):
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

    def match(self, part: Part) -> str | None:
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

    def noted(self, part: Part) -> str:
        """The variable that the part's note assigns."""
        (written,) = (a.array for a in part.note.accesses if writes(a))
        return written

    def same(self, then: c.Node, now: c.Node, part: Part, item: Statement, values: dict[str, c.Node]) -> bool:
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
            part.references.append(Reference(part, then, now, item))
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
        self, then: c.ArrayRef, now: c.ArrayRef, part: Part, item: Statement, values: dict[str, c.Node]
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
        if wanted is not None and printed is not None and self.local_of(now) is not None:
            loose = self.loose(then, now, wanted, printed)
            pairs = pairs if loose is None else [(then.subscripts[d], now.subscripts[e]) for d, e in loose]
        return all(self.same(a, b, part, item, values) for a, b in pairs)

    def loose(self, then: c.ArrayRef, now: c.ArrayRef, wanted: Access, printed: Access) -> Loose | None:
        """The subscripts that depend on data, of both; None where they are not at the same places.

        A local array may have its dimensions in another order, which the program's buffer tells. Whether the text does
        so is a matter of relations, as for all subscripts.
        """
        buffer = self.buffer_of(now.array, then.array) if self.local_of(now) is not None else None
        place = {d: e for e, d in enumerate(buffer.order)} if buffer is not None else {}
        pairs = tuple((d, place.get(d, d)) for d in wanted.loose)
        return pairs if tuple(sorted(e for _, e in pairs)) == printed.loose else None

    def is_variable(self, now: c.Node, parameter: Parameter) -> bool:
        """Whether the text reads a parameter as any other variable: no bound and no subscript of it has one."""
        if not isinstance(now, c.ArrayRef) or now.subscripts:
            return False
        array = self.scop.arrays[now.array]
        return array.storage is not Storage.REGION and array.c_name == plain_name(parameter)

    # --- what has to hold
    # --- where references lie

    def places(self, reference: Reference) -> Places | None:
        """What a reference touches; None where that is not known as a relation."""
        if reference not in self._placed:
            self._placed[reference] = self._places(reference)
        return self._placed[reference]

    def _places(self, reference: Reference) -> Places | None:
        part, then, now = reference.part, reference.then, reference.now
        one, other = _placed(part.statement, then), _placed(reference.item, now)
        loose = None if one is None or other is None else self.loose(then, now, one, other)
        if one is None or other is None or loose is None:
            return None
        printed = other.relation.set_tuple_id(isl.dim_type.in_, part.run.instances.get_tuple_id())
        if one not in self._functions:
            self._functions[one] = function_of(one.relation)
        return Places(part, one, printed, loose, self.program.scop.known, self._functions[one])

    def local_of(self, reference: c.ArrayRef) -> Local | None:
        return self.locals.get(reference.array)

    def buffer_of(self, local: str, array: str) -> Buffer | None:
        """The program's buffer that a local array is, where it stands for an array of the region."""
        name = self.locals[local].array.c_name
        named = [b for b in self.program.buffers.values() if (b.name, b.array) == (name, array)]
        return named[0] if len(named) == 1 else None


def members(run: Run) -> list[Member]:
    return [step for step in run.path.steps if isinstance(step, Member)]


def writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _placed(item: Statement, reference: c.ArrayRef) -> Access | None:
    for access in item.accesses:
        if access.ref == reference.ref and access.ref and access.placed:
            return access
    return None
