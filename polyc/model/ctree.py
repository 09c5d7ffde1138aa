"""The C tree of polyc: what the frontend makes of a region, and what codegen prints.

Some twenty frozen dataclasses, no visitors: walk them with `match`, rebuild them with `rewrite`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field as dataclass_field
from functools import reduce
from operator import is_not
from typing import TypeAlias, TypeVar

from polyc.errors import Span
from polyc.model.tree import Member as Member_
from polyc.records import dataclass, fields, replace

# --- expressions -----------------------------------------------------------------------------------------------------

NUMBERS = frozenset(f"__builtin_{name}{suffix}" for name in ("inf", "huge_val", "nan") for suffix in ("", "f", "l"))
"""Calls that are constants: what `INFINITY`, `HUGE_VAL` and `NAN` are in C's headers."""
COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
OPPOSITE = {"==": "!=", "!=": "=="}
"""Comparisons of which one holds where the other does not, also of floats that are no numbers."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as the user spelled it: `1.5f`, `10u`, `'a'`, `"text"`."""

    text: str
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier that is not an array or scalar of the model: a loop variable, a parameter, a function, an enum; or
    the text that leads to a place in memory that is a parameter, `g[0]`."""

    name: str
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """A reference to an array or scalar of the model, `A[i][j + 1]` or `t`.

    `array` is the key in `Scop.arrays` (which may differ from the C name where two declarations shadow each other);
    `ref` is the label that `Access.ref` shares, "" for references in opaque parts that have no access of their own.
    """

    array: str
    subscripts: tuple[Expr, ...] = ()
    ref: str = ""
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Subscript:
    """An index of something that is no array of the model (an element of a struct's member, a lookup by pointer)."""

    base: Expr
    index: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    base: Expr
    field: str
    arrow: bool = False
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """A prefix operator: `-`, `+`, `!`, `~`, `++`, `--`, `*`, `&`."""

    op: str
    operand: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Postfix:
    """`++` or `--` after its operand."""

    op: str
    operand: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target op value` with op in `=`, `+=`, `-=`, …; an expression, as in C."""

    op: str
    target: Expr
    value: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ternary:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


PREFETCH = "__builtin_prefetch"
"""What gcc and clang call the request for a line of a cache."""


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Expr, ...]
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`(type) operand`; `type` is C text, e.g. `double` or `unsigned char`."""

    type: str
    operand: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof(text)`: its operand is not evaluated and stays text."""

    text: str
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comma:
    items: tuple[Expr, ...]
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InitList:
    """`{ a, b }` in an initialiser."""

    items: tuple[Expr, ...]
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


Expr: TypeAlias = (
    Literal
    | Name
    | ArrayRef
    | Subscript
    | Member
    | Unary
    | Postfix
    | Binary
    | Assign
    | Ternary
    | Call
    | Cast
    | SizeOf
    | Comma
    | InitList
)

# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExprStmt:
    """`pragmas` are printed on lines of their own before it, `worth` as the `if` clause of the first one."""

    expr: Expr
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)
    pragmas: tuple[str, ...] = ()
    worth: Expr | None = None


@dataclass(frozen=True, slots=True)
class Decl:
    """A declaration of one name: `type name[e0][e1] = init;`. `type` is C text without the declarator."""

    type: str
    name: str
    extents: tuple[Expr, ...] = ()
    init: Expr | None = None
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)
    aligned: int = 0
    """Bytes that its address is a multiple of; 0: whatever its type asks for."""
    heap: bool = False
    """An array too large for a stack, in a block of its own: printed with its allocation, and freed where that ends."""
    may_be_empty: bool = False
    """Whether its rows, whose type C asks for in any case, may have no length where there is no block."""

    @property
    def row(self) -> tuple[Expr, ...]:
        """The extents of a row in the type of a pointer to it: C gives none a meaning that is not positive."""
        if not self.may_be_empty:
            return self.extents[1:]
        return tuple(e if isinstance(e, Literal) else Call("polyc_max", (e, Literal("1"))) for e in self.extents[1:])


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple[Stmt, ...]
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Stmt
    otherwise: Stmt | None = None
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """A C loop. `pragmas` are printed on lines of their own before it, `worth` as the `if` clause of the first one:
    where threads pay for their start. `lanes`: one operation on vectors is to run all
    its iterations, from 0 to `lanes` (`vectors.py`). `lookups`: in so many iterations, from a multiple on,
    the rows of its tables are the same (`lookup_block.py`). `owned`: an array whose cells have owners among the
    threads, which run the iterations that update them (`owner_block.py`), `owned_if`: where threads are worth it.
    `nontemporal`: arrays that it stores past the caches (`stream_block.py`), where `large` holds, if that stands
    there."""

    init: Decl | Expr | None
    condition: Expr | None
    step: Expr | None
    body: Stmt
    pragmas: tuple[str, ...] = ()
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)
    worth: Expr | None = None
    lanes: int = 0
    lookups: int = 0
    owned: str = ""
    owned_if: Expr | None = None
    nontemporal: tuple[str, ...] = ()
    large: Expr | None = None
    counts: str = ""
    """Of a printed loop: `int` where all loops of the user's that it runs count in that type, or `long`."""
    until: str = ""
    """A flag: where it is zero, no iteration of the loop has any effect (`idioms/predicates.py`)."""
    runs: tuple[Span, ...] = dataclass_field(default=(), compare=False, repr=False)
    """In a printed loop: the places of the user's loops whose iterations it runs."""


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: Stmt
    do_first: bool = False
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Jump:
    """`break;` or `continue;` inside an opaque loop."""

    kind: str
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of one or more lines; printed as a C block comment."""

    text: str
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Note:
    """What codegen knows of the statements beside it. Users never see it; the check of the printed text does.

    `kind`: `at` and `end` around a statement's text (`name` is the statement), `value` for a variable that only notes
    use, `lookups`, `owners` and `nontemporal` first in the block that stands for a loop with such.
    """

    kind: str
    name: str = ""
    instance: tuple[Expr, ...] = ()
    """For `at`: the statement's loop variables, and the values of producers that were inlined into it."""
    loops: tuple[tuple[Member_, Expr | None], ...] = ()
    """For `at`: the band members above the statement, outermost first, each with the value that it has here; None where
    isl printed no loop for it."""
    value: Expr | None = None
    """For `value`: that of the variable."""
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Empty:
    span: Span | None = dataclass_field(default=None, compare=False, repr=False)


Stmt: TypeAlias = ExprStmt | Decl | Block | If | For | While | Jump | Comment | Note | Empty

Node: TypeAlias = Expr | Stmt
N = TypeVar("N", bound=Node)

# --- walking and rebuilding ------------------------------------------------------------------------------------------


def identifiers(name: str) -> list[str]:
    """The identifiers in a name: `s` and `x` of the array `s->x`."""
    return _WORD.findall(name)


def as_word(name: str) -> str:
    """A name as one identifier: `s_x` for `s->x`."""
    return name if name.isidentifier() else re.sub(r"\W+", "_", name).strip("_")


def added(expr: Expr, number: int) -> Expr:
    """A whole number and a constant: `i - 1` and 1 are `i`."""
    match expr:
        case _ if number == 0:
            return expr
        case Literal(text=text) if text.lstrip("-").isdigit():
            return Literal(str(int(text) + number))
        case Binary(op="+" | "-" as op, left=left, right=Literal(text=text)) if text.rstrip("L").isdigit():
            total = number + int(text.rstrip("L")) * (1 if op == "+" else -1)
            if total == 0:
                return left
            return Binary("+" if total > 0 else "-", left, Literal(str(abs(total)) + "L" * text.endswith("L")))
    return Binary("+" if number > 0 else "-", expr, Literal(str(abs(number))))


def children(node: Node) -> list[Node]:
    """The direct children of a node, in the order of its fields (not always C's order of evaluation)."""
    found: list[Node] = []
    for name in _INNER[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            found += value
        elif value is not None:
            found.append(value)
    return found


_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PLAIN = frozenset({"str", "bool", "int"})
"""The types, as they are written, of fields that never have nodes: all others have a node, a tuple of them, or None."""


class _Inner(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that may have nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        inner = (item for item in fields(kind) if item.name not in ("span", "pragmas", "nontemporal"))
        self[kind] = names = tuple(item.name for item in inner if item.type not in _PLAIN)
        return names


class _Backwards(dict[type, tuple[str, ...]]):
    """The same, the last one first."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = names = _INNER[kind][::-1]
        return names


_INNER = _Inner({Note: ()})  # nothing of it is printed
_BACKWARDS = _Backwards()


def items(body: Stmt | None) -> tuple[Stmt, ...]:
    """The statements of a body, one or a block."""
    if body is None:
        return ()
    return body.body if isinstance(body, Block) else (body,)


def only(body: Stmt) -> Stmt:
    """The one statement of a body, without notes; the body where there are several."""
    found = [item for item in items(body) if not isinstance(item, Note)]
    return found[0] if len(found) == 1 else body


def conjuncts(condition: Expr) -> list[Expr]:
    """The terms of `a && b && c`."""
    if isinstance(condition, Binary) and condition.op == "&&":
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def conjunction(terms: Iterable[Expr]) -> Expr:
    """`a && b && c` of its terms, of which there is one."""
    return reduce(lambda left, right: Binary("&&", left, right), terms)


def disjuncts(condition: Expr) -> list[Expr]:
    """The terms of `a || b || c`."""
    if isinstance(condition, Binary) and condition.op == "||":
        return [*disjuncts(condition.left), *disjuncts(condition.right)]
    return [condition]


def mentions_array(node: Node, array: str) -> bool:
    """Whether an element of an array is anywhere in a node."""
    return any(isinstance(inner, ArrayRef) and inner.array == array for inner in walk(node))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    waiting = [node]
    pop = waiting.pop
    while waiting:  # as `children`, in the other order: this runs a million times for a large region
        one = pop()
        yield one
        for name in _BACKWARDS[type(one)]:
            value = getattr(one, name)
            if type(value) is tuple:
                waiting += value[::-1]
            elif value is not None:
                waiting.append(value)


def has_loops(node: Node) -> bool:
    """Whether loops stand in some C: in a statement, those of which the model knows nothing, along sparse rows."""
    return any(isinstance(item, For | While) for item in walk(node))


def is_request(node: Node) -> bool:
    """Whether a statement only asks for the line of a cache: it computes nothing, and changes nothing on the way."""
    if not (isinstance(node, ExprStmt) and isinstance(node.expr, Call) and node.expr.function == PREFETCH):
        return False
    inside = (part for argument in node.expr.arguments for part in walk(argument))
    return not any(
        isinstance(part, Assign | Postfix | Call) or (isinstance(part, Unary) and part.op in ("++", "--"))
        for part in inside
    )


def rewrite(node: N, change: Callable[[Node], Node | None]) -> N:
    """Rebuild a tree, parents first: where `change` answers a node it replaces the old one, None goes on below."""
    answer = change(node)
    if answer is not None:
        return answer  # type: ignore[return-value]
    updates: dict[str, object] = {}
    for name in _INNER[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            changed = tuple([rewrite(v, change) for v in value])
            if any(map(is_not, changed, value)):
                updates[name] = changed
        elif value is not None:
            single = rewrite(value, change)
            if single is not value:
                updates[name] = single
    return replace(node, **updates) if updates else node  # type: ignore[arg-type]


def placed(node: N, span: Span | None, kept: type | None = None) -> N:
    """The tree with one place for all of its nodes, but for those of one kind."""
    keeps = kept is not None and isinstance(node, kept)
    updates: dict[str, object] = {"span": span} if hasattr(node, "span") and not keeps else {}
    for name in _INNER[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            updates[name] = tuple([placed(part, span, kept) for part in value])
        elif value is not None:
            updates[name] = placed(value, span, kept)
    return replace(node, **updates)  # type: ignore[arg-type]


def renamed(node: N, names: dict[str, str]) -> N:
    """The tree with other names for some."""

    def change(part: Node) -> Node | None:
        return Name(names[part.name], part.span) if isinstance(part, Name) and part.name in names else None

    return rewrite(node, change)


def unlabelled(node: N) -> N:
    """The tree without the labels that tell its references apart."""

    def change(part: Node) -> Node | None:
        return rewrite(replace(part, ref=""), change) if isinstance(part, ArrayRef) and part.ref else None

    return rewrite(node, change)


def without_notes(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements as they are printed."""
    found: list[Stmt] = []
    for item in statements:
        match item:
            case Note():
                pass
            case Block(body=body):
                found.append(replace(item, body=without_notes(body)))
            case For(body=body) | While(body=body):
                found.append(replace(item, body=_single(without_notes((body,)))))
            case If(then=then, otherwise=otherwise):
                other = None if otherwise is None else _single(without_notes((otherwise,)))
                found.append(replace(item, then=_single(without_notes((then,))), otherwise=other))
            case _:
                found.append(item)
    return tuple(found)


def _single(statements: tuple[Stmt, ...]) -> Stmt:
    """One statement for a loop's body; a block only where there are several, or a declaration."""
    if len(statements) == 1:
        inner = statements[0]
        if isinstance(inner, Block) and len(inner.body) == 1 and not isinstance(inner.body[0], Decl):
            return inner.body[0]
        return inner
    return Block(statements)


def compared_names(node: Binary) -> tuple[str, str] | None:
    """The two variables that a comparison compares."""
    if node.op in COMPARISONS and isinstance(node.left, Name) and isinstance(node.right, Name):
        return node.left.name, node.right.name
    return None


def of_equals(op: str) -> Literal:
    """What a comparison gives for two equal values."""
    return Literal("1" if op in ("<=", ">=", "==") else "0")
