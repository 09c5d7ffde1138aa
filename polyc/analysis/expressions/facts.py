"""What a region writes, loops over and reads: questions about its C tree that need no polyhedra."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.expressions.constants import fold, literal_value
from polyc.model import ctree as c
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Induction:
    """The head of a for loop that counts: `for (key = start; …; key += step)`."""

    key: str
    start: c.Expr
    step: int
    declared: bool
    """The head declares the variable."""


def base_key(expr: c.Expr) -> str | None:
    """The name that an lvalue is a part of: `A` for `A[i].x`, `*A`, `A->x`."""
    name = base_name(expr)
    return None if name is None else name.name


def base_name(expr: c.Expr) -> c.Name | None:
    """Where the name of `base_key` stands."""
    while True:
        match expr:
            case c.Name():
                return expr
            case (
                c.Subscript(base=inner) | c.Member(base=inner) | c.Unary(op="*", operand=inner) | c.Cast(operand=inner)
            ):
                expr = inner
            case c.Binary(op="+" | "-", left=inner):
                expr = inner
            case _:
                return None


_WRITING = frozenset({c.Assign, c.Postfix, c.Unary, c.Decl})


def lvalues(node: c.Node) -> Iterator[c.Expr]:
    """Everything that is assigned in a tree, heads of loops too."""
    for item in c.walk(node):
        if type(item) not in _WRITING:
            continue
        match item:
            case c.Assign(target=target) | c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
                yield target
            case c.Decl(name=name, init=init, span=span) if init is not None:
                yield c.Name(name, span)


def writes(node: c.Node) -> set[str]:
    """Keys of all names that are written, wholly or in part."""
    return {key for target in lvalues(node) if (key := base_key(target)) is not None}


def assigned_scalars(node: c.Node) -> set[str]:
    """Keys that are assigned as a whole: `x = …`, `x++`."""
    return {target.name for target in lvalues(node) if isinstance(target, c.Name)}


def mentions(node: c.Node) -> set[str]:
    return {item.name for item in c.walk(node) if isinstance(item, c.Name)}


def reads(node: c.Node) -> set[str]:
    """Keys of all names that are mentioned otherwise than as what `=` assigns."""
    assigned = {id(base_name(item.target)) for item in c.walk(node) if isinstance(item, c.Assign) and item.op == "="}
    return {item.name for item in c.walk(node) if isinstance(item, c.Name) and id(item) not in assigned}


def is_read_first(expr: c.Expr) -> bool:
    """Whether all subscripts are read before anything changes: `k = col[k]`."""
    return isinstance(expr, c.Assign) and isinstance(expr.target, c.Name) and not assigned_scalars(expr.value)


def is_plain(index: c.Expr) -> bool:
    """Whether a subscript reads no memory but variables, `s.w` too, and divides by nothing."""
    return all(
        isinstance(node, (c.Name, c.Literal, c.Cast))
        or (isinstance(node, c.Member) and not node.arrow)
        or (isinstance(node, c.Binary) and node.op in "+-*")
        or (isinstance(node, c.Unary) and node.op in "+-")
        for node in c.walk(index)
    )


def indices(expr: c.Expr) -> Iterator[c.Expr]:
    """The subscripts of a reference, of its members too; 0 of `*a`."""
    match expr:
        case c.Unary(op="*", operand=inner) if not isinstance(inner, c.Binary):
            yield from indices(inner)
            yield c.Literal("0")
        case c.Subscript(base=base, index=index):
            yield from indices(base)
            yield index
        case c.Member(base=inner) | c.Unary(operand=inner) | c.Cast(operand=inner):
            yield from indices(inner)
        case c.Binary(left=left, right=right):
            yield from indices(left)
            yield right


def constant(expr: c.Expr) -> int | None:
    """The value of an integer constant expression; None also where a conversion changes it, or may."""
    match expr:
        case c.Literal(text=text):
            return literal_value(text)
        case c.Unary(op="-" | "+" as op, operand=inner):
            value = constant(inner)
            return value if value is None or op == "+" else _unless_unsigned(expr, -value)
        case c.Cast(type=text, operand=inner):
            value = constant(inner)
            return value if value is not None and _is_kept(value, text) else None
        case c.Binary(op=op, left=left, right=right):
            first, second = constant(left), constant(right)
            value = None if first is None or second is None else fold(op, first, second)
            return None if value is None else _unless_unsigned(expr, value)
    return None


def _unless_unsigned(expr: c.Expr, value: int) -> int | None:
    """A value; None where it is less than 0, and computed of unsigned numbers, which wrap."""
    literals = [part.text for part in c.walk(expr) if isinstance(part, c.Literal)] if value < 0 else []
    return None if any("u" in text.lower() and text[0].isdigit() for text in literals) else value


def _is_kept(value: int, type_: str) -> bool:
    """Whether a type, of whatever size, has a value."""
    words = set(type_.split())
    if "bool" in type_.lower():
        return value in (0, 1)
    most = 1 << (31 if words <= {"signed", "unsigned", "int", "long"} else 7)
    signed = words <= {"signed", "char", "short", "int", "long"}
    return -most <= value < most and (signed or value >= 0)


def induction(loop: c.For) -> Induction | None:
    """The variable that a for loop counts with, None where its head has another form."""
    match loop.init:
        case c.Decl(name=key, init=start, extents=()) if start is not None:
            declared = True
        case c.Assign(op="=", target=c.Name(name=key), value=start):
            declared = False
        case _:
            return None
    step = step_of(loop.step, key)
    return Induction(key, start, step, declared) if step else None


def step_of(expr: c.Expr | None, key: str) -> int | None:
    """The constant by which a loop's step changes the variable."""
    match expr:
        case c.Postfix(op=op, operand=c.Name(name=name)) | c.Unary(op="++" | "--" as op, operand=c.Name(name=name)):
            return None if name != key else 1 if op == "++" else -1
        case c.Assign(op="+=" | "-=" as op, target=c.Name(name=name), value=value) if name == key:
            amount = constant(value)
            return None if amount is None else amount if op == "+=" else -amount
        case c.Assign(op="=", target=c.Name(name=name), value=c.Binary(op="+" | "-" as op, left=left, right=right)):
            if name != key:
                return None
            if isinstance(left, c.Name) and left.name == key:
                amount = constant(right)
                return None if amount is None else amount if op == "+" else -amount
            if isinstance(right, c.Name) and right.name == key and op == "+":
                return constant(left)
    return None


def at_start(condition: c.Expr, head: Induction) -> c.Expr:
    """The condition of a loop for its first iteration."""
    return with_value(condition, head.key, head.start)


def with_value(node: c.N, key: str, value: c.Expr) -> c.N:
    """What a node is where a variable has a value; `a` for `a + 0`."""

    def change(part: c.Node) -> c.Node | None:
        if value == c.Literal("0") and isinstance(part, c.Binary) and part.op == "+":
            for this, rest in ((part.right, part.left), (part.left, part.right)):
                if this == c.Name(key):
                    return with_value(rest, key, value)
        return value if part == c.Name(key) else None

    return c.rewrite(node, change)


def last_value(condition: c.Expr, head: Induction) -> c.Expr | None:
    """The value that a counter has in its loop's last iteration, if there is one; None where that is not plain to see.

    requires: the condition holds in the first iteration
    """
    match condition:
        case c.Binary(op=op, left=c.Name(name=name), right=end) if name == head.key and key_free(end, name):
            pass
        case c.Binary(op=op, left=end, right=c.Name(name=name)) if name == head.key and key_free(end, name):
            op = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
        case _:
            return None
    match op, head.step:
        case ("<=", 1) | (">=", -1):
            return end
        case ("<", 1):
            return _moved(end, "-")
        case (">", -1):
            return _moved(end, "+")
    return None


def _moved(end: c.Expr, op: str) -> c.Expr:
    match end:
        case c.Binary(op=other, left=left, right=c.Literal(text="1")) if {op, other} == {"+", "-"}:
            return left
    number = constant(end)
    if number is None or number + (op == "+") < 1:
        return c.Binary(op, end, c.Literal("1"))
    return c.Literal(str(number + (1 if op == "+" else -1)))


def key_free(expr: c.Node, key: str) -> bool:
    return key not in mentions(expr)


def is_linear(expr: c.Expr, key: str) -> bool:
    """Whether an expression is `a * key + b` where a and b are the same for all values of a variable."""
    if key_free(expr, key) or expr == c.Name(key):
        return True
    match expr:
        case c.Binary(op="+" | "-", left=left, right=right):
            return is_linear(left, key) and is_linear(right, key)
        case c.Binary(op="*", left=left, right=right):
            return (is_linear(left, key) and key_free(right, key)) or (key_free(left, key) and is_linear(right, key))
        case c.Unary(op="+" | "-", operand=operand) | c.Cast(type="long" | "int", operand=operand):
            return is_linear(operand, key)
    return False


def has_jump(body: c.Stmt) -> bool:
    """Whether a break or continue in a loop's body belongs to that loop."""
    match body:
        case c.Jump():
            return True
        case c.For() | c.While():
            return False
        case c.Block(body=items):
            return any(has_jump(item) for item in items)
        case c.If(then=then, otherwise=otherwise):
            return has_jump(then) or (otherwise is not None and has_jump(otherwise))
    return False


def read_outside_loops(node: c.Node, around: frozenset[str] = frozenset()) -> set[str]:
    """Names that are mentioned outside of every for loop that counts with them."""
    if isinstance(node, c.For):
        head = induction(node)
        if head is not None:
            inside = around | {head.key}
            found = read_outside_loops(head.start, around)
            for part in (node.condition, node.body):
                if part is not None:
                    found |= read_outside_loops(part, inside)
            return found
    if isinstance(node, c.Name):
        return set() if node.name in around else {node.name}
    found = set()
    for child in c.children(node):
        found |= read_outside_loops(child, around)
    return found
