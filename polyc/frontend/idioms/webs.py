"""Live ranges of scalars: one variable that holds several values in turn becomes a variable for each.

C89 declares a scratch variable once for the whole function. Each of its uses looks like a dependence on the one before:

rewrite:  double s; for (…) { s = e; … s … }           ->  for (…) { double s = e; … s … }
          int k; for (…) { if (c) k = e; else k = f; … }  ->  for (…) { int k; if (c) k = e; else k = f; … }
          a value that nobody reads before the variable has another one is left out
requires: in the block, each path gives the variable a value before it reads it, and nobody reads it behind the block
          before it has another one: it is a web of its own (Muchnick, Advanced Compiler Design, section 16.3.3)
"""

from __future__ import annotations

from collections.abc import Callable

from polyc.analysis.expressions.facts import induction, mentions, writes
from polyc.frontend.c.first_use import Names, Use, first_use, in_sequence
from polyc.frontend.c.functions import has_no_effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace


def with_webs(
    body: c.Block, scope: Scope, is_live: Callable[[Symbol], bool | None]
) -> tuple[c.Block, tuple[Symbol, ...]]:
    """The region with a variable for each web that lies in a block of it, and the variables that had such webs.

    is_live: whether the value of a variable may be read behind the region; None where others may see the variable
    """
    found: list[Symbol] = []
    names = Names()
    changed = frozenset(key for item in body.body if not isinstance(item, c.ExprStmt) for key in writes(item))
    for key in sorted(changed - loop_variables(body)):
        symbol = scope.symbols.get(key)
        if symbol is None or symbol.rank or symbol.volatile or symbol.shape.element.kind not in ("int", "float"):
            continue
        live = None if symbol.node is None else is_live(symbol)
        if live is None:
            continue
        webs = Webs(symbol, scope, names)
        apart = webs.region(body, live)
        alone = len(webs.fresh) == 1 and not symbol.is_integer and not webs.exchanges
        if alone and key not in mentions(apart):
            del scope.symbols[webs.fresh[0]]  # it has been one all along
        elif webs.fresh:
            body = apart if key in mentions(apart) else webs.with_plain_names(apart)
            found.append(symbol)
    return body, tuple(found)


def loop_variables(body: c.Block) -> set[str]:
    """The variables that the head of a loop counts in, whatever else changes them."""
    heads = [induction(node) for node in c.walk(body) if isinstance(node, c.For)]
    return {head.key for head in heads if head is not None}


@dataclass(slots=True)
class Webs:
    """The webs of one variable."""

    symbol: Symbol
    scope: Scope
    names: Names
    fresh: list[str] = field(default_factory=list)
    """The variables of the region in its place."""
    uses: dict[int, tuple[c.Stmt, Use]] = field(default_factory=dict)
    """What is known of statements, by their identity."""
    exchanges: bool = False
    """Whether one of the variables is the third one of an exchange (`choice.py`), for which it has to be alone."""

    def region(self, body: c.Block, live: bool) -> c.Block:
        """The region with the webs of its inner blocks apart.

        What stands in no inner block stays: a declaration there would hide the name from what follows the region.
        """
        behind = self._live_behind(body.body, live)
        items = tuple(self._inside(item, "", after) for item, after in zip(body.body, behind, strict=True))
        return replace(body, body=items) if self.fresh else body

    def with_plain_names(self, body: c.Block) -> c.Block:
        """The region, of which nothing uses the variable itself, with its name for the first of its webs."""
        plain, symbols = self.symbol.key, self.scope.symbols
        for old, new in zip(self.fresh, (plain, *self.fresh), strict=False):
            body = declared_as(body, old, new)
        webs = [symbols[key] for key in self.fresh]
        for key, symbol in zip((plain, *self.fresh), (*webs, self.symbol), strict=True):
            symbol.key, symbols[key] = key, symbol
        return body

    def _block(self, node: c.Block, own: str, live: bool) -> c.Block:
        """A block inside of the region. `own`: what the variable is called there, if it has another name already."""
        key = self.symbol.key
        live = live and not any(is_hole(item, key) for item in node.body)
        node = replace(node, body=self._needed(node.body, live))
        empty = [is_hole(item, key) for item in node.body]
        uses = [Use.NONE if hole else self._use(item) for item, hole in zip(node.body, empty, strict=True)]
        begin = next((n for n, use in enumerate(uses) if use is not Use.NONE), len(uses))
        apart = not live and begin < len(uses) and uses[begin] is Use.KILL and not declares(node.body[begin], key)
        parts: list[c.Stmt] = []
        for position, (item, after) in enumerate(zip(node.body, self._live_behind(node.body, live), strict=True)):
            if apart and empty[position]:
                continue
            value = assigned(item, key) if apart else None
            if value is not None and (self.symbol.is_integer or key not in mentions(value)):
                value = self._renamed(value, own)
                own = self._declared()
                parts.append(c.Decl(self.symbol.shape.element.text, own, (), value, item.span))
                continue
            if apart and position == begin:
                own = self._declared()
                parts.append(c.Decl(self.symbol.shape.element.text, own, (), None, item.span))
            parts.append(self._inside(item, own, after))
        return replace(node, body=tuple(parts))

    def _needed(self, items: tuple[c.Stmt, ...], live: bool) -> tuple[c.Stmt, ...]:
        """The statements of a block without values that nobody reads before the variable has another one, for which
        there would be a variable of their own that compilers warn of."""
        found: list[c.Stmt] = []
        for item in reversed(items):
            value = assigned(item, self.symbol.key)
            if value is None or live or not has_no_effect(value):
                use = self._use(item)
                live = use is Use.READ or (use is Use.NONE and live)
                found.append(item)
        return tuple(found[::-1])

    def _inside(self, node: c.Stmt, own: str, live: bool) -> c.Stmt:
        """A statement with the webs of its blocks apart."""
        key = self.symbol.key
        if key not in self.names.of(node):
            return node
        match node:
            case c.Block():
                return self._block(node, own, live)
            case c.If(then=then, otherwise=otherwise):
                self.exchanges = self.exchanges or is_exchange(then, key)
                then = self._inside(then, own, live)
                other = None if otherwise is None else self._inside(otherwise, own, live)
                if not c.items(then) and not c.items(other) and has_no_effect(node.condition):
                    return c.Block(())
                return replace(node, condition=self._renamed(node.condition, own), then=then, otherwise=other)
            case c.For() | c.While():
                step = node.step if isinstance(node, c.For) else None
                head = (first_use(part, key, self.names) for part in (step, node.condition))
                again = in_sequence([*head, self._use(node.body)])
                body = self._inside(node.body, own, live or again is Use.READ)
                return replace(self._renamed(replace(node, body=c.Block(())), own), body=body)
        return self._renamed(node, own)

    def _live_behind(self, items: tuple[c.Stmt, ...], live: bool) -> list[bool]:
        """For each statement of a block, whether the value that the variable has behind it may be read."""
        found: list[bool] = []
        for item in reversed(items):
            found.append(live)
            use = self._use(item)
            live = use is Use.READ or (use is Use.NONE and live)
        return found[::-1]

    def _use(self, node: c.Stmt) -> Use:
        """What happens to the variable first."""
        if self.symbol.key not in self.names.of(node):
            return Use.NONE
        known = self.uses.get(id(node))
        if known is None:
            known = self.uses[id(node)] = node, first_use(node, self.symbol.key, self.names)
        return known[1]

    def _declared(self) -> str:
        """The key of a new variable of the region."""
        assert self.symbol.node is not None
        key = self.scope.fresh(self.symbol.node).key
        self.fresh.append(key)
        return key

    def _renamed(self, node: c.N, own: str) -> c.N:
        return c.renamed(node, {self.symbol.key: own}) if own else node


def declared_as(node: c.N, old: str, new: str) -> c.N:
    """The tree with another name for a variable that it declares."""

    def change(part: c.Node) -> c.Node | None:
        if isinstance(part, c.Decl) and part.name == old:
            return replace(part, name=new)
        return None

    return c.rewrite(c.renamed(node, {old: new}), change)


def declares(node: c.Stmt, key: str) -> bool:
    """Whether a statement declares a variable, or one inside of it does."""
    return any(isinstance(item, c.Decl) and item.name == key for item in c.walk(node))


def is_hole(node: c.Stmt, key: str) -> bool:
    """Whether a statement declares a variable without a value."""
    return isinstance(node, c.Decl) and node.name == key and node.init is None


def is_exchange(node: c.Stmt, key: str) -> bool:
    """Whether a branch is `{ t = a; a = b; b = t; }`, with a variable for t."""
    match node:
        case c.Block(body=(first, _, c.ExprStmt(expr=c.Assign(op="=", value=c.Name(name=name))))):
            return name == key and assigned(first, key) is not None
    return False


def assigned(item: c.Stmt, key: str) -> c.Expr | None:
    """What a statement gives a variable."""
    match item:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)) if name == key:
            return value
    return None
