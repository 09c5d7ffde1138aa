"""The text, as C parses it, is the C tree that was compared with the program.

The printed characters are read by pycparser, without polyc's model of names, and compared node by node with the tree
that they were printed from: precedence, braces, pragmas, the condition around the text. The other branch of the
condition is the user's own loops, token for token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser, ParseError

from polyc.frontend.parse import clean
from polyc.model import ctree as c
from polyc.reread.parts import NotComparable, Refused

Form: TypeAlias = "tuple[Form | str, ...]"
"""A node without what differs between trees and texts: blocks of one statement, white space, labels, places."""

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_$][\w$]*|\.?\d(?:[eEpP][+-]|[\w.])*|\S')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_HIDDEN = re.compile(r"^[ \t]*#[ \t]*(?!pragma\b)[^\n]*$", re.MULTILINE)
_KEYWORDS = frozenset(
    "void char short int long float double signed unsigned _Bool const volatile register static extern struct union enum "
    "restrict inline _Complex".split()
)
_NUMBER = re.compile(r"-?(?:\.?\d(?:[eEpP][+-]|[\w.])*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_ALIGNED = re.compile(r"__attribute__\s*\(\(aligned\(\d+\)\)\)")


def tokens(text: str) -> list[str]:
    """C tokens, without comments and without lines of the preprocessor other than pragmas."""
    return TOKEN.findall(_HIDDEN.sub("", _COMMENT.sub(" ", text)))


def literal_faults(text: str, tree: tuple[c.Stmt, ...]) -> None:
    """Compare statements as they are printed with the tree that they were printed from. Raises NotComparable, Refused."""
    found = parsed(text, tree)
    wanted = form_of(tree)
    if found != wanted:
        one, other = _difference(wanted, found)
        raise Refused("C reads the printed text as another program", f"{one} became {other}"[:300])


def same_tokens(text: str, original: str) -> bool:
    """Whether a piece of text has the user's own statements."""
    return tokens(text) == tokens(original)


# --- from the text


def parsed(text: str, tree: Iterable[c.Stmt]) -> Form:
    """The statements of a piece of C text."""
    plain = clean(_ALIGNED.sub("", _HIDDEN.sub("", _COMMENT.sub(" ", text))), [(0, len(text))])
    types = sorted({name for item in tree for name in _types(item)})
    head = "".join(f"typedef int {name};" for name in types)
    try:
        file = CParser().parse(f"{head}\nvoid polyc_text(void)\n{{\n{plain}\n}}\n", "")
    except (ParseError, AssertionError, RecursionError) as problem:
        raise NotComparable(f"the printed text cannot be parsed ({problem})") from None
    function = file.ext[-1]
    return _statements(function.body.block_items or [])


def _types(item: c.Node) -> Iterator[str]:
    """Names of types that the statement uses and C has not."""
    for node in c.walk(item):
        match node:
            case c.Cast(type=text) | c.Decl(type=text) | c.SizeOf(text=text):
                words = re.findall(r"[A-Za-z_]\w*", text)
                tagged = {b for a, b in zip(words, words[1:], strict=False) if a in ("struct", "union", "enum")}
                if isinstance(node, c.SizeOf) and not re.fullmatch(r"[\w\s*]+", text):
                    continue
                if isinstance(node, c.SizeOf) and len(words) == 1 and words[0] not in _KEYWORDS:
                    continue  # read as a variable, which has the same form
                yield from (word for word in words if word not in _KEYWORDS | tagged)


def _statements(items: Iterable[c_ast.Node]) -> Form:
    return tuple(part for item in items for part in _statement(item))


def _one(items: Form) -> Form:
    """One statement, or a block of several."""
    if len(items) == 1 and isinstance(items[0], tuple) and items[0][0] == "block":
        return items[0]
    return items[0] if len(items) == 1 and isinstance(items[0], tuple) and items[0][0] != "decl" else ("block", items)


def _statement(node: c_ast.Node) -> Form:
    match node:
        case c_ast.Compound():
            inner = _statements(node.block_items or [])
            one = _one(inner)
            return (one,)
        case c_ast.Pragma():
            return (("pragma", " ".join(node.string.split())),)
        case c_ast.EmptyStatement():
            return ()
        case c_ast.Decl():
            return (_declaration(node),)
        case c_ast.DeclList():
            return tuple(_declaration(one) for one in node.decls)
        case c_ast.For():
            init: Form = ()
            if isinstance(node.init, c_ast.DeclList):
                init = tuple(_declaration(one) for one in node.init.decls)
            elif node.init is not None:
                init = (_expr(node.init),)
            return (("for", init, _maybe(node.cond), _maybe(node.next), _one(_statement(node.stmt))),)
        case c_ast.While():
            return (("while", _expr(node.cond), _one(_statement(node.stmt))),)
        case c_ast.DoWhile():
            return (("do", _expr(node.cond), _one(_statement(node.stmt))),)
        case c_ast.If():
            then = _one(_statement(node.iftrue)) if node.iftrue is not None else ("block", ())
            other = () if node.iffalse is None else _one(_statement(node.iffalse))
            return (("if", _expr(node.cond), then, other),)
        case c_ast.Break():
            return (("break",),)
        case c_ast.Continue():
            return (("continue",),)
    return (("do it", _expr(node)),)


def _maybe(node: c_ast.Node | None) -> Form:
    return () if node is None else _expr(node)


def _declaration(node: c_ast.Decl) -> Form:
    dims: list[Form] = []
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        dims.append(_maybe(inner.dim))
        inner = inner.type
    if not isinstance(inner, c_ast.TypeDecl):
        raise NotComparable(f"{node.name} is declared in a way that is not known")
    name, inner.declname = inner.declname, None
    words = CGenerator().visit(c_ast.Typename(None, [], None, inner)).split()
    inner.declname = name
    return ("decl", _words(" ".join([*(node.storage or []), *words])), node.name, tuple(dims), _maybe(node.init))


def _words(text: str) -> str:
    """A type as it is spelled, whatever the order of its words."""
    return " ".join(sorted(re.findall(r"\w+|\*|\[|\]", text)))


def _expr(node: c_ast.Node) -> Form:
    match node:
        case c_ast.ID():
            return ("name", node.name)
        case c_ast.Constant():
            return ("number", node.value)
        case c_ast.ArrayRef():
            return ("at", _expr(node.name), _expr(node.subscript))
        case c_ast.StructRef():
            return ("member", _expr(node.name), node.type, node.field.name)
        case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
            text = CGenerator().visit(node.expr)
            return ("sizeof", _words(text) if isinstance(node.expr, c_ast.Typename) else "".join(text.split()))
        case c_ast.UnaryOp(op="p++" | "p--" as op):
            return ("after", op[1:], _expr(node.expr))
        case c_ast.UnaryOp():
            return ("before", node.op, _expr(node.expr))
        case c_ast.BinaryOp():
            return ("two", node.op, _expr(node.left), _expr(node.right))
        case c_ast.Assignment():
            return ("set", node.op, _expr(node.lvalue), _expr(node.rvalue))
        case c_ast.TernaryOp():
            return ("choose", _expr(node.cond), _expr(node.iftrue), _expr(node.iffalse))
        case c_ast.FuncCall():
            return ("call", _expr(node.name), tuple(map(_expr, node.args.exprs if node.args is not None else ())))
        case c_ast.Cast():
            return ("cast", _words(CGenerator().visit(node.to_type)), _expr(node.expr))
        case c_ast.CompoundLiteral():
            return ("cast", _words(CGenerator().visit(node.type)), _expr(node.init))
        case c_ast.ExprList():
            return ("comma", tuple(map(_expr, node.exprs)))
        case c_ast.InitList():
            return ("list", tuple(map(_expr, node.exprs)))
    raise NotComparable(f"the printed text has an expression that is not known ({type(node).__name__})")


# --- from the tree


def form_of(items: Iterable[c.Stmt]) -> Form:
    """The form of a list of statements."""
    return tuple(part for item in items for part in _form(item))


def _form(item: c.Stmt) -> Form:
    match item:
        case c.ExprStmt(expr=expr, pragmas=pragmas):
            return (*_pragmas(pragmas), ("do it", expression_form(expr)))
        case c.Decl():
            return (_decl_form(item),)
        case c.Block(body=body):
            return (_one(form_of(body)),)
        case c.If(condition=condition, then=then, otherwise=otherwise):
            other = () if otherwise is None else _one(_form(otherwise))
            return (("if", expression_form(condition), _one(_form(then)), other),)
        case c.For(init=init, condition=condition, step=step, body=body, pragmas=pragmas):
            first: Form = ()
            if init is not None:
                first = (_decl_form(init),) if isinstance(init, c.Decl) else (expression_form(init),)
            head = first, _maybe_form(condition), _maybe_form(step)
            return (*_pragmas(pragmas), ("for", *head, _one(_form(body))))
        case c.While(condition=condition, body=body, do_first=first_):
            return (("do" if first_ else "while", expression_form(condition), _one(_form(body))),)
        case c.Jump(kind=kind):
            return ((kind,),)
        case c.Comment() | c.Note() | c.Empty():
            return ()


def _pragmas(pragmas: tuple[str, ...]) -> Form:
    return tuple(("pragma", " ".join(text.split())) for text in pragmas)


def _maybe_form(expr: c.Expr | None) -> Form:
    return () if expr is None else expression_form(expr)


def _decl_form(node: c.Decl) -> Form:
    dims = tuple(_maybe_form(None if e == c.Literal("") else e) for e in node.extents)
    return ("decl", _words(node.type), node.name, dims, _maybe_form(node.init))


def expression_form(expr: c.Expr) -> Form:
    """The form of an expression."""
    match expr:
        case c.Literal(text=text):
            if not _NUMBER.fullmatch(text):
                return _of_text(text)
            return ("before", "-", ("number", text[1:])) if text.startswith("-") else ("number", text)
        case c.Name(name=name):
            return ("name", name)
        case c.ArrayRef(array=array, subscripts=subscripts):
            found: Form = ("name", array)
            for subscript in subscripts:
                found = ("at", found, expression_form(subscript))
            return found
        case c.Subscript(base=base, index=index):
            return ("at", expression_form(base), expression_form(index))
        case c.Member(base=base, field=name, arrow=arrow):
            return ("member", expression_form(base), "->" if arrow else ".", name)
        case c.Unary(op=op, operand=operand):
            return ("before", op, expression_form(operand))
        case c.Postfix(op=op, operand=operand):
            return ("after", op, expression_form(operand))
        case c.Binary(op=op, left=left, right=right):
            return ("two", op, expression_form(left), expression_form(right))
        case c.Assign(op=op, target=target, value=value):
            return ("set", op, expression_form(target), expression_form(value))
        case c.Ternary(condition=condition, then=then, otherwise=otherwise):
            return ("choose", expression_form(condition), expression_form(then), expression_form(otherwise))
        case c.Call(function=function, arguments=arguments):
            return ("call", _of_text(function), tuple(map(expression_form, arguments)))
        case c.Cast(type=text, operand=operand):
            return ("cast", _words(text), expression_form(operand))
        case c.SizeOf(text=text):
            is_type = bool(re.fullmatch(r"[\w\s*]+", text)) and set(re.findall(r"\w+", text)) <= _KEYWORDS
            return ("sizeof", _words(text) if is_type else "".join(text.split()))
        case c.Comma(items=items):
            return ("comma", tuple(map(expression_form, items)))
        case c.InitList(items=items):
            return ("list", tuple(map(expression_form, items)))


def _of_text(text: str) -> Form:
    """What stands in the tree as text: a function's name, an expanded constant."""
    if re.fullmatch(r"[A-Za-z_$][\w$]*", text):
        return ("name", text)
    (one,) = parsed(f"({text});", ())
    assert isinstance(one, tuple)
    inner = one[1]
    assert isinstance(inner, tuple)
    return inner


def _difference(one: Form | str, other: Form | str) -> tuple[Form | str, Form | str]:
    """The innermost pieces in which two forms differ."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        unlike = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if len(unlike) == 1:
            return _difference(*unlike[0])
    return one, other
