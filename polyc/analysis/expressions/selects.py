"""Conditional updates, and choices between values, as selects, of which compilers make vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TypeGuard

from polyc.analysis.expressions.facts import is_plain
from polyc.analysis.expressions.promoted import ROOTS, ROUNDED
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace

TAKEN = "polyc_taken"
"""The variable that has the answer of the condition."""
FLOATS = ("float", "double")
_ABSOLUTE = ("fabs", "fabsf")
_UPDATES = ("=", "+=", "-=", "*=")

Asked = Callable[[c.ArrayRef], bool]


def as_selects(
    node: c.If, place_of: Callable[[c.ArrayRef], str], is_there: Asked, plain: Set[str] = frozenset()
) -> c.Block | None:
    """Conditional updates as choices; None where a statement has another form. Of two comparisons, both are made.

    rewrite:  if (r < c) { float s = e; x += s * d; k++; if (s < x) n = i; } else y += e;
              -> { int t = r < c; float s = e; x = t ? x + s * d : x; k += t;
                   int t1 = t & (s < x); n += t1 * ((unsigned)i - n); y = t ? y : y + e; }, by macros

    place_of: the type in which a value is computed, where a reference is to one of the iteration's own, which nobody
              else sees: `float` or `double`, for whole numbers one without a sign; else ""
    is_there: whether it is to a floating value that may be read whatever the condition says
    plain:    functions of floating values that do nothing else
    ensures:  the same values. Floating operations trap for no operands; those of iterations that are left out may raise
              exceptions that nobody asks for
    """
    selects = _Selects(place_of, is_there, plain)
    return c.Block(tuple(selects.found)) if selects.branches(node, None) and selects.updates else None


@dataclass(slots=True)
class _Selects:
    place_of: Callable[[c.ArrayRef], str]
    is_there: Asked
    plain: Set[str]
    found: list[c.Stmt] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    updates: int = 0
    tests: int = 0

    def branches(self, node: c.If, around: c.Expr | None) -> bool:
        """Both branches of a condition, as far as each item can be told as a choice.

        around: whether the condition is asked at all
        """
        if around is not None and not _is_test(node.condition, self.is_free):
            return False
        taken = self.asked(_together(node.condition, self.is_free), around)
        if not all(self.item(item, taken, True) for item in c.items(node.then)):
            return False
        others = c.items(node.otherwise)
        if not others or around is None:
            return all(self.item(item, taken, False) for item in others)
        other = self.asked(c.Unary("!", taken), around)
        return all(self.item(item, other, True) for item in others)

    def asked(self, test: c.Expr, around: c.Expr | None) -> c.Name:
        """A new variable with the answer of a condition."""
        taken = c.Name(f"{TAKEN}{self.tests or ''}")
        self.tests += 1
        self.found.append(c.Decl("int", taken.name, (), test if around is None else c.Binary("&", around, test)))
        return taken

    def item(self, item: c.Stmt, taken: c.Name, then: bool) -> bool:
        """then: whether it is done where `taken` is 1, and not where it is 0"""
        once = taken if then else c.Unary("!", taken)
        match item:
            case c.If():
                return self.branches(item, once)
            case c.Decl(type=text, name=name, extents=(), init=init) if (
                init is not None
                and name not in self.declared
                and text.removeprefix("const ") in FLOATS
                and self.harmless(init)
            ):
                self.declared.add(name)
                self.found.append(item)
                return True
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef() as place, value=value) as update):
                kind = self.place_of(place)
                if op in _UPDATES and kind in FLOATS and self.harmless(value):
                    new = value if op == "=" else c.Binary(op[0], place, value)
                    both = (new, place) if then else (place, new)
                    changed = c.Assign("=", place, c.Call(SELECTS[kind], (taken, *both)))
                elif op == "=" and kind not in ("", *FLOATS) and self.is_whole(value):
                    changed = c.Assign("+=", place, c.Binary("*", once, c.Binary("-", c.Cast(kind, value), place)))
                else:
                    return False
                self.found.append(replace(item, expr=replace(update, op=changed.op, value=changed.value)))
            case c.ExprStmt(expr=c.Postfix(op="++" | "--" as op, operand=c.ArrayRef() as place)) if self.place_of(
                place
            ) not in ("", *FLOATS):
                self.found.append(replace(item, expr=c.Assign(f"{op[0]}=", place, once)))
            case _:
                return False
        self.updates += 1
        return True

    def harmless(self, expr: c.Expr) -> bool:
        return _is_harmless(expr, self.is_there, self.plain, self.declared)

    def is_whole(self, value: c.Expr) -> bool:
        """Whether a value is a whole number, or a counter or size."""
        match _bare(value):
            case c.Name(name=name):
                return name not in self.declared
            case c.Literal(text=text):
                return text.rstrip("uUlL").isdigit()
        return False

    def is_free(self, part: c.Expr) -> bool:
        """Whether an operand of a comparison can be computed in vain."""
        return isinstance(part, c.Name) or self.harmless(part)


def _is_harmless(expr: c.Expr, is_there: Asked, plain: Set[str], declared: set[str]) -> bool:
    """Whether an expression of floating values can be computed in vain."""
    match expr:
        case c.Literal():
            return True
        case c.Name(name=name):
            return name in declared
        case c.ArrayRef():
            return is_there(expr)
        case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
            parts = [left, right]
        case c.Unary(op="-" | "+", operand=operand):
            parts = [operand]
        case c.Cast(type=text, operand=operand) if text in FLOATS:
            parts = [operand]
        case c.Call(function=name, arguments=(one,)) if name in plain:
            parts = [one]
        case _:
            return False
    return all(_is_harmless(part, is_there, plain, declared) for part in parts)


def _together(test: c.Expr, is_free: Callable[[c.Expr], bool]) -> c.Expr:
    """`a < b && c < d` as `(a < b) & (c < d)`, which is no jump, where that can be computed in vain."""
    match test:
        case c.Binary(op="&&" | "||" as op, left=left, right=right) if _is_test(left, is_free) and _is_test(
            right, is_free
        ):
            return c.Binary(_TOGETHER[op], _together(left, is_free), _together(right, is_free))
    return test


def _is_test(test: c.Expr, is_free: Callable[[c.Expr], bool]) -> bool:
    """Whether a condition is 0 or 1, and compares what `is_free` admits only: what can be computed in vain, for one."""
    match test:
        case c.Binary(op="&&" | "||", left=left, right=right):
            return _is_test(left, is_free) and _is_test(right, is_free)
        case c.Binary(op=op, left=left, right=right) if op in c.COMPARISONS:
            return is_free(left) and is_free(right)
    return False


SELECTS = {"float": "polyc_selectf", "double": "polyc_select"}
"""The macros for choices between values of a type (`codegen/text/macros.py`)."""
WHOLE_SELECT = "polyc_selecti"
"""That for values of the type `int`."""
_TOGETHER = {"&&": "&", "||": "|"}


@dataclass(frozen=True, slots=True)
class Choices:
    """What is known of a statement's values.

    type_of:  `float` or `double`, `int`, or "" where C may compute an expression in another type
    is_int:   whether its type is certainly `int`
    is_there: whether a reference may be read whatever the data say
    is_sure:  whether it is read whatever they say, or costs nothing
    is_own:   whether a scalar belongs to the iteration, or an element is set in any case, so that it may be set to what
              it is
    is_folded: whether something is computed of a scalar and a number, which compilers do in advance of a number
    plain:    functions of floating values that do nothing else
    """

    type_of: Callable[[c.Expr], str]
    is_int: Callable[[c.Expr], bool]
    is_there: Asked
    is_sure: Asked
    is_own: Asked
    is_folded: Asked
    plain: Set[str]

    def taken(self, node: c.Stmt) -> c.Stmt:
        """`y = x > 0 ? x : 0.1f * x` as `y = polyc_selectf(x > 0, x, 0.1f * x)`, and branches that set one variable, or
        element, in each case.

        C compilers compute only one of two branches where they may not know whether anybody looks at the exceptions
        that the other one raises, or whether what it loads is there: by a jump, which keeps loops from vectors, and is
        mispredicted where the data change their minds.
        """
        match node:
            case c.Block(body=body):
                return replace(node, body=tuple(self.taken(item) for item in body))
            case c.If() if stores := self._in_each_case(node):
                found = [c.ExprStmt(replace(store, value=self._set(store))) for store in stores]
                if not all(isinstance(one.expr, c.Assign) and isinstance(one.expr.value, c.Call) for one in found):
                    return node
                return found[0] if len(found) == 1 else c.Block(tuple(found))
            case c.If():
                return as_selects(node, self._place_of, self._is_free, self.plain) or node
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef()) as store):
                return replace(node, expr=replace(store, value=self._set(store)))
            case c.Decl(init=init) if init is not None:
                return replace(node, init=self._selected(init))
        return node

    def _place_of(self, node: c.ArrayRef) -> str:
        """The type of what may be set to what it is; "" of whole numbers, which compilers have other ways for."""
        kind = self.type_of(node)
        return kind if kind in FLOATS and self.is_own(node) and all(map(self._is_fixed, node.subscripts)) else ""

    def is_branched(self, node: c.Stmt) -> bool:
        """Whether a compiler would jump in a statement: whole numbers are computed in vain, if they need no loads."""

        def is_branch(one: c.Node) -> bool:
            if isinstance(one, c.Ternary) and _is_test(one.condition, is_plain):
                return False  # `x < w - 1`, which a loop for all others knows
            if isinstance(one, c.Ternary) and self.type_of(one) not in SELECTS:
                parts = (n for part in (one.then, one.otherwise) for n in c.walk(part))
                return not all(self.is_sure(n) for n in parts if isinstance(n, c.ArrayRef))
            if isinstance(one, c.If):
                return not self._is_moved(one)
            return isinstance(one, c.For | c.While | c.Jump) or (isinstance(one, c.Ternary) and self._pays(one))

        return any(map(is_branch, c.walk(node)))

    def _is_moved(self, node: c.Stmt) -> bool:
        """Whether a statement does no more than to set whole numbers of the iteration's own to sums of others, as
        comparisons of whole numbers say: compilers compute all of that, and choose."""
        match node:
            case c.Block(body=items):
                return all(map(self._is_moved, items))
            case c.If(condition=c.Binary(op=op) as test, then=then, otherwise=otherwise) if op in c.COMPARISONS:
                arms = (then, otherwise) if otherwise is not None else (then,)
                return self._is_sum(test.left) and self._is_sum(test.right) and all(map(self._is_moved, arms))
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(subscripts=()) as target, value=value)):
                return self.is_own(target) and self.is_int(target) and self._is_sum(value)
        return False

    def _is_sum(self, expr: c.Expr) -> bool:
        """Whether an expression is a sum of whole numbers that are there."""
        match expr:
            case c.Binary(op="+" | "-", left=left, right=right):
                return self._is_sum(left) and self._is_sum(right)
            case c.Unary(op="+" | "-", operand=operand):
                return self._is_sum(operand)
            case c.Literal() | c.Name() | c.ArrayRef(subscripts=()):
                return self.is_int(expr)
        return False

    def _in_each_case(self, node: c.Stmt | None) -> list[c.Assign]:
        """What a statement sets in any case, and to which values, where that is all that it does; else nothing."""
        match node:
            case c.Block(body=items):
                each = [self._in_each_case(item) for item in items]
                found = [one[0] for one in each if len(one) == 1]
                return found if len(found) == len(items) else []
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef()) as store, pragmas=()):
                return [store]
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef() as target, value=value), pragmas=()) if (
                op in _UPDATES and self.is_own(target)
            ):
                return [c.Assign("=", target, c.Binary(op[0], target, value))]
            case c.If(condition=condition, then=then, otherwise=otherwise):
                first, second = self._in_each_case(then), self._in_each_case(otherwise)
                if otherwise is None and all(isinstance(s.target, c.ArrayRef) and self.is_own(s.target) for s in first):
                    second = [c.Assign("=", store.target, store.target) for store in first]
                targets = [c.unlabelled(store.target) for store in first]
                others = [c.unlabelled(store.target) for store in second]
                if targets != others or not _keeps_condition(condition, targets):
                    return []
                pairs = zip(first, second, strict=True)
                return [replace(one, value=c.Ternary(condition, one.value, other.value)) for one, other in pairs]
        return []

    def _set(self, store: c.Assign) -> c.Expr:
        """What a variable is set to."""
        target = store.target
        folded = store.op == "=" and isinstance(target, c.ArrayRef) and self.is_folded(target)
        return self._selected(store.value, folded)

    def _selected(self, expr: c.Expr, folded: bool = False) -> c.Expr:
        """folded: something is computed of the value and a number"""
        computed = [operand for operand in _with_numbers(expr) if isinstance(operand, c.Ternary)]
        computed += [expr] if folded and isinstance(expr, c.Ternary) else []
        numbers = [one for choice in computed for one in _numbered(choice)]

        def change(node: c.Node) -> c.Node | None:
            if is_conditional(node) and (both := _together(node, self._is_free)) != node:
                return both
            if not isinstance(node, c.Ternary) or not (self._pays(node) or node in numbers):
                return None
            name = WHOLE_SELECT if self.is_int(node) else SELECTS.get(self.type_of(node))
            if name is None or not all(self._is_free(part) for part in (node.then, node.otherwise)):
                return None
            parts = (_together(node.condition, self._is_free), node.then, node.otherwise)
            return c.Call(name, tuple(c.rewrite(part, change) for part in parts))

        return c.rewrite(expr, change)

    def _pays(self, choice: c.Ternary) -> bool:
        """Whether a compiler would jump: a branch computes something, or loads what the other one does not; or one of
        two whole numbers is taken where a floating comparison is made in one case only."""
        if not (self._is_at_hand(choice.then) and self._is_at_hand(choice.otherwise)):
            return self.type_of(choice) in SELECTS
        inner = [one.condition for part in (choice.then, choice.otherwise) for one in _choices(part)]
        inner += [choice.condition] if _together(choice.condition, self._is_free) != choice.condition else []
        if any(isinstance(part, c.ArrayRef) for part in (choice.then, choice.otherwise)):
            inner += [choice.condition]  # the variable is one of several numbers then
        return self.is_int(choice) and any(self._compares(test) for test in inner)

    def _compares(self, test: c.Expr) -> bool:
        """Whether a condition compares floating values."""
        return any(
            isinstance(one, c.Binary)
            and one.op in c.COMPARISONS
            and (self.type_of(one.left) in SELECTS or self.type_of(one.right) in SELECTS)
            for one in c.walk(test)
        )

    def _is_at_hand(self, expr: c.Expr) -> bool:
        """Whether an expression is a value that is there anyway, or the larger one of such."""
        match expr:
            case c.Literal() | c.Name() | c.Unary(op="-" | "+", operand=c.Literal()):
                return True
            case c.ArrayRef():
                return self.is_sure(expr)
            case c.Ternary(then=then, otherwise=otherwise):
                return self._is_at_hand(then) and self._is_at_hand(otherwise)
        return False

    def _is_free(self, expr: c.Expr) -> bool:
        """Whether an expression can be computed in vain: floating operations trap for no operands."""
        match expr:
            case c.Literal() | c.Name():
                return True
            case c.ArrayRef(subscripts=subscripts):
                return self.is_there(expr) and all(map(self._is_fixed, subscripts))
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                return _is_test(condition, self._is_free) and self._is_free(then) and self._is_free(otherwise)
            case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                return self.type_of(expr) in SELECTS and self._is_free(left) and self._is_free(right)
            case c.Unary(op="-" | "+", operand=operand) | c.Cast(type="float" | "double", operand=operand):
                return self.type_of(operand) in SELECTS and self._is_free(operand)
            case c.Call(function=name, arguments=(operand,)):
                # Roots set no errno in loops that compute both branches (`makes_vectors`).
                return name in (*_ABSOLUTE, *ROOTS, *ROUNDED) and self._is_free(operand)
        return False

    def _is_fixed(self, expr: c.Expr) -> bool:
        """Whether a subscript is made of loop variables, sizes and numbers, which a statement does not change."""
        return all(
            isinstance(one, c.Literal | c.Unary | c.Binary | c.Cast | c.Ternary)
            or (isinstance(one, c.Name) and self.type_of(one) == "int")
            for one in c.walk(expr)
        )


def has_choices(node: c.Stmt) -> bool:
    """Whether there are branches in a statement, or loops, which it may leave or not enter."""
    return any(
        isinstance(one, c.If | c.For | c.While | c.Jump | c.Ternary) or is_conditional(one) for one in c.walk(node)
    )


def is_both(node: c.Node) -> bool:
    """Whether this is `(a < b) & (c < d)`."""
    match node:
        case c.Binary(op="&" | "|", left=left, right=right):
            return all(is_both(one) or (isinstance(one, c.Binary) and one.op in c.COMPARISONS) for one in (left, right))
    return False


def is_conditional(node: c.Node) -> TypeGuard[c.Binary]:
    """Whether this is `a && b` or `a || b`, of which C computes b in one case only."""
    return isinstance(node, c.Binary) and node.op in _TOGETHER


def folded_scalars(node: c.Node) -> set[str]:
    """The variables of which a statement computes something with a number."""
    return {one.array for one in _with_numbers(node) if isinstance(one, c.ArrayRef) and not one.subscripts}


def _with_numbers(node: c.Node) -> Iterator[c.Expr]:
    """What a number is added to, subtracted from, multiplied or divided by, or what becomes a whole number."""
    for one in c.walk(node):
        if isinstance(one, c.Cast) and one.type in ("int", "long") and isinstance(one.operand, c.ArrayRef):
            yield one.operand
        if isinstance(one, c.Binary) and one.op in "+-*/":
            left, right = _bare(one.left), _bare(one.right)
            if isinstance(left, c.Literal) != isinstance(right, c.Literal):
                yield right if isinstance(left, c.Literal) else left


def _bare(expr: c.Expr) -> c.Expr:
    while isinstance(expr, c.Cast) or (isinstance(expr, c.Unary) and expr.op in "+-"):
        expr = expr.operand
    return expr


def _numbered(choice: c.Ternary) -> Iterator[c.Ternary]:
    """The choices in a choice that may take a number: before compilers look for vectors, they make a path for it, with
    what is computed of it."""
    branches = [_bare(choice.then), _bare(choice.otherwise)]
    inner = [one for branch in branches if isinstance(branch, c.Ternary) for one in _numbered(branch)]
    yield from inner
    if inner or any(isinstance(branch, c.Literal) for branch in branches):
        yield choice


def _choices(expr: c.Expr) -> list[c.Ternary]:
    """The choices in an expression."""
    return [one for one in c.walk(expr) if isinstance(one, c.Ternary)]


def _keeps_condition(condition: c.Expr, targets: list[c.Expr]) -> bool:
    """Whether a condition is what it was when some variables or elements were set, but for the last one."""
    read = {n.array for n in c.walk(condition) if isinstance(n, c.ArrayRef)}
    return not any(isinstance(target, c.ArrayRef) and target.array in read for target in targets[:-1])
