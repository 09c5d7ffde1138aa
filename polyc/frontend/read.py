"""A file with its regions."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import replace

from polyc.errors import Diagnostic, Severity, Span, UserError
from polyc.frontend.c.callers import Callers
from polyc.frontend.c.effects import Effects
from polyc.frontend.c.parse import Parsed, parse_function
from polyc.frontend.c.preamble import original_text, preamble
from polyc.frontend.c.state import CTX
from polyc.frontend.c.units import NotWhole, chosen, for_loops
from polyc.frontend.detect import Apart, Detector, Found, Judge, first_loop, worth_a_look
from polyc.frontend.idioms.bodies import Bodies
from polyc.frontend.idioms.helpers import Helpers
from polyc.frontend.included import LOOP, NOT_CALLED, RENUMBERED, expanded, has_loops_included
from polyc.frontend.model import Modeller
from polyc.frontend.region.checks import unique
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.sets.promises import names_in, parse_condition
from polyc.frontend.text.builds import read_for_builds
from polyc.frontend.text.chunks import Chunks, cut, without_data
from polyc.frontend.text.numbers import chosen_numbers
from polyc.frontend.text.places import Places, Stretch
from polyc.frontend.text.pragmas import Marked, Pragmas, find_pragmas, following, place_regions, tell_unplaced
from polyc.frontend.text.preprocess import Preprocessed
from polyc.frontend.text.source import UserFile, as_file, assert_unchanged, load
from polyc.model import ctree as c
from polyc.model.program import InputOptions
from polyc.model.scop import Region, Scop, Source
from polyc.model.tree import Sequence
from polyc.poly import OverBudget, budget
from polyc.stack import room_for_depth

_CONDITION = re.compile(r"^[ \t]*(#[ \t]*if)(?:n?def)?\b", re.MULTILINE)
INSIDE = "    "
"""Indentation of a region that begins on the line of what stands around it."""
LARGE = 1_000_000
"""Characters from which on a file is looked into before it is preprocessed."""

LARGEST_FUNCTION = 500_000
LARGEST_REGION = 200_000
"""Characters of preprocessed text: what is read in a few seconds."""


def read(path: str, options: InputOptions, judge: Judge = lambda region: None, *, text: str | None = None) -> Source:
    """Read a C file and model its regions. Raises UserError with every problem of the file.

    `text`: what stands in the place of a file; `path` is what messages call it then.
    `judge`: of regions that nobody marked (`options.detect`), why one is better left as it is
    """
    with room_for_depth():
        user, pre = preprocessed(path, options, text)
        refused: dict[str, str] = {}
        if options.expands and options.detect and has_loops_included(pre):
            found = expanded(user, pre, cut(pre.text, Places(user, pre)), options)
            user, pre, refused = found.user, found.pre, found.refused
        return _modelled(user, pre, options, judge, refused)


def preprocessed(path: str, options: InputOptions, text: str | None = None) -> tuple[UserFile, Preprocessed]:
    """A C file, and what the preprocessor makes of it. Raises UserError."""
    user = load(path) if text is None else as_file(path, text.encode("utf-8", "surrogateescape"))
    if len(user.text) > LARGE and "scop" not in user.text and not (options.allow_no_scop or options.detect):
        raise no_region(path)
    pre = read_for_builds(path, options, text)
    if text is None:
        assert_unchanged(user)
    return user, pre


def _modelled(
    user: UserFile, pre: Preprocessed, options: InputOptions, judge: Judge, refused: dict[str, str]
) -> Source:
    """The regions of a file. `refused`: included files with loops that cannot stand in it, and why."""
    path = user.path
    assumptions = [parse_condition(text) for text in options.assume]
    places = Places(user, pre)
    pragmas = find_pragmas(pre.text, places)
    if not pragmas.regions and not pragmas.problems and not options.detect:
        if options.allow_no_scop:
            return Source(path, user.text, (), pre.dependencies)
        raise no_region(path)
    if not pragmas.regions and pragmas.problems:
        raise UserError(unique(pragmas.problems))
    chunks = cut(pre.text, places)
    place_regions(pragmas, chunks, places)
    tell_unplaced(pragmas, chunks, options.detect)
    reader = _Reader(user, pre, places, chunks, options, assumptions, pragmas, refused)
    problems = pragmas.problems
    regions = reader.regions(pragmas.regions, problems)
    found = Found()
    if not problems:
        regions = [part for marked, one in reader.marked(regions) for part in reader.parts(marked, one, judge, found)]
    if options.detect and not problems:
        reader.detected({marked.chunk for marked in pragmas.regions}, judge, found)
    if not problems and (pragmas.regions or found.regions):
        reader.check_names(problems)
    if problems:
        raise UserError(unique(problems))
    regions = sorted([*regions, *found.regions], key=lambda region: region.start)
    left = tuple(unique(found.left))
    absent = lines_left_out(user, pre)
    return Source(path, user.text, tuple(regions), pre.dependencies, left, absent, tuple(reader.marks), user.expansion)


def lines_left_out(user: UserFile, pre: Preprocessed) -> frozenset[int]:
    """The lines of a file with the word of a loop, of which the preprocessor's output has nothing."""
    there: set[int] = set()
    for start, end, first in pre.own_runs():
        lines = pre.text[start:end].split("\n")
        there.update(first + k for k, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    written = user.text.split("\n")
    return frozenset(k for k, line in enumerate(written, 1) if LOOP.search(line) and k not in there)


def no_region(path: str) -> UserError:
    hint = (
        "put '#pragma scop' and '#pragma endscop' around the loops to compile, let --detect find some, "
        "or say --allow-no-scop"
    )
    return UserError.of("no-scop", "the file has no region to compile", Span(path, 1), hint)


class _Reader:
    """The state of reading one file."""

    def __init__(
        self,
        user: UserFile,
        pre: Preprocessed,
        places: Places,
        chunks: Chunks,
        options: InputOptions,
        assumptions: list[ast.expr],
        pragmas: Pragmas,
        refused: dict[str, str],
    ) -> None:
        self.user = user
        self.places = places
        self.chunks = chunks
        self.options = options
        self.assumptions = assumptions
        self.pragmas = pragmas
        self.refused = refused
        self.effects = Effects(chunks, places, frozenset(pragmas.pure))
        self.helpers = Helpers(chunks, places, self.effects.of)
        self.bodies = Bodies(self.helpers, self.effects.of)
        self.callers = Callers(chunks, places)
        self.file_names = frozenset(chunks.mentions) | pre.macros.keys()
        self.macros = pre.macros
        self.read: list[Marked] = []
        self.marks: list[tuple[int, int]] = []
        self.known: set[str] = set()
        """Parameters of regions, which promises may name."""
        self.visible: set[str] = set()
        """Names given as live-out that mean something where a region stands."""

    def regions(self, marked: list[Marked], problems: list[Diagnostic]) -> list[Region]:
        """Model every region; what is wrong with them is added to `problems`."""
        found: list[Region] = []
        by_function: dict[int, list[Marked]] = {}
        for item in marked:
            by_function.setdefault(item.chunk, []).append(item)
        for index, group in by_function.items():
            large = self.too_large(index, group)
            if large is not None:
                problems.append(large)
                continue
            try:
                parsed = parse_function(self.chunks, index, [(m.start, m.end) for m in group], self.places)
            except UserError as problem:
                problems += problem.diagnostics
                continue
            for item in group:
                if (stray := self.directive_before(item) or self.directive_inside(item)) is not None:
                    problems.append(stray)
                    continue
                modeller = self.modeller(item, parsed, group)
                try:
                    with budget(CTX, self.options.budget):
                        scop = modeller.scop()
                    found.append(self.region(item, scop, parsed))
                except UserError as problem:
                    problems += problem.diagnostics
                except RecursionError:
                    problems.append(self.complaint(item, "an expression or a nest in this region is too deep"))
                except OverBudget:
                    hint = "split the region, or allow more with --budget"
                    message = "reading this region takes more isl operations than the budget allows"
                    problems.append(self.complaint(item, message, hint))
                self.note_names(modeller)
        return found

    def detected(self, marked: set[int], judge: Judge, found: Found) -> None:
        """Search all functions of the user's own file that have no marked region."""
        told = RENUMBERED.search(self.user.code)
        if told is not None and self.user.expansion is None:
            span = self.user.span(told.start())
            message = "no loop of this file is looked at: it has lines of other files ('#line')"
            found.left.append(Diagnostic("left-alone", message, span, severity=Severity.NOTE))
            return
        for index, item in enumerate(self.chunks.items):
            if not item.is_function or index in marked or not worth_a_look(self.chunks.text_of(index)):
                continue
            name, line = self.places.pre.place(item.end - 1)
            included = name != self.user.path or self.user.place(line)[0] != self.user.path
            if included and index not in self.chunks.used_functions:
                if name not in self.places.pre.system:
                    found.left.append(self.in_another_file(index, NOT_CALLED))
                continue
            if name != self.user.path:
                if name not in self.places.pre.system:
                    reason = self.refused.get(name, "")
                    why = "they stand in a file that is included" + (f": {reason}" if reason else "")
                    found.left.append(self.in_another_file(index, why))
                continue
            self.detector(index, judge, found).search()

    def detector(self, index: int, judge: Judge, found: Found, promised: bool = False) -> Detector:
        """The search of the function in a chunk."""
        openmp, known = self.options.openmp, self.bodies.is_known
        return Detector(
            self.chunks, self.places, self.effects, known, index, self.unmarked, judge, found, openmp, promised
        )

    def marked(self, regions: list[Region]) -> list[tuple[Marked, Region]]:
        """Regions with what marks them, in the order in which they were read."""
        return list(zip(self.read, regions, strict=True))

    def parts(self, marked: Marked, region: Region, judge: Judge, found: Found) -> list[Region]:
        """A marked region; or those in it, where nothing is gained of it since some of its loops stand under conditions
        that data decide, each of these blocks has loops that nothing decides but sizes, or since one of its nests
        keeps the others from being kernels."""
        hidden = (s for s in region.scop.statements.values() if s.opaque)
        inner = any(isinstance(n, c.For) for s in hidden for n in c.walk(s.body))
        several = isinstance(region.scop.tree.child, Sequence)
        reason = judge(region) if inner or several else None
        if reason is None or not (inner or isinstance(reason, Apart)):
            return [region]
        inside = Found()
        self.read.remove(marked)
        self.detector(marked.chunk, judge, inside, promised=True).search_inside(marked, reason, inner)
        if not inside.regions:
            self.read.append(marked)
            return [region]
        message = (
            f"the outer loops of this region of {region.scop.function}() stay as they are: no sizes alone decide which "
            "iterations the loops in them have, which are regions of their own"
        )
        if isinstance(reason, Apart) and several:
            message = (
                f"parts of this region of {region.scop.function}() are regions of their own, since all of it is none "
                f"({reason})"
            )
        span = self.places.span(marked.start, marked.start + 1)
        found.left.append(Diagnostic("left-alone", message, span, severity=Severity.NOTE))
        lines = self.user.line_starts
        for offset in (marked.start, marked.end):
            line = self.places.pre.place(offset)[1]
            self.marks.append((lines[line - 1], lines[line] - 1 if line < len(lines) else len(self.user.text)))
        return inside.regions

    def in_another_file(self, index: int, reason: str) -> Diagnostic:
        """Say why the loops of a function whose text is included stay as they are."""
        item = self.chunks.items[index]
        offset = first_loop(self.chunks, index)
        where = f"{item.function_name}()" if item.function_name else "a function that a macro names"
        message = f"the loops of {where} stay as they are: {reason}"
        span = self.places.span(offset, offset + 1)
        return Diagnostic("left-alone", message, span, severity=Severity.NOTE)

    def unmarked(self, marked: Marked, parsed: Parsed) -> Region:
        """The region of statements that nobody marked. Raises UserError, OverBudget."""
        function = self.chunks.items[marked.chunk]
        marked.asked_inside = [
            one
            for one in self.pragmas.asked
            if function.start <= one.offset and marked.body <= following(self.chunks.text, one.offset) < marked.end
        ]
        for offset, names in self.pragmas.live_out:
            if function.start <= offset < marked.end:
                marked.live_out = names
        apart = [r for r in self.read if r.chunk == marked.chunk and (r.end <= marked.body or marked.end <= r.body)]
        modeller = self.modeller(marked, parsed, [*apart, marked])
        try:
            with budget(CTX, self.options.budget):
                scop = modeller.scop()
        finally:
            self.note_names(modeller)
        return self.region(marked, scop, parsed)

    def too_large(self, index: int, group: list[Marked]) -> Diagnostic | None:
        if len(without_data(self.chunks.text_of(index))) > LARGEST_FUNCTION:
            return self.complaint(group[0], "the function around this region is too large")
        large = [m for m in group if m.end - m.body > LARGEST_REGION]
        return self.complaint(large[0], "this region is too large") if large else None

    def complaint(
        self,
        item: Marked,
        message: str,
        hint: str = "move the loops that matter into a function or a region of their own",
    ) -> Diagnostic:
        return Diagnostic("too-large", message, self.places.span(item.start, item.start + 1), hint)

    def directive_before(self, item: Marked) -> Diagnostic | None:
        """A pragma, in whichever build, whose loop is the region's first one: in its place there would be a block."""
        name, line = self.places.pre.place(item.start)
        found = for_loops(self.places, line) if name == self.user.path else None
        if found is None:
            return None
        message = f"'{found[0]}' before the region wants a loop behind it, and polyc prints a block there"
        hint = "move it into the region, where it goes with its loop, or take it out: polyc finds out what is parallel"
        return Diagnostic("stray-directive", message, self.places.span(item.start, item.start + 1), hint)

    def directive_inside(self, item: Marked) -> Diagnostic | None:
        """A `#define` in a region, or half of a condition, that would be missing in what is printed."""
        (name, first), (other, last) = (self.places.pre.place(offset) for offset in (item.start, item.end))
        try:
            if name == other == self.user.path:
                chosen(self.places, first, last, marked=True)
        except NotWhole as problem:
            hint = "move it out of the region, of which polyc replaces all lines"
            message = f"the region cannot be replaced: {problem}"
            return Diagnostic("stray-directive", message, self.places.span(item.start, item.start + 1), hint)
        return None

    def modeller(self, item: Marked, parsed: Parsed, group: list[Marked]) -> Modeller:
        at = Surroundings(
            item, parsed, self.chunks, self.places, self.options, self.file_names, group, tuple(self.read)
        )
        return Modeller(at, self.assumptions, self.effects, self.bodies, self.callers)

    def note_names(self, modeller: Modeller) -> None:
        self.known |= modeller.known
        self.visible |= modeller.visible

    def check_names(self, problems: list[Diagnostic]) -> None:
        """Names in --assume, --param and --live-out have to mean something where at least one region stands."""
        for tree in self.assumptions:
            for name in sorted(names_in(tree) - self.known):
                message = f"'{name}' in an assumption is not a parameter of any region"
                problems.append(Diagnostic("bad-assume", message))
        for name, _ in self.options.params:
            if name not in self.known:
                problems.append(Diagnostic("bad-assume", f"'{name}', given a value, is not a parameter of any region"))
        for name in self.options.live_out or ():
            if name not in self.visible:
                message = f"'{name}', given as live-out, is not an array or variable of any function with a region"
                problems.append(Diagnostic("unknown-array", message))

    def region(self, marked: Marked, scop: Scop, parsed: Parsed) -> Region:
        """The region with its place in the user's text."""
        self.read.append(marked)
        lines = self.user.line_starts
        first, last = (self.places.pre.place(at)[1] for at in (marked.start, marked.end))
        start = lines[first - 1]
        end = lines[last] if last < len(lines) else len(self.user.text)
        indent, joined = self.user.text[start : start + scop.span.column - 1], False
        if (place := marked.stretch) is not None:  # its first line may be a pragma's, at the margin
            codes = chosen(self.places, place.first, place.last).split("\n")
            code = next((code for code in codes if code.strip()), "")
            joined = place.start > start
            indent = code[: len(code) - len(code.lstrip())] + (INSIDE if joined else "")
            start, end = self.between(place)
        text = original_text(self.chunks.text[marked.body : marked.end])
        if joined:  # gcc warns of what stands behind a loop on its line, where the loop is the first there
            parts = itertools.pairwise((marked.body, *marked.begins, marked.end))
            text = "\n".join(indent + original_text(self.chunks.text[a:b]).strip() for a, b in parts)
        scop = replace(scop, notes=(*scop.notes, *self.decided(start, end)))
        before = preamble(self.chunks, marked, parsed, scop)
        flags = (*self.options.flags, *(f"-D{one}" for one in self.options.defines))
        numbers = chosen_numbers(self.user.code, self.user.text[start:end], self.macros, flags)
        return Region(scop, start, end, indent, text, before, self.effects.pure, joined, marked.bare, numbers)

    def between(self, place: Stretch) -> tuple[int, int]:
        """A stretch, with the blanks between it and what shares its lines."""
        text, start, end = self.user.text, place.start, place.end
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        while end < len(text) and text[end - 1] != "\n" and text[end] in " \t":
            end += 1
        return start, end

    def decided(self, start: int, end: int) -> list[Diagnostic]:
        """A note at the first '#if' of a region: its lines stay out of the output where it does not hold now."""
        found = _CONDITION.search(self.user.code, start, end)
        if found is None:
            return []
        message = "the region has '#if' lines: the output has what the preprocessor chose, with this command's macros"
        span = self.user.span(found.start(1), len(found[1]))
        return [Diagnostic("decided-condition", message, span, severity=Severity.NOTE)]
