"""Two texts as functions that pycparser reads: macros of polyc by their names, pragmas as labels, vector types noted.

Lines keep their numbers. What a macro of polyc stands for is known here by its text, letter for letter: a text that
defines one otherwise is not understood.
"""

from __future__ import annotations

import re

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from polyc.frontend.c.parse import clean
from polyc.records import dataclass, field

MACROS = {
    "polyc_min": "(a, b) ((a) < (b) ? (a) : (b))",
    "polyc_max": "(a, b) ((a) > (b) ? (a) : (b))",
    "polyc_floord": "(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    "polyc_apart": "(a, a_end, b, b_end) "
    "((unsigned long)(a_end) <= (unsigned long)(b) || (unsigned long)(b_end) <= (unsigned long)(a))",
}
OTHERS = re.compile(
    r"polyc_(?:stream|fence|put|bytes|ranges?|all_apart|int|flag|v?f(?:max|min)f?|select[fi]?|sqrtf?|(?:floor|ceil|trunc|round)f?|pays|threads|unjammed|several|many|tiles|(?:lookup|pair|either)\w*)"
)
"""Macros with a form for each processor: they are run as what they are for."""
_SIMD = re.compile(r"polyc_(?:plain_|outer_)?simd")
LABEL = "polyc_pragma_"
ROW = "polyc_row_of_"
"""Before the name of a vector type: the elements from one on."""
_DEFINED = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.DOTALL)
_VECTOR = re.compile(r"typedef ([\w ]+?) (polyc_\w+) __attribute__\(\(vector_size\((\d+)\)[^;]*;")
_TYPES = re.compile(r"\b(?:__builtin_va_list|_Float\w+|__float128|__fp16|__bf16|__m\d+[di]?)\b")
_STRANGE = re.compile(r"\(\s*\{|\b(?:asm|__asm__|__asm|goto|switch|longjmp|setjmp)\b")


class NotUnderstood(Exception):
    """Something in a text that a replay does not know."""


class WrongText(Exception):
    """A text that defines a macro otherwise than it should."""


@dataclass(slots=True, eq=False)
class Read:
    """Both texts, as pycparser reads them."""

    tree: c_ast.FileAST
    functions: dict[str, c_ast.FuncDef]
    first_lines: dict[str, int]
    """The line of the tree's text before the first one of each function's body."""
    vectors: dict[str, tuple[str, int]]
    """Vector types: the element's, and the size in bytes."""
    pragmas: list[str]


def read_texts(preamble: str, opening: str, texts: dict[str, str]) -> Read:
    """Parse texts as bodies of functions, after declarations in one line. Raises NotUnderstood."""
    pragmas: list[str] = []
    vectors: dict[str, tuple[str, int]] = {}
    known = "".join(f"typedef int {name};" for name in sorted(set(_TYPES.findall(preamble + opening)))) + "\n"
    pieces = [known, clean(_without_bodies(preamble)), "\n"]
    lines: dict[str, int] = {}
    for name, text in texts.items():
        plain = _Directives(pragmas).plain(text)
        plain = _VECTOR.sub(lambda m: _vector(m, vectors), plain)
        if vectors:  # the macros have the names of their types
            plain = re.sub(rf"\b({'|'.join(vectors)})\(", rf"{ROW}\1(", plain)
        if _STRANGE.search(plain):
            raise NotUnderstood(f"'{_STRANGE.search(plain)[0]}' in the text")  # type: ignore[index]
        pieces.append(f"void {name}(void) {{ {opening} {{\n")
        lines[name] = "".join(pieces).count("\n")
        pieces += [clean(plain), "\n}}\n"]
    try:
        tree = CParser().parse("".join(pieces), "")
    except (ParseError, AssertionError, RecursionError) as problem:
        raise NotUnderstood(f"it cannot be parsed ({problem})") from None
    functions = {item.decl.name: item for item in tree.ext if isinstance(item, c_ast.FuncDef)}
    return Read(tree, functions, lines, vectors, pragmas)


def _without_bodies(preamble: str) -> str:
    """Declarations; what a function does that holds statements that pycparser cannot read is not known."""
    return re.sub(r"^#[^\n]*$", "", preamble, flags=re.MULTILINE)


def _vector(match: re.Match[str], vectors: dict[str, tuple[str, int]]) -> str:
    vectors[match[2]] = match[1], int(match[3])
    return f"typedef {match[1]} {match[2]};"


@dataclass(slots=True)
class _Directives:
    """The preprocessor's lines of a text that polyc printed, line for line."""

    pragmas: list[str]
    kept: list[bool] = field(default_factory=list)
    """Of each condition around a line: whether its lines count."""

    def plain(self, text: str) -> str:
        found: list[str] = []
        waiting: list[str] = []
        for line in text.split("\n"):
            if waiting or line.lstrip().startswith("#"):
                waiting.append(line.rstrip("\\"))
                if line.endswith("\\"):
                    continue
                found += [self.directive(" ".join(waiting).strip()), *[""] * (len(waiting) - 1)]
                waiting = []
            elif _SIMD.fullmatch(line.strip()):
                found.append(self.directive("#pragma omp simd"))
            else:
                found.append(line if all(self.kept) else "")
        return _without_comments("\n".join(found))

    def directive(self, line: str) -> str:
        """The text in a directive's place."""
        word = re.match(r"#\s*(\w*)", line)
        name = word[1] if word else ""
        if name in ("if", "ifdef", "ifndef"):
            self.kept.append(name == "ifndef" or "_OPENMP" in line)
        elif name == "else" and self.kept:
            self.kept[-1] = not self.kept[-1]
        elif name == "endif" and self.kept:
            self.kept.pop()
        elif name == "define":
            self.define(line)
        elif name == "pragma" and all(self.kept) and "omp" in line:
            self.pragmas.append(line.split("pragma", 1)[1].strip())
            return f"{LABEL}{len(self.pragmas) - 1}:"
        return ""

    def define(self, line: str) -> None:
        """Only macros that are known."""
        match = _DEFINED.match(line)
        name, rest = (match[1], match[2]) if match else ("", "")
        vector = re.fullmatch(r"\(x\) \(\*\((\w+) \*\)&\(x\)\)", rest)
        if vector is not None and vector[1] == name:
            return
        if not (OTHERS.fullmatch(name) or _SIMD.fullmatch(name)) and MACROS.get(name) != rest.rstrip():
            raise WrongText(f"the macro {name} is another one")


def _without_comments(text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if match[0][0] == "/" else match[0]

    return re.sub(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", blank, text, flags=re.DOTALL)
