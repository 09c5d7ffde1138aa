"""Variables of which each value is known as a sum: pointers into arrays, and induction variables.

A region is run once with such values. At each place, a variable has the expression that it is equal to there: of what
it was before the region, of loop variables, and of what does not change meanwhile. This expression is put in the place
of each use, and the assignments are left out.

rewrite:  float *row = a + i * m;  s(row[j]);             ->  s(a[(long)(i * m) + j]);
          for (i = lo; i < n; i++) *p++ = e;              ->  for (i = lo; i < n; i++) p[i - lo] = e;
          for (i …) for (j = 0; j < m; j++) s(x[k++]);    ->  for (i …) for (j …) s(x[k + (long)i * m + j]);
          i = lo; while (i < n) { s(i); i += 2; }         ->  for (int i = lo; i < n; i += 2) s(i);
math:     v + S T when an iteration begins, where each one adds S to v, and T were there before; v + S max(T, 0) behind
          the loop of T iterations
requires: of v: nobody takes its address, and what it is given has no side effects
          of S: nothing in it changes in the loop, and behind one that may run no iteration it reads no memory and does
          not divide; of v = e: nothing in e changes before v is used
          of a while loop: its condition compares one such variable with what does not change
          behind the region nobody reads v, or its value there mentions nothing that the region writes
ensures:  the same values: sums are 64 bits wide, so that none overflows, and converted to the type of v. A variable
          with a use of which that cannot be said stays as it is, and so do those that are made of it
source:   induction variables: Wolfe, Beyond Induction Variables (PLDI 1992), of which we take the linear ones
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from polyc.analysis.expressions.facts import assigned_scalars, induction, lvalues, mentions
from polyc.frontend.c.effects import Effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.sums import Excluded
from polyc.frontend.walks.offsets import with_offsets
from polyc.frontend.walks.steps import COMPARED, starts_with, stepped
from polyc.frontend.walks.walk import UNSHARED, Walk
from polyc.model import ctree as c
from polyc.model.scop import Storage, Walked
from polyc.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Followed:
    """A region with the values of variables."""

    body: c.Block
    keys: set[str] = field(default_factory=set)
    """The variables."""
    constants: dict[str, int] = field(default_factory=dict)
    """What some of them are before the region."""
    given: dict[str, tuple[c.Expr, str]] = field(default_factory=dict)
    """The same of pointers, as a tree and as C."""

    def beside(self, others: Mapping[str, int | None]) -> Followed:
        """The same with other variables whose values are known, and what they are before the region if that counts."""
        constants = {key: value for key, value in others.items() if value is not None}
        return replace(self, keys=self.keys | others.keys(), constants=self.constants | constants)


def walked(followed: Followed, split: Iterable[Symbol], scope: Scope) -> tuple[Walked, ...]:
    """The variables from outside of the region whose values it no longer gives them, or not all.

    split: those that have variables of the region in their places (`webs.py`)
    """
    symbols = {key: scope.symbols[key] for key in sorted(followed.keys)} | {symbol.key: symbol for symbol in split}
    outside = [symbol for symbol in symbols.values() if symbol.storage is not Storage.REGION]
    found = []
    for s in outside:
        expr, text = followed.given.get(s.key, (None, ""))
        found.append(Walked(s.c_name, _declaration(s), followed.constants.get(s.key), text, expr))
    return tuple(found)


def _declaration(symbol: Symbol) -> str:
    """A declaration of something with its type."""
    dims = symbol.shape.dims
    inner = "".join("[]" if dim.size is None else f"[{dim.size}]" for dim in dims[1:] if not dim.pointer)
    stars = "*" * (len(dims) - inner.count("["))
    return f"{symbol.shape.element.text} " + (
        f"({stars}{symbol.c_name}){inner}" if inner else f"{stars}{symbol.c_name}"
    )


def followed_values(
    body: c.Block, scope: Scope, follow: Callable[[c.Block], Followed], stays: Callable[[Symbol], bool]
) -> Followed:
    """What `follow` makes of a region. Pointers that it declares and that stay have offsets in their places
    (`offsets.py`)."""
    known = dict(scope.symbols)
    found = _followed(body, scope, follow)
    symbols = (scope.symbols.get(node.name) for node in c.walk(found.body) if isinstance(node, c.Decl))
    left = {symbol.key for symbol in symbols if symbol is not None and symbol.is_pointer}
    if not left:
        return found
    after = dict(scope.symbols)
    _restore(scope, known)
    changed = with_offsets(body, scope, left, stays)
    if changed is not body:
        return _followed(changed, scope, follow)
    _restore(scope, after)
    return found


def _followed(body: c.Block, scope: Scope, follow: Callable[[c.Block], Followed]) -> Followed:
    """What `follow` makes of a region, which is `with_values`; where a loop goes on with the variable of another one,
    that variable is followed as well.

    rewrite:  for (i = 0; i < n - 3; i += 4) …  for (; i < n; i++) …  ->  i = 0; for (; i < n - 3; i += 4) …  for (; …
    Where the second loop cannot be told from where it starts all the same, the first one keeps its head.
    """
    body = c.rewrite(c.rewrite(body, _with_one_start), partial(_with_pointer_apart, scope))
    open_ends = _without_start(body)

    def parted(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not isinstance(node.init, c.Assign) or node.init.target not in open_ends:
            return None
        inside = replace(node, init=None, body=c.rewrite(node.body, parted))
        return c.Block((c.ExprStmt(node.init, node.span), inside), node.span)

    if open_ends:
        known = dict(scope.symbols)
        found = follow(c.rewrite(body, parted))
        if not open_ends & _without_start(found.body):
            return found
        _restore(scope, known)
    return follow(body)


def _restore(scope: Scope, known: Mapping[str, Symbol]) -> None:
    """Forget the variables that were made since."""
    scope.symbols.clear()
    scope.symbols.update(known)


def _with_one_start(node: c.Node) -> c.Node | None:
    """`for (i = k, d = 0; …; i++)` as `d = 0; for (i = k; …; i++)`, where neither mentions the other's variable."""
    if not isinstance(node, c.For) or not isinstance(node.init, c.Comma) or node.step is None:
        return None
    step = stepped(node.step)
    own = [item for item in node.init.items if step is not None and starts_with(item, step[0])]
    others = [item for item in node.init.items if item not in own]
    plain = [item.target.name for item in others if isinstance(item, c.Assign) and isinstance(item.target, c.Name)]
    if len(own) != 1 or step is None or len(plain) < len(others):
        return None
    if mentions(own[0]) & set(plain) or any(step[0] in mentions(item) for item in others):
        return None
    inside = replace(node, init=own[0], body=c.rewrite(node.body, _with_one_start))
    return c.Block((*(c.ExprStmt(item, node.span) for item in others), inside), node.span)


def _with_pointer_apart(scope: Scope, node: c.Node) -> c.Node | None:
    """`for (q = p; q < end; q++) …` as `q = p; for (; q < end; q++) …`: the loop is to count elements."""
    head = induction(node) if isinstance(node, c.For) else None
    symbol = scope.symbols.get(head.key) if head is not None else None
    if symbol is None or not symbol.is_pointer or not isinstance(node, c.For):
        return None
    assert node.init is not None
    start = node.init if isinstance(node.init, c.Decl) else c.ExprStmt(node.init, node.span)
    return c.Block((start, replace(node, init=None, body=c.rewrite(node.body, partial(_with_pointer_apart, scope)))))


def _without_start(body: c.Block) -> set[c.Expr]:
    """The variables of loops that go on where others ended."""
    loops = (node for node in c.walk(body) if isinstance(node, c.For) and node.init is None)
    steps = (stepped(loop.step) for loop in loops if loop.step is not None)
    return {c.Name(step[0]) for step in steps if step is not None}


def with_values(
    body: c.Block,
    scope: Scope,
    is_own: Callable[[Symbol], bool],
    stays: Callable[[Symbol], bool],
    effects: Callable[[str], Effect],
    before: Callable[[Symbol], int | None],
    parts: Mapping[str, tuple[c.Expr, str]] | None = None,
) -> Followed:
    """The region with the values of such variables in the places of their uses.

    is_own: nobody reads a variable after the region; stays: somebody else sees a variable, or needs its declaration;
    before: the constant that a variable is where the region starts
    parts: what pointers are there, `p + n`, as a tree and as C
    """
    parts = _in_order(parts or {})
    given = tuple(c.ExprStmt(c.Assign("=", c.Name(key), expr)) for key, (expr, _) in parts.items())
    own, body = body, replace(body, body=(*given, *body.body))
    chosen = {key for key in _candidates(body, scope) if not stays(scope.symbols[key])}
    while chosen:
        known = dict(scope.symbols)
        constants = _constants_before(scope, chosen, before)
        try:
            still = frozenset(parts) - assigned_scalars(own)
            found = Walk(scope, chosen, is_own, effects, still).region(body, constants)
            known_parts = {key: given for key, given in parts.items() if key in chosen}
            return Followed(_without_first(found, parts), chosen, constants, known_parts)
        except Excluded as one:
            chosen -= _exchanged_with(str(one), body, chosen)
            _restore(scope, known)
    return Followed(_without_first(body, parts))


def _in_order(parts: Mapping[str, tuple[c.Expr, str]]) -> dict[str, tuple[c.Expr, str]]:
    """What pointers are, each behind those that it is made of: `p = r + n; q = p + n`."""
    found: dict[str, tuple[c.Expr, str]] = {}
    left = dict(parts)
    while left:
        ready = [key for key, (expr, _) in left.items() if not mentions(expr) & (left.keys() - {key})] or list(left)
        found |= {key: left.pop(key) for key in ready}
    return found


def _without_first(body: c.Block, parts: Mapping[str, tuple[c.Expr, str]]) -> c.Block:
    """The region without the assignments that only say what pointers are before it."""
    items = list(body.body)
    left = {c.ExprStmt(c.Assign("=", c.Name(key), expr)) for key, (expr, _) in parts.items()}
    while items and items[0] in left:
        items.pop(0)
    return replace(body, body=tuple(items))


def ends_compared(body: c.Block, pointers: set[str]) -> set[str]:
    """The pointers of a region, by their keys, that comparisons or differences of two of them mention."""
    found: set[str] = set()
    for node in c.walk(body):
        if isinstance(node, c.Binary) and node.op in (*COMPARED, "==", "-"):
            one, other = mentions(node.left) & pointers, mentions(node.right) & pointers
            found |= one | other if one and other else set()
    return found


def _constants_before(scope: Scope, keys: set[str], before: Callable[[Symbol], int | None]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in sorted(keys):
        symbol = scope.symbols[key]
        value = before(symbol) if symbol.is_integer and symbol.storage is Storage.LOCAL else None
        if value is not None and abs(value) < 1 << 31:
            found[key] = value
    return found


def _candidates(body: c.Block, scope: Scope) -> set[str]:
    """The variables that might be followed: pointers that are assigned, and numbers to which something is added."""
    heads = {head.key for node in c.walk(body) if isinstance(node, c.For) and (head := induction(node)) is not None}
    assigned = {target.name for target in lvalues(body) if isinstance(target, c.Name)}
    steps = {step[0] for node in c.walk(body) if (step := stepped(node)) is not None}
    found: set[str] = set()
    for key in assigned - heads:
        symbol = scope.symbols.get(key)
        if symbol is None or symbol.storage not in UNSHARED or symbol.static or symbol.volatile:
            continue
        number = symbol.is_integer and symbol.shape.element.size_bytes in (4, 8)
        if symbol.is_pointer or (key in steps and number and symbol.shape.element.text != "_Bool"):
            found.add(key)
    return found


def _exchanged_with(key: str, body: c.Block, chosen: set[str]) -> set[str]:
    """The pointers that are copied to and from one, it included: they change places together (`exchange.py`)."""
    copies: list[set[str]] = []
    for node in c.walk(body):
        match node:
            case c.Assign(op="=", target=c.Name(name=name), value=value) | c.Decl(name=name, init=value):
                while isinstance(value, c.Cast):
                    value = value.operand
                if isinstance(value, c.Name) and name in chosen:
                    copies.append({name, value.name})
    found: set[str] = set()
    more = {key}
    while more - found:
        found |= more
        more = {name for pair in copies if pair & found for name in pair & chosen}
    return found
