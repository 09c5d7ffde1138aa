"""What the loops of a nest change: its variables and expressions, with the loops that their values change with."""

from __future__ import annotations

from functools import cached_property, reduce

import islpy as isl

from polyc.analysis.expressions.straight import changes_nothing
from polyc.frontend.c.functions import real_type
from polyc.frontend.c.state import Region
from polyc.frontend.idioms.helpers import is_arithmetic
from polyc.frontend.sets.accesses import READ, WRITE
from polyc.frontend.statements.build import drafts
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.model import ctree as c
from polyc.poly import project
from polyc.records import dataclass, field

_CHEAP = """
sqrt fabs floor ceil trunc rint nearbyint round fmin fmax fma copysign fdim ldexp scalbn scalbln logb nan
"""
CHEAP = frozenset(_CHEAP.split())
"""Functions of `<math.h>` that take no longer than to load a value."""


@dataclass(eq=False)
class Nest:
    region: Region
    root: LoopItem
    reachable: frozenset[str] = frozenset()
    """Arrays and variables that may change by other names."""
    moves: dict[str, frozenset[str]] = field(default_factory=dict)
    """Variables -> the loops around their declaration that their values change with."""

    @property
    def known(self) -> isl.Set:
        """What is known of sizes."""
        return self.region.context.intersect(self.region.assumed).params()

    @cached_property
    def inside(self) -> list[Draft]:
        return drafts((self.root,))

    @cached_property
    def around(self) -> frozenset[str]:
        """All loops of the nest."""
        return frozenset(loop for draft in self.inside for loop in draft.env.variables)

    @cached_property
    def written(self) -> set[str]:
        return {raw.array for draft in self.inside for raw in draft.accesses if raw.kind is not READ}

    @cached_property
    def writers(self) -> dict[str, list[Draft]]:
        """Of the variables that iterations of the nest declare, and plain statements alone give values."""
        found: dict[str, list[Draft]] = {}
        for draft in self.inside:
            for key in {raw.array for raw in draft.accesses if raw.kind is not READ}:
                found.setdefault(key, []).append(draft)
        return {key: own for key, own in found.items() if self.is_plain(key, own)}

    def is_plain(self, key: str, own: list[Draft]) -> bool:
        region = self.region
        around, symbol = region.declared.get(key), region.symbol(key)
        if (
            not around
            or symbol is None
            or region.rank(symbol)
            or not is_arithmetic(symbol.shape.element, region.scope.types)
        ):
            return False
        if key in region.hidden | region.exposed | region.renamed or symbol.volatile:
            return False
        return all(assignment(d, key) is not None and d.env.dims[: len(around)] == around for d in own)

    # --- what loops change

    def mentioned(self, node: c.Node, draft: Draft, own: str = "") -> frozenset[str]:
        """The loops around a statement that the value of an expression in it changes with."""
        dims, found = draft.env.dims, set[str]()
        for one in c.walk(node):
            match one:
                case c.Name(name=name) if name in dims:
                    found.add(name)
                case c.Name(name=name) | c.ArrayRef(array=name) if name != own and not self.is_steady(name):
                    found |= self.moves.get(name, frozenset(dims)) | self.shared(name, draft)
                case c.Call(function=name) if real_type(name) is None and name not in ("abs", "labs"):
                    found |= set(dims)
        return frozenset(found)

    def shared(self, key: str, draft: Draft) -> frozenset[str]:
        """The loops around a statement, inside of the declaration of a variable, that give it other values."""
        mine, found = self.loops_of[id(draft)], set[str]()
        first = len(self.region.declared.get(key, ())) - (len(draft.env.dims) - len(mine))
        for own in self.writers.get(key, ()):
            both = [one for one in self.loops_of[id(own)] if any(one is loop for loop in mine)]
            found |= {loop.key for loop in both[max(first, 0) :]}
        return frozenset(found)

    @cached_property
    def loops_of(self) -> dict[int, tuple[LoopItem, ...]]:
        """The loops of the nest around each of its statements: loops beside each other may have one name."""
        found: dict[int, tuple[LoopItem, ...]] = {}

        def visit(item: Item, around: tuple[LoopItem, ...]) -> None:
            found[id(item)] = around
            if isinstance(item, LoopItem):
                for inner in item.items:
                    visit(inner, (*around, item))

        visit(self.root, ())
        return found

    def is_last(self, key: str, draft: Draft) -> bool:
        """Whether a statement comes behind all those that give a variable a value."""
        before = self.inside[: self.inside.index(draft)]
        return not self.shared(key, draft) and all(own in before for own in self.writers.get(key, ()))

    def is_read_between(self, key: str) -> bool:
        """Whether others read values of a variable that are not the last one, which alone a table keeps."""
        own = self.writers[key]
        readers = (d for d in self.inside if d not in own and any(raw.array == key for raw in d.accesses))
        return not all(self.is_last(key, d) for d in readers)

    def is_steady(self, name: str) -> bool:
        """Whether nothing in the nest writes a variable or an array."""
        return name not in self.written | self.reachable | self.region.exposed | self.region.hidden

    def learn(self) -> None:
        """Find `moves`, from nothing upwards."""
        declared, whole = self.region.declared, set[str]()
        while True:
            self.moves = {key: frozenset(declared[key]) if key in whole else frozenset() for key in self.writers}
            before: dict[str, frozenset[str]] = {}
            while before != self.moves:
                before = dict(self.moves)
                for key, own in self.writers.items():
                    met = reduce(frozenset.union, (self.mentioned(d.body, d, key) for d in own), self.moves[key])
                    self.moves[key] = met & frozenset(declared[key])
            wrong = {key for key in self.writers if key not in whole and not self.is_product(key)}
            if not wrong:
                return
            whole |= wrong

    def is_product(self, key: str) -> bool:
        """Whether the loops that a variable's value does not change with decide nothing of whether and how often it is
        changed."""
        around, own = self.region.declared[key], self.writers[key]
        free = [loop for loop in around if loop not in self.moves[key]]
        if not free:
            return True
        reached = reduce(isl.Set.union, (project(d.env.domain, d.env.dims[len(around) :]) for d in own))
        return all(project(d.env.domain, free).intersect(reached).is_equal(d.env.domain) for d in own)

    def ordered(self) -> list[str]:
        """The variables, each behind those that it is computed of."""
        found: list[str] = []
        seen = set[str]()

        def visit(key: str) -> None:
            if key in self.writers and key not in seen:
                seen.add(key)
                for raw in (raw for draft in self.writers[key] for raw in draft.accesses):
                    visit(raw.array)
                found.append(key)

        for key in self.writers:
            visit(key)
        return found

    def is_promising(self) -> bool:
        """Whether anything in the nest takes long enough for a table."""
        around = self.region.declared
        sums = (len(d.env.dims) > len(around[key]) for key, own in self.writers.items() for d in own)
        return any(is_dear(draft.body) for draft in self.inside) or any(sums)


def is_dear(node: c.Node) -> bool:
    """Whether an expression calls a function that takes long, of anything but constants: compilers fold these."""
    calls = (one for one in c.walk(node) if isinstance(one, c.Call) and _takes_long(one.function))
    return any(isinstance(part, c.Name | c.ArrayRef) for call in calls for part in c.walk(call))


def _takes_long(function: str) -> bool:
    plain = function.removeprefix("__builtin_")
    return real_type(function) is not None and not {plain, plain.removesuffix("f")} & CHEAP


def assignment(draft: Draft, key: str) -> c.Assign | None:
    """What a statement does that gives one variable a value, and does nothing else."""
    if draft.opaque or draft.exit_of or draft.value_of:
        return None
    if any(raw.kind is not READ and (raw.kind is not WRITE or raw.array != key) for raw in draft.accesses):
        return None
    match draft.body:
        case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array, subscripts=()), value=value) as found):
            return found if array == key and changes_nothing(value) else None
    return None


def value_given(draft: Draft, key: str) -> c.Expr:
    """The value that a statement gives a variable, and nothing else does."""
    found = assignment(draft, key)
    assert found is not None
    return found.value
