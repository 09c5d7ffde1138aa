"""Structs of a loop's body.

One with pointers in it, `struct view v = {h, w, src + c * h * w};`, becomes a variable for each member: what these
lead to is known then (`walks.py`).

rewrite:  struct view v = {w, src + n}; s(v.pix[i]);  ->  int v_w = w; pixel *v_pix = src + n; s(v_pix[i]);
requires: the region declares it, and uses nothing but its members, each of them a number or a pointer

One that is set member by member begins each iteration with a value of its own. C gives such a variable no value before,
so that nobody can tell; the model is told that nothing comes from the iteration before.

rewrite:  for (...) { struct v n; n.x = e; n.y = f; a[i] = n; }  ->  for (...) { struct v n = {0}; n.x = e; … }
"""

from __future__ import annotations

from pycparser import c_ast

from polyc.frontend.c.ctype import member_of
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import replace


def with_members_apart(body: c.Block, scope: Scope) -> c.Block:
    """The region with a variable for each member of the structs that have pointers in them."""
    declared = {node.name for node in c.walk(body) if isinstance(node, c.Decl)}
    symbols = [scope.symbols[key] for key in sorted(declared) if key in scope.symbols]
    chosen = {symbol.key: members for symbol in symbols if (members := _with_pointers(symbol, scope))}
    chosen = {key: members for key, members in chosen.items() if _is_taken_apart(body, key, members)}
    if not chosen:
        return body
    apart = {
        key: {item.name: scope.fresh(_declaration(scope.symbols[key], item)).key for item in members}
        for key, members in chosen.items()
    }

    def statements(node: c.Stmt) -> list[c.Stmt]:
        if not isinstance(node, c.Decl) or node.name not in apart:
            return [c.rewrite(node, change)]
        names = apart[node.name].values()
        given = [c.rewrite(i, change) for i in node.init.items] if isinstance(node.init, c.InitList) else []
        rest = [c.Literal("0", node.span) for _ in range(len(names) - len(given))] if given else [None] * len(names)
        parts = zip(names, [*given, *rest], strict=True)
        return [c.Decl(scope.symbols[name].shape.element.text, name, (), init, node.span) for name, init in parts]

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Block(body=items):
                return replace(node, body=tuple(one for item in items for one in statements(item)))
            case c.Member(base=c.Name(name=name), field=field) if name in apart:
                return c.Name(apart[name][field], node.span)
        return None

    return c.rewrite(body, change)


def _with_pointers(symbol: Symbol, scope: Scope) -> list[c_ast.Decl]:
    """The members of a struct of the region that are numbers and pointers; none unless there are pointers."""
    node = symbol.shape.node
    if symbol.storage is not Storage.REGION or symbol.rank or not isinstance(node, c_ast.Struct) or symbol.static:
        return []
    members = list(node.decls or ())
    if any(not isinstance(item, c_ast.Decl) for item in members):
        return []
    shapes = [member_of(scope.types, node, item.name) for item in members]
    if any(shape is None or (shape.dims and not shape.dims[0].pointer) for shape in shapes):
        return []
    plain = all(shape is not None and (shape.dims or shape.node is None) for shape in shapes)
    return members if plain and any(shape is not None and shape.dims for shape in shapes) else []


def _is_taken_apart(body: c.Block, key: str, members: list[c_ast.Decl]) -> bool:
    """Whether a region uses nothing of a struct but its members."""
    used = sum(isinstance(node, c.Name) and node.name == key for node in c.walk(body))
    by_member = sum(isinstance(n, c.Member) and n.base == c.Name(key) and not n.arrow for n in c.walk(body))
    inits = [node.init for node in c.walk(body) if isinstance(node, c.Decl) and node.name == key]
    known = all(
        init is None
        or (
            isinstance(init, c.InitList)
            and len(init.items) <= len(members)
            and not any(isinstance(item, c.InitList) for item in init.items)
        )
        for init in inits
    )
    return used == by_member and known


def _declaration(symbol: Symbol, member: c_ast.Decl) -> c_ast.Decl:
    return c_ast.Decl(f"{symbol.c_name}_{member.name}", [], [], [], [], member.type, None, None, member.coord)


def with_first_values(body: c.Block, scope: Scope) -> c.Block:
    """The region with a first value for each struct that is set in parts."""
    parts = {name for node in c.walk(body) if isinstance(node, c.Assign) and (name := _whole(node.target)) is not None}

    def visit(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Decl) and node.name in parts and node.init is None and not node.extents:
            symbol = scope.symbols.get(node.name)
            named = symbol is not None and symbol.shape.element.text.split()[-1] != "None"
            if symbol is not None and named and symbol.shape.element.kind == "struct" and not symbol.rank:
                return replace(node, init=c.InitList((c.Literal("0"),), node.span))
        return None

    return c.rewrite(body, visit) if parts else body


def _whole(target: c.Expr) -> str | None:
    """`n` of `n.x`, `n.at[0].x`."""
    inner = target
    while isinstance(inner, c.Member | c.Subscript):
        if isinstance(inner, c.Member) and inner.arrow:
            return None
        inner = inner.base
    return inner.name if isinstance(inner, c.Name) and inner is not target else None
