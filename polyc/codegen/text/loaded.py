"""Pointers and sizes that lie in memory, as `im->pix` and `im->w`: read once, before the loops.

Where a region stores characters, C compilers have to suppose that each store changes the pointer, and the end of the
loop: they read both anew in each iteration, and make no vectors. The model knows that the region writes neither. Where
threads run a loop, they would get the struct's address, and what C compilers know of a struct is lost with it, in the
loops as they were written as well.

rewrite:  for (y …) for (x = 0; x < im->w; x++) q[y][x] = im->pix[y * im->w + x];
          ->
          const unsigned char *const im_pix_at = im->pix; const int im_w_at = im->w;
          for (y …) for (x = 0; x < im_w_at; x++) q[y][x] = im_pix_at[y * im_w_at + x];
requires: they are there wherever the text runs (`Scop.loaded`)
"""

from __future__ import annotations

from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Array, Parameter, Scop, stores_characters

Body = tuple[c.Stmt, ...]
SUFFIX = "_at"
THREADS = "omp parallel"


def with_loaded(body: Body, scop: Scop) -> Body:
    """The statements with variables for what is read again and again."""
    if not scop.loaded:
        return body
    nodes = [node for item in body for node in c.walk(item)]
    loops = [node for node in nodes if isinstance(node, c.For)]
    if not loops or not (
        stores_characters(scop.arrays, scop.statements) or any(p.startswith(THREADS) for n in loops for p in n.pragmas)
    ):
        return body
    pragmas = {
        word
        for node in nodes
        if isinstance(node, c.For | c.ExprStmt)
        for p in node.pragmas
        for word in c.identifiers(p)
    }
    taken = set(scop.used_names) | {node.name for node in nodes if isinstance(node, c.Decl)}
    answers = {told(parameter.expr) for parameter in scop.parameters if parameter.is_answer}
    asked = {id(part) for node in nodes if told(node) in answers for part in c.walk(node)}
    nodes = [node for node in nodes if id(node) not in asked]
    arrays: dict[str, str] = {}
    sizes: dict[c.Expr, c.Expr] = {}
    declared: list[c.Decl] = []
    for one in loaded(scop):
        text = one.c_name if isinstance(one, Array) else ""
        expr = c.Name(text) if isinstance(one, Array) else one.expr
        used = any((isinstance(n, c.ArrayRef) and n.array == text) or n == expr for n in nodes)
        if not used or set(c.identifiers(text)) & pragmas:
            continue
        name = c.as_word(text or one.name) + SUFFIX
        while name in taken:
            name += "_"
        taken.add(name)
        declared.append(c.Decl(type_of(one, scop), name, (), expr))
        if text:
            arrays[text] = name
        sizes[expr] = c.Name(name)

    def change(node: c.Node) -> c.Node | None:
        if told(node) in answers:
            return node  # as it is asked
        if isinstance(node, c.ArrayRef) and node.array in arrays:
            return c.ArrayRef(arrays[node.array], tuple(c.rewrite(s, change) for s in node.subscripts), node.ref)
        return sizes.get(node) if isinstance(node, c.Name | c.Member | c.Subscript | c.Unary) else None

    return (*declared, *(c.rewrite(item, change) for item in body)) if declared else body


def told(node: c.Node) -> tuple[c.Expr, c.Expr] | None:
    """What is compared, whether it is asked if both are the same or the opposite."""
    return (node.left, node.right) if isinstance(node, c.Binary) and node.op in c.COMPARISONS else None


def loaded(scop: Scop) -> list[Array | Parameter]:
    """What is read before the loops."""
    found: list[Array | Parameter] = [array for key, array in sorted(scop.arrays.items()) if key in scop.loaded]
    return [*found, *(parameter for parameter in scop.parameters if parameter.name in scop.loaded)]


def type_of(one: Array | Parameter, scop: Scop) -> str:
    """What the variable for it is."""
    if isinstance(one, Parameter):
        return f"const {one.type.text}"
    accesses = (a for s in scop.statements.values() for a in s.accesses)
    written = any(a.array == one.name and a.kind is not AccessKind.READ for a in accesses)
    return f"{'' if written else 'const '}{one.element.text} *const"


__all__ = ["loaded", "type_of", "with_loaded"]
