"""One region from its pragmas to its Scop: the table of contents of the frontend."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial, reduce
from math import inf

import islpy as isl
from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.analysis.dependences import accesses_of
from polyc.analysis.expressions.facts import assigned_scalars, lvalues, mentions, reads, writes
from polyc.analysis.expressions.magnitudes import is_number
from polyc.analysis.extents import elements
from polyc.errors import Diagnostic, Severity, Span, UserError
from polyc.frontend.build import Placed, build_tree, drafts, finish, place
from polyc.frontend.c.callers import Callers
from polyc.frontend.c.checks import Checker
from polyc.frontend.c.convert import Converter
from polyc.frontend.c.ctype import Types, kept
from polyc.frontend.c.effects import Effects
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
from polyc.frontend.c.references import place_of
from polyc.frontend.c.state import CTX, EVERYTHING, Env, Region, number, restore, saved, variable
from polyc.frontend.c.symbols import Scope, Symbol, scope_before
from polyc.frontend.extract import Draft, Extractor, Item, ends_program
from polyc.frontend.fission import with_sums_apart
from polyc.frontend.flow import needed_exits, without_dead, without_unread, written_first
from polyc.frontend.idioms.bodies import Bodies, with_bodies
from polyc.frontend.idioms.exchange import Exchanges, with_choices_apart
from polyc.frontend.idioms.factors import Factor, factors, with_numbers
from polyc.frontend.idioms.fixed import with_fixed_places
from polyc.frontend.idioms.flips import with_flips
from polyc.frontend.idioms.helpers import type_of
from polyc.frontend.idioms.indices import with_indices
from polyc.frontend.idioms.named import named_values, with_known_steps
from polyc.frontend.idioms.pointers import TooMany, aliases, parts_given
from polyc.frontend.idioms.rows import Rows
from polyc.frontend.idioms.structs import with_first_values, with_members_apart
from polyc.frontend.idioms.transfers import moved, with_transfers
from polyc.frontend.idioms.turns import with_turns
from polyc.frontend.idioms.walks import ends_compared, followed_values, walked, with_values
from polyc.frontend.idioms.webs import with_webs
from polyc.frontend.inspection import Asking, asking
from polyc.frontend.invariants import with_invariants_apart
from polyc.frontend.lastprivate import with_last_apart
from polyc.frontend.live_out import After
from polyc.frontend.ordered import with_order
from polyc.frontend.overlaps import CODE as OVERLAPS
from polyc.frontend.overlaps import apart, check_loops, exposed, is_bounded, refused, where_touched
from polyc.frontend.private import FEW_PIECES, private_memory
from polyc.frontend.reaching import bases_of, reached_first
from polyc.frontend.search import NotFound, search
from polyc.frontend.sets.affine import Affine, label
from polyc.frontend.sets.arrays import extent, make_array, positive_extents
from polyc.frontend.sets.atoms import Atoms
from polyc.frontend.sets.delinear import is_linearised, shaped_items
from polyc.frontend.sets.intervals import Intervals
from polyc.frontend.sets.multiples import assume_products, told, told_sizes
from polyc.frontend.sets.promises import condition_set, names_in
from polyc.frontend.sets.records import at_records, whole_records
from polyc.frontend.special import special
from polyc.frontend.supposed import ORIGINAL, choices, never_holds, not_affine, versions, with_general
from polyc.frontend.text.chunks import KEYWORDS, MEANINGS, Chunks, drop_attributes
from polyc.frontend.text.foreign import foreign
from polyc.frontend.text.places import Places
from polyc.frontend.text.pragmas import Asked, Marked, following, pragma_span
from polyc.frontend.text.source import COMMENT_OR_STRING
from polyc.frontend.text.trees import free_names, walk
from polyc.model import ctree as c
from polyc.model.program import MANY, InputOptions
from polyc.model.scop import (
    CALLS,
    AccessKind,
    Apart,
    Array,
    Inspection,
    Scop,
    Search,
    Statement,
    Storage,
    Struct,
    Supposed,
    Wish,
    tied,
    without_rows,
)
from polyc.model.tree import Band
from polyc.model.tree import walk as tree_nodes
from polyc.poly import OverBudget, budget, coalesced, project, sets, share
from polyc.records import dataclass, field, replace

PARTS = 4
"""Parts of the budget, of which finding out what may run apart has one."""
ROWS = 4
"""The share of the budget, one in so many, that the question takes whether subscripts stay in their rows."""
WORD = re.compile(r"\w+")
_PRAGMA = re.compile(r"^#pragma (?!polyc\b|scop\b)[^\n]*$", re.MULTILINE)
FAST = frozenset(["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math"])
"""Options with which a C compiler computes floats otherwise than they are written."""
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")


@dataclass(slots=True)
class Modeller:
    """Builds the Scop of one region."""

    marked: Marked
    parsed: Parsed
    chunks: Chunks
    places: Places
    options: InputOptions
    assumptions: list[ast.expr]
    effects: Effects
    bodies: Bodies
    callers: Callers
    file_names: frozenset[str]
    others: list[Marked]
    """All regions of the function that are marked, or those that may have been found so far, with this one."""
    earlier: tuple[Marked, ...]
    """The regions of the file that were read before this one."""
    path: Path = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    """Parameters' names that promises may use."""
    visible: set[str] = field(default_factory=set)
    """Names given as live-out that mean something where the region stands."""
    inlines: bool = True
    """Whether functions may stand in the places of their calls as statements."""
    inlined: bool = False
    """Whether one does."""
    moved: frozenset[str] = frozenset()
    """The names that calls of `memset` and the like mention, which the model reads as loops."""
    read: frozenset[str] = frozenset()
    """The names that the user's text reads, in statements that nobody needs too."""
    factors: Callable[[], dict[c.Expr, Factor]] = dict
    """Finds the sizes that make products of variables: few regions ask for them."""
    ordered: bool = False
    """Whether what touches memory stays in its order, so that it does not matter what overlaps."""
    supposed: dict[c.Expr, Factor] = field(default_factory=dict)
    """Those for which the model takes numbers: what each call of the file passes, or 1."""

    def scop(self) -> Scop:
        """Model the region. Raises UserError with everything that is refused in it.

        Where steps and factors make it less than affine, `x * stride`, or short loops have few iterations, it is
        modelled for those that the calls of the file pass, or for 1, if that makes more of it or the rest is refused.
        """
        refused: UserError | None = None
        scop: Scop | None = None
        try:
            scop = self.with_functions()
        except UserError as error:
            refused = error
        factors = self.factors()
        passed = versions(factors)
        less = scop is None or not_affine(scop) > 0
        short = any(factor.taps for one in passed for factor in one.values())
        wanted = short or any(never_holds(scop, one) for one in passed)
        if less or wanted:
            found = [other for one in passed if (other := self.supposing(one)) is not None]
            most = inf if scop is None else not_affine(scop) - (not wanted)
            if found and len(found) == len(passed) and all(not_affine(one) <= most for one in found):
                last = found[-1] if scop is None or len(found) == 1 else with_general(found[-1], scop)
                return reduce(lambda general, one: with_general(one, general), reversed(found[:-1]), last)
        guessed: list[Scop] = []
        for chosen in choices(factors) if less else ():
            other = self.supposing(chosen)
            if other is not None and not not_affine(other):
                return other if scop is None else with_general(other, scop)
            guessed += [] if other is None else [other]
        if scop is None and guessed:
            return min(guessed, key=not_affine)
        if scop is None:
            assert refused is not None
            raise refused
        return scop

    def supposing(self, chosen: dict[c.Expr, Factor]) -> Scop | None:
        """The model for some factors; None where it is refused."""
        self.supposed, self.inlines = chosen, True
        try:
            with budget(CTX, self.options.budget):
                return self.with_functions()
        except (OverBudget, UserError):
            return None
        finally:
            self.supposed = {}

    def with_functions(self) -> Scop:
        """As `scop`, with the bodies of functions in the places of their calls, where nothing is refused in them."""
        try:
            scop = self.modelled(True)
        except UserError:
            if not self.inlined:
                raise
            # What the text of a function does may be refused where a call of it is not; of its names nobody can tell.
            self.inlines = False
            scop = self.modelled(True)
        if scop.inspection is None:
            return scop
        return replace(scop, inspection=replace(scop.inspection, plain=self.modelled(False)))

    def modelled(self, inspect: bool) -> Scop:
        """The model; `inspect`: as it is where the data answer as they should, if that makes a difference."""
        items, span, end_line = self.locate()
        types = Types()
        types.add_all(self.parsed.tree)
        before = [*self.path[:-1], (self.path[-1][0], self.path[-1][1] - len(items))]
        scope = scope_before(types, self.parsed.tree, self.parsed.function, before)
        self.visible |= {name for name in self.options.live_out or () if scope.find(name) is not None}
        converter = Converter(self.parsed, self.places, scope, expanded=self.bodies.helpers.expanded)
        written_by_user = c.Block(converter.block(items))
        if self.inlines and not any(map(is_type, walk(self.parsed.function.body))):
            called, written_by_user = written_by_user, with_bodies(written_by_user, scope, self.bodies)
            self.inlined = called is not written_by_user
        values, each = self.callers.values(self.parsed, types), self.callers.each(self.parsed)
        if self.supposed:
            numbers = {expr: (factor.value or 1, factor.type) for expr, factor in self.supposed.items()}
            written_by_user = with_numbers(written_by_user, numbers)
        else:
            steady = Affine(Region(scope, frozenset(writes(written_by_user)))).member_type
            self.factors = partial(factors, written_by_user, scope, values, each, steady)
        self.moved, self.read = moved(written_by_user), frozenset(reads(written_by_user))
        written_by_user = with_transfers(written_by_user, scope, self.own_functions)
        calls = [self.effects.of(item.function) for item in c.walk(written_by_user) if isinstance(item, c.Call)]
        if not any(effect.anything for effect in calls):
            written_by_user = with_fixed_places(written_by_user, scope, not self.unasked)
        written_by_user = with_members_apart(written_by_user, scope)
        written_by_user = with_choices_apart(written_by_user, scope)
        taken, behind = self.taken, self.used_behind
        within = {
            item.operand.name
            for item in c.walk(written_by_user)
            if isinstance(item, c.Unary) and item.op == "&" and isinstance(item.operand, c.Name)
        }
        outermost = {item.name for item in written_by_user.body if isinstance(item, c.Decl)}

        def stays(symbol: Symbol) -> bool:
            if symbol.storage is Storage.REGION:  # the name may be another variable's elsewhere
                return symbol.key in within or (symbol.key in outermost and symbol.c_name in behind)
            return symbol.c_name in taken

        def constant_before(symbol: Symbol) -> int | None:
            value = given_before(symbol.c_name, before, self.parsed.function)
            found = types.constant(value) if value is not None and symbol.c_name not in taken else None
            return kept(found, symbol.shape.element)

        written_by_user, flips = with_flips(written_by_user, scope, self.is_own, constant_before)
        written_by_user, steps = with_known_steps(written_by_user, scope, constant_before)
        written_by_user = with_first_values(with_turns(written_by_user, scope, self.is_own), scope)
        follow = partial(
            with_values,
            scope=scope,
            is_own=self.is_own,
            stays=stays,
            effects=self.effects.of,
            before=constant_before,
            parts=self.parts_of(written_by_user, converter),
        )
        named = {key: value for key, value in steps.items() if not scope.symbols[key].constant}
        followed = followed_values(written_by_user, scope, follow).beside(flips | named)
        followed = replace(followed, body=with_turns(followed.body, scope, self.is_own))  # of pointers along rows
        apart, split = with_webs(followed.body, scope, self.is_read_behind)
        exchanges = Exchanges(scope, with_indices(apart, scope))
        rows = Rows(scope, exchanges.body, self.is_own)
        body = rows.body
        written = frozenset(writes(body))
        assigned = frozenset(assigned_scalars(body) | {*self.moved})
        region = Region(
            scope,
            written,
            assigned,
            settled_names(body),
            values=assigned_values(body),
            problems=converter.problems,
        )
        region.effects, region.inspect = self.effects.of, inspect
        region.called = {name: value for name, value in values.items() if value is not None}
        self.note_calls(region, body)
        region.named = named_values(region, body, Affine(region).is_size)
        self.note_pragmas(region)
        region.sizes = lambda symbol, n: extent(symbol, n, region, converter, self.parsed.function)[0]
        self.check(region, body)
        self.suppose(region, span)
        self.promise(region, steps)
        for known in told_sizes(region, self.parsed.function, mentions(body)):
            region.context = region.context.intersect(known)
        assume_rows(region, rows)
        after = After(region, self.parsed.function, self.path, self.marked.live_out, self.options.live_out)
        after.check()
        asked = self.asked_loops(region, body)
        needed, live = after.needed_loops(body)
        if self.unasked:
            check_loops(region, after, body)
        region.around = Intervals(region, body, lambda expr: type_of(expr, scope)).around
        statements = without_unread(self.extracted(region, body, needed, span))
        if self.unasked:
            self.stay_in_rows(region, statements, converter)
        elif self.inlined or any(scope.symbols[key].rank for key in followed.keys):
            self.leave_rows(region, statements, converter)  # of pointers people do not take C at its word
        statements = without_dead(statements, region)
        statements = needed_exits(statements, region, live)
        turned = exchanges.finish(region, self.read_later(exchanges, scope))
        for draft in drafts(tuple(statements)):
            self.check_calls(region, draft.body)
        if region.problems:
            raise UserError(unique(region.problems))
        questions = asking(region, self.file_names | self.function_names())
        supposed = [Supposed(expr, one.value or 1, told(expr), bool(one.calls)) for expr, one in self.supposed.items()]

        def put_together(statements: list[Item]) -> Scop:
            scop = self.assemble(region, converter, after, statements, span, end_line, body)
            if questions is not None:
                scop = replace(scop, inspection=self.inspection(region, converter, questions, scop))
            scop = replace(scop, exchanges=turned, moved=exchanges.moved, walked=walked(followed, split, scope))
            scop = replace(scop, supposed=tuple(supposed), in_place=self.in_place(scop))
            symbols = {key: scope.symbols[key] for key in scop.arrays}
            numbers = (key for key, symbol in symbols.items() if self.is_number_before(symbol, before, converter))
            scop = replace(scop, numbers=frozenset(numbers))
            scop = special(scop, region, values, each)
            return replace(scop, tile=self.asked_tile(), wishes=self.wishes(scop, body, asked))

        try:
            scop = put_together(statements)
        except UserError as refusal:
            mine = questions is None and refusal.diagnostics[0].code == OVERLAPS
            found = self.in_order(region, after, statements, put_together) if mine else None
            if found is None:
                raise
            return found
        if questions is not None:
            return scop
        try:
            with budget(CTX, share(self.options.budget, PARTS)):
                parted = with_invariants_apart(statements, region, scop.used_names)
                parted = with_sums_apart(parted, region, scop.used_names)
                parted = with_last_apart(parted, region, scop.live_out, scop.used_names)
        except OverBudget:
            return scop
        if parted is statements:
            return scop
        found = replace(within_new_arrays(put_together(parted), scop), whole=without_rows(scop))
        if scop.search is None:
            return found
        return replace(found, unasked=self.in_order(region, after, statements, put_together))

    def in_order(
        self,
        region: Region,
        after: After,
        statements: list[Item],
        put_together: Callable[[list[Item]], Scop],
    ) -> Scop | None:
        """The model of a loop of which nobody can tell whether memory overlaps, with all that touches such memory in
        its order, if something is computed before the loop that reads none of it; else None."""
        reachable = exposed(region, after)
        if self.marked.begins or reachable is None:
            return None
        self.ordered = True
        try:
            with budget(CTX, share(self.options.budget, PARTS)):
                held = with_order(statements, region, reachable)
                parted = with_invariants_apart(held, region, self.file_names | self.function_names(), reachable)
                if parted is held:
                    return None
                whole = without_rows(put_together(held))
                found = within_new_arrays(put_together(parted), whole)
                return replace(found, whole=replace(whole, ordered=reachable), ordered=reachable)
        except OverBudget:
            return None
        finally:
            self.ordered = False

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

    def is_number_before(self, symbol: Symbol, before: Path, converter: Converter) -> bool:
        """Whether a local floating-point variable is a constant before the region that is a magnitude."""
        own = symbol.storage is Storage.LOCAL and symbol.shape.element.kind == "float" and not symbol.rank
        if not own or symbol.static or symbol.c_name in self.taken:
            return False
        value = given_before(symbol.c_name, before, self.parsed.function)
        return value is not None and is_number(replace(converter, problems=[]).expr(value)[0])

    def in_place(self, scop: Scop) -> tuple[tuple[int, int], ...]:
        """The lines of functions of which loops stand in the region."""
        lines = {m.line for n in tree_nodes(scop.tree.child) if isinstance(n, Band) for m in n.members}
        bodies = [body.lines for body in self.bodies.known.values() if body is not None and self.inlined]
        return tuple(sorted({(a, b) for a, b in bodies if any(a <= line <= b for line in lines)}))

    @property
    def own_functions(self) -> frozenset[str]:
        """Those whose bodies stand in the file."""
        return frozenset(item.function_name for item in self.chunks.items if item.is_function)

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

    @property
    def taken(self) -> frozenset[str]:
        """The names of which the function takes the address."""
        return addresses_taken(self.parsed.function.body)

    @property
    def used_behind(self) -> set[str]:
        """The names that what follows the region in its block mentions: of those, its declarations have to stay."""
        block, last = self.path[-1]
        return free_names(block.block_items[last:])

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

    def extracted(self, region: Region, body: c.Block, needed: frozenset[str], span: Span) -> list[Item]:
        """The statements, with flat arrays in the shapes that their subscripts have."""

        def extract(statements: tuple[c.Stmt, ...]) -> list[Item]:
            return Extractor(region, needed).block(statements, Env())

        atoms = Atoms(region)
        if not is_linearised(region, body, atoms):
            return extract(body.body)
        before = saved(region)
        try:
            count = sum(isinstance(node, c.ExprStmt) for node in c.walk(body))
            with budget(CTX, share(self.options.budget * max(MANY, count) // MANY, 2)):
                return shaped_items(region, body, atoms, span, extract)
        except OverBudget:
            restore(region, before)
            region.flat, region.multiples = {}, {}
            message = "flat arrays keep one dimension: their shapes took more isl operations than the budget allows"
            region.note("not-delinearised", message, span)
            return extract(body.body)

    # --- what pragmas ask for

    def asked_tile(self) -> tuple[int, ...] | str | None:
        """The tile sizes of the whole region; the last pragma counts."""
        return next((one.tile for one in reversed(self.marked.asked) if one.tile != "auto"), "auto")

    def asked_loops(self, region: Region, body: c.Block) -> list[tuple[Asked, c.For]]:
        """The loops that pragmas stand before."""
        loops = {(n.span.line, n.span.column): n for n in c.walk(body) if isinstance(n, c.For) and n.span is not None}
        found: list[tuple[Asked, c.For]] = []
        for one in self.marked.asked_inside:
            start = following(self.chunks.text, one.offset)
            place = self.places.span(start, start + 1)
            loop = loops.get((place.line, place.column))
            if loop is not None:
                found.append((one, loop))
            else:
                hint = "put it on the line before a 'for'"
                region.refuse("bad-pragma", "no loop of the region follows it", one.span, hint)
        return found

    def wishes(self, scop: Scop, body: c.Block, asked: list[tuple[Asked, c.For]]) -> dict[str, Wish]:
        """What is asked for each statement: for its region, and for each loop around it, from the outside on."""
        found: dict[str, Wish] = {}
        region = self.marked.asked
        if not all(one.fuse and one.parallel for one in region):
            for number, item in enumerate(body.body):
                wish = Wish(-1 - number, "auto", all(o.fuse for o in region), all(o.parallel for o in region))
                found |= dict.fromkeys(statements_below(scop, item), wish)
        for number, (one, loop) in enumerate(asked, 1):
            for name in statements_below(scop, loop):
                before = found.get(name, Wish(number))
                tile = before.tile if one.tile == "auto" else one.tile
                found[name] = Wish(number, tile, before.fuse and one.fuse, before.parallel and one.parallel)
        return found

    # --- what nobody promised

    @property
    def unasked(self) -> bool:
        """Whether nobody marked the region, so that nobody promised anything of it."""
        return self.marked.nodes is not None and self.options.alias and not self.marked.promised

    def apart(
        self,
        region: Region,
        after: After,
        arrays: dict[str, Array],
        statements: dict[str, Statement],
        known: isl.Set,
        body: c.Block,
    ) -> tuple[tuple[Apart, ...], Search | None]:
        if not self.unasked or self.ordered:
            return (), None
        return apart(region, after, arrays, statements, known, lambda keys: self.searched(region, body, keys))

    def searched(self, region: Region, body: c.Block, keys: Iterable[str]) -> Search:
        """The loops that find out what a region touches of some arrays. Raises NotFound."""
        taken = self.file_names | self.function_names() | frozenset(region.scope.symbols)
        fast = not FAST.isdisjoint(self.options.flags)
        return search(region, body, keys, taken, fast)

    def reach(
        self,
        region: Region,
        arrays: dict[str, Array],
        statements: dict[str, Statement],
        known: isl.Set,
        body: c.Block,
        found: Search | None,
    ) -> Search | str:
        """As `Scop.reach`. found: what is run before the region anyway."""
        symbols = region.scope.symbols
        sized = [key for key, a in arrays.items() if key in symbols and not any(e is None for e in a.extents[1:])]
        unknown = {key for key in sized if arrays[key].rank and arrays[key].extents[0] is None}
        unknown -= {key for key in sized if arrays[key].storage is Storage.REGION}
        accesses = [a for s in statements.values() for a in s.accesses if a.array in unknown]
        keys = {a.array for a in accesses if not (a.exact and is_bounded(a.relation.range()))}
        keys |= {key for key in arrays if found is not None and key in symbols and symbols[key].c_name in found.ends}
        try:
            return self.searched(region, body, sorted(keys)) if keys else ""
        except NotFound as reason:
            return str(reason)

    def stay_in_rows(self, region: Region, items: list[Item], converter: Converter) -> None:
        """Subscripts have to stay inside their dimension: C says so, and not all who write it do."""
        try:
            with budget(CTX, share(self.options.budget, ROWS)):
                self.checked_rows(region, items, converter)
        except OverBudget:
            raise refused("whether subscripts stay in their rows takes too long to tell") from None

    def checked_rows(self, region: Region, items: list[Item], converter: Converter) -> None:
        """As `stay_in_rows`. Raises OverBudget as well."""
        for item, symbol, wrong in self.beside_rows(region, items, converter, asking=True):
            if wrong is None:
                message = f"polyc cannot tell how long the rows of '{symbol.c_name}' are"
                raise refused(message, span=item.span)
            if not region.holds(wrong, item.env):
                raise refused(f"a subscript of '{symbol.c_name}' may leave its row", span=item.span)

    def leave_rows(self, region: Region, items: list[Item], converter: Converter) -> None:
        """Refuse subscripts that leave their row whatever the sizes are, as `x[5 * i]` of `double *x = a[k]`: the model
        takes what lies in other rows for other elements, and C compilers take the loop to end before."""
        hint = "use the array's own subscripts, or declare it with one dimension"
        try:
            with budget(CTX, share(self.options.budget, ROWS)):
                for item, symbol, wrong in self.beside_rows(region, items, converter, asking=False):
                    if wrong is None:
                        continue
                    known = item.env.domain.intersect(region.context)
                    reached = wrong.intersect(known)
                    variables = item.env.variables
                    if not reached.is_empty() and project(known, variables).is_subset(project(reached, variables)):
                        region.refuse("row-left", f"a subscript of '{symbol.c_name}' leaves its row", item.span, hint)
        except OverBudget:
            return

    def beside_rows(
        self, region: Region, items: list[Item], converter: Converter, asking: bool
    ) -> Iterator[tuple[Draft, Symbol, isl.Set | None]]:
        """Statements, arrays that they subscript, and the iterations in which that leaves its row; None where that is
        not known. asking: as of `extent`"""
        seen: dict[tuple[str, int], list[isl.Map]] = {}
        asked: dict[int, list[tuple[isl.PwAff, isl.PwAff]]] = {}
        for item in drafts(tuple(items)):
            for raw in item.accesses:
                symbol = region.symbol(raw.array)
                if symbol is None or symbol.rank < 2 or raw.array in region.flat or not raw.exact:
                    continue
                alike = seen.setdefault((raw.array, id(item.env)), [])
                if any(raw.relation.plain_is_equal(other) for other in alike):
                    continue  # a block reads the same element in many of its statements
                alike.append(raw.relation)
                values, known = isl.PwMultiAff.from_map(raw.relation), asked.setdefault(id(item.env), [])
                for position in range(1, symbol.rank):
                    if symbol.shape.dims[position].extent is None:
                        continue  # a row that a pointer leads to has no length
                    size, _ = extent(symbol, position, region, converter, self.parsed.function, asking=asking)
                    if size is None:
                        yield item, symbol, None
                        continue
                    value = values.get_at(position)
                    if any(value.plain_is_equal(a) and size.plain_is_equal(b) for a, b in known):
                        continue  # and elements of other arrays at the same place
                    known.append((value, size))
                    yield item, symbol, value.lt_set(number(0)).union(value.ge_set(size))

    # --- where the region stands

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
        span = Span(user.path, line, column, len(text.rstrip()) + 1 - column)
        found = self.search(self.parsed.function.body, [])
        if found is None:
            hint = "put both pragmas into the same block"
            message = "the region starts in one block and ends in another"
            raise UserError.of("region-crosses-block", message, span, hint)
        block, first, last = found
        self.path = [*self.path, (block, last)]
        return (block.block_items or [])[first + 1 : last], span, end_line

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

    # --- what is refused

    def check(self, region: Region, body: c.Block) -> None:
        """Refuse what cannot be modelled. Raises UserError where there is anything."""
        text = self.chunks.text
        for match in _ASM.finditer(text, self.marked.body, self.marked.end):
            hint = "end the region before it"
            span = self.places.span(match.start(), match.end())
            region.refuse("asm", "inline assembly cannot stand in a region", span, hint)
        for match in MEANINGS.finditer(text, self.chunks.items[self.marked.chunk].start, self.marked.end):
            hint = "declare it without, or move the region to a function of its own"
            message = f"the attribute '{match[1]}' gives a declaration another meaning, which polyc does not follow"
            region.refuse("unsupported-declaration", message, self.places.span(match.start(), match.end()), hint)
        Checker(region).statement(body)
        for item in c.walk(body) if self.chunks.of_threads else ():
            symbol = region.symbol(item.name) if isinstance(item, c.Name) else None
            if isinstance(item, c.Name) and symbol is not None and symbol.c_name in self.chunks.of_threads:
                message = f"'{symbol.c_name}' is another variable in each thread"
                hint = "copy what is needed of it to a local variable"
                region.refuse("unsupported-declaration", message, item.span, hint)
        ending = [item.then for item in c.walk(body) if isinstance(item, c.If) and ends_program(item.then)]
        self.check_calls(region, body, {id(node) for branch in ending for node in c.walk(branch)})
        self.check_used_after(region, body)
        self.check_aliases(region, body)
        if region.problems:
            raise UserError(unique(region.problems))

    def check_calls(self, region: Region, body: c.Node, waits: Collection[int] = ()) -> None:
        """Refuse calls whose order matters in a region that nobody marked.

        waits: the calls of which it is not known yet whether they run, by identity
        """
        for call in c.walk(body) if self.marked.nodes is not None else ():
            if isinstance(call, c.Call) and not call.function.startswith("*") and id(call) not in waits:
                effect = region.effects(call.function)
                if effect.anything or effect.ordered:
                    message = f"'{call.function}' is called, which may have side effects"
                    region.refuse("unknown-call", message, call.span)

    def note_calls(self, region: Region, body: c.Block) -> None:
        """What the calls of the region may read and write beside what is written in the region's own text."""
        calls = [item for item in c.walk(body) if isinstance(item, c.Call)]
        # Before a region that may print, or end the program, nothing is read that it might not read.
        effects = [region.effects(call.function) for call in calls]
        region.inspect = region.inspect and not any(effect.anything or effect.ordered for effect in effects)
        if any(region.effects(call.function).anything for call in calls):
            names = {item.name for item in c.walk(body) if isinstance(item, c.Name)}
            after = After(region, self.parsed.function, self.path, None, None)
            symbols = [s for name in names if (s := region.symbol(name)) is not None]
            symbols = [s for s in symbols if not s.shape.is_function]
            region.exposed = frozenset(s.key for s in symbols if after.is_exposed(s))
        given: set[str] = set()
        for call in calls:
            effect = region.effects(call.function)
            for position, argument in enumerate(call.arguments):
                place = place_of(region.scope, argument)
                if place is not None and effect.writes(position):
                    given.add(place.symbol.key)
        region.hidden = region.exposed | given
        region.written |= region.hidden
        region.settled -= region.hidden

    def check_used_after(self, region: Region, body: c.Block) -> None:
        """What the region declares is gone after it: its statements come back in a block of their own."""
        used = self.used_behind
        for item in body.body:
            symbol = region.symbol(item.name) if isinstance(item, c.Decl) else None
            if symbol is not None and symbol.c_name in used:
                message = f"'{symbol.c_name}' is declared in the region and used after it"
                region.refuse("unsupported-declaration", message, item.span, "declare it before '#pragma scop'")

    def check_aliases(self, region: Region, body: c.Block) -> None:
        """Two pointers of the region that the function sets to one place, or one inside of the other's array."""
        used = {item.name for item in c.walk(body) if isinstance(item, c.Name)}
        symbols = {key: s for key in used if (s := region.symbol(key)) is not None}
        places = [(s, s.fixed) for s in symbols.values() if s.fixed is not None and not self.unasked]
        # A copy of a struct has the same pointers, and arrays of its own.
        roots = {f.root for s, f in places if f.follows or (s.rank and s.shape.dims[0].pointer)}
        symbols |= {key: region.scope.symbols[key] for key in roots}
        arrays = [s.c_name for key, s in sorted(symbols.items()) if s.rank or key in roots]
        try:
            found = aliases(self.parsed.function, arrays, self.is_mark)
        except TooMany:
            message = "polyc cannot follow which arrays the pointers of this function stand for"
            region.refuse("aliased-pointer", message, self.span_of(self.parsed.function), "assign fewer of them")
            return
        for alias in found:
            message = f"'{alias.name}' points into '{alias.other}', and the region uses both"
            span = self.span_of(alias.given)
            region.refuse("aliased-pointer", message, span, f"use '{alias.other}' alone in the region")

    def span_of(self, node: c_ast.Node) -> Span:
        start = self.parsed.original(self.parsed.offset(node.coord))
        return self.places.span(start, start + 1)

    @property
    def drops_sharing(self) -> bool:
        """Whether a region that nobody marked drops pragmas by which threads share its loops."""
        pragmas = foreign(self.chunks.text, self.marked.body, self.marked.end)
        return self.marked.nodes is not None and any(pragma.is_construct for pragma in pragmas)

    def note_pragmas(self, region: Region) -> None:
        for match in _PRAGMA.finditer(self.chunks.text, self.marked.body, self.marked.end):
            message = f"'{match.group().strip()}' inside the region is dropped"
            region.note("ignored-pragma", message, pragma_span(match, self.places))

    # --- what is known

    def suppose(self, region: Region, span: Span) -> None:
        """Assume of factors and steps that they are the numbers in their places."""
        for expr, factor in self.supposed.items():
            supposed, value = region.parameter(label(expr), factor.type, expr), factor.value or 1
            region.assumed = region.assumed.intersect(supposed.eq_set(number(value)))
            why = "as it mostly is" if factor.value is None else "which each call in this file passes"
            why = "which calls in this file pass" if factor.calls else why
            region.note("supposed", f"modelled for {label(expr)} = {value}, {why}: it multiplies variables", span)

    def promise(self, region: Region, steps: dict[str, int]) -> None:
        """Take the user's promises into the context, and the values of names that are steps of loops."""
        for name, value in steps.items():
            region.context = region.context.intersect(variable(name).eq_set(number(value)))
        for name, value in self.options.params:
            if self.is_parameter(region, name):
                self.known.add(name)
                region.context = region.context.intersect(variable(name).eq_set(number(value)))
        for tree in self.assumptions:
            names = names_in(tree)
            known = {name for name in names if self.is_parameter(region, name)}
            self.known |= known
            if known == names:
                region.context = region.context.intersect(condition_set(tree))
        if region.context.is_empty():
            raise UserError.of("impossible-assume", "what --param and --assume promise contradicts itself")

    def is_parameter(self, region: Region, name: str) -> bool:
        symbol = region.scope.find(name)
        return symbol is not None and symbol.is_integer and symbol.key == name and name not in region.written

    # --- putting it together

    def assemble(
        self,
        region: Region,
        converter: Converter,
        after: After,
        items: list[Item],
        span: Span,
        end_line: int,
        body: c.Block,
    ) -> Scop:
        placed = place(items)
        parameters = parameter_keys(region)
        arrays = self.arrays(region, converter, placed)
        region.notes += [] if self.unasked else row_notes(arrays, region, span)
        for size in (size for array in arrays.values() for size in positive_extents(array)):
            region.context = region.context.intersect(size.gt_set(number(0)))
        text = partial(self.text_at, converter)
        statements = {p.name: finish(p, region, text, parameters) for p in placed}
        written = {a.array for s in statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
        partly = {a.array for s in statements.values() for a in s.accesses if a.kind is AccessKind.MAY_WRITE}
        live = after.live_out(written) | (written & {CALLS})
        used = tuple(region.parameters.values())
        names = tuple(p.name for p in used)
        context = only(region.context, names).coalesce()
        # Last, since pieces that were joined ask again for what the types of the parameters hold anyway.
        assumed = only(region.assumed, names).coalesce().gist(context.intersect(only(region.ranges, names)))
        records = whole_records(statements.values(), context.intersect(assumed)) if self.unasked else EVERYTHING
        assumed = assumed.intersect(records.gist(context))
        known = context.params().intersect(assumed.params())
        pairs, found = self.apart(region, after, arrays, statements, known, body)
        note_assumed(region, assumed, span)
        # Behind the note: a region that runs nothing is no loss.
        asked = self.unasked and any(not p.draft.opaque for p in placed)
        bases = bases_of(region, pairs) if asked else []
        first, loaded = reached_first(region, bases, arrays, statements, context.intersect(assumed).params())
        assumed = reduce(isl.Set.intersect_params, filter(is_plain, first), assumed)
        alone = self.alone(after, region, arrays) & live
        private = private_memory(region, after, placed, arrays, live, alone, context, assumed)
        orphans = self.orphans(region)
        scop = Scop(
            self.parsed.function.decl.name,
            span,
            end_line,
            used,
            private.context.params(),
            private.assumed.params(),
            private.arrays,
            statements,
            build_tree(items, placed, region),
            private.live,
            private.names,
            self.file_names | self.function_names(),
            tuple(dict.fromkeys(symbol.c_name for symbol in orphans)),
            frozenset(symbol.c_name for symbol in orphans if symbol.key in self.read | self.moved),
            self.constants(region),
            tuple(unique(region.notes)),
            frozenset(key for key in partly if self.is_unset(region.scope.symbols[key])),
            self.callees(),
            self.own_functions,
            self.chunks.looping_functions,
            self.chunks.reads_errno,
            tuple(region.ties),
            where_touched(pairs, private.context.params()),
            shared=self.drops_sharing,
            reached=first,
            loaded=loaded,
            defined=only(without_overflow(region), names).params(),
            unmarked=self.marked.nodes is not None,
            search=found,
            reach=self.reach(region, arrays, statements, known, body, found),
            bounds=private.bounds.params(),
            rows=private.rows,
        )
        return at_records(scop, records.params())

    def text_at(self, converter: Converter, where: Span) -> str:
        """What the user wrote at a place; "" where that is not known."""
        piece = converter.ranges.get(where)
        return self.places.source(*piece) if piece else ""

    def arrays(self, region: Region, converter: Converter, placed: list[Placed]) -> dict[str, Array]:
        """What statements access, but parameters."""
        keys = {raw.array for p in placed for raw in p.draft.accesses} - parameter_keys(region)
        symbols = region.scope.symbols
        function = self.parsed.function
        found = {
            key: region.made.get(key) or make_array(symbols[key], region, converter, function) for key in sorted(keys)
        }
        if any(isinstance(array.layout, Struct) for array in found.values()) and self.has_odd_layouts:
            return {key: replace(a, layout="a layout of its own" if a.layout else "") for key, a in found.items()}
        return found

    @property
    def has_odd_layouts(self) -> bool:
        """Whether members of structs may lie elsewhere than C usually puts them."""
        chosen = self.parsed.declarations
        texts = [self.chunks.text_of(number) for number in chosen if not self.chunks.items[number].is_function]
        texts += [one.header for one in local_types(self.chunks, self.marked)]
        structs = (text for text in texts if "{" in text and re.search(r"\b(?:struct|union)\b", text))
        odd = any(drop_attributes(text) != text for text in structs)
        return odd or re.search(r"^#\s*pragma\s+pack\b", self.chunks.text, re.MULTILINE) is not None

    def callees(self) -> tuple[str, ...]:
        """Functions that the region calls and nothing else in the file mentions but their definitions: also those of
        statements that run for no iteration, which are no part of the model."""
        called = set(CALLED.findall(self.chunks.text[self.marked.body : self.marked.end])) - KEYWORDS
        outside = COMMENT_OR_STRING.sub(" ", self.outside())
        outside = re.sub(r"^[ \t]*#[ \t]*pragma.*$", "", outside, flags=re.MULTILINE)
        mentions = Counter(IDENTIFIER.findall(outside))
        macros = set(re.findall(r"#[ \t]*(?:define|undef)[ \t]+(\w+)", outside))
        return tuple(name for name in sorted(called - macros) if mentions[name] == 1)

    def inspection(self, region: Region, converter: Converter, asked: Asking, scop: Scop) -> Inspection:
        """The model of what asks the data."""
        placed = place(list(asked.items))
        parameters = parameter_keys(region)
        arrays = self.arrays(region, converter, placed)
        inner = replace(
            scop,
            arrays=arrays,
            statements={p.name: finish(p, region, lambda _: "", parameters) for p in placed},
            tree=build_tree(list(asked.items), placed, region),
            live_out=frozenset({asked.answer}),
            privatizable=written_first(placed, frozenset(asked.own), scop.context),
            used_names=scop.used_names | {asked.answer, *asked.own},
            orphans=(),
            orphans_read=frozenset(),
            orphan_functions=(),
            unset=frozenset(),
            notes=(),
            apart=(),
            search=None,
            reach="",
            exchanges=(),
            tile=None,
            wishes={},
        )
        return Inspection(inner, asked.answer, scop)

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

    def function_names(self) -> frozenset[str]:
        return frozenset(self.chunks.names_of(self.marked.chunk))

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


def is_plain(asked: isl.Set) -> bool:
    """Whether a condition is one: others say too little for what they would cost."""
    return asked.n_basic_set() == 1


def within_new_arrays(scop: Scop, before: Scop) -> Scop:
    """The region for the sizes at which what it touches of its new arrays lies in them: they are as long as parameters
    are declared, which may be shorter than what is touched.

    before: the region without these arrays
    """
    assumed = scop.assumed
    for name in sorted(scop.arrays.keys() - before.arrays.keys()):
        for touched in sets(accesses_of(scop, frozenset([name])).all.range().intersect_params(scop.known)):
            outside = touched.subtract(elements(scop.arrays[name], touched.get_space()))
            assumed = assumed.subtract(outside.params())
    return replace(scop, assumed=assumed.coalesce())


def assume_rows(region: Region, rows: Rows) -> None:
    """Ask for what loops over rows in the place of loops over all elements need."""
    values = [Affine(region).value(length, Env()) for length in rows.lengths]
    for product in rows.written_products:
        Affine(region).value(product, Env())
    for length, _ in [value for value in values if value is not None]:
        region.assumed = region.assumed.intersect(length.ge_set(number(0)))
    assume_products(region, rows.products)


def is_type(node: c_ast.Node) -> bool:
    """Whether something declares a type, which a name of the file may mean elsewhere."""
    declares = isinstance(node, c_ast.Struct | c_ast.Union) and node.decls is not None
    return declares or isinstance(node, c_ast.Typedef) or (isinstance(node, c_ast.Enum) and node.values is not None)


def statements_below(scop: Scop, node: c.Node) -> list[str]:
    """The statements that come from a part of the region."""
    places = {(span.line, span.column) for n in c.walk(node) if (span := getattr(n, "span", None)) is not None}
    return [name for name, s in scop.statements.items() if (s.span.line, s.span.column) in places]


def settled_names(body: c.Block) -> frozenset[str]:
    """Names declared in the region that are written by their initialiser only."""
    declared = {item.name for item in c.walk(body) if isinstance(item, c.Decl)}
    counts: dict[str, int] = {}
    for target in lvalues(body):
        if isinstance(target, c.Name):
            counts[target.name] = counts.get(target.name, 0) + 1
    return frozenset(key for key in declared & assigned_scalars(body) if counts[key] == 1)


def assigned_values(body: c.Block) -> dict[str, c.Expr]:
    """What plain variables are given, by their names: by an initialiser, or by `=`."""
    found: dict[str, c.Expr] = {}
    for item in c.walk(body):
        match item:
            case c.Decl(name=name, init=init, extents=()) if init is not None and not isinstance(init, c.InitList):
                found[name] = init
            case c.Assign(op="=", target=c.Name(name=name), value=value):
                found[name] = value
    return found


def parameter_keys(region: Region) -> frozenset[str]:
    """Keys of plain variables that are parameters."""
    return frozenset(p.name for p in region.parameters.values() if isinstance(p.expr, c.Name))


def only(domain: isl.Set, names: tuple[str, ...]) -> isl.Set:
    """The set without parameters of other names."""
    present = [domain.get_dim_name(isl.dim_type.param, i) or "" for i in range(domain.dim(isl.dim_type.param))]
    return project(domain, tuple(name for name in present if name not in names))


def condition_text(domain: isl.Set) -> str:
    text = str(domain.params())
    return text.rpartition(":")[2].strip(" }") if ":" in text else "no values at all"


def note_assumed(region: Region, assumed: isl.Set, span: Span) -> None:
    """Tell for which parameters the region is compiled, where it is not for all."""
    needed = assumed.params()
    for tie in region.ties:
        needed = needed.intersect(tied(tie))
    if not needed.plain_is_universe():
        text = condition_text(needed)
        for one in region.parameters.values():
            text = re.sub(rf"\b{one.name} = 1\b", told(one.expr), text) if one.is_product else text
        note = f"compiled for parameters with {text}; {ORIGINAL}"
        region.note("assumed", note, span)


def without_overflow(region: Region) -> isl.Set:
    """The parameters for which no subscript or bound of the region overflows; more of them where these have too many
    pieces: less is said of the sizes then, and isl is done in time."""
    defined = EVERYTHING
    for overflow in region.overflows.values():
        defined = defined.subtract(overflow())
        if defined.n_basic_set() > FEW_PIECES:
            defined = isl.Set.from_basic_set(coalesced(defined).simple_hull())
    return defined


def row_notes(arrays: dict[str, Array], region: Region, span: Span) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for key, array in arrays.items():
        if any(d.pointer for d in region.scope.symbols[key].shape.dims[1:]):
            message = f"the rows of '{array.c_name}' are taken to be distinct"
            found.append(Diagnostic("distinct-rows", message, span, severity=Severity.NOTE))
    return found


def unique(items: list[Diagnostic]) -> list[Diagnostic]:
    """Each message once, in source order."""
    found = {(d.code, d.message, d.span): d for d in items}
    return sorted(found.values(), key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
