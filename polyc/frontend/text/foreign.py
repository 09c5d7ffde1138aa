"""Pragmas of other tools: hints to a compiler, and directives of OpenMP that give a statement another meaning.

A hint may be dropped where its loop is rewritten: without it the loop computes the same. A directive may be dropped
where the statements that it is about compute the same one after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from polyc.frontend.text.chunks import close_paren
from polyc.records import dataclass, field

KEEP, REPLACE = "keep", "replace"
"""What becomes of loops under OpenMP's worksharing directives."""

_FOREIGN = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?!(?:polyc|scop|endscop)\b)(\w[^\n]*)$", re.MULTILINE)
_HINT = re.compile(
    r"""(?:(?:GCC|clang|_CRI|_NEC|nvc|pgi)[ ]+)?(?:ivdep|(?:no)?unroll|(?:no)?vector|concurrent)\b
      | (?:no)?(?:simd|unroll_and_jam|prefetch|fusion|parallel)\b | loop[_ ]count\b | distribute_?point\b
      | SIMD\b | message\b | warning\b | once\b
      | clang[ ]+loop\b | STDC[ ]+FP_CONTRACT[ ]+(?:ON|DEFAULT)\b | (?:end)?region\b | mark\b""",
    re.VERBOSE,
)
_OPENMP = re.compile(r"(omp|acc)\s+((?:declare\s+)?\w+(?:\s+(?:for|simd|loop)\b(?!\s*\())*)")
_BEFORE_LOOPS = re.compile(
    r"""(?:omp|acc)\b[\w\s]*?\b(?:for|simd|loop|taskloop|distribute|tile|unroll)\b
      | (?:GCC|clang)\s+(?:ivdep|loop|(?:no)?unroll) | (?:no)?unroll""",
    re.VERBOSE,
)
_CLAUSE = re.compile(r"[\s,]*(\w+)\s*")
_HARMLESS_WORDS = """
schedule collapse nowait shared default num_threads if proc_bind private firstprivate lastprivate reduction safelen
simdlen aligned nontemporal linear
"""
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""Clauses that change no value of a loop whose iterations run one after another, but for those of variables."""
_SUMS = re.compile(r"(?:default\s*,\s*)?(?:[-+*&|^]|&&|\|\||min|max)\s*:")
_EFFECT = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)|\b(?!omp_get_)\w+\s*\(")
OUTSIDE = ("declare simd", "threadprivate")
"""Directives that are no statements, and say nothing about the function behind them."""


@dataclass(frozen=True, slots=True)
class Pragma:
    """A pragma of another tool."""

    start: int
    """Offset in the preprocessed text."""
    words: str
    """What stands behind `#pragma`."""

    @property
    def is_hint(self) -> bool:
        return _HINT.match(self.words) is not None or self.directive == "simd"

    @property
    def directive(self) -> str:
        """`parallel for` of `omp parallel for schedule(static)`; "" of another tool's."""
        match = _OPENMP.match(self.words)
        return " ".join(match[2].split()) if match is not None and match[1] == "omp" else ""

    @property
    def is_construct(self) -> bool:
        """Whether it says how the statement behind it is shared among threads, or among devices."""
        return _OPENMP.match(self.words) is not None and not self.is_hint and self.directive not in OUTSIDE

    @property
    def wants_loop(self) -> bool:
        """Whether a compiler that knows it refuses anything but a loop behind it."""
        return _BEFORE_LOOPS.match(self.words) is not None and self.directive not in OUTSIDE

    @property
    def shown(self) -> str:
        return f"#pragma {self.words.strip()}"


@dataclass(slots=True)
class Clauses:
    """What the clauses of a directive say."""

    own: list[str] = field(default_factory=list)
    """Variables that keep their value from before the statement: each thread has another one of that name."""
    copied: list[str] = field(default_factory=list)
    """Those among them that begin with that value in each thread."""
    wrong: str = ""
    """The first clause that means something where nothing runs in parallel, too."""


def foreign(text: str, start: int = 0, end: int | None = None) -> Iterator[Pragma]:
    """The pragmas of other tools in a piece of preprocessed text, in order."""
    for match in _FOREIGN.finditer(text, start, len(text) if end is None else end):
        yield Pragma(match.start(), match[1])


def clauses(pragma: Pragma) -> Clauses:
    """The clauses of one of OpenMP's directives."""
    match = _OPENMP.match(pragma.words)
    found = Clauses()
    position = match.end() if match is not None else 0
    while (word := _CLAUSE.match(pragma.words, position)) is not None:
        name, position = word[1], word.end()
        inside = ""
        if pragma.words[position : position + 1] == "(":
            close = close_paren(pragma.words, position)
            inside, position = pragma.words[position + 1 : close - 1], close
        counted = name in ("num_threads", "if") and _EFFECT.search(inside) is not None
        if name not in _HARMLESS or counted or (name == "reduction" and not _SUMS.match(inside.strip())):
            found.wrong = found.wrong or (f"{name}({inside})" if inside else name)
        if name in ("private", "firstprivate"):
            found.own += re.findall(r"\w+", inside)
        if name == "firstprivate":
            found.copied += re.findall(r"\w+", inside)
    if not found.wrong and pragma.words[position:].strip(" \t,"):
        found.wrong = pragma.words[position:].strip()
    return found


__all__ = ["KEEP", "OUTSIDE", "REPLACE", "Clauses", "Pragma", "clauses", "foreign"]
