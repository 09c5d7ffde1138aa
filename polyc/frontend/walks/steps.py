"""What adds something to a variable, and what reads memory: forms of C that are looked for in walks."""

from __future__ import annotations

from polyc.frontend.idioms.sums import constant
from polyc.model import ctree as c

COMPARED = ("<", "<=", ">", ">=", "!=")


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


def is_step(item: c.Stmt, key: str) -> bool:
    """Whether a statement only adds something to a variable."""
    step = stepped(item.expr) if isinstance(item, c.ExprStmt) else None
    return step is not None and step[0] == key


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
