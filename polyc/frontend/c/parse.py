"""One function, and the declarations that it needs, through pycparser.

pycparser never sees the rest of the file. What it sees is cleaned in place (GNU words become blanks), so that its
coordinates are offsets of the preprocessed text. A statement outside of the regions that it cannot read is replaced by
`__polyc_skipped(its, names);` in the same place and the parse is tried again; a statement expression always is.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from polyc.errors import Diagnostic, UserError
from polyc.frontend.text.asserts import asserted
from polyc.frontend.text.chunks import (
    KEYWORDS,
    MEANINGS,
    Chunks,
    close_paren,
    declared_names,
    drop_attributes,
    named_types,
)
from polyc.frontend.text.depth import deep_bracket, deep_node, too_deep
from polyc.frontend.text.literals import without_widths
from polyc.frontend.text.named import with_plain_extrema
from polyc.frontend.text.places import Places
from polyc.frontend.text.switches import with_branches
from polyc.records import dataclass, field

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
MEMBER = re.compile(rf"(?:(?<=[\w\])])\s*\.|->)\s*{IDENTIFIER.pattern}")
"""The name of a member behind what has it, which is none of a variable."""
SKIPPED = "__polyc_skipped"
UNKNOWN = "struct _"
"""A type of which nothing is known."""
LONG_TABLE = 2000
LONGEST_HELPER = 2000
"""Characters of a function that may be put in the place of its calls."""
_DIRECTIVE = re.compile(r"^#(?!pragma (?:end)?scop\b)[^\n]*$", re.MULTILINE)
_WORDS = re.compile(
    r"\b(?:__extension__|__restrict__|__restrict|__inline__|__inline|__const|__signed__|__volatile__|__thread"
    r"|__builtin_offsetof)\b"
)
_PLAIN = {
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__inline": "inline",
    "__inline__": "inline",
    "__const": "const",
    "__signed__": "signed",
    "__volatile__": "volatile",
    "__builtin_offsetof": "offsetof",
}
_TYPEOF = re.compile(r"\b(?:__typeof__|__typeof|typeof)\b")
_BUILTIN_TYPES = re.compile(r"\b(?:__builtin_va_list|_Float\w+|__float128|__fp16|__bf16|__m\d+[di]?)\b")
_STRUCTURE = re.compile(r"""^#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[{}();]""", re.MULTILINE)


@dataclass(slots=True)
class Parsed:
    """A function's tree, with the way from pycparser's coordinates to the preprocessed text."""

    tree: c_ast.FileAST
    function: c_ast.FuncDef
    text: str
    """What pycparser read."""
    line_starts: list[int]
    starts: list[int]
    origins: list[int]
    declarations: list[int] = field(default_factory=list)
    """Indices of the chunks that came before the function."""

    def offset(self, coord: object) -> int:
        """Offset in `text` of a pycparser coordinate; its last line for one of a function in the place of a call."""
        line, column = getattr(coord, "line", 1) or 1, getattr(coord, "column", 1) or 1
        return self.line_starts[min(line, len(self.line_starts)) - 1] + column - 1

    def original(self, offset: int) -> int:
        """The same place in the preprocessed text."""
        piece = max(0, bisect.bisect_right(self.starts, offset) - 1)
        return self.origins[piece] + offset - self.starts[piece]


def parse_function(chunks: Chunks, index: int, kept: list[tuple[int, int]], places: Places) -> Parsed:
    """Parse the function in chunk `index`; `kept` are the regions in it, as offsets of the preprocessed text."""
    declarations = needed_declarations(chunks, index)
    item = chunks.items[index]
    inner = [(a - item.start, b - item.start) for a, b in kept]
    texts = {number: clean(short(chunks.text_of(number))) for number in declarations}
    texts |= {n: _stand_in(chunks, n) for n in declarations if MEANINGS.search(chunks.items[n].header)}
    body = readable(chunks.text_of(index))
    types = frozenset(name for number in declarations for name in named_types(chunks.items[number])) | KEYWORDS
    deep = deep_bracket(body)
    if deep is not None:
        raise UserError([too_deep(places, item.start + deep)])
    skips = list(_statement_expressions(body, inner))
    plain = _with_zeros(body, skips)
    complaints: list[Diagnostic] = []
    for _ in range(40):
        pieces = [(chunks.items[number].start, text) for number, text in texts.items()]
        parsed = _feed(pieces + _without(body, item.start, skips, types))
        parser = CParser()
        try:
            parsed.tree = parser.parse(parsed.text, "")
        except (ParseError, AssertionError, RecursionError) as problem:
            place = _place_of(problem, parsed, parser)
            chunk = chunks.at(place)
            if chunk is not None and chunk in texts:
                texts[chunk] = _stand_in(chunks, chunk)
                continue
            statement = _statement_at(plain, place - item.start)
            inside = statement is not None and any(statement[0] < b and statement[1] > a for a, b in inner)
            if statement is None or statement in skips or inside:
                complaints.append(_complaint(problem, place, places, chunks.text))
            if statement is None or statement in skips:
                break
            skips = sorted([s for s in skips if s[1] <= statement[0] or s[0] >= statement[1]] + [statement])
            continue
        parsed.declarations = declarations
        functions = [node for node in parsed.tree.ext if isinstance(node, c_ast.FuncDef)]
        if not functions or complaints:
            break
        parsed.function = functions[-1]
        with_prototype(parsed.function)
        with_plain_labels(parsed.function.body)
        with_branches(parsed.function.body)
        coord = deep_node(parsed.function)
        if coord is not None:
            raise UserError([too_deep(places, parsed.original(parsed.offset(coord)))])
        return parsed
    name = re.compile(r"\S").search(chunks.text, item.start)
    start = name.start() if name is not None else item.start
    broken = Diagnostic("syntax", "this function cannot be parsed", places.span(start, start + 1))
    raise UserError(complaints or [broken])


def with_prototype(function: c_ast.FuncDef) -> None:
    """`int f(a, n) float *a; int n; {…}` as `int f(float *a, int n) {…}`: what is not declared is an int."""
    arguments = function.decl.type.args
    if arguments is None or not all(isinstance(one, c_ast.ID) for one in arguments.params):
        return
    declared = {one.name: one for one in function.param_decls or []}
    for n, one in enumerate(arguments.params):
        kind = c_ast.TypeDecl(one.name, [], None, c_ast.IdentifierType(["int"], one.coord), one.coord)
        plain = c_ast.Decl(one.name, [], [], [], [], kind, None, None, one.coord)
        arguments.params[n] = declared.get(one.name, plain)
    function.param_decls = None


def with_plain_labels(body: c_ast.Node) -> None:
    """`label: S` and `case x: S` of blocks as `label: ;` and `case x:` with S behind them, as the text has them."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, c_ast.Compound):
            node.block_items = list(_behind_labels(node.block_items or [])) or node.block_items
        waiting += list(node)


def _behind_labels(items: list[c_ast.Node]) -> Iterator[c_ast.Node]:
    for item in items:
        inner: list[c_ast.Node] = []
        if isinstance(item, c_ast.Label):
            inner, item.stmt = [item.stmt], c_ast.EmptyStatement(item.coord)
        elif isinstance(item, (c_ast.Case, c_ast.Default)):
            inner, item.stmts = list(item.stmts or []), []
        yield item
        for one in inner:
            pragma = (
                isinstance(one, c_ast.Compound) and one.block_items and isinstance(one.block_items[0], c_ast.Pragma)
            )
            behind = one.block_items if pragma and one.block_items[0].coord is one.coord else [one]
            yield from _behind_labels([part for part in behind if part is not None])


def needed_declarations(chunks: Chunks, index: int) -> list[int]:
    """The chunks that declare types, constants and variables that the function mentions, or a short one that it calls,
    and what these need."""
    wanted = chunks.names_of(index) - KEYWORDS
    chosen: set[int] = set()
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        seen.add(name)
        for number in chunks.mentions.get(name, ()):
            item = chunks.items[number]
            if number in chosen or number >= index:
                continue
            if item.function_name:
                code = chunks.code_of(number) if item.is_function else ""
                if len(code) <= LONGEST_HELPER:
                    wanted |= set(IDENTIFIER.findall(code)) - KEYWORDS - seen
                continue
            if name in declared_names(item):
                chosen.add(number)
                wanted |= chunks.names_of(number) - KEYWORDS - seen
    return sorted(chosen)


_OPENED = re.compile(r"=\s*\{")


def short(text: str) -> str:
    """A declaration without the values of its table, if it has a long one: nobody asks for them."""
    opening = _OPENED.search(text) if len(text) > LONG_TABLE and "typedef" not in text else None
    closing = text.rfind("}")
    if opening is None or closing < opening.end() or _OPENED.search(text, opening.end()):
        return text
    return text[: opening.end()] + "0" + re.sub(r"[^\n]", " ", text[opening.end() + 1 : closing]) + text[closing:]


def without_own_loops(text: str, name: str) -> str:
    """The text without the loops that declare a variable of that name, which is another one."""
    head = re.compile(rf"\bfor\s*\(\s*(?:{IDENTIFIER.pattern}\s+)+{re.escape(name)}\b")
    while (match := head.search(text)) is not None:
        text = text[: match.start()] + text[_end_of_statement(text, match.start()) :]
    return text


_HEADED = re.compile(r"\s*(?:for|while|if|switch)\s*(?=\()")


def _end_of_statement(text: str, at: int) -> int:
    """The offset behind a statement; of a branch, its first part."""
    while (match := _HEADED.match(text, at)) is not None:
        at = close_paren(text, match.end())
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth <= 0 and text[k] in ";}":
            return k + 1
    return len(text)


def clean(text: str) -> str:
    """The text of declarations as pycparser can read it, offset for offset. Statement expressions become 0: nobody asks
    for their values."""
    text = readable(text)
    return _with_zeros(text, list(_statement_expressions(text)))


def readable(text: str) -> str:
    """The text as pycparser can read it, but for statement expressions, offset for offset."""
    text = with_plain_extrema(asserted(_DIRECTIVE.sub(lambda m: " " * len(m.group()), text)))
    text = drop_attributes(text)
    text = _WORDS.sub(lambda m: _PLAIN.get(m.group(), "").ljust(len(m.group())), text)
    text = without_widths(text)
    for match in reversed(list(_TYPEOF.finditer(text))):
        stop = close_paren(text, match.end())
        text = text[: match.start()] + UNKNOWN.ljust(stop - match.start()) + text[stop:]
    return text


def _with_zeros(text: str, places: list[tuple[int, int]]) -> str:
    """The text with 0 in some places, as long as before."""
    for start, stop in places:
        inside = re.sub(r"[^\n]", " ", text[start:stop])
        text = text[:start] + "0" + inside[1:] + text[stop:]
    return text


def _statement_expressions(text: str, kept: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[int, int]]:
    """The outermost `({ … })` outside of `kept`."""
    last = 0
    for match in re.finditer(r"\(\s*\{", text):
        if match.start() >= last and not any(a <= match.start() < b for a, b in kept):
            last = close_paren(text, match.start())
            yield match.start(), last


def _feed(pieces: list[tuple[int, str]]) -> Parsed:
    """Join pieces of text, each with its offset in the preprocessed text. The first line makes names that the compiler
    has as types names of types for pycparser, too."""
    builtin = set(_BUILTIN_TYPES.findall(" ".join(text for _, text in pieces)))
    out = ["".join(f"typedef int {name};" for name in sorted(builtin)) + "\n"]
    size = len(out[0])
    starts, origins = [0], [0]
    for origin, text in pieces:
        starts.append(size)
        origins.append(origin)
        out += [text, "\n"]
        size += len(text) + 1
    whole = "".join(out)
    lines = [0, *(m.end() for m in re.finditer("\n", whole))]
    return Parsed(c_ast.FileAST([]), c_ast.FuncDef(None, None, None), whole, lines, starts, origins)


def _without(body: str, origin: int, skips: list[tuple[int, int]], types: frozenset[str]) -> list[tuple[int, str]]:
    """The function's text in pieces, a call that mentions the same names, but for types, for each statement and
    statement expression that is skipped."""
    pieces: list[tuple[int, str]] = []
    position = 0
    for start, stop in skips:
        names = sorted(set(IDENTIFIER.findall(body[start:stop])) - types)
        pieces.append((origin + position, body[position:start]))
        end = "" if body[stop - 1] == ")" else ";"
        pieces.append((origin + start, f"{SKIPPED}({', '.join(f'&{name}' for name in names)}){end}"))
        position = stop
    return [*pieces, (origin + position, body[position:])]


def _place_of(problem: BaseException, parsed: Parsed, parser: CParser) -> int:
    """Where the parse failed. Some errors carry no place: then it is the token that the parser looked at."""
    match = re.match(r".*?:(\d+):(\d+)", str(problem))
    if match is not None:
        line, column = int(match.group(1)), int(match.group(2))
    else:
        stream = getattr(parser, "_tokens", None)
        token = stream.peek() if stream is not None else None
        if token is None:
            return parsed.original(len(parsed.text.rstrip()) - 1)
        line, column = token.lineno, token.column
    line = min(line, len(parsed.line_starts))
    return parsed.original(parsed.line_starts[line - 1] + column - 1)


def _complaint(problem: BaseException, place: int, places: Places, text: str) -> Diagnostic:
    match = re.match(r"\S+|\Z", text[place:].lstrip())
    token = re.match(r"\w+|.", match.group() if match else "", re.DOTALL)
    start = place + len(text[place:]) - len(text[place:].lstrip())
    shown = token.group() if token else ""
    span = places.span(start, start + max(1, len(shown)))
    if isinstance(problem, RecursionError):
        return too_deep(places, start)
    message = f"syntax error before '{shown}'" if shown else "syntax error at the end of the function"
    return Diagnostic("syntax", message, span)


def _stand_in(chunks: Chunks, index: int) -> str:
    """What replaces a declaration that pycparser cannot read: its typedef names stay known as types."""
    item = chunks.items[index]
    if "typedef" not in item.header:
        return ""
    names = IDENTIFIER.findall(re.sub(r"\[[^]]*\]", "", drop_attributes(item.header)))
    return f"typedef struct __polyc_unknown {names[-1]};" if names else ""


def _statement_at(body: str, place: int) -> tuple[int, int] | None:
    """Start and end of the statement of the function's body that holds the character."""
    marks = [m for m in _STRUCTURE.finditer(body) if m.group()[0] not in "\"'"]
    opening = next((m.start() for m in marks if m.group() == "{"), None)
    if opening is None or place <= opening:
        return None
    start, parens = opening + 1, 0
    for mark in marks:
        if mark.start() >= place:
            break
        what = mark.group()
        if what in "()":
            parens += 1 if what == "(" else -1
        elif mark.start() >= opening and (what != ";" or parens <= 0):
            start, parens = mark.end(), 0
    stop = _statement_end(marks, place)
    return None if stop is None or stop <= start else (start, stop)


def _statement_end(marks: list[re.Match[str]], place: int) -> int | None:
    depth = parens = 0
    for mark in marks:
        if mark.start() < place:
            continue
        what = mark.group()
        if what == "{":
            depth += 1
        elif what == "}":
            depth -= 1
            if depth < 0:
                return mark.start()
            if depth == 0:
                return mark.end()
        elif what in "()":
            parens += 1 if what == "(" else -1
        elif depth == 0 and parens <= 0:
            return mark.end() if what == ";" else mark.start()
    return None
