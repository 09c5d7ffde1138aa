"""Regions that nobody marked: the largest runs of statements that the frontend takes as they are.

In each block of a function, neighbouring statements are taken together as far as they can be a region. Where the
frontend refuses one of them, the run is cut there, and the blocks inside of that statement are looked at in turn. What
is left alone is told of, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import islpy as isl
from pycparser import c_ast

from polyc.bounded import processor_seconds
from polyc.errors import Diagnostic, Severity, Span, UserError
from polyc.frontend.c.effects import Effects
from polyc.frontend.c.functions import ENDS
from polyc.frontend.c.liveness import jumped_to
from polyc.frontend.c.parse import SKIPPED, Parsed, parse_function
from polyc.frontend.c.units import NotRead, NotWhole, Unit, for_loops, has_code, stretch, unit_of, units, with_condition
from polyc.frontend.c.worksharing import Sharing, path_to
from polyc.frontend.memory.overlaps import CODE as OVERLAPS
from polyc.frontend.text.asserts import asserted
from polyc.frontend.text.chunks import MEANINGS, Chunks, without_data
from polyc.frontend.text.foreign import KEEP, REPLACE, Pragma, foreign
from polyc.frontend.text.named import with_plain_extrema
from polyc.frontend.text.places import Places, Stretch
from polyc.frontend.text.pragmas import Marked
from polyc.frontend.text.trees import walk
from polyc.model.scop import Region, Scop
from polyc.model.tree import Band, Domain, Leaf, Node, Sequence
from polyc.model.tree import walk as walk_tree
from polyc.poly import OverBudget, greatest_of, is_over_budget, least_of, names
from polyc.records import dataclass, field

LARGEST_FUNCTION, LARGEST_TABLES = 100_000, 1_000_000
"""Characters of a function that is searched, without its tables and with them."""
FEWEST = 2_000
"""Statement instances of a run below which threads, tiles and buffers cannot pay."""
MOST_TRIES, MOST_SECONDS = 60, 15.0
"""Runs of one function that are modelled, however long that takes, and processor time after which no others are."""

ALIKE = 0.8
"""The share of a region's statements from which on a loop inside is expected to take as long."""

LONG = 8.0
"""Seconds of processor time that loops have taken in vain from which on a single one inside of them, with nearly all
that they have, is not tried."""

NO_FOR = "it is no 'for' loop: polyc does not know how often it runs"

Judge = Callable[[Region], str | None]
"""Why a region is better left as it is; None where it is not."""
Model = Callable[[Marked, Parsed], Region]
"""The region of a run. Raises UserError."""

_LOOP = re.compile(r"\b(?:for|while)\b")
_ELEMENT = re.compile(r"\]|\*|\{.*?\b(?!(?:for|while|if|switch|return|sizeof)\b)[A-Za-z_]\w*\s*\(", re.DOTALL)
_NOT_FOLLOWED = re.compile(
    r"\b(?:setjmp|_setjmp|__setjmp|sigsetjmp|__sigsetjmp|__builtin_setjmp|vfork|asm|__asm|__asm__|__auto_type)\b|\bgoto\s*\*"
)
_TYPES = re.compile(r"\b(?:__typeof__|__typeof|typeof|typeof_unqual)\b")
_HIDDEN = re.compile(r"\(\s*\{|\b(?:__typeof__|__typeof|typeof|__label__)\b")
_AS_A_WHOLE = ("[pointer-member]", "[array-rank]")
"""Refusals of members of a struct that another statement uses as a whole."""
_KEPT_WHOLE = (
    "non-affine-index",
    "non-affine-condition",
    "non-affine-loop",
    "while-loop",
    "jump-in-loop",
    "wrap-around",
    "side-effects",
)
"""Notes that say why a statement is opaque."""
FEW_ITERATIONS = "iterations only: nothing would be gained"
_LEAVES = (c_ast.Goto, c_ast.Return, c_ast.Switch, c_ast.Case, c_ast.Default)


class _TooMuch(Exception):
    """Several statements are too much for one region, and none of them is to blame."""


class _Together(str):
    """Why the lines of several statements cannot be replaced together; those of one may be."""


class Everywhere(str):
    """Why nothing is gained of some loops, nor of any loop in them."""


class Apart(str):
    """Why some loops are no kernels together: one of them may stand in the way of all others."""


class Unfinished(str):
    """Why nothing is gained of some loops, as far as the budget went."""

    statements = 0
    """How many they have."""
    slow = False
    """Whether that took LONG."""


@dataclass(slots=True)
class Found:
    """What a search gives."""

    regions: list[Region] = field(default_factory=list)
    left: list[Diagnostic] = field(default_factory=list)
    in_vain: int = 0
    """As in `Scop`."""


def worth_a_look(text: str) -> bool:
    """Whether a function's text has a loop, and an element that it might run over, or a call that might."""
    return _LOOP.search(text) is not None and _ELEMENT.search(text) is not None


def why_not(text: str, openmp: str = KEEP) -> str | None:
    """Why all of a function is left alone, by its preprocessed text."""
    if len(text) > LARGEST_FUNCTION:
        if len(without_data(text)) > LARGEST_FUNCTION:
            return "its function is too large to be searched"
        if len(text) > LARGEST_TABLES:
            return "the tables in its function are too large to be read: declare them outside of it"
    for pragma in foreign(text):
        inside = "{" in text[: pragma.start]
        if pragma.is_construct and not (openmp == REPLACE and pragma.directive and inside):
            return f"its function has pragmas of its own ('{pragma.shown}')"
    if (attribute := MEANINGS.search(text)) is not None:
        return f"its function uses the attribute '{attribute[1]}'"
    found = _NOT_FOLLOWED.search(with_plain_extrema(text))
    return f"its function uses '{found.group()}'" if found is not None else None


def first_loop(chunks: Chunks, index: int) -> int:
    """Where a function's first loop stands: the word in `#pragma omp parallel for` is none."""
    start = chunks.items[index].start
    for match in _LOOP.finditer(chunks.text, start):
        line = chunks.text.rfind("\n", 0, match.start()) + 1
        if not chunks.text[line : match.start()].lstrip().startswith("#"):
            return match.start()
    return start


@dataclass(slots=True)
class Detector:
    """The search of one function."""

    chunks: Chunks
    places: Places
    effects: Effects
    is_substituted: Callable[[str], bool]
    """Whether the text of a function may stand in the place of its calls."""
    index: int
    """Of the function's chunk."""
    model: Model
    judge: Judge
    found: Found
    openmp: str = KEEP
    promised: bool = False
    """What is searched is a part of a marked region."""
    parsed: Parsed = field(init=False)
    targets: frozenset[str] = frozenset()
    """Labels that something jumps to; others only name a place, as HLS tools want it of loops."""
    tries: int = 0
    begun: float = 0.0
    """Of the search, in seconds of processor time."""
    plain: dict[int, tuple[Any, list[c_ast.Node]]] = field(default_factory=dict)
    """Of each block: its items, and those of them that are no marks."""
    bare: list[c_ast.Compound] = field(default_factory=list)
    """Blocks that hold a loop which has no braces around it in the text: the body of another loop, or a branch."""
    top: c_ast.Compound | None = None
    """The block that is searched first: no loop stands around its statements that would copy arrays each time."""
    unfinished: Unfinished | None = None
    """Why nothing is gained of the loops around, if the budget was used up for them."""
    steering: dict[int, dict[str, int]] = field(default_factory=dict)
    """Of each block: the names that loops and subscripts depend on, and the last unit that has them."""

    def search(self) -> None:
        """Find the function's regions, in order."""
        self.begun = processor_seconds()
        item = self.chunks.items[self.index]
        text = self.chunks.text_of(self.index)
        reason = why_not(text, self.openmp) or self.why_not_in_other_builds(item.start, item.end)
        if reason is not None:
            self.leave(first_loop(self.chunks, self.index), reason)
            return
        try:
            self.parsed = parse_function(self.chunks, self.index, [], self.places)
        except (UserError, RecursionError) as problem:
            told = problem.diagnostics[0].message if isinstance(problem, UserError) else "it is too deep"
            self.leave(first_loop(self.chunks, self.index), f"its function cannot be read: {told}")
            return
        texts = (self.chunks.text_of(n) for n in (self.index, *self.parsed.declarations))
        if any(_TYPES.search(with_plain_extrema(one)) for one in texts):
            self.leave(first_loop(self.chunks, self.index), "its function uses a type that is found out ('typeof')")
            return
        assert item.is_function
        self.targets = jumped_to(self.parsed.function.body)
        self.top = self.parsed.function.body
        self.block(self.top)

    def why_not_in_other_builds(self, start: int, end: int) -> str | None:
        """Why all of a function is left alone, by what only a build with OpenMP has of it."""
        pre = self.places.pre
        construct = pre.other.construct_in(pre.place(start)[1], pre.place(end - 1)[1])
        return f"its function has pragmas of its own in builds with OpenMP ('{construct}')" if construct else None

    def search_inside(self, marked: Marked, reason: str, deep: bool) -> None:
        """Find regions in a marked region, which is none as a whole: of its statements, where one of them stands in the
        way of the others, or in the blocks inside of them (`deep`)."""
        self.begun = processor_seconds()
        try:
            self.parsed = parse_function(self.chunks, self.index, [], self.places)
        except (UserError, RecursionError):
            return
        self.targets = jumped_to(self.parsed.function.body)

        def is_inside(node: c_ast.Node) -> bool:
            return marked.body <= self.parsed.original(self.parsed.offset(node.coord)) < marked.end

        for node in walk(self.parsed.function.body):
            items = node.block_items or [] if isinstance(node, c_ast.Compound) else []
            items = [item for item in items if is_inside(item)]
            if items:
                self.search_items(node, items, marked, reason, deep)
                return

    def search_items(
        self, block: c_ast.Compound, items: list[c_ast.Node], marked: Marked, reason: str, deep: bool
    ) -> None:
        """The same, of the items of a block."""
        try:
            parts = [part for part in self.units(block) if marked.body <= part.start < marked.end]
        except NotRead:
            parts = []
        if isinstance(reason, Apart) and len(parts) > 1:
            self.top = block
            self.halves(block, parts, 0, len(parts) - 1)
            return
        if deep:
            self.bare += [one for item in items for one in with_blocks(item)]
            for inner in outermost_blocks(items):
                self.block(inner)

    # --- blocks

    def block(self, block: c_ast.Compound) -> None:
        """The regions of one block, and of the blocks inside of what is in none of them."""
        if not any(is_loop(node) for node in walk(block)):
            return
        try:
            parts = self.units(block)
        except NotRead:
            self.between_labels(block)
            return
        reasons = [self.why_not_unit(block, parts, n) for n in range(len(parts))]
        # Marks are put into the block, so that positions move: from the last run to the first they do not matter.
        for first, last in reversed(list(runs(reasons))):
            self.run(block, parts, first, last)
        for part, reason in zip(parts, reasons, strict=True):
            if reason is not None:
                self.inside(block, part, reason)

    def units(self, block: c_ast.Compound) -> list[Unit]:
        """The statements of a block. Raises NotRead."""
        if block in self.bare:
            return [unit_of(block.block_items[0], self.parsed)]
        return units(block, self.parsed, self.targets)

    def between_labels(self, block: c_ast.Compound) -> None:
        """A block of which text and tree do not go together, as between the labels of a switch: its blocks may do."""
        for node in walk(block):
            if isinstance(node, (c_ast.Case, c_ast.Default)):
                for item in node.stmts or []:
                    if is_loop(item):
                        offset = self.parsed.original(self.parsed.offset(item.coord))
                        self.leave(offset, "it stands between the labels of a switch: give it a block")
        for inner in outermost_blocks(block.block_items or []):
            self.block(inner)

    def inside(self, block: c_ast.Compound, part: Unit, reason: str) -> None:
        """A statement that is in no region: its own blocks may hold some, but for those that threads share."""
        items = self.items(block, part)
        self.bare += [one for item in items for one in with_blocks(item)]
        begin = ahead(self.chunks.text, part.start)
        # What a loop of the host runs would copy its arrays to the device and back each time.
        nowhere = isinstance(reason, Everywhere) or (self.promised and isinstance(reason, Apart))
        blocks = [] if nowhere else outermost_blocks(items)
        visited = [inner for inner in blocks if not self.is_shared(begin, inner)]
        loops = list(outermost_loops(items, visited))
        for loop in loops:
            self.leave(self.parsed.original(self.parsed.offset(loop.coord)), reason)
        around = self.unfinished
        self.unfinished = reason if isinstance(reason, Unfinished) else around
        for inner in visited:
            told = len(self.found.left)
            self.block(inner)
            if inner in self.bare and any(node is inner for loop in loops for node in walk(loop)):
                self.found.left[told:] = [one for one in self.found.left[told:] if not says_no_more(one, reason)]
        self.unfinished = around

    def is_shared(self, begin: int, block: c_ast.Compound) -> bool:
        """Whether a directive of OpenMP stands between the begin of a statement and a block in it."""
        opening = self.parsed.original(self.parsed.offset(block.coord))
        return any(pragma.is_construct for pragma in foreign(self.chunks.text, begin, opening))

    def items(self, block: c_ast.Compound, part: Unit) -> list[c_ast.Node]:
        """The items of a unit; marks that were put into the block since do not count."""
        known = self.plain.get(id(block))
        if known is None or known[0] is not block.block_items:
            items = block.block_items or []
            known = block.block_items, [n for n in items if not isinstance(n, c_ast.Pragma)]
            self.plain[id(block)] = known
        return known[1][part.first : part.last]

    # --- what is cheap to see

    def why_not_unit(self, block: c_ast.Compound, parts: list[Unit], position: int) -> str | None:
        """Why a statement is in no region, by its looks; None where the frontend has to be asked."""
        part = parts[position]
        items = self.items(block, part)
        before = parts[position - 1].end if position else self.parsed.original(self.parsed.offset(block.coord)) + 1
        text = self.chunks.text[before : part.end]
        if (reason := self.why_not_pragmas(block, part, list(foreign(self.chunks.text, before, part.end)))) is not None:
            return reason
        if (match := _HIDDEN.search(with_plain_extrema(asserted(text)))) is not None:
            return f"'{match.group()}' stands in it"
        ending = {id(node) for item in items for node in calls_that_end(item)}
        for node in (n for item in items for n in walk(item) if id(n) not in ending):
            if isinstance(node, _LEAVES) or (isinstance(node, c_ast.Label) and node.name in self.targets):
                return f"{type(node).__name__.lower()} stands in it"
            if isinstance(node, c_ast.FuncCall):
                name = node.name.name if isinstance(node.name, c_ast.ID) else ""
                if not name:
                    return "a function is called through a pointer"
                if name == SKIPPED:
                    return "polyc cannot read a statement of it"
                effect = self.effects.of(name)
                if (effect.anything or effect.ordered) and not self.is_substituted(name):
                    return f"'{name}' is called, which may have side effects"
        if not any(may_count(node) for item in items for node in walk(item)):
            if self.may_stand_between(block, parts, position):
                return None
            return (
                NO_FOR if any(is_loop(n) for item in items for n in walk(item)) else "it changes what loops depend on"
            )
        try:
            stretch(self.places, parts[position].start, parts[position].end)
        except NotWhole as problem:
            return str(problem)
        return None

    def why_not_pragmas(self, block: c_ast.Compound, part: Unit, pragmas: list[Pragma]) -> str | None:
        """Why the pragmas of other tools before and in a statement cannot be dropped."""
        for pragma in pragmas:
            if not pragma.is_hint and not (self.openmp == REPLACE and pragma.directive):
                return f"it has a pragma of its own ('{pragma.shown}')"
        if not any(pragma.directive for pragma in pragmas):
            return None
        path = path_to(self.parsed.function.body, block) or []
        position = next(n for n, item in enumerate(block.block_items) if item is self.items(block, part)[0])
        return Sharing(self.parsed, self.chunks.text, path, block, position).why_not(pragmas)

    def may_stand_between(self, block: c_ast.Compound, parts: list[Unit], position: int) -> bool:
        """Whether a statement without loops changes no size that loops after it have: such sizes would be no
        parameters of the region any more."""
        changed: set[str] = set()
        for item in self.items(block, parts[position]):
            for node in walk(item):
                if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
                    changed.add(node.lvalue.name)
                if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
                    changed |= {n.name for n in walk(node) if isinstance(n, c_ast.ID)}
                if isinstance(node, c_ast.Decl) and node.name:
                    changed.add(node.name)
        if not changed:
            return True
        last = self.steering.get(id(block))
        if last is None:
            last = self.steering[id(block)] = self.last_steered(block, parts)
        return not any(last.get(name, -1) > position for name in changed)

    def last_steered(self, block: c_ast.Compound, parts: list[Unit]) -> dict[str, int]:
        """The names in heads of loops and in subscripts, and the last unit in which each stands there."""
        found: dict[str, int] = {}
        for position, part in enumerate(parts):
            for node in (node for item in self.items(block, part) for node in walk(item)):
                heads = (getattr(node, "init", None), node.cond) if is_loop(node) else ()
                subscript = node.subscript if isinstance(node, c_ast.ArrayRef) else None
                for tree in (*heads, subscript):
                    if tree is not None:
                        found |= {n.name: position for n in walk(tree) if isinstance(n, c_ast.ID)}
        return found

    # --- runs

    def run(self, block: c_ast.Compound, parts: list[Unit], first: int, last: int) -> None:
        """The regions of the units `first` to `last`, all of which look as if they could stand in one."""
        begin, end = first, last
        first, last = self.trimmed(block, parts, first, last)
        for n in [*range(begin, min(first, end + 1)), *range(max(last, begin - 1) + 1, end + 1)]:
            self.inside(block, parts[n], NO_FOR)
        if first > last:
            return
        try:
            refused = self.attempt(block, parts[first : last + 1])
        except _TooMuch:
            self.halves(block, parts, first, last)
            return
        if refused is None:
            return
        bad = {first + n: reason for n, reason in refused.items()}
        for begin, end in reversed(list(runs([bad.get(n) for n in range(first, last + 1)]))):
            self.run(block, parts, first + begin, first + end)
        for n, reason in sorted(bad.items()):
            if first < last and (reason.endswith(_AS_A_WHOLE) or isinstance(reason, _Together)):
                self.run(block, parts, n, n)
            else:
                self.inside(block, parts[n], reason)

    def halves(self, block: c_ast.Compound, parts: list[Unit], first: int, last: int) -> None:
        """The same, of units that are none together."""
        middle = (first + last) // 2
        self.run(block, parts, first, middle)
        self.run(block, parts, middle + 1, last)

    def trimmed(self, block: c_ast.Compound, parts: list[Unit], first: int, last: int) -> tuple[int, int]:
        """The run from its first loop to its last one."""
        loops = [n for n in range(first, last + 1) if self.has_loop(block, parts[n])]
        return (loops[0], loops[-1]) if loops else (last + 1, last)

    def has_loop(self, block: c_ast.Compound, part: Unit) -> bool:
        return any(may_count(node) for item in self.items(block, part) for node in walk(item))

    def attempt(self, block: c_ast.Compound, parts: list[Unit]) -> dict[int, str] | None:
        """Make a region of some units. None where it is one; else the units that stand in the way, with the reasons."""
        self.tries += 1
        everything = range(len(parts))
        if self.tries > MOST_TRIES and processor_seconds() - self.begun > MOST_SECONDS:
            return dict.fromkeys(everything, "searching its function took too long")
        line_start = self.chunks.text.rfind("\n", 0, parts[0].start) + 1
        blank = not self.chunks.text[line_start : parts[0].start].strip()
        try:
            place = stretch(self.places, parts[0].start, parts[-1].end)
            start, place = self.with_pragmas(parts[0], line_start if blank else parts[0].start, place)
        except NotWhole as problem:
            return dict.fromkeys(self.in_the_way(parts) or everything, _Together(problem))
        marks = c_ast.Pragma("scop"), c_ast.Pragma("endscop")
        before = list(block.block_items)
        position = {id(node): n for n, node in enumerate(before)}
        low = position[id(self.items(block, parts[0])[0])]
        high = position[id(self.items(block, parts[-1])[-1])]
        block.block_items = [*before[:low], marks[0], *before[low : high + 1], marks[1], *before[high + 1 :]]
        begins = tuple(part.start for part in parts[1:])
        bare = block in self.bare
        marked = Marked(start, start, parts[-1].end, self.index, None, marks, place, begins, bare, self.promised)
        try:
            region = self.model(marked, self.parsed)
            region = replace(region, scop=replace(region.scop, in_vain=self.found.in_vain))
            bad = self.hopeless(region, parts)
            reason = self.judged(region, len(parts) == 1) if not bad else None
        except UserError as problem:
            block.block_items = before
            first = problem.diagnostics[0]
            if first.code == OVERLAPS and first.span is None and len(parts) > 1:
                raise _TooMuch from None
            return self.blamed(problem, parts)
        except (RecursionError, OverBudget, isl.Error) as problem:
            block.block_items = before
            if len(parts) > 1:
                raise _TooMuch from None
            slow = isinstance(problem, OverBudget) or (isinstance(problem, isl.Error) and is_over_budget(problem))
            told = "reading it takes too long" if slow else f"reading it failed ({str(problem).splitlines()[0]})"
            return {0: told}
        if bad or reason is not None:
            block.block_items = before
            alone = region.scop.shared or (isinstance(reason, Apart) and block is self.top)
            if not bad and alone and len(parts) > 1:
                raise _TooMuch  # one of several loops would lose its threads, or keeps others from being kernels
            return bad or dict.fromkeys(everything, reason or "")
        self.found.regions.append(region)
        return None

    def judged(self, region: Region, single: bool) -> str | None:
        """Why a region is better left as it is, with what it means for the loops inside: where the budget was used up
        for the loops around as well, and a single one inside of them has nearly all that they have, nobody looks
        further. It is not even tried where the loops around took LONG."""
        statements, begun = len(region.scop.statements), processor_seconds()
        around = self.unfinished if single else None
        if around is not None and statements < ALIKE * around.statements:
            around = None
        if around is not None and around.slow:
            return Everywhere(around)
        reason = self.judge(region)
        if not isinstance(reason, Unfinished):
            return reason
        self.found.in_vain += statements
        reason.statements, reason.slow = statements, processor_seconds() - begun >= LONG
        return reason if around is None else Everywhere(reason)

    def in_the_way(self, parts: list[Unit]) -> list[int]:
        """The first or the last of some units, where the others can be replaced."""
        for end, others in ((0, parts[1:]), (len(parts) - 1, parts[:-1])):
            try:
                if others:
                    stretch(self.places, others[0].start, others[-1].end)
                    return [end]
            except NotWhole:
                pass
        return []

    def with_pragmas(self, part: Unit, start: int, place: Stretch) -> tuple[int, Stretch]:
        """A region with the pragmas before its first statement, which are for that one alone. Raises NotWhole."""
        pragmas = list(foreign(self.chunks.text, ahead(self.chunks.text, part.start), part.start))
        if not pragmas:
            return start, self.with_pragma_of_other_builds(place)
        name, first = self.places.pre.place(pragmas[0].start)
        if name != self.places.user.path or not 0 < first <= place.first:
            raise NotWhole("a pragma before it comes from another file")
        if any(has_code(self.places, line) for line in range(first, place.first)):
            raise NotWhole("its pragma shares lines with something else")
        first = with_condition(self.places, first, place.last)
        place = replace(place, first=first, start=self.places.user.line_starts[first - 1])
        return pragmas[0].start, self.with_pragma_of_other_builds(place)

    def with_pragma_of_other_builds(self, place: Stretch) -> Stretch:
        """A region with the condition before it under which other compilers find a pragma. Raises NotWhole."""
        found = for_loops(self.places, place.first)
        if found is None or place.start != self.places.user.line_starts[place.first - 1]:
            return place
        if not found[1]:
            raise NotWhole(f"'{found[0]}' before it stands under a condition with other code")
        return replace(place, first=found[1], start=self.places.user.line_starts[found[1] - 1])

    def blamed(self, problem: UserError, parts: list[Unit]) -> dict[int, str]:
        """The units that a refusal is about; all of them where it is about none."""
        found: dict[int, str] = {}
        for one in problem.diagnostics:
            n = self.unit_at(parts, one.span) if one.span is not None else None
            if n is not None:
                found.setdefault(n, f"{one.message} [{one.code}]")
        one = problem.diagnostics[0]
        return found or dict.fromkeys(range(len(parts)), f"{one.message} [{one.code}]")

    def unit_at(self, parts: list[Unit], span: Span) -> int | None:
        """The unit that a place is in: of those on its line, the last one that does not begin behind it."""
        found: int | None = None
        for n, part in enumerate(parts):
            first, last = (self.places.span(at, at + 1) for at in (part.start, part.end - 1))
            if first.line <= span.line <= last.line and (
                found is None or (first.line, first.column) <= (span.line, span.column)
            ):
                found = n
        return found

    def hopeless(self, region: Region, parts: list[Unit]) -> dict[int, str]:
        """Units of which the model has no loop: they are one statement each, and their own blocks may have some."""
        scop = region.scop
        found: dict[int, str] = {}
        for statement in scop.statements.values():
            if statement.loops or not statement.opaque:
                continue
            n = self.unit_at(parts, statement.span)
            if n is not None:
                told = [m for m in scop.notes if m.code in _KEPT_WHOLE and m.span is not None]
                notes = [m for m in told if m.span is not None and m.span.line == statement.span.line]
                inside = [m for m in told if m.span is not None and self.unit_at(parts, m.span) == n]
                why = [f"{one.message} (line {one.span.line})" for one in inside if one.span is not None]
                found[n] = notes[0].message if notes else (why or ["it cannot be modelled"])[0]
        if found:
            return found
        if not any(isinstance(node, Band) for node in walk_tree(scop.tree.child)):
            return dict.fromkeys(range(len(parts)), "it writes nothing that is needed")
        if (counts := instances(scop)) is not None and sum(counts.values()) < FEWEST:
            return dict.fromkeys(range(len(parts)), f"it has {iterations(scop.tree, counts)} {FEW_ITERATIONS}")
        return {}

    # --- what is told

    def leave(self, offset: int, reason: str) -> None:
        """Say why a loop stays as it is."""
        span = self.places.span(offset, offset + 1)
        name = self.chunks.items[self.index].function_name
        where = f" of {name}()" if name else ""
        message = f"this loop{where} stays as it is: {reason}"
        self.found.left.append(Diagnostic("left-alone", message, span, severity=Severity.NOTE))


def calls_that_end(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The calls of branches that end the program: the model asks whether they run."""
    for branch in (part.iftrue for part in walk(node) if isinstance(part, c_ast.If)):
        items = list(branch.block_items or []) if isinstance(branch, c_ast.Compound) else [branch]
        calls = [item for item in items if isinstance(item, c_ast.FuncCall)]
        if len(calls) == len(items) > 0 and getattr(calls[-1].name, "name", "") in ENDS:
            yield from calls


def is_loop(node: c_ast.Node) -> bool:
    """Whether a loop is worth a word: one that may count, or with elements of arrays in it, or with other loops."""
    if isinstance(node, (c_ast.While, c_ast.DoWhile)):
        return may_count(node) or any(isinstance(inner, (c_ast.ArrayRef, c_ast.For)) for inner in walk(node))
    return isinstance(node, c_ast.For)


def outermost_loops(items: list[c_ast.Node], blocks: list[c_ast.Compound]) -> Iterator[c_ast.Node]:
    """The loops in some statements that are in no other loop, and in none of some blocks."""
    for item in items:
        if is_loop(item):
            yield item
        elif not any(item is block for block in blocks):
            yield from outermost_loops(list(item), blocks)


def ahead(text: str, start: int) -> int:
    """Where the directives right before a statement begin."""
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip():
        return start
    begin = line
    while line > 0:
        line = text.rfind("\n", 0, line - 1) + 1
        words = text[line : text.find("\n", line)].strip()
        if words and not words.startswith("#"):
            break
        begin = line
    return begin


def instances(scop: Scop) -> dict[str, int] | None:
    """How many instances each statement of a region has at most; None where that depends on sizes."""
    found: dict[str, int] = {}
    for statement in scop.statements.values():
        domain = statement.domain.intersect_params(scop.known)
        count = 1
        for position in range(domain.dim(isl.dim_type.set)):
            try:
                high, low = greatest_of(domain, position), least_of(domain, position)
            except isl.Error:
                return None
            if not (high.is_int() and low.is_int()):
                return None
            count *= high.sub(low).to_python() + 1
        found[statement.name] = count
    return found


def iterations(tree: Domain, counts: dict[str, int]) -> int:
    """How often the innermost loops of a region run at most. counts: the instances of each statement"""

    def inside(node: Node, here: set[str]) -> int:
        match node:
            case Leaf():
                return 0
            case Sequence():
                return sum(inside(step.child, here & set(names(step.filter))) for step in node.children)
            case Band():
                return inside(node.child, here) or max((counts[name] for name in here), default=0)
            case _:
                return inside(node.child, here)

    return inside(tree.child, set(counts))


def may_count(node: c_ast.Node) -> bool:
    """Whether a statement is a loop that may count: of a while loop the condition asks about one variable."""
    if not isinstance(node, c_ast.While):
        return isinstance(node, c_ast.For)
    sides = (node.cond.left, node.cond.right) if isinstance(node.cond, c_ast.BinaryOp) else (node.cond,)
    stepped = [s.expr if isinstance(s, c_ast.UnaryOp) and s.op in ("++", "--", "p++", "p--") else s for s in sides]
    return any(isinstance(side, c_ast.ID) for side in stepped)


def runs(reasons: list[str | None]) -> Iterator[tuple[int, int]]:
    """The longest runs without a reason, first and last position."""
    start: int | None = None
    for position, reason in enumerate([*reasons, "end"]):
        if reason is None and start is None:
            start = position
        elif reason is not None and start is not None:
            yield start, position - 1
            start = None


def says_no_more(note: Diagnostic, reason: str) -> bool:
    """Whether what is told of an inner loop follows from what is told of the loop around it."""
    return note.message.endswith((f": {reason}", FEW_ITERATIONS))


def with_blocks(node: c_ast.Node) -> Iterator[c_ast.Compound]:
    """The blocks that the loops directly below a statement, or below its branches, are put into."""
    for name in ("stmt", "iftrue", "iffalse"):
        child = getattr(node, name, None)
        if isinstance(child, c_ast.Compound) or child is None:
            continue
        if is_loop(child):
            block = c_ast.Compound([child], child.coord)
            setattr(node, name, block)
            yield block
        else:
            yield from with_blocks(child)


def outermost_blocks(items: list[c_ast.Node]) -> Iterator[c_ast.Compound]:
    """The blocks in some statements that are in no other one of them."""
    for item in items:
        for child in [item] if isinstance(item, c_ast.Compound) else list(item):
            if isinstance(child, c_ast.Compound):
                yield child
            else:
                yield from outermost_blocks([child])


__all__ = ["Apart", "Detector", "Everywhere", "Found", "Judge", "Unfinished", "why_not", "worth_a_look"]
