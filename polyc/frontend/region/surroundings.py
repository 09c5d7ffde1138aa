"""Where a region stands: the function and the file around it, what these do with its names, and what only it uses."""

from __future__ import annotations

import re
from collections import Counter

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.analysis.expressions.facts import mentions
from polyc.analysis.expressions.magnitudes import is_number
from polyc.errors import Span, UserError
from polyc.frontend.c.convert import Converter
from polyc.frontend.c.ctype import Types, kept
from polyc.frontend.c.liveness import (
    Path,
    addresses_taken,
    declared_on_the_way,
    given_before,
    is_like_local,
    is_static_of,
    is_static_of_file,
    read_after,
)
from polyc.frontend.c.parse import CALLED, IDENTIFIER, MEMBER, Parsed, readable, without_own_loops
from polyc.frontend.c.preamble import local_types
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.exchange import Exchanges
from polyc.frontend.idioms.pointers import parts_given
from polyc.frontend.memory.live_out import After
from polyc.frontend.text.chunks import KEYWORDS, Chunks, drop_attributes
from polyc.frontend.text.foreign import foreign
from polyc.frontend.text.places import Places
from polyc.frontend.text.pragmas import Marked
from polyc.frontend.text.source import COMMENT_OR_STRING
from polyc.frontend.text.trees import free_names, walk
from polyc.frontend.walks.walks import ends_compared
from polyc.model import ctree as c
from polyc.model.program import InputOptions
from polyc.model.scop import Array, Storage
from polyc.records import dataclass, field, replace

WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Surroundings:
    """A region's place in its function and its file."""

    marked: Marked
    parsed: Parsed
    chunks: Chunks
    places: Places
    options: InputOptions
    file_names: frozenset[str]
    others: list[Marked]
    """All regions of the function that are marked, or those that may have been found so far, with this one."""
    earlier: tuple[Marked, ...]
    """The regions of the file that were read before this one."""
    path: Path = field(default_factory=list)
    """The blocks around the region, from the function's on, and where it ends in each; see `locate`."""
    start: Path = field(default_factory=list)
    """The same where it starts."""

    def locate(self) -> tuple[list[c_ast.Node], Span, int]:
        """The region's statements, its pragma's place, and the line of its end; sets `path`."""
        user, place = self.places.user, self.marked.stretch
        line, end_line = (self.places.pre.place(at)[1] for at in (self.marked.start, self.marked.end))
        if place is not None:
            line, end_line = place.first, place.last
        text = user.line(line)
        column = len(text) - len(text.lstrip()) + 1
        if place is not None and place.start > user.line_starts[line - 1]:
            column = place.start - user.line_starts[line - 1] + 1
        span = Span(*user.place(line), column, len(text.rstrip()) + 1 - column)
        found = self.search(self.parsed.function.body, [])
        if found is None:
            hint = "put both pragmas into the same block"
            message = "the region starts in one block and ends in another"
            raise UserError.of("region-crosses-block", message, span, hint)
        block, first, last = found
        outside = self.path
        self.path, self.start = [*outside, (block, last)], [*outside, (block, first + 1)]
        return (block.block_items or [])[first + 1 : last], span, user.place(end_line)[1]

    def search(self, node: c_ast.Node, path: Path) -> tuple[c_ast.Compound, int, int] | None:
        """The block that holds both pragmas."""
        if isinstance(node, c_ast.Compound):
            items = node.block_items or []
            marks = [n for n, item in enumerate(items) if isinstance(item, c_ast.Pragma) and self.is_mark(item)]
            if len(marks) == 2:
                self.path = path
                return node, marks[0], marks[1]
            for position, item in enumerate(items):
                found = self.search(item, [*path, (node, position)])
                if found is not None:
                    return found
            return None
        for child in node:
            found = self.search(child, [*path, (node, 0)])
            if found is not None:
                return found
        return None

    def is_mark(self, node: c_ast.Pragma) -> bool:
        if self.marked.nodes is not None:
            return any(node is mark for mark in self.marked.nodes)
        offset = self.parsed.original(self.parsed.offset(node.coord))
        return self.marked.start <= offset < self.marked.body or self.marked.end <= offset < self.marked.end + 20

    # --- what the function does with names

    @property
    def unasked(self) -> bool:
        """Whether nobody marked the region, so that nobody promised anything of it."""
        return self.marked.nodes is not None and self.options.alias and not self.marked.promised

    @property
    def taken(self) -> frozenset[str]:
        """The names of which the function takes the address."""
        return addresses_taken(self.parsed.function.body)

    @property
    def used_behind(self) -> set[str]:
        """The names that what follows the region in its block mentions: of those, its declarations have to stay."""
        block, last = self.path[-1]
        return free_names(block.block_items[last:])

    def is_own(self, symbol: Symbol) -> bool:
        """Whether nobody else sees a local variable, and nobody reads it after the region."""
        name, function = symbol.c_name, self.parsed.function
        if name in self.taken or (symbol.storage is Storage.GLOBAL and not is_like_local(symbol, function)):
            return False
        return not read_after(name, self.path, function)

    def is_read_behind(self, symbol: Symbol) -> bool | None:
        """Whether the value of a scalar may be read after the region; None where others than the function see it."""
        name = symbol.c_name
        if symbol.storage is Storage.REGION:
            return name in self.used_behind
        function = self.parsed.function
        if name in self.taken or (symbol.storage is Storage.GLOBAL and not is_like_local(symbol, function)):
            return None
        return read_after(name, self.path, function)

    def read_later(self, exchanges: Exchanges, scope: Scope) -> set[str]:
        """The pointers among those that change places whose values somebody may read after the region."""
        states = exchanges.turning.states if exchanges.turning is not None else ()
        symbols = [scope.symbols[key] for state in states for key in state]
        outside = [symbol for symbol in symbols if symbol.storage is not Storage.REGION]
        return {
            symbol.key
            for symbol in outside
            if symbol.storage is Storage.GLOBAL
            or symbol.c_name in self.taken
            or read_after(symbol.c_name, self.path, self.parsed.function)
        }

    def is_unset(self, symbol: Symbol) -> bool:
        """Whether a local array has no values yet: before the region stand its declaration and `(void)name;` only."""
        node = symbol.node
        if symbol.storage is not Storage.LOCAL or symbol.static or node is None or node.init is not None:
            return False
        if not symbol.rank or any(d.pointer for d in symbol.shape.dims):
            return False
        text = COMMENT_OR_STRING.sub(
            " ", self.chunks.text[self.chunks.items[self.marked.chunk].start : self.marked.body]
        )
        name = re.escape(symbol.c_name)
        text = re.sub(rf"\(\s*void\s*\)\s*{name}\s*;", "", text)
        once = len(re.findall(rf"\b{name}\b", text)) == 1
        return once and declared_on_the_way(symbol.c_name, self.path, self.parsed.function)

    def constant_before(self, types: Types, symbol: Symbol) -> int | None:
        """The number that a variable is where the region starts."""
        value = given_before(symbol.c_name, self.start, self.parsed.function)
        found = types.constant(value) if value is not None and symbol.c_name not in self.taken else None
        return kept(found, symbol.shape.element)

    def is_number_before(self, symbol: Symbol, converter: Converter) -> bool:
        """Whether a local floating-point variable is a constant before the region that is a magnitude."""
        own = symbol.storage is Storage.LOCAL and symbol.shape.element.kind == "float" and not symbol.rank
        if not own or symbol.static or symbol.c_name in self.taken:
            return False
        value = given_before(symbol.c_name, self.start, self.parsed.function)
        return value is not None and is_number(replace(converter, problems=[]).expr(value)[0])

    def parts_of(self, body: c.Block, converter: Converter) -> dict[str, tuple[c.Expr, str]]:
        """What pointers are before the region that lead into the array of another one: `p + n`."""
        symbols = [s for key in sorted(mentions(body)) if (s := converter.scope.symbols.get(key)) is not None]
        pointers = {s.c_name: s for s in symbols if s.is_pointer and s.storage is Storage.LOCAL}
        if not pointers:
            return {}
        ends = ends_compared(body, {symbol.key for symbol in pointers.values()})
        names, compared = [s.c_name for s in symbols if s.rank], {s.c_name for s in pointers.values() if s.key in ends}
        found: dict[str, tuple[c.Expr, str]] = {}
        for name, node in parts_given(self.parsed.function, names, compared, self.is_mark).items():
            used = {part.name for part in walk(node) if isinstance(part, c_ast.ID)}
            quiet = replace(converter, problems=[])
            expr = quiet.expr(node)[0]
            if name in pointers and not used & self.taken and not quiet.problems:
                found[pointers[name].key] = expr, CGenerator().visit(node)
        return found

    # --- what the file says

    @property
    def own_functions(self) -> frozenset[str]:
        """Those whose bodies stand in the file."""
        return frozenset(item.function_name for item in self.chunks.items if item.is_function)

    @property
    def has_odd_layouts(self) -> bool:
        """Whether members of structs may lie elsewhere than C usually puts them."""
        chosen = self.parsed.declarations
        texts = [self.chunks.text_of(number) for number in chosen if not self.chunks.items[number].is_function]
        texts += [one.header for one in local_types(self.chunks, self.marked)]
        structs = (text for text in texts if "{" in text and re.search(r"\b(?:struct|union)\b", text))
        odd = any(drop_attributes(text) != text for text in structs)
        return odd or re.search(r"^#\s*pragma\s+pack\b", self.chunks.text, re.MULTILINE) is not None

    def function_names(self) -> frozenset[str]:
        return frozenset(self.chunks.names_of(self.marked.chunk))

    @property
    def taken_names(self) -> frozenset[str]:
        """Those that a new variable cannot have."""
        return self.file_names | self.function_names()

    def declared_only(self) -> frozenset[str]:
        """The names that the file mentions once outside of regions: where they are declared."""
        return frozenset(name for name, times in Counter(WORD.findall(self.outside())).items() if times == 1)

    def outside(self) -> str:
        """The file without this region and those before it: what only these use may be unused where all are printed."""
        text, end = self.chunks.text, len(self.chunks.text)
        kept: list[str] = []
        for other in sorted((*self.earlier, self.marked), key=lambda r: -r.end):
            kept.append(text[other.end : end])
            end = min(end, other.body)
        return "".join(reversed([*kept, text[:end]]))

    def callees(self) -> tuple[str, ...]:
        """Functions that the region calls and nothing else in the file mentions but their definitions: also those of
        statements that run for no iteration, which are no part of the model."""
        called = set(CALLED.findall(self.chunks.text[self.marked.body : self.marked.end])) - KEYWORDS
        outside = COMMENT_OR_STRING.sub(" ", self.outside())
        outside = re.sub(r"^[ \t]*#[ \t]*pragma.*$", "", outside, flags=re.MULTILINE)
        mentions = Counter(IDENTIFIER.findall(outside))
        macros = set(re.findall(r"#[ \t]*(?:define|undef)[ \t]+(\w+)", outside))
        return tuple(name for name in sorted(called - macros) if mentions[name] == 1 and name in self.own_functions)

    def constants(self, region: Region) -> tuple[tuple[str, str], ...]:
        """The constants of the function that the region mentions: those of the file stand before it."""
        inside = self.chunks.names_between(self.marked.body, self.marked.end)
        of_file = {id(node) for node in self.parsed.tree.ext}
        named = [(key, s) for key, s in region.scope.symbols.items() if s.c_name in inside]
        own = [(key, s) for key, s in named if s.storage is not Storage.REGION and id(s.node) not in of_file]
        fixed = [(s, region.fixed(key)) for key, s in own]
        return tuple(
            (s.c_name, f"const {s.shape.element.text} {s.c_name} = {value};") for s, value in fixed if value is not None
        )

    def orphans(self, region: Region) -> list[Symbol]:
        """What nothing outside of the regions mentions, its declaration apart: locals, and static arrays."""
        item = self.chunks.items[self.marked.chunk]
        text = readable(self.chunks.text_of(self.marked.chunk))
        inside = self.chunks.names_between(self.marked.body, self.marked.end)
        end = len(text)
        for other in sorted(self.others, key=lambda r: -r.end):
            if (stop := min(other.end - item.start, end)) > other.body - item.start:
                end = other.body - item.start
                text = text[:end] + text[stop:]
        outside = MEMBER.sub(" ", COMMENT_OR_STRING.sub(" ", text))
        counts = Counter(IDENTIFIER.findall(outside))
        local = (Storage.LOCAL, Storage.ARGUMENT)
        declared: frozenset[str] | None = None
        found: list[Symbol] = []
        for symbol in region.scope.symbols.values():
            name = symbol.c_name
            if symbol.storage is Storage.REGION or name not in inside:
                continue  # what the region declares goes with the loops
            once = counts[name] == 1
            if not once and symbol.storage is Storage.LOCAL and not symbol.rank:
                once = IDENTIFIER.findall(without_own_loops(outside, name)).count(name) == 1
            if not once and symbol.storage not in local:
                declared = self.declared_only() if declared is None else declared
                once = name in declared
            if once:
                found.append(symbol)
        return found

    def alone(self, after: After, region: Region, arrays: dict[str, Array]) -> frozenset[str]:
        """Static arrays that nothing in the file mentions but their declarations and this region, which hands them to
        nobody: if it writes them first, no value of theirs is ever read by anybody else. Those that no function
        declares may be read by a file that includes this one, where there may be such."""
        symbols = {key: region.scope.symbols[key] for key in arrays if region.scope.symbols[key].rank}
        of_function = {key for key, symbol in symbols.items() if is_static_of(symbol, after.function)}
        of_file = {key for key, symbol in symbols.items() if self.options.whole and is_static_of_file(symbol)}
        own = {key: symbols[key].c_name for key in of_function | of_file if not after.is_handed_on(symbols[key])}
        if not own:
            return frozenset()
        text = self.chunks.text[: self.marked.body] + self.chunks.text[self.marked.end :]
        # In strings as well for those of the file: `__attribute__((alias("t")))`.
        mentions = Counter(IDENTIFIER.findall(text if of_file else COMMENT_OR_STRING.sub(" ", text)))
        return frozenset(key for key, name in own.items() if mentions[name] == 1)

    @property
    def drops_sharing(self) -> bool:
        """Whether a region that nobody marked drops pragmas by which threads share its loops."""
        pragmas = foreign(self.chunks.text, self.marked.body, self.marked.end)
        return self.marked.nodes is not None and any(pragma.is_construct for pragma in pragmas)

    def text_at(self, converter: Converter, where: Span) -> str:
        """What the user wrote at a place; "" where that is not known."""
        piece = converter.ranges.get(where)
        return self.places.source(*piece) if piece else ""

    def span_of(self, node: c_ast.Node) -> Span:
        start = self.parsed.original(self.parsed.offset(node.coord))
        return self.places.span(start, start + 1)
