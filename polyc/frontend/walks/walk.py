"""A region that is run with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polyc.analysis.expressions.facts import lvalues, mentions
from polyc.frontend.c.effects import NOTHING, Effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.helpers import Unclear, type_of
from polyc.frontend.idioms.sums import Changes, Excluded, State, Sum, Values, changes_of, constant, literal
from polyc.frontend.walks.loops import Loops
from polyc.frontend.walks.steps import is_load, single, stepped
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace

UNSHARED = (Storage.LOCAL, Storage.ARGUMENT, Storage.REGION)


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

    def values(self, state: State) -> Values:
        """What expressions are with the values of a place."""
        return Values(self.scope, self.chosen, state)

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
            values = self.values(state)
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
        found = self.values(state).of(node)
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
            amount = replace(amount, operand=self.values(state).long(amount.operand))
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
                state[key] = self.values(state).pointer(symbol, value)
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
            step = isinstance(part, c.Unary) and part.op in ("++", "--")
            if effect or step or isinstance(part, c.Assign | c.Postfix | c.Comma | c.InitList):
                raise Excluded(key)
        return self.values(state).of(expr)

    def changed(self, node: c.Node, state: State) -> None:
        """Forget the values that mention what a statement writes."""
        changes = changes_of([node])
        effects = (self.effects(item.function) for item in c.walk(node) if isinstance(item, c.Call))
        called = any(effect != NOTHING and effect.returns for effect in effects)
        for key, value in state.items():
            if value is not None and not (value.is_kept(changes) and not (called and self.is_reached(value))):
                state[key] = None

    def is_reached(self, value: Sum) -> bool:
        """Whether a function that is called may change something that a value mentions."""
        parts = [part for expr in (value.base, *value.added) for part in c.walk(expr)]
        symbols = [s for name in value.names if (s := self.scope.symbols.get(name)) is not None]
        loads = any(is_load(part) or isinstance(part, c.Member) for part in parts)
        return loads or any(s.storage not in UNSHARED or s.static for s in symbols)

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
