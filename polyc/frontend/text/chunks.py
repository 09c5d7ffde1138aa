"""The preprocessed text, cut into top-level declarations and function definitions without parsing it."""

from __future__ import annotations

import re

from polyc.errors import Diagnostic, UserError
from polyc.frontend.text.places import Places
from polyc.records import dataclass, field

_STRUCTURE = re.compile(r"""^#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[{}();]""", re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_ATTRIBUTES = re.compile(r"\[\[|__attribute__|__attribute|__declspec|__asm__|__asm|\basm\b|_Alignas|__alignof__")
_REPLACED = re.compile(r"\b(?:weak|__weak__|ifunc|__ifunc__|alias|__alias__)\b")
_LOCAL = re.compile(r"\b(?:static|inline|__inline|__inline__)\b")
_SEEN = re.compile(r"\bextern\b|__attribute|\[\[")
"""Of functions that are seen elsewhere, or may be: by `__attribute__((used))`."""
MEANINGS = re.compile(
    r"\b__attribute(?:__)?\s*\(\s*\((?:[^;{}]*?\W)?_*(cleanup|ext_vector_type|mode|vector_size)_*\s*\("
)
"""An attribute with which a declaration means something else than without it."""
_FUNCTION = re.compile(r"[\w\s*]*?\b([A-Za-z_]\w*)\s*\((?!\s*[*(])")
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm
__attribute__ __extension__ __asm__ __inline __restrict __declspec _Alignas _Static_assert __typeof__
"""
KEYWORDS = frozenset(_WORDS.split())
_LOOPS = frozenset({"for", "while"})
_OLD_STYLE = re.compile(r"(?!typedef\b)[\w *]*\w ?\([\w, ]*\) ?[A-Za-z_]")
_BRACES = re.compile(r"\{[^{}]*\}")
_DATA = re.compile(r"\{[^{};]*\}")


_ERRNO = re.compile(r"\b(?:errno|_errno|__error|__errno_location)\b")
_OF_THREADS = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+threadprivate[ \t]*\(([^)\n]*)\)"
    r"|\b(?:__thread|_Thread_local|thread_local)\b([^;{}]*[;{])",
    re.MULTILINE,
)
_DECLARED = re.compile(r"([A-Za-z_]\w*)\s*(?=[][=,;)])")
_HASH_LINES = re.compile(r"^#[^\n]*$", re.MULTILINE)
_MARKERS = re.compile(r"^#[ \t]*\d[^\n]*$", re.MULTILINE)


@dataclass(slots=True)
class Chunk:
    """One external declaration: `start` to `end` in the preprocessed text."""

    start: int
    end: int
    header: str
    """Its text without what stands in braces."""
    is_function: bool
    """A definition with a body."""
    function_name: str = ""
    """What a plain prototype or definition declares; "" for everything else."""
    names: set[str] | None = None
    """What `declared_names` found."""


@dataclass(slots=True)
class Chunks:
    text: str
    items: list[Chunk] = field(default_factory=list)
    mentions: dict[str, list[int]] = field(default_factory=dict)
    """Identifier -> indices of the chunks in whose header (or enum list) it stands."""

    _of_threads: frozenset[str] | None = None
    _looping: frozenset[str] | None = None
    _errno: bool | None = None
    _used: frozenset[int] | None = None

    @property
    def looping_functions(self) -> frozenset[str]:
        """The functions of the file with loops, or that mention one with loops."""
        if self._looping is None:
            functions = [k for k, item in enumerate(self.items) if item.is_function]
            names = {self.items[k].function_name: self.names_of(k) for k in functions}
            found: set[str] = set()
            while more := {one for one, used in names.items() if one not in found and used & (found | _LOOPS)}:
                found |= more
            self._looping = frozenset(found)
        return self._looping

    @property
    def used_functions(self) -> frozenset[int]:
        """The chunks of the functions that somebody calls or that other files see: of static ones and those that are
        only inline a compiler makes nothing if no other function of the file names them."""
        if self._used is None:
            found = {k for k, item in enumerate(self.items) if item.is_function and not _is_local(item.header)}
            others = (k for k, item in enumerate(self.items) if not item.is_function)
            waiting = set[str]().union(*map(self.names_of, (*found, *others)))
            seen: set[str] = set()
            while waiting:
                seen |= waiting
                more = {
                    n
                    for name in waiting
                    for n in self.mentions.get(name, ())
                    if self.items[n].is_function and n not in found
                }
                found |= more
                waiting = set[str]().union(*map(self.names_of, more)) - seen
            self._used = frozenset(found)
        return self._used

    @property
    def reads_errno(self) -> bool:
        """Whether a function of the file names `errno`, which headers define as what a function returns."""
        if self._errno is None:
            functions = (self.text_of(k) for k, item in enumerate(self.items) if item.is_function)
            self._errno = any(_ERRNO.search(text) for text in functions)
        return self._errno

    @property
    def of_threads(self) -> frozenset[str]:
        """The names of variables of which each thread has its own."""
        if self._of_threads is None:
            found: set[str] = set()
            for match in _OF_THREADS.finditer(self.text):
                found |= set(_IDENTIFIER.findall(match[1] or "")) | set(_DECLARED.findall(match[2] or ""))
            self._of_threads = frozenset(found)
        return self._of_threads

    def at(self, offset: int) -> int | None:
        """The index of the chunk that holds the character."""
        low, high = 0, len(self.items)
        while low < high:
            middle = (low + high) // 2
            if self.items[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.items) and self.items[low].start <= offset else None

    def text_of(self, index: int) -> str:
        item = self.items[index]
        return self.text[item.start : item.end]

    def names_between(self, start: int, end: int) -> set[str]:
        """The identifiers of a part, without those in names of files: `# 19 "/home/main/x.c"`."""
        return set(_IDENTIFIER.findall(_MARKERS.sub("", self.text[start:end])))

    def names_of(self, index: int) -> set[str]:
        return self.names_between(self.items[index].start, self.items[index].end)

    def body_of(self, name: str) -> int | None:
        """The chunk of the only function that calls of that name may run."""
        numbers = [n for n in self.mentions.get(name, ()) if self.items[n].function_name == name]
        bodies = [n for n in numbers if self.items[n].is_function]
        return bodies[0] if len(bodies) == 1 and not any(_REPLACED.search(self.code_of(n)) for n in numbers) else None

    def code_of(self, index: int) -> str:
        """The chunk's text without lines of the preprocessor."""
        return _HASH_LINES.sub("", self.text_of(index)).strip()


def _is_local(header: str) -> bool:
    """Whether a function of this head is compiled only where others of the file call it."""
    return _LOCAL.search(drop_attributes(header)) is not None and _SEEN.search(header) is None


def cut(text: str, places: Places) -> Chunks:
    """Cut at `;` and `}` outside of all braces and parentheses. A brace without its partner is a syntax error."""
    result = Chunks(text)
    start, parens = 0, 0
    opened: list[int] = []
    pieces: list[str] = []
    piece_start, is_body = 0, False
    for match in _STRUCTURE.finditer(text):
        mark = match.group()
        if len(mark) != 1:
            continue
        here = match.start()
        if mark == "(":
            parens += 1
        elif mark == ")":
            parens = max(0, parens - 1)
        elif mark == "{":
            if not opened:
                pieces.append(text[piece_start:here])
                is_body = _opens_body(" ".join(pieces))
            opened.append(here)
        elif mark == "}":
            if not opened:
                raise UserError([Diagnostic("syntax", "'}' without its '{'", places.span(here, here + 1))])
            open_brace = opened.pop()
            if not opened:
                piece_start = here + 1
                if "enum" in pieces[-1]:
                    pieces.append(text[open_brace : here + 1])
                if is_body:
                    parens = 0
                    _add(result, start, here + 1, pieces, True)
                    start, pieces, is_body = here + 1, [], False
        elif not opened and parens == 0:
            if _declares_arguments(" ".join([*pieces, text[piece_start:here]])):
                continue
            pieces.append(text[piece_start:here])
            _add(result, start, here + 1, pieces, False)
            start, piece_start, pieces = here + 1, here + 1, []
    if opened:
        raise UserError([Diagnostic("syntax", "'{' without its '}'", places.span(opened[-1], opened[-1] + 1))])
    return result


def _declares_arguments(header: str) -> bool:
    """Whether a `;` ends the declaration of an argument: `int f(a, n) float *a;` before `int n; {…}`."""
    header = _HASH_LINES.sub("", header) if "(" in header else ""
    _, opening, behind = header.partition("(")
    if not opening or not all(one.strip().isidentifier() for one in behind.partition(")")[0].split(",")):
        return False
    plain = " ".join(drop_attributes(header).split())  # macros have left long rows of blanks
    return _OLD_STYLE.match(plain) is not None


def _opens_body(header: str) -> bool:
    """Whether the brace after this text opens a function's body. File names in line markers may be anything."""
    header = _HASH_LINES.sub("", header)
    if "(" not in header or "typedef" in header:
        return False
    plain = drop_attributes(header)
    return "(" in plain and "=" not in plain.partition("(")[0] and not plain.rstrip().endswith("=")


def _add(result: Chunks, start: int, end: int, pieces: list[str], is_function: bool) -> None:
    header = _HASH_LINES.sub("", " ".join(pieces))
    index = len(result.items)
    plain = None if "typedef" in header else _FUNCTION.match(drop_attributes(header))
    name = plain.group(1) if plain is not None and plain.group(1) not in KEYWORDS else ""
    result.items.append(Chunk(start, end, header, is_function, name))
    for declared in {name} if name else set(_IDENTIFIER.findall(header)) - KEYWORDS:
        result.mentions.setdefault(declared, []).append(index)


def drop_attributes(text: str) -> str:
    """The text without `__attribute__((...))`, `[[...]]` and the like: blanks stand in their place."""
    if not _ATTRIBUTES.search(text):
        return text
    out: list[str] = []
    position = 0
    for match in _ATTRIBUTES.finditer(text):
        if match.start() < position:
            continue
        stop = close_paren(text, match.end())
        if match[0] == "[[":  # of C23
            stop = text.find("]]", match.end()) + 2 or len(text)
        out += [text[position : match.start()], re.sub(r"[^\n]", " ", text[match.start() : stop])]
        position = stop
    out.append(text[position:])
    return "".join(out)


def without_data(text: str) -> str:
    """A text with 0 in the place of each list of values: of what stands in braces without a statement."""
    while (less := _DATA.sub("0", text)) != text:
        text = less
    return text


def close_paren(text: str, position: int) -> int:
    """The offset after the parenthesis that closes the first one at or after `position` (blanks and words between)."""
    opening = re.compile(r"\s*(?:volatile|__volatile__|goto|inline)?\s*\(").match(text, position)
    if opening is None:
        return position
    depth = 0
    for match in _STRUCTURE.finditer(text, opening.end() - 1):
        mark = match.group()
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def declared_names(chunk: Chunk) -> set[str]:
    """The names that a chunk declares at file level: functions, variables, typedefs, tags, enum constants."""
    if chunk.names is None:
        chunk.names = _declared(chunk)
    return chunk.names


def _declared(chunk: Chunk) -> set[str]:
    if chunk.function_name:
        return {chunk.function_name}
    header = drop_attributes(chunk.header)
    found = set(re.findall(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)", header))
    for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", header):
        found |= set(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", body))
    return found | _declarators(header)


def named_types(chunk: Chunk) -> set[str]:
    """The names of types that a chunk declares, without tags."""
    return _declarators(drop_attributes(chunk.header)) if re.match(r"\s*typedef\b", chunk.header) else set()


def _declarators(header: str) -> set[str]:
    plain = _BRACES.sub(" ", header)
    found = set(re.findall(r"\(\s*\*+\s*(?:const|restrict)?\s*([A-Za-z_]\w*)\s*[)\[]", plain))
    flat = re.sub(r"\s+", " ", _without_parens(plain))
    found |= set(re.findall(r"([A-Za-z_]\w*) ?(?=[(\[=,;:]|$)", flat))
    return found


def _without_parens(text: str) -> str:
    """`int f(int a), b[n]` -> `int f(), b[]`: only what stands outside of parentheses and brackets."""
    out: list[str] = []
    depth = 0
    for part in re.split(r"([()\[\]])", text):
        if part in ("(", "["):
            if depth == 0:
                out.append(part)
            depth += 1
        elif part in (")", "]"):
            depth -= 1
            if depth == 0:
                out.append(part)
        elif depth == 0:
            out.append(part)
    return "".join(out)
