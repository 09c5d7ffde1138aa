"""Values that some of the loops around them do not change: computed once, in loops of their own before the nest."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.analysis.expressions.straight import changes_nothing
from polyc.frontend.c.state import Region
from polyc.frontend.sets.accesses import READ, WRITE
from polyc.frontend.statements.build import drafts, without_empty
from polyc.frontend.statements.extract import Draft, Item, LoopItem
from polyc.frontend.statements.fission import type_in
from polyc.frontend.statements.flow import without_dead
from polyc.frontend.statements.kept_whole import with_tables_inside
from polyc.frontend.statements.tables import Table, Tables
from polyc.frontend.statements.varying import Nest, is_dear, value_given
from polyc.model import ctree as c
from polyc.poly import project
from polyc.records import dataclass, field, replace


def with_invariants_apart(
    items: list[Item], region: Region, taken: frozenset[str], reachable: frozenset[str] = frozenset()
) -> list[Item]:
    """The items with what some loops of a nest do not change in loops of its own before the nest; the same list where
    there is nothing of that.

    rewrite:  for i for j { s = 0; for k s += a[i][k] * a[i][k]; b[i][j] = f(s, cos(j)); }
              -> for i { t[i] = 0; for k t[i] += a[i][k] * a[i][k]; }  for j u[j] = cos(j);
                 for i for j b[i][j] = f(t[i], u[j]);
    math:     with L the loops around the declaration of s, D those of them that what s is given mentions, in
              subscripts, bounds, and in other such variables: instances of equal D compute equal values, if nothing
              that they read is written in the nest. A table of s keeps its last value, if nobody else reads an
              earlier one; an expression of s also changes with the loops inside of L in which s does
    requires: that it takes a loop, or a function that takes long; a table that is small, or has in each dimension no
              more elements than the nest touches of some array, or, for a function, that has at most `MOST_BYTES` and
              is read `FEWEST_READS` times, which is assumed of sizes
    source:   loop-invariant code motion (Allen and Cocke 1972), of whole loops, and with a table for each value

    taken: names that no new array may have
    reachable: arrays and variables that may change by other names
    """
    found: list[Item] = []
    before = len(region.made)
    for item in items:
        parted = [item]
        if isinstance(item, LoopItem):
            nest = Nest(region, item, reachable)
            parted = Apart(nest, Tables(nest, taken)).parted()
        found += [_with_inner_nests(one, region, taken, reachable) for one in parted]
    return found if len(region.made) > before else items


def _with_inner_nests(root: Item, region: Region, taken: frozenset[str], reachable: frozenset[str]) -> Item:
    """A loop over steps, with what some loops of the nests in it do not change before these nests, in each step."""
    before = len(region.made)

    def below(item: Item, around: tuple[str, ...]) -> Item:
        if not isinstance(item, LoopItem):
            return item
        items: list[Item] = []
        for one in item.items:
            inner = (*around, item.key)
            parted = [one]
            if isinstance(one, LoopItem):
                nest = Nest(region, one, reachable)
                parted = Apart(nest, Tables(nest, taken), frozenset(inner), root).parted_in_steps()
            items += [below(part, inner) for part in parted]
        return replace(item, items=tuple(items))

    found = below(root, ())
    return root if len(region.made) == before else without_dead([found], region)[0]


@dataclass(eq=False)
class Apart:
    """A nest, while what its loops do not change is taken out of it."""

    nest: Nest
    room: Tables
    steps: frozenset[str] = frozenset()
    """The loops around the nest, in each iteration of which it is looked at by itself."""
    outermost: Item | None = None
    """Of these."""
    tables: dict[str, Table] = field(default_factory=dict)
    """Of variables."""
    expressions: list[tuple[c.Expr, isl.Set, Table]] = field(default_factory=list)
    """Those with a table, without labels, and where they are computed."""
    before: list[Item] = field(default_factory=list)
    """What fills the tables."""
    references: int = 0
    """To tables of expressions, so far."""

    @property
    def region(self) -> Region:
        return self.nest.region

    def producers(self, read: Iterable[str]) -> set[str]:
        """The variables without a table that some are computed of, with these."""
        found, waiting = set[str](), list(read)
        while waiting:
            key = waiting.pop()
            if key in self.nest.writers and key not in found and key not in self.tables:
                found.add(key)
                waiting += [raw.array for d in self.nest.writers[key] for raw in d.accesses if raw.kind is READ]
        return found

    def parted(self) -> list[Item]:
        """The nest with what goes before it; alone, where nothing does."""
        if any(draft.exit_of for draft in self.nest.inside) or not self.nest.is_promising():
            return [self.nest.root]
        self.nest.learn()
        for key in self.nest.ordered():
            self.tabulate(key)
        rest: list[Item] = [self.without_expressions(self.nest.root)]
        if not self.before:
            return [self.nest.root]
        rest = without_empty(rest, lambda d: None if self.is_gone(d) else self.taking(d))
        return [*self.before, *without_dead(rest, self.region)]

    def parted_in_steps(self) -> list[Item]:
        """The same for expressions in a nest below loops over steps, which change what these read."""
        inside = self.nest.inside
        if any(draft.exit_of for draft in inside) or not any(is_dear(draft.body) for draft in inside):
            return [self.nest.root]
        self.nest.learn()
        rest = self.without_expressions(self.nest.root)
        return [*self.before, rest]

    def is_of_step(self, node: c.Expr, draft: Draft) -> bool:
        """Whether an expression reads what all steps share and some write: so they run one after the other, and a table
        in each of them holds none back; or each has its own of it, and of the table."""
        assert self.outermost is not None
        written = {r.array for d in drafts((self.outermost,)) for r in d.accesses if r.kind is not READ}
        refs = {one.ref for one in c.walk(node) if isinstance(one, c.ArrayRef)}
        return any(
            raw.array in written
            and raw.relation.intersect_params(draft.env.domain.params()).is_equal(
                project(raw.relation, self.steps).intersect_params(draft.env.domain.params())
            )
            for raw in draft.accesses
            if raw.ref in refs
        )

    def tabulate(self, key: str) -> None:
        """Give a variable a table, where it is worth one."""
        own, around = self.nest.writers[key], self.region.declared[key]
        group = self.producers([key])
        dear = any(is_dear(d.body) for one in group for d in self.nest.writers[one])
        long = any(len(d.env.dims) > len(around) for d in own)
        if len(self.nest.moves[key]) == len(around) or not (long or dear):
            return
        if self.is_repeated(key) or self.nest.is_read_between(key):
            return
        loops = tuple(loop for loop in around if loop in self.nest.moves[key])
        element = self.region.scope.symbols[key].shape.element
        dropped = frozenset(around) - self.nest.moves[key]
        table = self.room.made(
            f"{key}_of", element, loops, [d.env.domain for d in own], dropped if dear else frozenset()
        )
        if table is not None:
            self.tables[key] = table
            self.before += self.filling(group, dropped, own[0])
            self.told(key, own[0], dropped)

    def is_repeated(self, key: str) -> bool:
        """Whether another variable is given the same value, as in both turns of two arrays: one table of the expression
        is for both."""
        values = {one: [c.unlabelled(value_given(d, one)) for d in own] for one, own in self.nest.writers.items()}
        return len(values[key]) == 1 and list(values.values()).count(values[key]) > 1

    def is_gone(self, draft: Draft) -> bool:
        """Whether a statement gives a variable a value that has a table."""
        return any(raw.kind is not READ and raw.array in self.tables for raw in draft.accesses)

    def told(self, key: str, draft: Draft, free: Iterable[str]) -> None:
        symbol = self.region.symbol(key)
        name = f"'{symbol.c_name}'" if symbol is not None else key
        loops = [one.c_name if (one := self.region.symbol(k)) is not None else k for k in draft.env.dims if k in free]
        message = f"{name} does not change with {' and '.join(loops)}: it is computed once, before the nest"
        self.region.note("computed-once", message, draft.span)

    # --- new loops

    def filling(self, group: set[str], dropped: frozenset[str], place: Draft, made: Draft | None = None) -> list[Item]:
        """The loops that give a group of variables their values, without some of those around a statement. Others may
        have the same variables.

        made: a statement beside them, in the place of this one
        """
        own = {id(d) for key in group for d in self.nest.writers[key]}

        def build(items: Iterable[Item], gone: frozenset[str] = frozenset()) -> list[Item]:
            found: list[Item] = []
            for item in items:
                if isinstance(item, LoopItem):
                    drops = item.key in dropped and place in drafts(item.items)
                    inner = build(item.items, gone | {item.key} if drops else gone)
                    if drops:
                        found += inner
                    elif inner:
                        found.append(replace(item, items=tuple(inner)))
                elif item is place and made is not None:
                    found.append(self.taking(made))
                elif id(item) in own:
                    taken = self.taking(_projected(item, gone))
                    found.append(replace(taken) if taken is item else taken)  # it may stay in the nest as well
            return found

        return build([self.nest.root])

    def taking(self, draft: Draft) -> Draft:
        """A statement with tables in the places of variables."""
        met = {raw.array for raw in draft.accesses} & self.tables.keys()
        if not met:
            return draft

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array in met:
                table = self.tables[node.array]
                return replace(node, array=table.name, subscripts=table.subscripts)
            return None

        accesses = tuple(
            self.tables[raw.array].raw(draft.env.domain, raw.kind, raw.ref) if raw.array in met else raw
            for raw in draft.accesses
        )
        return replace(draft, accesses=accesses, body=c.rewrite(draft.body, change))

    # --- expressions

    def without_expressions(self, item: Item) -> Item:
        """The loops with tables in the places of expressions that take long."""
        if isinstance(item, LoopItem):
            return replace(item, items=tuple(map(self.without_expressions, item.items)))
        match item.body:
            case c.ExprStmt(expr=c.Assign(value=value)) if not self.is_gone(item):
                return self.with_tables(item, value, item)
            case c.ExprStmt():
                return item
        kept = self.steps or not item.opaque or not is_dear(item.body)
        return item if kept else with_tables_inside(self, item)

    def with_tables(self, draft: Draft, node: c.Expr, first: Draft) -> Draft:
        """A statement with tables in the places of the largest parts of an expression that take long, that a loop
        around does not change, and that a table has room for. first: the statement without any"""
        if not is_dear(node):
            return draft
        mentioned = self.nest.mentioned(node, first)
        worth = isinstance(node, c.Call | c.Binary | c.Unary) and changes_nothing(node)
        repeated = frozenset(draft.env.dims) - mentioned - self.steps
        if worth and repeated and mentioned - self.steps and self.is_in_place(node, draft, mentioned):
            return draft
        if worth and repeated and (not self.steps or self.is_of_step(node, draft)):
            table = self.table_of(node, draft, mentioned, first)
            if table is not None:
                return self.with_table(draft, node, table)
        for inner in _evaluated(node):
            draft = self.with_tables(draft, inner, first)
        return draft

    def is_in_place(self, node: c.Expr, draft: Draft, mentioned: frozenset[str]) -> bool:
        """Whether an expression is better computed in each iteration of the outer loops, before the inner ones that do
        not change it (`parted_in_steps`): variables of these iterations are in it, which would be computed twice."""
        refs = {one.ref for one in c.walk(node) if isinstance(one, c.ArrayRef)}
        read = [raw.array for raw in draft.accesses if raw.ref in refs]
        around = mentioned | self.steps
        return bool(self.producers(read)) and around == set(draft.env.dims[: len(around)])

    def table_of(self, expr: c.Expr, draft: Draft, mentioned: frozenset[str], first: Draft) -> Table | None:
        """The table of an expression in a statement, filled before the nest; None where there is no room for one."""
        loops = tuple(loop for loop in draft.env.dims if loop in mentioned - self.steps)
        dropped = frozenset(draft.env.dims) - mentioned - self.steps
        own, plain = _projected(draft, dropped), c.unlabelled(expr)
        refs = {node.ref for node in c.walk(expr) if isinstance(node, c.ArrayRef)}
        needed = tuple(raw for raw in own.accesses if raw.ref in refs)
        last = all(self.nest.is_last(raw.array, first) for raw in needed)
        for known, where, table in self.expressions:
            if known == plain and own.env.domain.is_subset(where) and last:
                return table
        element = type_in(self.region, expr)
        found = None if element is None else self.room.made("table", element, loops, [draft.env.domain], dropped)
        if found is None:
            return None
        store = c.ExprStmt(c.Assign("=", c.ArrayRef(found.name, found.subscripts, "e0"), expr), draft.span)
        opaque = own.opaque and not all(raw.exact for raw in needed)
        stored = found.raw(own.env.domain, WRITE, "e0")
        made = replace(own, body=store, accesses=(*needed, stored), opaque=opaque)
        if last:
            self.expressions.append((plain, own.env.domain, found))
        self.before += self.filling(self.producers(raw.array for raw in needed), dropped, first, made)
        return found

    def note(self, draft: Draft) -> None:
        message = "a part of this does not change with all loops around it: it is computed once, before the nest"
        self.region.note("computed-once", message, draft.span)

    def label(self, draft: Draft) -> str:
        """Of a new reference."""
        taken = {raw.ref for raw in draft.accesses}
        self.references += 1
        while f"e{self.references}" in taken:
            self.references += 1
        return f"e{self.references}"

    def with_table(self, draft: Draft, expr: c.Expr, table: Table) -> Draft:
        """A statement with an element of a table in the place of an expression."""
        ref = self.label(draft)
        cell = c.ArrayRef(table.name, table.subscripts, ref)
        after = c.rewrite(draft.body, lambda node: cell if node is expr else None)
        left = {node.ref for node in c.walk(after) if isinstance(node, c.ArrayRef)}
        accesses = tuple(raw for raw in draft.accesses if raw.ref in left)
        self.note(draft)
        return replace(draft, body=after, accesses=(table.raw(draft.env.domain, READ, ref), *accesses))


def _evaluated(node: c.Expr) -> list[c.Expr]:
    """The parts of an expression that are evaluated whenever it is."""
    match node:
        case c.Ternary(condition=condition):
            return [condition]
        case c.Binary(op="&&" | "||", left=left):
            return [left]
        case _:
            return c.children(node)  # type: ignore[return-value]


def _projected(draft: Draft, dropped: Iterable[str]) -> Draft:
    """A statement without some of the loops around it."""
    names = [loop for loop in draft.env.dims if loop in dropped]
    if not names:
        return draft
    domain = project(draft.env.domain, names).coalesce()
    dims = tuple(loop for loop in draft.env.dims if loop not in names)
    accesses = tuple(replace(raw, relation=project(raw.relation, names)) for raw in draft.accesses)
    return replace(draft, env=replace(draft.env, domain=domain, dims=dims), accesses=accesses)


__all__ = ["with_invariants_apart"]
