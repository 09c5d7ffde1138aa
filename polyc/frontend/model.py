"""One region from its pragmas to its Scop: the table of contents of the frontend."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial, reduce
from math import inf

import islpy as isl
from pycparser import c_ast

from polyc.analysis.expressions.facts import assigned_scalars, lvalues, mentions, writes
from polyc.errors import Span, UserError
from polyc.frontend.c.callers import Callers
from polyc.frontend.c.convert import Converter
from polyc.frontend.c.ctype import Types
from polyc.frontend.c.effects import Effects
from polyc.frontend.c.state import CTX, EVERYTHING, Env, Region, number, restore, saved
from polyc.frontend.c.symbols import scope_before
from polyc.frontend.idioms.bodies import Bodies, with_bodies
from polyc.frontend.idioms.factors import Factor, factors, with_numbers
from polyc.frontend.idioms.helpers import type_of
from polyc.frontend.idioms.named import named_values, placing_values
from polyc.frontend.idioms.predicates import with_predicates
from polyc.frontend.memory.live_out import After
from polyc.frontend.memory.overlaps import CODE as OVERLAPS
from polyc.frontend.memory.overlaps import apart, check_loops, exposed, is_bounded, where_touched
from polyc.frontend.memory.reaching import bases_of, reached_first
from polyc.frontend.memory.search import NotFound, search
from polyc.frontend.region.beside_rows import leave_rows, stay_in_rows
from polyc.frontend.region.checks import check, check_calls, note_calls, note_pragmas, unique
from polyc.frontend.region.conditions import (
    assume_rows,
    is_plain,
    note_assumed,
    only,
    promise,
    row_notes,
    suppose,
    within_new_arrays,
    without_overflow,
)
from polyc.frontend.region.normal import Normal, normal
from polyc.frontend.region.special import special
from polyc.frontend.region.supposed import choices, never_holds, not_affine, versions, with_general
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.region.wishes import asked_loops, asked_tile, wishes
from polyc.frontend.sets.affine import Affine
from polyc.frontend.sets.arrays import extent, make_array, named_types, positive_extents
from polyc.frontend.sets.atoms import Atoms
from polyc.frontend.sets.delinear import is_linearised, shaped_items
from polyc.frontend.sets.intervals import Intervals
from polyc.frontend.sets.multiples import told, told_sizes
from polyc.frontend.sets.records import at_records, whole_records
from polyc.frontend.statements.build import Placed, build_tree, drafts, endings, finish, place
from polyc.frontend.statements.extract import Extractor, Item
from polyc.frontend.statements.fission import with_sums_apart
from polyc.frontend.statements.flow import needed_exits, without_dead, without_unread, written_first
from polyc.frontend.statements.inspection import Asking, asking
from polyc.frontend.statements.invariants import with_invariants_apart
from polyc.frontend.statements.lastprivate import with_last_apart
from polyc.frontend.statements.ordered import with_order
from polyc.frontend.statements.private import private_memory
from polyc.frontend.text.pragmas import Asked
from polyc.frontend.text.trees import walk
from polyc.frontend.walks.walks import walked
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
    without_rows,
)
from polyc.model.tree import Band
from polyc.model.tree import walk as tree_nodes
from polyc.poly import OverBudget, budget, share
from polyc.records import dataclass, field, replace

PARTS = 4
"""Parts of the budget, of which finding out what may run apart has one."""
FAST = frozenset(["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math"])
"""Options with which a C compiler computes floats otherwise than they are written."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What the models of a region are made from: with its loops as they are, with some of them parted."""

    region: Region
    normal: Normal
    converter: Converter
    after: After
    asked: list[tuple[Asked, c.For]]
    span: Span
    end_line: int
    values: dict[str, int | None]
    """What names of the function always are."""
    each: dict[str, tuple[int, ...]]
    """What its parameters are in each call of the file."""


class _NoFlags(Exception):
    """Nothing of a region that data decide has a form with a flag: there is no second model of it."""


@dataclass(slots=True)
class Modeller:
    """Builds the Scop of one region."""

    at: Surroundings
    assumptions: list[ast.expr]
    effects: Effects
    bodies: Bodies
    callers: Callers
    known: set[str] = field(default_factory=set)
    """Parameters' names that promises may use."""
    visible: set[str] = field(default_factory=set)
    """Names given as live-out that mean something where the region stands."""
    inlines: bool = True
    """Whether functions may stand in the places of their calls as statements."""
    inlined: bool = False
    """Whether one does."""
    factors: Callable[[], dict[c.Expr, Factor]] = dict
    """Finds the sizes that make products of variables: few regions ask for them."""
    fresh: frozenset[str] = frozenset()
    """Variables and arrays whose declarations are statements (`Extractor.fresh`)."""
    places: frozenset[Span] = frozenset()
    """Where branches and loops begin that data decide on, and that have flags."""
    on_data: set[Span] = field(default_factory=set)
    """Where others begin that might."""
    iterates: bool = False
    """Whether a function is called that iterates on variables alone."""
    ordered: bool = False
    """Whether what touches memory stays in its order, so that it does not matter what overlaps."""
    supposed: dict[c.Expr, Factor] = field(default_factory=dict)
    """Those for which the model takes numbers: what each call of the file passes, or 1."""

    @property
    def options(self) -> InputOptions:
        return self.at.options

    def scop(self) -> Scop:
        """Model the region. Raises UserError with everything that is refused in it.

        Where steps and factors make it less than affine, `x * stride`, or short loops have few iterations, it is
        modelled for those that the calls of the file pass, or for 1, if that makes more of it or the rest is refused.
        """
        found = self.for_values()
        try:
            with budget(CTX, self.options.budget):
                flagged = self.with_flags()
        except (_NoFlags, OverBudget, UserError):
            return found
        finally:
            self.places, self.bodies.opened = frozenset(), False
        return replace(found, flagged=flagged)

    def with_flags(self) -> Scop | None:
        """The model with flags for what data decide; None where there are none. Raises UserError."""
        if self.iterates:
            self.bodies.opened = True
            self.for_values()  # to know where their loops begin
        self.places = frozenset(self.on_data)
        flagged = self.for_values() if self.places else None
        return flagged if flagged is not None and flagged.endings else None

    def for_values(self) -> Scop:
        """The model for all sizes, or for some and beside it for all."""
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
        except (_NoFlags, OverBudget, UserError):
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
        """The model; `inspect`: as it is where the data answer as they should, if that makes a difference.

        Where data decide what is set of a variable or an array that a loop declares, its declaration is a statement.
        """
        made = self.material(inspect)
        scop = self.model_of(made)
        written = {a.array for s in scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
        lost = (made.region.unset & written) - scop.privatizable - self.fresh
        if not lost:
            return scop
        self.fresh |= lost
        return self.model_of(self.material(inspect))

    def model_of(self, made: Material) -> Scop:
        """The model of a region in its plain form. Raises UserError."""
        region, after, body = made.region, made.after, made.normal.body
        needed, live = after.needed_loops(body)
        if self.at.unasked:
            check_loops(region, after, body)
        region.around = Intervals(region, body, lambda expr: type_of(expr, region.scope)).around
        statements = without_unread(self.extracted(region, body, needed, made.span))
        self.on_data = region.on_data
        if self.at.unasked:
            stay_in_rows(self.at, region, statements, made.converter)
        elif self.inlined or any(region.scope.symbols[key].rank for key in made.normal.followed.keys):
            leave_rows(self.at, region, statements, made.converter)  # of pointers people do not take C at its word
        statements = needed_exits(without_dead(statements, region), region, live)
        for draft in drafts(tuple(statements)):
            check_calls(self.at, region, draft.body)
        exchanges = made.normal.exchanges
        turned = exchanges.finish(region, self.at.read_later(exchanges, region.scope))
        if region.problems:
            raise UserError(unique(region.problems))
        questions = asking(region, self.at.taken_names)

        def put_together(statements: list[Item]) -> Scop:
            scop = self.assemble(made, statements)
            if questions is not None:
                scop = replace(scop, inspection=self.inspection(made, questions, scop))
            return self.finished(made, replace(scop, exchanges=turned))

        try:
            scop = put_together(statements)
        except UserError as refusal:
            mine = questions is None and refusal.diagnostics[0].code == OVERLAPS
            found = self.in_order(made, statements, put_together) if mine else None
            if found is None:
                raise
            return found
        if questions is not None:
            return scop
        return self.parted(made, statements, scop, put_together)

    def material(self, inspect: bool) -> Material:
        """The region's C in its plain form and what is known of it. Raises UserError with what is refused in it."""
        at = self.at
        items, span, end_line = at.locate()
        types = Types()
        types.add_all(at.parsed.tree)
        scope = scope_before(types, at.parsed.tree, at.parsed.function, at.start)
        self.visible |= {name for name in self.options.live_out or () if scope.find(name) is not None}
        converter = Converter(at.parsed, at.places, scope, expanded=self.bodies.helpers.expanded)
        written = c.Block(converter.block(items))
        if self.inlines and not any(map(is_type, walk(at.parsed.function.body))):
            called, written = written, with_bodies(written, scope, self.bodies)
            self.inlined = called is not written
            iterations = self.bodies.iterations
            self.iterates |= any(isinstance(n, c.Call) and n.function in iterations for n in c.walk(written))
        values, each = self.callers.values(at.parsed, types), self.callers.each(at.parsed)
        if self.supposed:
            numbers = {expr: (factor.value or 1, factor.type) for expr, factor in self.supposed.items()}
            written = with_numbers(written, numbers)
        else:
            steady = Affine(Region(scope, frozenset(writes(written)))).member_type
            self.factors = partial(factors, written, scope, values, each, steady)
        form = normal(written, scope, at, converter, types, self.effects.of)
        form = replace(form, body=with_predicates(form.body, scope, self.places, self.effects.of))
        if self.places and not any(isinstance(n, c.For) and n.until for n in c.walk(form.body)):
            raise _NoFlags
        region = self.region(form, converter, values, inspect)
        suppose(region, self.supposed, span)
        self.known |= promise(region, self.options, self.assumptions, form.steps)
        for known in told_sizes(region, at.parsed.function, mentions(form.body)):
            region.context = region.context.intersect(known)
        assume_rows(region, form.rows)
        named = (None, None) if at.marked.promised else (at.marked.live_out, self.options.live_out)  # of all of it
        mentioned = {
            n.array if isinstance(n, c.ArrayRef) else n.name
            for n in c.walk(form.body)
            if isinstance(n, c.ArrayRef | c.Name)
        }
        after = After(region, at.parsed.function, at.path, *named, mentioned)
        after.check()
        asked = asked_loops(at, region, form.body)
        return Material(region, form, converter, after, asked, span, end_line, values, each)

    def region(self, form: Normal, converter: Converter, values: dict[str, int | None], inspect: bool) -> Region:
        """The state of what is read; its calls and its text are checked."""
        at, body, scope = self.at, form.body, converter.scope
        written, assigned = frozenset(writes(body)), frozenset(assigned_scalars(body) | form.moved)
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
        note_calls(at, region, body)
        region.named = named_values(region, body, Affine(region).is_size)
        region.placing = placing_values(region, body)
        note_pragmas(at, region)
        region.sizes = lambda symbol, n: extent(symbol, n, region, converter, at.parsed.function)[0]
        check(at, region, body)
        return region

    def finished(self, made: Material, scop: Scop) -> Scop:
        """The model with what stands beside its statements: variables that are followed, sizes, what pragmas ask."""
        at, scope = self.at, made.region.scope
        supposed = [Supposed(expr, one.value or 1, told(expr), bool(one.calls)) for expr, one in self.supposed.items()]
        symbols = {key: scope.symbols[key] for key in scop.arrays}
        scop = replace(
            scop,
            moved=made.normal.exchanges.moved,
            walked=walked(made.normal.followed, made.normal.split, scope),
            supposed=tuple(supposed),
            in_place=self.in_place(scop),
            numbers=frozenset(key for key, one in symbols.items() if at.is_number_before(one, made.converter)),
        )
        scop = special(scop, made.region, made.values, made.each)
        return replace(scop, tile=asked_tile(at), wishes=wishes(at, scop, made.normal.body, made.asked))

    def parted(
        self, made: Material, statements: list[Item], scop: Scop, put_together: Callable[[list[Item]], Scop]
    ) -> Scop:
        """The model with loops parted where that makes more of them, beside the one without."""
        region = made.region
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
        return replace(found, unasked=self.in_order(made, statements, put_together))

    def in_order(
        self, made: Material, statements: list[Item], put_together: Callable[[list[Item]], Scop]
    ) -> Scop | None:
        """The model of a loop of which nobody can tell whether memory overlaps, with all that touches such memory in
        its order, if something is computed before the loop that reads none of it; else None."""
        region, taken = made.region, self.at.taken_names
        reachable = exposed(region, made.after)
        if self.at.marked.begins or reachable is None:
            return None
        self.ordered = True
        try:
            with budget(CTX, share(self.options.budget, PARTS)):
                held = with_order(statements, region, reachable)
                parted = with_invariants_apart(held, region, taken, reachable)
                if parted is held:
                    return None
                whole = without_rows(put_together(held))
                found = within_new_arrays(put_together(parted), whole)
                return replace(found, whole=replace(whole, ordered=reachable), ordered=reachable)
        except OverBudget:
            return None
        finally:
            self.ordered = False

    def in_place(self, scop: Scop) -> tuple[tuple[int, int], ...]:
        """The lines of functions of which loops stand in the region."""
        lines = {m.line for n in tree_nodes(scop.tree.child) if isinstance(n, Band) for m in n.members}
        bodies = [body.lines for body in self.bodies.known.values() if body is not None and self.inlined]
        return tuple(sorted({(a, b) for a, b in bodies if any(a <= line <= b for line in lines)}))

    def extracted(self, region: Region, body: c.Block, needed: frozenset[str], span: Span) -> list[Item]:
        """The statements, with flat arrays in the shapes that their subscripts have."""

        def extract(statements: tuple[c.Stmt, ...]) -> list[Item]:
            return Extractor(region, needed, self.fresh).block(statements, Env())

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

    def searched(self, made: Material, keys: Iterable[str]) -> Search:
        """The loops that find out what a region touches of some arrays. Raises NotFound."""
        region = made.region
        taken = self.at.taken_names | frozenset(region.scope.symbols)
        fast = not FAST.isdisjoint(self.options.flags)
        return search(region, made.normal.body, keys, taken, fast)

    def reach(
        self, made: Material, arrays: dict[str, Array], statements: dict[str, Statement], found: Search | None
    ) -> Search | str:
        """As `Scop.reach`. found: what is run before the region anyway."""
        symbols = made.region.scope.symbols
        sized = [key for key, a in arrays.items() if key in symbols and not any(e is None for e in a.extents[1:])]
        unknown = {key for key in sized if arrays[key].rank and arrays[key].extents[0] is None}
        unknown -= {key for key in sized if arrays[key].storage is Storage.REGION}
        accesses = [a for s in statements.values() for a in s.accesses if a.array in unknown]
        keys = {a.array for a in accesses if not (a.exact and is_bounded(a.relation.range()))}
        keys |= {key for key in arrays if found is not None and key in symbols and symbols[key].c_name in found.ends}
        try:
            return self.searched(made, sorted(keys)) if keys else ""
        except NotFound as reason:
            return str(reason)

    def assemble(self, made: Material, items: list[Item]) -> Scop:
        """The model of some statements: what they touch, for which parameters, and what is needed of it."""
        at, region, after = self.at, made.region, made.after
        placed = place(items)
        parameters = parameter_keys(region)
        arrays = self.arrays(made, placed)
        region.notes += [] if at.unasked else row_notes(arrays, region, made.span)
        for size in (size for array in arrays.values() for size in positive_extents(array)):
            region.context = region.context.intersect(size.gt_set(number(0)))
        text = partial(at.text_at, made.converter)
        statements = {p.name: finish(p, region, text, parameters) for p in placed}
        written = {a.array for s in statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
        partly = {a.array for s in statements.values() for a in s.accesses if a.kind is AccessKind.MAY_WRITE}
        live = after.live_out(written) | (written & {CALLS})
        used = tuple(region.parameters.values())
        names = tuple(p.name for p in used)
        context = only(region.context, names).coalesce()
        # Last, since pieces that were joined ask again for what the types of the parameters hold anyway.
        assumed = only(region.assumed, names).coalesce().gist(context.intersect(only(region.ranges, names)))
        records = whole_records(statements.values(), context.intersect(assumed)) if at.unasked else EVERYTHING
        assumed = assumed.intersect(records.gist(context))
        known = context.params().intersect(assumed.params())
        pairs: tuple[Apart, ...] = ()
        found = None
        if at.unasked and not self.ordered:
            pairs, found = apart(region, after, arrays, statements, known, partial(self.searched, made))
        note_assumed(region, assumed, made.span)
        # Behind the note: a region that runs nothing is no loss.
        asked = at.unasked and any(not p.draft.opaque for p in placed)
        bases = bases_of(region, pairs) if asked else []
        first, loaded = reached_first(region, bases, arrays, statements, context.intersect(assumed).params())
        assumed = reduce(isl.Set.intersect_params, filter(is_plain, first), assumed)
        alone = at.alone(after, region, arrays) & live
        private = private_memory(region, after, placed, arrays, live, alone, context, assumed)
        scop = Scop(
            function=at.parsed.function.decl.name,
            span=made.span,
            end_line=made.end_line,
            parameters=used,
            context=private.context.params(),
            assumed=private.assumed.params(),
            arrays=private.arrays,
            statements=statements,
            tree=build_tree(items, placed, region),
            live_out=private.live,
            privatizable=private.names,
            used_names=at.taken_names,
            spelled=region.spelled,
            notes=tuple(unique(region.notes)),
            unset=frozenset(key for key in partly if at.is_unset(region.scope.symbols[key])),
            ties=tuple(region.ties),
            apart=where_touched(pairs, private.context.params()),
            reached=first,
            loaded=loaded,
            defined=only(without_overflow(region), names).params(),
            search=found,
            reach=self.reach(made, arrays, statements, found),
            bounds=private.bounds.params(),
            rows=private.rows,
            endings=tuple(endings(items, {id(p.draft): p.name for p in placed})),
        )
        return self.beside_file(made, at_records(scop, records.params()))

    def beside_file(self, made: Material, scop: Scop) -> Scop:
        """The model with what the file around the region says: names that only the region uses, its functions."""
        at = self.at
        orphans, read = at.orphans(made.region), made.normal.read | made.normal.moved
        return replace(
            scop,
            orphans=tuple(dict.fromkeys(symbol.c_name for symbol in orphans)),
            orphans_read=frozenset(symbol.c_name for symbol in orphans if symbol.key in read),
            constants=at.constants(made.region),
            enumerators=made.region.scope.types.constants,
            named=named_types(made.region.scope.types),
            orphan_functions=at.callees(),
            expressions=self.bodies.helpers.of_numbers({s.c_name for s in made.region.scope.symbols.values()}),
            own_functions=at.own_functions,
            looping_functions=at.chunks.looping_functions,
            reads_errno=at.chunks.reads_errno,
            shared=at.drops_sharing,
            unmarked=at.marked.nodes is not None,
        )

    def arrays(self, made: Material, placed: list[Placed]) -> dict[str, Array]:
        """What statements access, but parameters."""
        region, function = made.region, self.at.parsed.function
        keys = {raw.array for p in placed for raw in p.draft.accesses} - parameter_keys(region)
        symbols = region.scope.symbols
        found = {
            key: region.made.get(key) or make_array(symbols[key], region, made.converter, function)
            for key in sorted(keys)
        }
        if any(isinstance(array.layout, Struct) for array in found.values()) and self.at.has_odd_layouts:
            return {key: replace(a, layout="a layout of its own" if a.layout else "") for key, a in found.items()}
        return found

    def inspection(self, made: Material, asked: Asking, scop: Scop) -> Inspection:
        """The model of what asks the data."""
        placed, region = place(list(asked.items)), made.region
        parameters = parameter_keys(region)
        arrays = self.arrays(made, placed)
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


def is_type(node: c_ast.Node) -> bool:
    """Whether something declares a type, which a name of the file may mean elsewhere."""
    declares = isinstance(node, c_ast.Struct | c_ast.Union) and node.decls is not None
    return declares or isinstance(node, c_ast.Typedef) or (isinstance(node, c_ast.Enum) and node.values is not None)


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
