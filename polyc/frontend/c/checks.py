"""Everything in a region that polyc refuses, collected in one walk over its C tree."""

from __future__ import annotations

from polyc.analysis.expressions.facts import base_key, mentions
from polyc.errors import Span
from polyc.frontend.c.references import Reference, links, place_of, resolve, split_chain, tested_pointer
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field

EXCHANGE = (
    "pointers may change places in a loop that stands in no other one, if nothing of the region uses them behind it; "
    "or put the region inside of that loop"
)


@dataclass(slots=True)
class Checker:
    region: Region
    told: set[str] = field(default_factory=set)
    """Functions with a note."""

    def statement(self, node: c.Node) -> None:
        match node:
            case c.Decl():
                self.declaration(node)
            case c.ExprStmt(expr=expr):
                self.expr(expr)
            case c.If(condition=condition):
                self.condition(condition)
                for child in c.children(node):
                    if child is not condition:
                        self.statement(child)
            case c.Block() | c.For() | c.While():
                for child in c.children(node):
                    self.statement(child)
            case c.Jump() | c.Comment() | c.Empty():
                pass
            case _:
                self.expr(node)

    def declaration(self, node: c.Decl) -> None:
        symbol = self.region.symbol(node.name)
        if symbol is not None and any(d.pointer for d in symbol.shape.dims):
            copied = isinstance(node.init, c.Name)
            inside = node.init is not None and any(self.is_inside(name) for name in mentions(node.init))
            hint = "use the array itself" + ("" if inside else ", or declare the pointer before the region")
            hint = EXCHANGE if copied else hint
            message = f"'{symbol.c_name}' is a pointer declared in the region"
            self.region.refuse("pointer-assignment", message, node.span, hint)
            return
        if symbol is not None and not all(self.is_settled(e) for e in node.extents):
            hint = "give it a size that the region does not change, or declare it before the region"
            message = f"the size of '{symbol.c_name}' is not known before the region"
            self.region.refuse("unsupported-declaration", message, node.span, hint)
        for part in (*node.extents, node.init):
            if part is not None:
                self.expr(part)

    def is_inside(self, name: str) -> bool:
        """Whether a name has no value before the region, or another one."""
        symbol = self.region.symbol(name)
        return name in self.region.written or (symbol is not None and symbol.storage is Storage.REGION)

    def is_settled(self, size: c.Expr) -> bool:
        """Whether a size is made of constants, and of integers from outside that the region does not write."""
        for item in c.walk(size):
            if isinstance(item, c.Name):
                symbol = self.region.symbol(item.name)
                if symbol is not None and (self.is_inside(item.name) or not symbol.is_integer):
                    return False
            elif not isinstance(item, (c.Literal, c.Unary, c.Binary, c.Cast, c.SizeOf)) or item == c.Literal(""):
                return False
        return True

    def condition(self, expr: c.Expr) -> None:
        """An expression that is yes or no: a pointer that the region does not change may be one."""
        match expr:
            case c.Unary(op="!", operand=inner):
                self.condition(inner)
            case c.Binary(op="&&" | "||", left=left, right=right):
                self.condition(left)
                self.condition(right)
            case _ if tested_pointer(self.region.scope, self.region.assigned, expr) is None:
                self.expr(expr)

    def expr(self, expr: c.Node) -> None:
        """An expression that is evaluated."""
        match expr:
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                self.condition(condition)
                self.expr(then)
                self.expr(otherwise)
            case c.Name() | c.Subscript() | c.Member() | c.Unary(op="*"):
                self.reference(expr, expr)
            case c.Unary(op="&"):
                self.address(expr)
            case c.Assign(target=target, value=value):
                if self.target(target, expr):
                    self.expr(value)
            case c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
                self.target(target, expr)
            case c.Call():
                self.call(expr)
            case _:
                for child in c.children(expr):
                    self.expr(child)

    def target(self, target: c.Expr, whole: c.Expr) -> bool:
        """Something that is assigned; False where the assignment as such is refused."""
        key = base_key(target)
        symbol = self.region.symbol(key) if key is not None else None
        moved = [p for item in c.walk(target) if (p := self.moved_pointer(item)) is not None]
        chain = links(target)
        depth = len([link for link in chain if not isinstance(link, c.Member)]) if chain is not None else 0
        if symbol is not None and chain is not None and len(chain) == depth < symbol.rank:
            moved = [symbol] if symbol.shape.dims[depth].pointer else moved
        if moved:
            copied = isinstance(whole, c.Assign) and isinstance(whole.value, c.Name) and isinstance(target, c.Name)
            offset = f"keep '{moved[0].c_name}' as it is and write the offset into its subscripts"
            hint = EXCHANGE if copied else offset
            message = f"'{moved[0].c_name}' is made to point to something else"
            self.region.refuse("pointer-assignment", message, whole.span, hint)
            return False
        if self.takes_address(target):
            return False
        if symbol is None:
            if key is None:
                hint = "only variables, elements of arrays and members can be assigned"
                self.region.refuse(
                    "unsupported-expression", "polyc cannot tell what is written here", target.span, hint
                )
            return False
        self.reference(target, target)
        return True

    def takes_address(self, expr: c.Expr) -> bool:
        """Refuse `&` inside a reference, as in `(&a[i])[1]`."""
        for item in c.walk(expr):
            if isinstance(item, c.Unary) and item.op == "&":
                self.address(item)
                return True
        return False

    def address(self, expr: c.Unary) -> None:
        hint = "polyc has to see every access to its arrays"
        self.region.refuse("address-of", "the address of something is taken in the region", expr.span, hint)

    def moved_pointer(self, expr: c.Node) -> Symbol | None:
        """The pointer that `p++` changes."""
        if isinstance(expr, c.Postfix) or (isinstance(expr, c.Unary) and expr.op in ("++", "--")):
            key = base_key(expr.operand)
            symbol = self.region.symbol(key) if key is not None else None
            if symbol is not None and symbol.rank and isinstance(expr.operand, c.Name):
                return symbol
        return None

    def reference(self, expr: c.Expr, whole: c.Expr) -> None:
        """A name, an element or a member: it has to be a whole element."""
        key = base_key(expr)
        symbol = self.region.symbol(key) if key is not None else None
        chain = links(expr)
        if key is not None and symbol is None:
            return
        moved = [p for item in c.walk(expr) if (p := self.moved_pointer(item)) is not None]
        if moved:
            self.target(expr, whole)
            return
        if (symbol is None or chain is None) and self.takes_address(expr):
            return
        if symbol is None or chain is None:
            hint = "write it as an element of an array, 'A[i][j]'"
            self.region.refuse("unsupported-expression", not_followed(expr), whole.span, hint)
            return
        if symbol.shape.is_function:
            self.region.refuse("unsupported-expression", "a function is used as a value", whole.span)
            return
        found = resolve(self.region.scope, expr)
        if found is None:
            self.wrong_rank(symbol, chain, whole)
            return
        for subscript in found.subscripts:
            self.expr(subscript)
        for link in found.rest:
            if isinstance(link, c.Subscript):
                self.expr(link.index)
        self.members(found, whole.span)

    def wrong_rank(self, symbol: Symbol, chain: list[c.Expr], expr: c.Expr) -> None:
        depth = len([link for link in chain if not isinstance(link, c.Member)])
        dimensions = f"{symbol.rank} dimension{'s' if symbol.rank != 1 else ''}"
        if depth > symbol.rank or split_chain(chain[: symbol.rank], symbol.rank)[0] is not None:
            message = f"'{symbol.c_name}' has {dimensions}, and is used with {depth}"
            self.region.refuse("array-rank", message, expr.span)
            return
        what = "a row of " if depth else "the pointer " if symbol.shape.dims[0].pointer else "the array "
        hint = f"'{symbol.c_name}' has {dimensions}: use its elements"
        self.region.refuse("pointer-value", f"{what}'{symbol.c_name}' is used as a value", expr.span, hint)

    def members(self, found: Reference, span: Span | None) -> None:
        """The members behind an element have to hold their data themselves."""
        node = found.symbol.shape.node
        pending = 0
        for link in found.rest:
            if not isinstance(link, c.Member):
                pending -= 1
                continue
            shape = self.region.scope.types.field(node, link.field)
            if shape is None:
                return
            if shape.qualifiers & {"volatile", "_Atomic"}:
                hint = "copy it to an ordinary variable outside of the region"
                self.region.refuse("volatile", f"'{link.field}' is volatile or atomic", span, hint)
                return
            if any(d.pointer for d in shape.dims):
                hint = "copy the pointer to a variable of its own before the region"
                message = f"'{link.field}' is a pointer in a struct: what it points to is not known"
                self.region.refuse("pointer-member", message, span, hint)
                return
            node, pending = shape.node, len(shape.dims)
        if pending != 0:
            hint = "use its elements one by one"
            self.region.refuse("pointer-value", "an array in a struct is used as a value", span, hint)

    def call(self, expr: c.Call) -> None:
        name = expr.function.lstrip("*")
        if expr.function.startswith("*"):
            what = f"'{name}'" if name else "a function"
            hint = "call the function by its name"
            self.region.refuse("unknown-call", f"{what} is called through a pointer", expr.span, hint)
        elif self.region.effects(name).anything and name not in self.told:
            self.told.add(name)
            hint = f"if it only computes a value from its arguments, say '#pragma polyc pure({name})'"
            self.region.note(
                "side-effects", f"'{name}' may have side effects: its calls stay in order", expr.span, hint
            )
        for argument in expr.arguments:
            self.argument(argument)

    def argument(self, argument: c.Expr) -> None:
        """A value, or a place whose subscripts are values."""
        place = place_of(self.region.scope, argument)
        if place is not None:
            for item in c.walk(argument):
                if isinstance(item, c.Subscript):
                    self.expr(item.index)
                elif isinstance(item, c.Binary):
                    self.expr(item.right)
            return
        inner = argument
        while isinstance(inner, c.Cast):
            inner = inner.operand
        if isinstance(inner, c.Unary) and inner.op == "&":
            hint = "pass an element of an array or a variable, or end the region before the call"
            message = "polyc cannot tell what the function is given the address of"
            self.region.refuse("array-argument", message, argument.span, hint)
            return
        self.expr(argument)


def not_followed(reference: c.Expr) -> str:
    """What is said of a reference that begins with no name."""
    base = reference
    while isinstance(base, c.Subscript | c.Member | c.Cast | c.Unary):
        base = base.base if isinstance(base, c.Subscript | c.Member) else base.operand
    match base:
        case c.Literal(text=text) if text.startswith('"'):
            return f"polyc does not follow elements of a string without a name: {text}"
        case c.Call(function=function):
            return f"polyc cannot tell what the result of '{function}' refers to"
    return "polyc cannot tell what this refers to"
