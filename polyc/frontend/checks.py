"""Everything in a region that polyc refuses, collected in one walk over its C tree."""

from __future__ import annotations

from dataclasses import dataclass

from polyc.errors import Span
from polyc.frontend.facts import base_key
from polyc.frontend.functions import PURE
from polyc.frontend.references import Reference, links, resolve, split_chain
from polyc.frontend.region import Region
from polyc.frontend.symbols import Symbol
from polyc.model import ctree as c


@dataclass(slots=True)
class Checker:
    region: Region
    pure: frozenset[str]

    def statement(self, node: c.Node) -> None:
        match node:
            case c.Decl():
                self.declaration(node)
            case c.ExprStmt(expr=expr):
                self.expr(expr)
            case c.Block() | c.If() | c.For() | c.While():
                for child in c.children(node):
                    self.statement(child)
            case c.Jump() | c.Comment() | c.Empty():
                pass
            case _:
                self.expr(node)

    def declaration(self, node: c.Decl) -> None:
        symbol = self.region.symbol(node.name)
        if symbol is not None and any(d.pointer for d in symbol.shape.dims):
            hint = "use the array itself, or declare the pointer before the region"
            message = f"'{symbol.c_name}' is a pointer declared in the region"
            self.region.refuse("pointer-assignment", message, node.span, hint)
            return
        if symbol is not None and any(d.size is None for d in symbol.shape.dims):
            hint = "give it a constant size, or declare it before the region"
            message = f"'{symbol.c_name}' has no constant size"
            self.region.refuse("unsupported-declaration", message, node.span, hint)
        for part in (*node.extents, node.init):
            if part is not None:
                self.expr(part)

    def expr(self, expr: c.Node) -> None:
        """An expression that is evaluated."""
        match expr:
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
            hint = f"keep '{moved[0].c_name}' as it is and write the offset into its subscripts"
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
            self.region.refuse("unsupported-expression", "polyc cannot tell what this refers to", whole.span, hint)
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
        elif name not in PURE and name not in self.pure:
            hint = f"if it only computes a value from its arguments, say '#pragma polyc pure({name})'"
            self.region.refuse("unknown-call", f"'{name}' may have side effects", expr.span, hint)
        for argument in expr.arguments:
            self.argument(argument)

    def argument(self, argument: c.Expr) -> None:
        inner = argument
        while isinstance(inner, (c.Cast, c.Unary)) and (isinstance(inner, c.Cast) or inner.op == "&"):
            inner = inner.operand
        key = base_key(inner)
        symbol = self.region.symbol(key) if key is not None else None
        address = isinstance(argument, c.Unary) and argument.op == "&"
        if (
            symbol is not None
            and symbol.rank
            and resolve(self.region.scope, inner) is None
            and links(inner) is not None
        ):
            address = True
        if address:
            hint = "pass values instead, or end the region before the call"
            what = f"of '{symbol.c_name}' " if symbol is not None else ""
            self.region.refuse("array-argument", f"the address {what}is passed to a function", argument.span, hint)
            return
        self.expr(argument)
