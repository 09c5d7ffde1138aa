"""The preprocessed declarations that a region needs to compile as a function of its own."""

from __future__ import annotations

import re

from polyc.frontend.c.parse import IDENTIFIER, Parsed
from polyc.frontend.text.chunks import KEYWORDS, Chunk, Chunks, declared_names
from polyc.frontend.text.foreign import foreign
from polyc.frontend.text.pragmas import Marked
from polyc.model import ctree as c
from polyc.model.scop import Scop

_LOCAL_TYPE = re.compile(r"(?<=[;{}])\s*((?:typedef|enum|struct|union)\b[^;{}]*(?:\{[^{}]*\})?[^;{}]*;)")
_TAG = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)")
_HASH_LINE = re.compile(r"^#[^\n]*\n?", re.MULTILINE)


def original_text(text: str) -> str:
    """Preprocessed text without line markers and pragmas, but for hints to compilers: they stay with their loops."""
    return _HASH_LINE.sub(
        lambda line: line[0] if any(one.is_hint and not one.directive for one in foreign(line[0])) else "", text
    )


def local_types(chunks: Chunks, marked: Marked) -> list[Chunk]:
    """The types and constants that the function itself declares before the region."""
    start = chunks.items[marked.chunk].start
    text = original_text(chunks.text[start : marked.start])
    return [Chunk(start, start, m.group(1), False) for m in _LOCAL_TYPE.finditer(text) if declares_type(m.group(1))]


def declares_type(text: str) -> bool:
    return "{" in text or text.startswith("typedef")


def preamble(chunks: Chunks, marked: Marked, parsed: Parsed, scop: Scop) -> str:
    """Typedefs, structs, constants and functions that the region mentions, also those behind it, and what these need,
    in their order."""
    known = {array.c_name for array in scop.arrays.values()}
    known |= {p.expr.name for p in scop.parameters if isinstance(p.expr, c.Name)} | {name for name, _ in scop.constants}
    types = " ".join([a.element.text for a in scop.arrays.values()] + [p.type.text for p in scop.parameters])
    # A variable may be called as its struct is.
    known -= set(_TAG.findall(chunks.text[marked.body : marked.end] + " " + types))
    wanted = (chunks.names_between(marked.body, marked.end) | set(IDENTIFIER.findall(types))) - known
    local = local_types(chunks, marked)
    local = [item for item in local if declared_names(item) & wanted]
    wanted |= {name for item in local for name in IDENTIFIER.findall(item.header)}
    chosen: set[int] = set()
    seen = set(KEYWORDS)
    wanted -= KEYWORDS
    while wanted:
        name = wanted.pop()
        seen.add(name)
        for number in chunks.mentions.get(name, ()):
            if number in chosen or number == marked.chunk or name not in declared_names(chunks.items[number]):
                continue
            chosen.add(number)
            wanted |= chunks.names_of(number) - seen - known
    pieces = [original_text(chunks.text_of(number)).strip() for number in sorted(chosen)]
    pieces += [item.header for item in local]
    return "".join(f"{piece}\n" for piece in pieces if piece)
