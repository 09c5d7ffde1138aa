"""The text, as C parses it, is the C tree that was compared with the program.

The printed characters are read by pycparser, without polyc's model of names, and compared node by node with the tree
that they were printed from: precedence, braces, pragmas, the condition around the text. The other branch of the
condition is the user's own loops, token for token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser, ParseError

from polyc.frontend.c.parse import readable
from polyc.frontend.text.literals import without_widths
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.scop import Region
from polyc.reread.concurrent import collapsed
from polyc.reread.meanings import definitions
from polyc.reread.parts import NotComparable, Refused

Form: TypeAlias = "tuple[Form | str, ...]"
"""A node without what differs between trees and texts: blocks of one statement, white space, labels, places."""

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_$][\w$]*|\.?\d(?:[eEpP][+-]|[\w.])*|\S')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HIDDEN = re.compile(r"^[ \t]*#[ \t]*(?!pragma\b|[ \t])(?:[^\\\n]|\\.|\\\n)*$", re.MULTILINE)
_TYPE_WORDS = """
void char short int long float double signed unsigned _Bool _Complex const volatile register static extern inline
restrict struct union enum sizeof
"""
_KEYWORDS = frozenset(_TYPE_WORDS.split())
_NUMBER = re.compile(r"-?(?:\.?\d(?:[eEpP][+-]|[\w.])*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+([^\n]*)$", re.MULTILINE)
_OTHERWISE = re.compile(
    r"^([ \t]*#pragma omp parallel for simd[^\n]*\n)"
    r"[ \t]*#elif defined\(__GNUC__\) && !defined\(__clang__\)\n[ \t]*#pragma GCC ivdep\n",
    re.MULTILINE,
)
"""What builds without OpenMP are told of a loop whose iterations do not depend on each other."""
_SIMD = re.compile(r"^[ \t]*polyc_(?:plain_|outer_)?simd$", re.MULTILINE)
"""The macros that stand for `#pragma omp simd` in builds with OpenMP (`meanings.py`)."""
_PLACE = re.compile(r"\*\w+|\w+(?:\[|\.|->).*")
"""A place in memory that has a name in the program, `s->x`: its name is the text that leads there."""
_CALLED = "__called"
"""Behind the name of a vector's type where its macro is used."""
_LABEL = "polyc_pragma_"
"""A label that stands for a pragma where C is parsed: like a pragma it belongs to the statement behind it."""
_ALIGNED = re.compile(r"__attribute__\s*\(\(aligned\(\d+\)\)\)")


def literal_faults(region: Region, rendered: Rendered) -> None:
    """Compare what stands in the region's place with what was shown to be right. Raises NotComparable, Refused."""
    _definitions(rendered)
    text = visible(rendered.text)
    found = [(m.group(), m.start(), m.end()) for m in TOKEN.finditer(text)]
    if [word for word, _, _ in (found[:1] + found[-1:])] != ["{", "}"]:
        raise Refused("the printed text is no block")
    start = _behind_types(rendered, found[1:])
    pieces = [(found[start][1], found[-1][1])]
    if rendered.condition is not None:
        words = [word for word, _, _ in found]
        first, last = other_branch(words)
        if words[first:last] != words_of(region.original):
            raise Refused("the other branch of the condition is not the region as it was written")
        pieces = [(found[start][1], found[first - 1][2]), (found[last][1], found[-1][1])]
    ahead = () if rendered.question is None else rendered.question.body
    shown = rendered.steps[-1][2]
    if any(isinstance(node, c.For) and collapsed(node) is None for item in shown for node in c.walk(item)):
        raise Refused("loops that share threads are not all that is inside of each other")
    statements = "".join(text[a:b] for a, b in pieces)
    for name in rendered.vectors:  # a type, and a macro that looks like a call
        statements = re.sub(rf"\b{name}\(", f"{name}{_CALLED}(", statements)
    asked = [c.ExprStmt(one) for one in (rendered.needed, rendered.condition) if one is not None]
    read = parsed(statements, types_in((*ahead, *rendered.heap, *shown, *rendered.after, *asked)))
    wanted = _whole(rendered, ahead, shown)
    if read != wanted:
        one, other = _difference(wanted, read)
        raise Refused("C reads the printed text as another program", f"{one} became {other}"[:300])


def visible(text: str) -> str:
    """The text without comments, attributes, and lines of the preprocessor other than pragmas, as in a build with
    OpenMP."""
    return HIDDEN.sub("", _COMMENT.sub(" ", _ALIGNED.sub("", _OTHERWISE.sub(r"\1", text))))


def words_of(text: str) -> list[str]:
    """What C reads of a text."""
    return TOKEN.findall(visible(text))


def _definitions(rendered: Rendered) -> None:
    """The macros that the text uses are what the check takes them for. Raises Refused."""
    text = f"\n{_margin(rendered.text)}\n"
    used = words_of(rendered.text)
    lost = [wanted for wanted in definitions(used, rendered.vectors) if f"\n{_margin(wanted)}\n" not in text]
    if lost:
        raise Refused("a macro of the text stands for something else", lost[0].split("\n")[0])


def _margin(text: str) -> str:
    """The text without the white space that its lines begin with: it stands where the region does."""
    return "\n".join(line.lstrip() for line in text.split("\n"))


def _behind_types(rendered: Rendered, found: list[tuple[str, int, int]]) -> int:
    """Where the statements begin, behind the types of vectors. Raises Refused."""
    words = [word for word, _, _ in found]
    position = 0
    wanted = {
        f"typedef {element} {name} __attribute__((vector_size({lanes * size}), aligned({size}), may_alias));"
        for name, (element, lanes, size) in rendered.vectors.items()
    }
    known = {tuple(TOKEN.findall(text)) for text in wanted}
    while words[position] == "typedef":
        end = words.index(";", position) + 1
        if tuple(words[position:end]) not in known:
            raise Refused("a type of the text stands for something else", " ".join(words[position:end]))
        known.discard(tuple(words[position:end]))
        position = end
    if known:
        raise Refused("a type of the text is not declared")
    return position + 1


def other_branch(words: list[str]) -> tuple[int, int]:
    """The tokens between the braces of the only `else` right inside the block. Raises Refused."""
    depth, begin, places = 0, 0, []
    for number, word in enumerate(words):
        if word == "{":
            depth += 1
            if depth == 2 and words[number - 1] == "else":
                begin = number + 1
        elif word == "}":
            if depth == 2 and begin:
                places.append((begin, number))
                begin = 0
            depth -= 1
    if len(places) != 1:
        raise Refused("the condition around the text has no other branch")
    return places[0]


def _whole(rendered: Rendered, ahead: tuple[c.Stmt, ...], shown: tuple[c.Stmt, ...]) -> Form:
    """The form of the block: what is asked first, what is allocated, the condition, and the statements."""
    items: list[Form] = []
    if rendered.question is not None:
        answer = rendered.question.answer
        asked = rendered.needed or c.Literal("1")
        items += form_of((c.Decl("int", answer, (), asked), c.If(c.Name(answer), c.Block(ahead))))  # type: ignore[arg-type]
    under = rendered.needed if rendered.question is None else c.Name(rendered.question.answer)
    items += [_allocation(one, under) for one in rendered.heap]
    void: Form = ("type", "void")
    unused = tuple(("cast", void, ("name", name)) for name in rendered.unused)
    last: list[Form] = [("do it", unused[0] if len(unused) == 1 else ("comma", unused))] if unused else []
    hidden = any(isinstance(item, c.Decl) and item.name in rendered.unused for item in shown)
    freed: list[Form] = [("do it", ("call", ("name", "__builtin_free"), (("name", o.name),))) for o in rendered.heap]
    shown = (*shown, *rendered.after)
    if rendered.condition is None:
        items += last if hidden else []
        items += form_of(shown)  # type: ignore[arg-type]
        last = [] if hidden else last
    else:
        own = freed if len(freed) == 1 else []
        inside = (*form_of(shown), *own)
        items.append(("if", expression_form(rendered.condition), _one(inside), ("block", ())))
    items += freed if len(freed) > 1 else []
    return (*items, *last)


def _allocation(node: c.Decl, under: c.Expr | None) -> Form:
    """`T (*a)[n] = under ? malloc(sizeof(T[m][n])) : 0`."""
    size: Form = ("sizeof", _array_form(node.type, node.extents))
    block: Form = ("call", ("name", "__builtin_malloc"), (size,))
    value = block if under is None else ("choose", expression_form(under), block, ("number", "0"))
    return ("decl", ("pointer", _array_form(node.type, node.row)), node.name, value)


# --- from the text


def parsed(text: str, types: Iterable[str]) -> Form:
    """The statements of a piece of C text. `types`: names of types that C has not."""
    known = tuple(sorted(set(types)))
    plain, pragmas = _without_pragmas(text, known)
    plain = readable(plain)
    file = _parse(f"{_typedefs(known)}\nvoid polyc_text(void)\n{{\n{plain}\n}}\n")
    return _with_pragmas(_statements(file.ext[-1].body.block_items or []), pragmas)


def _with_pragmas(form: Form, pragmas: dict[str, Form]) -> Form:
    """The form with pragmas in the place of the labels that stand for them."""
    if len(form) == 2 and form[0] == "label":
        assert isinstance(form[1], str)
        return pragmas.get(form[1], form)
    return tuple(_with_pragmas(part, pragmas) if isinstance(part, tuple) else part for part in form)


def _without_pragmas(text: str, types: tuple[str, ...]) -> tuple[str, dict[str, Form]]:
    """The text with a label in the place of each pragma, and the form of each. types: as of `parsed`"""
    found: dict[str, Form] = {}

    def label(pragma: re.Match[str]) -> str:
        name = f"{_LABEL}{len(found)}"
        found[name] = _pragma(" ".join(pragma.group(1).split()), types)
        return f"{name}:"

    return _PRAGMA.sub(label, _SIMD.sub("#pragma omp simd", text)), found


def _pragma(words: str, types: tuple[str, ...]) -> Form:
    """The words of a pragma, and the condition of its `if` clause."""
    start = words.find(" if (")
    if start < 0:
        return ("pragma", words)
    end, depth = start + 5, 1
    while depth and end < len(words):
        depth += {"(": 1, ")": -1}.get(words[end], 0)
        end += 1
    condition = words[start + 4 : end]
    if words.startswith("omp parallel for simd if (parallel: "):  # what its threads are for
        condition = condition.replace("parallel: ", "", 1)
    return ("pragma", words[:start] + words[end:], _of_text(condition, types))


def _parse(text: str) -> c_ast.FileAST:
    try:
        return CParser().parse(text, "")
    except (ParseError, AssertionError, RecursionError) as problem:
        raise NotComparable(f"the printed text cannot be parsed ({problem})") from None


def _typedefs(types: Iterable[str]) -> str:
    return "".join(f"typedef int {name};" for name in sorted(set(types)))


def types_in(items: Iterable[c.Stmt]) -> Iterator[str]:
    """Names of types that statements use and C has not."""
    for node in (node for item in items for node in c.walk(item)):
        match node:
            case c.For(worth=worth) | c.ExprStmt(worth=worth) if worth is not None:
                yield from types_in((c.ExprStmt(worth),))
            case c.Cast(type=text) | c.Decl(type=text):
                yield from _unknown(re.findall(r"[A-Za-z_]\w*", text))
            case c.SizeOf(text=text):
                yield from _types_of_size(f"sizeof({text})")


@cache
def _types_of_size(text: str) -> tuple[str, ...]:
    """The names in `sizeof(…)` that have to be those of types: of variables it is an expression."""
    try:
        _parse(f"int x = {text};")
    except NotComparable:
        return tuple(_unknown(re.findall(r"[A-Za-z_]\w*", text)))
    return ()


def _unknown(words: list[str]) -> list[str]:
    """The words of a type that are none of C's, and no tags."""
    tagged = {b for a, b in pairwise(words) if a in ("struct", "union", "enum")}
    return [word for word in words if word not in _KEYWORDS | tagged]


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
        case c_ast.Label():
            return (("label", node.name), *_statement(node.stmt))
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
    """A declaration, its storage class among the words of its type."""
    kind = _type(node.type)
    storage = _words(" ".join(node.storage or []))
    return ("decl", kind if not storage else ("storage", storage, kind), node.name, _maybe(node.init))


def _type(node: c_ast.Node) -> Form:
    """A type, from the outside: `("array", extent, ("type", "double"))`."""
    match node:
        case c_ast.ArrayDecl():
            return ("array", _maybe(node.dim), _type(node.type))
        case c_ast.PtrDecl():
            return ("pointer", _type(node.type))
        case c_ast.Typename():
            return _type(node.type)
        case c_ast.TypeDecl():
            name, node.declname = node.declname, None
            words = CGenerator().visit(c_ast.Typename(None, [], None, node))
            node.declname = name
            return ("type", _words(words))
    raise NotComparable(f"a type of the printed text is not known ({type(node).__name__})")


def _words(text: str) -> str:
    """A type as it is spelled, whatever the order of its words."""
    return " ".join(sorted(re.findall(r"\w+|\*|\[|\]", text)))


def _expr(node: c_ast.Node) -> Form:
    match node:
        case c_ast.ID():
            return ("name", node.name.removesuffix(_CALLED))
        case c_ast.Constant():
            return ("number", node.value)
        case c_ast.ArrayRef():
            return ("at", _expr(node.name), _expr(node.subscript))
        case c_ast.StructRef():
            return ("member", _expr(node.name), node.type, node.field.name)
        case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
            inner = _type(node.expr) if isinstance(node.expr, c_ast.Typename) else _expr(node.expr)
            if inner[0] == "type" and str(inner[1]).isidentifier() and inner[1] not in _KEYWORDS:
                inner = ("name", inner[1])  # of a piece of text it is not known which of the two it is
            return ("sizeof", inner)
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
            return ("cast", _type(node.to_type), _expr(node.expr))
        case c_ast.CompoundLiteral():
            return ("cast", _type(node.type), _expr(node.init))
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
        case c.ExprStmt(expr=expr, pragmas=pragmas, worth=worth):
            return (*_pragmas(pragmas, worth), ("do it", expression_form(expr)))
        case c.Decl():
            return (_decl_form(item),)
        case c.Block(body=body):
            return (_one(form_of(body)),)
        case c.If(condition=condition, then=then, otherwise=otherwise):
            other = () if otherwise is None else _one(_form(otherwise))
            return (("if", expression_form(condition), _one(_form(then)), other),)
        case c.For(init=init, condition=condition, step=step, body=body, pragmas=pragmas, worth=worth):
            first: Form = ()
            if init is not None:
                first = (_decl_form(init),) if isinstance(init, c.Decl) else (expression_form(init),)
            head = first, _maybe_form(condition), _maybe_form(step)
            return (*_pragmas(pragmas, worth), ("for", *head, _one(_form(body))))
        case c.While(condition=condition, body=body, do_first=first_):
            return (("do" if first_ else "while", expression_form(condition), _one(_form(body))),)
        case c.Jump(kind=kind):
            return ((kind,),)
        case c.Comment() | c.Note() | c.Empty():
            return ()


def _pragmas(pragmas: tuple[str, ...], worth: c.Expr | None) -> Form:
    """Pragmas; the first one has the condition on which threads start."""
    clause = () if worth is None else (expression_form(worth),)
    return tuple(("pragma", " ".join(text.split()), *(clause if k == 0 else ())) for k, text in enumerate(pragmas))


def _maybe_form(expr: c.Expr | None) -> Form:
    return () if expr is None else expression_form(expr)


def _decl_form(node: c.Decl) -> Form:
    return ("decl", _array_form(node.type, node.extents), node.name, _maybe_form(node.init))


def _array_form(element: str, extents: tuple[c.Expr, ...]) -> Form:
    kind = _type_of_text(element)
    for extent in reversed(extents):
        kind = ("array", _maybe_form(None if extent == c.Literal("") else extent), kind)
    return kind


@cache
def _type_of_text(text: str) -> Form:
    """A type that stands in the tree as text."""
    words = re.findall(r"[A-Za-z_]\w*", text)
    if re.fullmatch(r"[\w\s]+", text):
        return ("type", _words(text))
    file = _parse(f"{_typedefs(_unknown(words))} int x = sizeof({text});")
    return _type(file.ext[-1].init.expr)


def expression_form(expr: c.Expr) -> Form:
    """The form of an expression."""
    match expr:
        case c.Literal(text=text):
            if not _NUMBER.fullmatch(text):
                return _of_text(text)
            plain = without_widths(text.removeprefix("-")).strip()
            return ("before", "-", ("number", plain)) if text.startswith("-") else ("number", plain)
        case c.Name(name=name):
            return _of_text(name) if _PLACE.fullmatch(name) else ("name", name)
        case c.ArrayRef(array=array, subscripts=subscripts):
            # The member of all elements of an array of structs, `p[].x`, has no text: a step puts the subscripts in.
            found: Form = ("name", array) if "[]" in array else expression_form(c.Name(array))
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
            return ("cast", _type_of_text(text), expression_form(operand))
        case c.SizeOf(text=text):
            return _of_text(f"sizeof({text})")
        case c.Comma(items=items):
            return ("comma", tuple(map(expression_form, items)))
        case c.InitList(items=items):
            return ("list", tuple(map(expression_form, items)))


@cache
def _of_text(text: str, types: tuple[str, ...] = ()) -> Form:
    """What stands in the tree as text: a function's name, an expanded constant, a place in memory. types: as of
    `parsed`"""
    if re.fullmatch(r"[A-Za-z_$][\w$]*", text):
        return ("name", text)
    (one,) = parsed(f"({text});", _types_of_size(text) if text.startswith("sizeof(") else types)
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
