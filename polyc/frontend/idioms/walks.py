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

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from pycparser import c_ast

from polyc.analysis.expressions.facts import assigned_scalars, has_jump, induction, lvalues, mentions
from polyc.frontend.c.effects import NOTHING, Effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.helpers import Unclear, type_of
from polyc.frontend.idioms.sums import (
    Changes,
    Excluded,
    State,
    Sum,
    Trips,
    Values,
    changes_of,
    constant,
    difference,
    iterations_before,
    literal,
    product,
    trips,
    without_common,
)
from polyc.frontend.sets.loops import bound_of
from polyc.model import ctree as c
from polyc.model.scop import Storage, Walked
from polyc.records import dataclass, field, replace

_LOCAL = (Storage.LOCAL, Storage.ARGUMENT, Storage.REGION)


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
        found.append(Walked(s.c_name, declaration(s), followed.constants.get(s.key), text, expr))
    return tuple(found)


def declaration(symbol: Symbol) -> str:
    """A declaration of something with its type."""
    dims = symbol.shape.dims
    inner = "".join("[]" if dim.size is None else f"[{dim.size}]" for dim in dims[1:] if not dim.pointer)
    stars = "*" * (len(dims) - inner.count("["))
    return f"{symbol.shape.element.text} " + (
        f"({stars}{symbol.c_name}){inner}" if inner else f"{stars}{symbol.c_name}"
    )


def followed_values(body: c.Block, scope: Scope, follow: Callable[[c.Block], Followed]) -> Followed:
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
        scope.symbols.clear()
        scope.symbols.update(known)
    return follow(body)


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
    chosen = {key for key in candidates(body, scope) if not stays(scope.symbols[key])}
    while chosen:
        known = dict(scope.symbols)
        constants = constants_before(scope, chosen, before)
        try:
            still = frozenset(parts) - assigned_scalars(own)
            found = Walk(scope, chosen, is_own, effects, still).region(body, constants)
            known_parts = {key: given for key, given in parts.items() if key in chosen}
            return Followed(_without_first(found, parts), chosen, constants, known_parts)
        except Excluded as one:
            chosen -= exchanged_with(str(one), body, chosen)
            scope.symbols.clear()
            scope.symbols.update(known)
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
        if isinstance(node, c.Binary) and node.op in (*_COMPARED, "==", "-"):
            one, other = mentions(node.left) & pointers, mentions(node.right) & pointers
            found |= one | other if one and other else set()
    return found


def constants_before(scope: Scope, keys: set[str], before: Callable[[Symbol], int | None]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in sorted(keys):
        symbol = scope.symbols[key]
        value = before(symbol) if symbol.is_integer and symbol.storage is Storage.LOCAL else None
        if value is not None and abs(value) < 1 << 31:
            found[key] = value
    return found


def candidates(body: c.Block, scope: Scope) -> set[str]:
    """The variables that might be followed: pointers that are assigned, and numbers to which something is added."""
    heads = {head.key for node in c.walk(body) if isinstance(node, c.For) and (head := induction(node)) is not None}
    assigned = {target.name for target in lvalues(body) if isinstance(target, c.Name)}
    steps = {step[0] for node in c.walk(body) if (step := stepped(node)) is not None}
    found: set[str] = set()
    for key in assigned - heads:
        symbol = scope.symbols.get(key)
        if symbol is None or symbol.storage not in _LOCAL or symbol.static or symbol.volatile:
            continue
        number = symbol.is_integer and symbol.shape.element.size_bytes in (4, 8)
        if symbol.is_pointer or (key in steps and number and symbol.shape.element.text != "_Bool"):
            found.add(key)
    return found


def is_step(item: c.Stmt, key: str) -> bool:
    """Whether a statement only adds something to a variable."""
    step = stepped(item.expr) if isinstance(item, c.ExprStmt) else None
    return step is not None and step[0] == key


def exchanged_with(key: str, body: c.Block, chosen: set[str]) -> set[str]:
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


def stepped(node: c.Node) -> tuple[str, c.Expr] | None:
    """The variable that an expression adds something to, and what it adds."""
    one = c.Literal("1")
    match node:
        case c.Postfix(op=op, operand=c.Name(name=name)) | c.Unary(op="++" | "--" as op, operand=c.Name(name=name)):
            return name, one if op == "++" else c.Unary("-", one)
        case c.Assign(op="+=", target=c.Name(name=name), value=value):
            return name, value
        case c.Assign(op="-=", target=c.Name(name=name), value=value):
            return name, c.Unary("-", value, value.span)
        case c.Assign(op="=", target=c.Name(name=name), value=c.Binary(op=op, left=c.Name(name=other), right=value)):
            if name == other and op in "+-":
                return name, value if op == "+" else c.Unary("-", value, value.span)
    return None


@dataclass(slots=True)
class Walk:
    """A region that is run with values. Its methods raise Excluded."""

    scope: Scope
    chosen: set[str]
    is_own: Callable[[Symbol], bool]
    effects: Callable[[str], Effect]
    given: frozenset[str] = frozenset()
    """Pointers that are after the region what they are before it."""
    dropped: set[str] = field(default_factory=set)
    """Variables of which an assignment was left out."""
    written: dict[int, tuple[c.Node, Changes]] = field(default_factory=dict)
    """What parts of the region write, by their identity: it is asked again for each loop around."""

    def changes(self, part: c.Node) -> Changes:
        if id(part) not in self.written:
            self.written[id(part)] = part, changes_of([part])
        return self.written[id(part)][1]

    def region(self, body: c.Block, constants: dict[str, int]) -> c.Block:
        state: State = {key: Sum(literal(value)) for key, value in constants.items()}
        items = self.block(body.body, state)
        for key in sorted(self.dropped):
            symbol = self.scope.symbols[key]
            if symbol.storage is Storage.REGION or key in self.given or self.is_own(symbol):
                continue
            value = state.get(key, Sum(c.Name(key)))
            if value is None or symbol.rank or key in value.names or value.names & self.chosen:
                raise Excluded(key)
            values = Values(self.scope, self.chosen, state)
            items.append(c.ExprStmt(c.Assign("=", c.Name(key), values.use(c.Name(key), False))))
        return replace(body, body=tuple(items))

    def block(self, statements: Sequence[c.Stmt], state: State) -> list[c.Stmt]:
        return [found for item in statements for found in self.statement(item, state)]

    def statement(self, node: c.Stmt, state: State) -> list[c.Stmt]:
        match node:
            case c.Block(body=body):
                return [replace(node, body=tuple(self.block(body, state)))]
            case c.If():
                return [self.branch(node, state)]
            case c.For() | c.While():
                return Loops(self, node, state).found()
            case c.Decl(name=name, init=init) if name in self.chosen:
                state[name] = None
                if init is not None:
                    self.assigned(name, init, state)
                self.dropped.add(name)
                return []
            case c.Decl() | c.ExprStmt():
                return self.simple(node, state)
        return [self.other(node, state)]

    def simple(self, node: c.Decl | c.ExprStmt, state: State) -> list[c.Stmt]:
        """A statement without others, and the steps of variables in it."""
        if isinstance(node, c.ExprStmt) and isinstance(node.expr, c.Comma) and mentions(node.expr) & self.chosen:
            return self.block([c.ExprStmt(item, node.span) for item in node.expr.items], state)
        if isinstance(node, c.ExprStmt):
            step = stepped(node.expr)
            if step is not None and step[0] in self.chosen:
                self.added(*step, state)
                return []
            match node.expr:
                case c.Assign(op="=", target=c.Name(name=name), value=value) if name in self.chosen:
                    plain, before, after = self.split(value)
                    self.steps(before, state)
                    self.assigned(name, plain, state)
                    self.steps(after, state)
                    return []
        whole, before, after = self.split(node)
        self.steps(before, state)
        found = self.other(whole, state)
        self.steps(after, state)
        return [found]

    def other(self, node: c.N, state: State) -> c.N:
        """Something that assigns no variable that is followed."""
        for target in lvalues(node):
            if isinstance(target, c.Name) and target.name in self.chosen:
                raise Excluded(target.name)
        found = Values(self.scope, self.chosen, state).of(node)
        self.changed(found, state)
        return found

    def split(self, node: c.N) -> tuple[c.N, list[c.Expr], list[c.Expr]]:
        """`*p++ = e` as `*p = e` and `p++`, what comes before it and what comes after it."""
        before: list[c.Expr] = []
        after: list[c.Expr] = []
        counts = [item.name for item in c.walk(node) if isinstance(item, c.Name)]

        def change(item: c.Node) -> c.Node | None:
            match item:
                case c.Postfix(operand=c.Name(name=name) as operand) if name in self.chosen and counts.count(name) == 1:
                    after.append(item)
                    return operand
                case c.Unary(op="++" | "--", operand=c.Name(name=name) as operand) if name in self.chosen:
                    if counts.count(name) == 1:
                        before.append(item)
                        return operand
                case c.Binary(op="&&" | "||", left=left, right=right):
                    return replace(item, left=c.rewrite(left, change), right=right)
                case c.Ternary(condition=condition):
                    return replace(item, condition=c.rewrite(condition, change))
            return None

        return c.rewrite(node, change), before, after

    def steps(self, exprs: list[c.Expr], state: State) -> None:
        for expr in exprs:
            step = stepped(expr)
            assert step is not None
            self.added(*step, state)

    def added(self, key: str, amount: c.Expr, state: State) -> None:
        """`v += e`"""
        old = state.get(key, Sum(c.Name(key)))
        self.dropped.add(key)
        if old is None:
            raise Excluded(key)
        amount = self.known(key, amount, state)
        if isinstance(amount, c.Unary) and amount.op == "-" and constant(amount) is None:
            amount = replace(amount, operand=Values(self.scope, self.chosen, state).long(amount.operand))
        type_ = type_of(amount, self.scope)
        if type_ is None or type_.kind != "int":
            raise Excluded(key)
        state[key] = old.plus(amount)

    def assigned(self, key: str, value: c.Expr, state: State) -> None:
        """`v = e`"""
        symbol = self.scope.symbols[key]
        self.dropped.add(key)
        if symbol.rank:
            self.known(key, value, {})
            try:
                state[key] = Values(self.scope, self.chosen, state).pointer(symbol, value)
            except Unclear:
                raise Excluded(key) from None
            return
        found = self.known(key, value, state)
        type_ = type_of(found, self.scope)
        if type_ is None or type_.kind != "int" or any(is_load(part) for part in c.walk(found)):
            raise Excluded(key)
        state[key] = Sum(found)

    def known(self, key: str, expr: c.Expr, state: State) -> c.Expr:
        """What a variable is given, which may be computed as often as the variable is used."""
        for part in c.walk(expr):
            effect = isinstance(part, c.Call) and self.effects(part.function) != NOTHING
            if effect or isinstance(part, c.Assign | c.Postfix | c.Comma | c.InitList):
                raise Excluded(key)
            if isinstance(part, c.Unary) and part.op in ("++", "--"):
                raise Excluded(key)
        return Values(self.scope, self.chosen, state).of(expr)

    def changed(self, node: c.Node, state: State) -> None:
        """Forget the values that mention what a statement writes."""
        changes = changes_of([node])
        called = any(isinstance(item, c.Call) and self.effects(item.function) != NOTHING for item in c.walk(node))
        for key, value in state.items():
            if value is not None and not (value.is_kept(changes) and not (called and self.is_reached(value))):
                state[key] = None

    def is_reached(self, value: Sum) -> bool:
        """Whether a function that is called may change something that a value mentions."""
        parts = [part for expr in (value.base, *value.added) for part in c.walk(expr)]
        symbols = [s for name in value.names if (s := self.scope.symbols.get(name)) is not None]
        loads = any(is_load(part) or isinstance(part, c.Member) for part in parts)
        return loads or any(s.storage not in _LOCAL or s.static for s in symbols)

    def branch(self, node: c.If, state: State) -> c.If:
        condition = self.other(node.condition, state)
        then, other = dict(state), dict(state)
        first = self.block((node.then,), then)
        second = self.block((node.otherwise,), other) if node.otherwise is not None else []
        for key in then.keys() | other.keys():
            one = then.get(key, Sum(c.Name(key)))
            state[key] = one if one == other.get(key, Sum(c.Name(key))) else None
        otherwise = single(second) if node.otherwise is not None else None
        return replace(node, condition=condition, then=single(first), otherwise=otherwise)


def starts_with(item: c.Decl | c.Expr, key: str) -> bool:
    """Whether a part of a loop's head gives a variable its first value."""
    match item:
        case c.Assign(op="=", target=c.Name(name=name)) | c.Decl(name=name):
            return name == key
    return False


def is_load(node: c.Node) -> bool:
    """Whether something reads an element of an array."""
    return isinstance(node, c.Subscript) or (isinstance(node, c.Unary) and node.op == "*")


def may_fail(expr: c.Expr) -> bool:
    """Whether a value may only be asked for where the region does: it reads memory, or divides."""
    return any(
        is_load(part)
        or (isinstance(part, c.Member) and part.arrow)
        or (isinstance(part, c.Binary) and part.op in ("/", "%") and not constant(part.right))
        for part in c.walk(expr)
    )


def single(items: list[c.Stmt]) -> c.Stmt:
    return items[0] if len(items) == 1 and not isinstance(items[0], c.Decl) else c.Block(tuple(items))


# --- loops


@dataclass(frozen=True, slots=True)
class _Test:
    """The condition of a while loop: `key op bound`, and what the condition adds to the variable."""

    key: str
    op: str
    bound: c.Expr
    before: tuple[c.Expr, ...] = ()
    """Before it is compared."""
    after: tuple[c.Expr, ...] = ()
    """After it is compared, also where the loop ends."""


@dataclass(slots=True)
class Loops:
    """One loop that is run with values."""

    walk: Walk
    node: c.For | c.While
    state: State
    body: tuple[c.Stmt, ...] = ()
    before: list[c.Stmt] = field(default_factory=list)
    """Statements that come before it."""

    def found(self) -> list[c.Stmt]:
        """The loop with values, and `state` behind it."""
        node = self.node
        if not mentions(node) & self.walk.chosen and not self.declares(node):
            return [self.walk.other(node, self.state)]
        self.body = node.body.body if isinstance(node.body, c.Block) else (node.body,)
        if isinstance(node, c.For):
            node = self.node = self.plain_head(node)
        head = induction(node) if isinstance(node, c.For) else None
        if head is not None:
            return [*self.before, self.counted()]
        counting = self.as_counting()
        return [*self.before, counting if counting is not None else self.unknown()]

    def declares(self, node: c.Node) -> bool:
        return any(isinstance(item, c.Decl) and item.name in self.walk.chosen for item in c.walk(node))

    def plain_head(self, node: c.For) -> c.For:
        """`for (i = 0, j = 1; i < n; i++, j += 2)` with `j` out of the head."""
        if isinstance(node.init, c.Comma) or (isinstance(node.step, c.Comma) and not has_jump(node.body)):
            keys = mentions(node.condition) if node.condition is not None else set()
            first = node.init.items if isinstance(node.init, c.Comma) else (node.init,) if node.init else ()
            then = node.step.items if isinstance(node.step, c.Comma) else (node.step,) if node.step else ()
            steps = [item for item in then if (step := stepped(item)) is not None and step[0] in keys]
            # Of `i < j; i++, j--` the first one counts, the other one is what it was and what was added. It stays in
            # its type where the condition is asked about values of the first one that are never reached, too.
            if len(steps) == 2 and (first_step := self.amount(steps[0])) == -self.amount(steps[1]) != 0:
                steps = steps[:1] if first_step > 0 else steps[1:]
            if has_jump(node.body) or len(steps) != 1:
                return node
            key = stepped(steps[0])
            assert key is not None
            starts = [item for item in first if starts_with(item, key[0])]
            others = [i for i in first if i not in starts]
            if len(starts) > 1 or any(isinstance(item, c.Decl) or key[0] in mentions(item) for item in others):
                return node
            found = replace(node, init=starts[0] if starts else node.init if not others else None, step=steps[0])
            head = induction(found)
            if head is not None and head.key in self.walk.chosen:
                raise Excluded(head.key)  # it is the loop's own
            for item in others:
                if not isinstance(item, c.Decl):
                    self.before += self.walk.statement(c.ExprStmt(item, node.span), self.state)
            self.body += tuple(c.ExprStmt(item, node.span) for item in then if item not in steps)
            return found
        return node

    def amount(self, step: c.Expr) -> int:
        """What a step adds to an integer; 0 where that is no constant, or it is no integer."""
        found = stepped(step)
        symbol = self.walk.scope.symbols.get(found[0]) if found is not None else None
        added = constant(found[1]) if found is not None else None
        return added if added is not None and symbol is not None and symbol.is_integer else 0

    # --- what is known of it

    @property
    def changes(self) -> Changes:
        """What the loop writes."""
        inside: list[c.Node | None] = [*self.body]
        if isinstance(self.node, c.For):
            inside += [self.node.init, self.node.step]
        found = [self.walk.changes(part) for part in inside if part is not None]
        nothing = frozenset[str]()
        return Changes(nothing.union(*(one.all for one in found)), nothing.union(*(one.whole for one in found)))

    def moving(self) -> set[str]:
        return self.walk.chosen & self.changes.whole

    def steps(self, more: Sequence[c.Stmt] = ()) -> dict[str, tuple[c.Expr, ...]]:
        """What an iteration adds to variables, of those that only get more."""
        moving, written = self.moving(), self.changes.all
        if not moving or any(has_jump(item) for item in self.body):
            return {}  # the body is not run once more for nothing, in each of the loops around it
        probe = self.inside({}, moving)
        for key in moving:
            probe.pop(key, None)
        dropped = set(self.walk.dropped)
        self.walk.block((*self.body, *more), probe)
        self.walk.dropped = dropped
        found: dict[str, tuple[c.Expr, ...]] = {}
        for key in moving:
            end = probe.get(key)
            if end is None or end.base != c.Name(key):
                continue
            if not {name for part in end.added for name in mentions(part)} & written:
                found[key] = end.added
        return found

    def inside(self, values: State, moving: set[str]) -> State:
        """The values when an iteration begins."""
        changes = self.changes.without(self.walk.chosen)
        found: State = {k: v if v is not None and v.is_kept(changes) else None for k, v in self.state.items()}
        return {**found, **dict.fromkeys(moving, None), **values}

    def run(self, known: Trips | None, steps: dict[str, tuple[c.Expr, ...]], counter: State) -> tuple[c.Stmt, State]:
        """The body with values, and the values when an iteration begins."""
        changes = self.changes.without(self.walk.chosen)
        values: State = {}
        for key, parts in steps.items():
            start = self.state.get(key, Sum(c.Name(key)))
            if known is not None and start is not None and start.is_kept(changes):
                values[key] = start.plus(*(known.times(part) for part in parts))
        entry = self.inside({**values, **counter}, self.moving())
        if known is not None:
            entry = {key: None if value is None else known.inside(value) for key, value in entry.items()}
        running = dict(entry)
        return c.Block(tuple(self.walk.block(self.body, running))), entry

    def behind(self, known: Trips | None, steps: dict[str, tuple[c.Expr, ...]], more: State) -> None:
        """The values after it."""
        moving, old = self.moving(), dict(self.state)
        after = self.inside({}, moving)
        for key, parts in steps.items():
            start = old.get(key, Sum(c.Name(key)))
            if known is not None and start is not None and (known.some or not any(map(may_fail, parts))):
                value = start.plus(*(known.whole(part) for part in parts))
                after[key] = value if value.is_kept(self.changes.without(self.walk.chosen)) else None
        self.state.clear()
        self.state.update({**after, **more})

    # --- its kinds

    def counted(self) -> c.Stmt:
        """A for loop that counts."""
        node = self.node
        assert isinstance(node, c.For)
        head = induction(node)
        assert head is not None
        values = Values(self.walk.scope, self.walk.chosen, self.state)
        start = self.walk.other(head.start, dict(self.state))
        init = c.rewrite(node.init, lambda part: start if part is head.start else None) if node.init else None
        steps = self.steps()
        known = None
        op, bound = bound_of(node.condition, head.key) if node.condition is not None else ("", None)
        own = {head.key} & {t.name for item in self.body for t in lvalues(item) if isinstance(t, c.Name)}
        if bound is not None and not own and not (mentions(bound) | mentions(head.start)) & self.changes.all:
            bound = values.of(bound)
            if self.fits(start, head.key) and self.fits(bound, head.key):
                known = trips(start, op, bound, head.step, head.key)
        begun = known
        if known is None and not own and not mentions(head.start) & self.changes.all and self.fits(start, head.key):
            symbol = self.walk.scope.symbols.get(head.key)
            if symbol is not None and symbol.shape.element.signed and symbol.shape.element.size_bytes >= 4:
                begun = iterations_before(start, head.step, head.key)
        body, entry = self.run(begun, steps, {})
        condition = self.walk.other(node.condition, dict(entry)) if node.condition is not None else None
        self.behind(known, steps, {})
        return replace(node, init=init, condition=condition, body=body)

    def fits(self, expr: c.Expr, key: str) -> bool:
        """Whether a bound is compared with a variable as the numbers that they are."""
        symbol = self.walk.scope.symbols.get(key)
        value, type_ = constant(expr), type_of(expr, self.walk.scope)
        signed = symbol is not None and symbol.is_integer and symbol.shape.element.signed
        if value is not None:
            return (-(1 << 31) + 1 if signed else 0) <= value < 1 << 31
        if symbol is None or not symbol.is_integer or type_ is None or type_.kind != "int":
            return False
        element = symbol.shape.element
        return type_.signed == element.signed or (type_.size_bytes == 8 and element.size_bytes == 4)

    def as_counting(self) -> c.Stmt | None:
        """A while loop as a for loop: `while (i < n) { …; i++; }`."""
        test = self.test()
        node, walk = self.node, self.walk
        if test is None or (isinstance(node, c.While) and node.do_first):
            return None
        if isinstance(node, c.For):
            if isinstance(node.init, c.Decl):
                self.before += walk.statement(node.init, self.state)
            elif node.init is not None:
                self.before += walk.statement(c.ExprStmt(node.init, node.span), self.state)
            self.body += (c.ExprStmt(node.step, node.span),) if node.step is not None else ()
        span = node.span
        self.node = c.While(node.condition or c.Literal("1"), node.body, span=span)
        if any(has_jump(item) for item in self.body):
            raise Excluded(test.key)
        walk.steps(list(test.before), self.state)
        first = tuple(c.ExprStmt(expr, span) for expr in test.after)
        last = tuple(c.ExprStmt(expr, span) for expr in test.before)
        self.body = (*first, *self.body, *last)
        steps = self.steps()
        amounts = [constant(part) for part in steps.get(test.key, (c.Literal("0"),))]
        amount = sum(value for value in amounts if value is not None)
        if walk.scope.symbols[test.key].rank:
            return self.along_elements(test, amount if None not in amounts else 0, steps)
        if None in amounts or not amount or mentions(test.bound) & self.changes.all:
            raise Excluded(test.key)
        values = Values(walk.scope, walk.chosen, self.state)
        start, bound = values.use(c.Name(test.key, span), False), values.of(test.bound)
        if mentions(start) & self.changes.without(walk.chosen).all:
            raise Excluded(test.key)
        # In larger steps a variable meets its end, or passes it: then one with a sign overflows. One that wraps goes
        # on, and nothing is known of what is added meanwhile.
        element = walk.scope.symbols[test.key].shape.element
        meets = test.op == "!=" and abs(amount) > 1
        op = test.op if not meets else "<" if amount > 0 else ">"
        known = trips(start, op, bound, amount, test.key)
        if known is None or not self.fits(bound, test.key):
            raise Excluded(test.key)
        used = any(test.key in mentions(item) for item in self.body if not is_step(item, test.key))
        if amount < 0 and not used:  # a loop that only counts: pointers go up in it
            return self.going_up(test, known, steps)
        counter = self.counter(walk.scope.symbols[test.key].c_name, start, test.key)
        own = trips(start, op, bound, amount, counter.key)
        if meets and not (element.signed and element.size_bytes >= 4):
            own = None
        body, _ = self.run(own, steps, {test.key: Sum(c.Name(counter.key))})
        self.behind(own, steps, {})
        walk.steps(list(test.after), self.state)
        name = c.Name(counter.key, span)
        step = c.Postfix("++" if amount > 0 else "--", name) if abs(amount) == 1 else None
        return c.For(
            c.Decl(counter.shape.element.text, counter.key, (), start, span),
            c.Binary(test.op, name, bound, span),
            step or c.Assign("+=" if amount > 0 else "-=", name, c.Literal(str(abs(amount)))),
            body,
            span=span,
        )

    def along_elements(self, test: _Test, amount: int, steps: dict[str, tuple[c.Expr, ...]]) -> c.Stmt:
        """`while (q < end) { …; q++; }` as `for (long k = 0; k < end - q; k++)`, of pointers into one array.

        amount: what is added in each iteration; 0 where that is no constant, but a size
        """
        values, span = Values(self.walk.scope, self.walk.chosen, self.state), self.node.span
        start, bound = values.known_place(c.Name(test.key)), values.known_place(test.bound)
        parts, kept = steps.get(test.key, ()), self.changes.without(self.walk.chosen)
        moves = bool(mentions(test.bound) & self.changes.whole) or not (start.is_kept(kept) and bound.is_kept(kept))
        if start.base != bound.base or test.after or not parts or moves:
            raise Excluded(test.key)
        distance = difference(*map(values.total, without_common(bound.added, start.added)))
        type_ = type_of(distance, self.walk.scope)
        if type_ is not None and type_.kind == "int" and not type_.signed and type_.size_bytes == 8:
            distance = c.Cast("long", distance)  # `p + (n - 3)` with n of type size_t goes down where n is 2
        # A pointer that misses its end leaves the array at some time.
        op = ("<" if amount > 0 else ">") if test.op == "!=" and amount else test.op
        counter = self.walk.scope.fresh(_LONG)
        own = trips(c.Literal("0"), op, distance, amount, counter.key) if amount else None
        changing = {name for part in parts for name in mentions(part)} & kept.all
        if changing or (own is None if amount else op == "!="):
            raise Excluded(test.key)
        name = c.Name(counter.key, span)
        start_ = c.Decl("long", counter.key, (), c.Literal("0"), span)
        size = values.total(parts)
        turns = None if amount or op != "<" else _other_factor(distance, size)
        if turns is not None:  # along rows: each iteration adds what it adds to other pointers, too
            own = trips(c.Literal("0"), op, turns, 1, counter.key)
            body, _ = self.run(own, steps, {test.key: start.plus(product(name, size))})
            self.behind(None, {}, {})
            loop = c.For(start_, c.Binary(op, name, turns, span), c.Postfix("++", name), body, span=span)
            return c.If(c.Binary(">", size, c.Literal("0")), loop, None, span)
        body, _ = self.run(own, steps if own is not None else {}, {test.key: start.plus(name)})
        self.behind(own, steps, {})
        step: c.Expr = c.Assign("-=" if amount < 0 else "+=", name, literal(abs(amount)) if amount else size)
        if abs(amount) == 1:
            step = c.Postfix("++" if amount > 0 else "--", name)
        return c.For(start_, c.Binary(op, name, distance, span), step, body, span=span)

    def going_up(self, test: _Test, known: Trips, steps: dict[str, tuple[c.Expr, ...]]) -> c.Stmt:
        """`while (n--)` as `for (i = 0; i < n; i++)`."""
        counter = self.counter("i", c.Name(test.key), test.key)
        name = c.Name(counter.key, self.node.span)
        own = Trips(name, 1, known.count, known.positive)
        body, _ = self.run(own, steps, {})
        self.behind(own, steps, {})
        self.walk.steps(list(test.after), self.state)
        start = c.Decl(counter.shape.element.text, counter.key, (), c.Literal("0"), self.node.span)
        condition = c.Binary("<", name, known.positive, self.node.span)
        return c.For(start, condition, c.Postfix("++", name), body, span=self.node.span)

    def test(self) -> _Test | None:
        """The condition, where it compares a variable that is followed with something else."""
        condition = self.node.condition
        zero = c.Literal("0")
        match condition:
            case c.Binary(op=op, left=c.Postfix(operand=c.Name(name=key)) as tested, right=bound) if op in _COMPARED:
                found = _Test(key, op, bound, after=(tested,))
            case c.Binary(op=op, left=c.Unary(op="++" | "--", operand=c.Name(name=key)) as tested, right=bound):
                found = _Test(key, op, bound, before=(tested,))
            case c.Postfix(operand=c.Name(name=key)):
                found = _Test(key, "!=", zero, after=(condition,))
            case c.Unary(op="++" | "--", operand=c.Name(name=key)):
                found = _Test(key, "!=", zero, before=(condition,))
            case c.Name(name=key):
                found = _Test(key, "!=", zero)
            case c.Binary():
                keys = [item.name for item in c.walk(condition) if isinstance(item, c.Name)]
                tests = [_Test(key, *test) for key in keys if (test := bound_of(condition, key))[1] is not None]  # type: ignore[arg-type]
                found = next((test for test in tests if test.key in self.moving()), _Test("", "", zero))
            case _:
                return None
        symbol = self.walk.scope.symbols.get(found.key)
        compares = symbol is not None and (not symbol.rank or (symbol.is_pointer and found.bound != zero))
        fits = found.key in self.walk.chosen and compares
        return found if fits and not any(True for _ in lvalues(found.bound)) else None

    def counter(self, name: str, start: c.Expr, typed: str) -> Symbol:
        """The variable of the new loop, of another one's type: of that name, unless its first value mentions it."""
        scope = self.walk.scope
        symbol = scope.symbols[typed]
        if any(scope.symbols[key].c_name == name for key in mentions(start) if key in scope.symbols):
            name = f"{name}_left"
        return scope.like(symbol, name)

    def unknown(self) -> c.Stmt:
        """A loop of which nobody knows how often it runs."""
        entry = self.inside({}, self.moving())
        node = self.node
        body = single(self.walk.block(self.body, dict(entry)))
        condition = self.walk.other(node.condition, dict(entry)) if node.condition is not None else None
        if isinstance(node, c.For):
            init = self.walk.other(node.init, dict(self.state)) if node.init is not None else None
            step = self.walk.other(node.step, dict(entry)) if node.step is not None else None
            found: c.Stmt = replace(node, init=init, condition=condition, step=step, body=body)
        else:
            assert condition is not None
            found = replace(node, condition=condition, body=body)
        self.behind(None, {}, {})
        return found


def _other_factor(whole: c.Expr, one: c.Expr) -> c.Expr | None:
    """`n` of `n * m` and `m`."""
    match whole:
        case c.Binary(op="*", left=left, right=right) if one in (left, right):
            return left if right == one else right
    return None


_COMPARED = ("<", "<=", ">", ">=", "!=")
_LONG = c_ast.Decl("k", [], [], [], [], c_ast.TypeDecl("k", [], None, c_ast.IdentifierType(["long"])), None, None, None)
