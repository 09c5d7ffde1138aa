"""From the schedule tree to the C tree: isl makes the AST, this prints its loops and its statement instances."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import lvalues, mentions
from polyc.analysis.expressions.linear import linear
from polyc.analysis.expressions.straight import ABSOLUTE
from polyc.codegen.loops.choices import with_branches
from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.loops.generated import Generated, children, marks_of, visit_at, visits_below
from polyc.codegen.loops.instances import InstancePrinter, Scope, block_of
from polyc.codegen.loops.iterations import Visit, iterations_of, members_above
from polyc.codegen.loops.likely import with_ranges_apart
from polyc.codegen.loops.named import with_named_choices
from polyc.codegen.loops.naming import Namer
from polyc.codegen.loops.origins import LoopOrigins
from polyc.codegen.loops.to_isl import MOST_SHIFTED, to_isl
from polyc.codegen.loops.unjammed import without_jam
from polyc.codegen.text.macros import MACROS, MAX, MIN
from polyc.codegen.text.printer import ATOMIC, UNROLL_ON_CPU
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Array, Storage
from polyc.model.tree import Extension, Mark, Member, Role, Worth, walk
from polyc.poly import constant_of, kind_of, maps, operation_of
from polyc.records import dataclass, replace

LINE_BYTES = 64
"""What vectors are aligned to, so that none lies in two lines of a cache."""
VECTOR_CALLS = c.NUMBERS | ABSOLUTE
"""Functions of the C library that each machine's vectors have an instruction for, and that set no errno; numbers."""
MOST_UNROLLED = 32
"""Register tiles are smaller, so that their loops go away."""
UNROLLED = f"{UNROLL_ON_CPU} {MOST_UNROLLED}"
PARALLEL = "omp parallel for"
_COLLAPSE = re.compile(r" collapse\((\d+)\)")
SHORT = 4
"""Iterations of which no vectors are made."""
ITERATIONS_AT_ONCE = 8
"""That a thread takes of a loop without tiles, where they are not equally long."""


@dataclass(frozen=True, slots=True)
class Printed:
    body: tuple[c.Stmt, ...]
    """With notes for the check of the text."""
    ast: str
    """isl's own text of the AST, for `--emit ast`."""


def generate(program: Program) -> Generated:
    """Let isl make the loops of the program's tree."""
    annotated = to_isl(program.tree, MOST_SHIFTED if program.options.shifted else 1, program.options.undivided)
    context = program.scop.known
    visits: list[Visit] = []
    failures: list[BaseException] = []

    def at_each_domain(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        # An exception here would kill the process: keep it, and raise it when isl is done.
        try:
            visits.append(Visit(build.copy(), build.get_schedule()))
            return node.set_annotation(isl.Id.read_from_str(node.get_ctx(), f"v{len(visits) - 1}"))
        except BaseException as error:
            failures.append(error)
            return node

    build = build_for(program.scop, context)
    ids = isl.IdList.alloc(context.get_ctx(), annotated.depth)
    for k in range(annotated.depth):
        ids = ids.add(isl.Id.read_from_str(context.get_ctx(), f"c{k}_"))
    # The pair that set_at_each_domain answers has to live as long as the AST is made.
    kept = build.set_iterators(ids).set_at_each_domain(at_each_domain)
    scaled = context.get_ctx().get_ast_build_scale_strides()
    # Buffers and extension nodes count from the values of the tree's loops: those of a loop that isl divides by its
    # stride are others.
    counted = any(b.corner is not None and b.depth for b in program.buffers.values())
    counted = counted or any(isinstance(node, Extension) for node in walk(program.tree.child))
    context.get_ctx().set_ast_build_scale_strides(scaled and not program.options.spaced and not counted)
    try:
        node = kept[0].node_from_schedule(annotated.schedule)
    finally:
        context.get_ctx().set_ast_build_scale_strides(scaled)
    if failures:
        raise failures[0]
    return Generated(node, annotated, visits, kept[0])


def print_loops(program: Program, made: Generated | None = None) -> Printed:
    """The program's tree as C statements.

    made: isl's AST of it, where it is there already
    requires: a tree that was verified; codegen decides nothing.
    """
    if program.tree.domain.is_empty():
        return Printed((), "")
    made = made or generate(program)
    printer = LoopPrinter(program, made)
    body = printer.body(made.node, Scope())
    return Printed((*printer.declarations(body), *body), made.node.to_C_str())


class LoopPrinter:
    @property
    def instances(self) -> type[InstancePrinter]:
        """What prints statement instances."""
        return InstancePrinter

    def __init__(self, program: Program, made: Generated) -> None:
        self.program = program
        self.made = made
        self.annotated = made.annotated
        self.visits = made.visits
        self.build = made.build
        self.namer = Namer(taken_names(program))
        self.origins = LoopOrigins(program.scop)
        self.ran: list[str] = []
        """The statements that were printed so far, once for each of their instances in the AST."""
        self.spelled: dict[c.Expr, str] = {}
        """What was printed for values that have names in the user's text."""

    def body(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """What one iteration runs, with a declaration at its top where isl took its users apart.

        isl prints statements that meet in a single iteration one after the other, each with all marks above it. It also
        prints iterations one after the other: each of these gets a declaration of its own.
        """
        return self.body_of([node], scope)

    def body_of(self, nodes: list[isl.AstNode], scope: Scope) -> tuple[c.Stmt, ...]:
        """The same of several nodes, which stand one after the other."""
        here = [m for node in nodes for m in marks_of(node) if m[0] in self.annotated.marks]
        seen = [name for name, _ in here if self.annotated.marks[name][0].kind == "allocate"]
        apart = tuple(m for m in dict.fromkeys(seen) if seen.count(m) > 1 and not self.are_written_out(m, here))
        plain = replace(scope, hoisted=frozenset(), iterations=())
        if not apart:
            return self.all_of(nodes, plain)
        iterations = [one for name in apart for one in self.iterations(name, here)]
        if len(iterations) > len(apart) and len(nodes) == 1 and _comes_apart(nodes[0], iterations):
            return self.statements(nodes[0], replace(plain, iterations=tuple(iterations)))
        chosen = [self.program.buffers[name] for m in apart for name in self.annotated.marks[m][0].names]
        declared = self.declarations_of(chosen)
        names = scope.names | {b.name for b in chosen}
        below = self.all_of(nodes, replace(plain, hoisted=frozenset(apart), names=names))
        inside = _in_scope(below)
        return (*_used(declared, inside), *mentioned((d.name for d in declared), inside), *below)

    def all_of(self, nodes: Iterable[isl.AstNode], scope: Scope) -> tuple[c.Stmt, ...]:
        return tuple(s for node in nodes for s in self.statements(node, scope))

    def within(self, nodes: list[isl.AstNode], scope: Scope) -> tuple[c.Stmt, ...]:
        """Some of what one node has, where that may belong to several iterations."""
        if not scope.iterations:
            return self.all_of(nodes, scope)
        items = self.body_of(nodes, scope)
        return (c.Block(items),) if any(isinstance(item, c.Decl) for item in items) else items

    def iterations(self, name: str, here: list[tuple[str, isl.AstNode]]) -> list[frozenset[int]]:
        """The copies of a mark by the iterations of the tree's loops that they are: the visits below each."""
        mark = self.annotated.marks[name][0]
        above = members_above(self.program.tree.child, mark)
        copies = [frozenset(visits_below(node)) for found, node in here if found == name]
        found: list[tuple[frozenset[int], isl.Map | None]] = []
        for copy in copies:
            values = iterations_of(self.program, [self.visits[k] for k in sorted(copy)], above or ())
            same = [one for one in found if values is None or one[1] is None or not values.is_disjoint(one[1])]
            for visits, others in same:
                copy |= visits
                values = None if values is None or others is None else values.union(others)
            found = [*(one for one in found if one not in same), (copy, values)]
        return [visits for visits, _ in found]

    def are_written_out(self, name: str, here: list[tuple[str, isl.AstNode]]) -> bool:
        """Whether the copies of a mark are iterations that are printed one by one: each has all of the statements."""
        mark = self.annotated.marks[name][0]
        if not any(mark is below for below in self.annotated.written_out):
            return False
        ran = [self.statements_of(node) for found, node in here if found == name]
        return all(one == ran[0] for one in ran)

    def statements_of(self, node: isl.AstNode) -> list[str]:
        """What a piece of straight-line code runs, in order."""
        kind = kind_of(node)
        if kind == "block":
            return [s for child in children(node) for s in self.statements_of(child)]
        if kind == "mark":
            return self.statements_of(node.mark_get_node())
        if kind == "user":
            return [self.made.statement(visit_at(node))]
        return [kind]

    def statements(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        kind = kind_of(node)
        if kind == "for_":
            return (self.traced(node, scope),)
        if kind == "if_":
            return (self.branch(node, scope),)
        if kind == "block":
            return tuple(s for run in runs_of(children(node), scope.iterations) for s in self.within(run, scope))
        if kind == "mark":
            return self.marked(node, scope)
        if kind == "user":
            return self.instance(node, scope)
        raise InternalError(f"isl made an AST node of type {kind}")

    # --- marks ---------------------------------------------------------------------------------------------------

    def marked(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        name = str(node.mark_get_id().get_name())
        inner = node.mark_get_node()
        if name in self.annotated.bands:
            band, depth = self.annotated.bands[name]
            members = {f"c{depth + k}_": member for k, member in enumerate(band.members)}
            return self.statements(inner, replace(scope, members=scope.members | members))
        mark, _ = self.annotated.marks[name]
        if mark.kind == "group":
            return (c.Comment(mark.text), *self.statements(inner, scope))
        assert mark.kind == "allocate", mark.kind
        return self.allocation(name, mark, inner, scope)

    def allocation(self, name: str, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        """Buffers and private copies, declared in a block of their own where the loop body is not one."""
        chosen = tuple(self.program.buffers[name] for name in mark.names)
        declared = self.declarations_of(chosen)
        beside = tuple(self.visits[k] for k in visits_below(inner))
        below = replace(
            scope,
            buffers=(*scope.buffers, *chosen),
            names=scope.names | {b.name for b in chosen},
            beside=(*scope.beside, (self.annotated.marks[name][1], beside)),
        )
        if name in scope.hoisted:
            return self.statements(inner, below)
        body = self.statements(inner, below)
        inside = _in_scope(body)
        _is_filled(chosen, inside)
        quiet = mentioned((d.name for d in declared), inside)
        return (c.Block((*_used(declared, inside), *quiet, *_opened(body, declared))),)

    def declarations_of(self, buffers: Iterable[Buffer]) -> tuple[c.Decl, ...]:
        """One for each name: buffers that follow each other in one place share it."""
        by_name = {buffer.name: buffer for buffer in buffers}
        return tuple(self.declare(buffer) for buffer in by_name.values())

    def declare(self, buffer: Buffer) -> c.Decl:
        extents = self.extents(buffer)
        ordered = bool(buffer.order and extents)  # a buffer of one cell has no dimensions
        if ordered:
            extents = tuple(extents[d] for d in buffer.order)
            innermost = extents[-1]
            if buffer.pad:
                assert isinstance(innermost, c.Literal)
                extents = (*extents[:-1], c.Literal(str(int(innermost.text) + buffer.pad)))
        return c.Decl(
            self.element(buffer),
            buffer.name,
            extents,
            aligned=LINE_BYTES if ordered and buffer.storage != "heap" else 0,
            heap=buffer.storage == "heap",
            may_be_empty=buffer.storage == "heap" and self.may_be_empty(buffer.extents),
        )

    def may_be_empty(self, extents: Iterable[isl.PwAff]) -> bool:
        """Whether an array has no elements at some positive sizes."""
        for extent in extents:
            empty = self.program.scop.context.params().subtract(extent.pos_set().params())
            for k in range(empty.dim(isl.dim_type.param)):
                empty = empty.lower_bound_val(isl.dim_type.param, k, isl.Val.one(empty.get_ctx()))
            if not empty.is_empty():
                return True
        return False

    def element(self, buffer: Buffer) -> str:
        return self.program.scop.arrays[buffer.array].element.text

    def extents(self, buffer: Buffer) -> tuple[c.Expr, ...]:
        written = self.program.scop.arrays[buffer.array].extents_c
        if buffer.storage == "private" and None not in written:
            return tuple(e for e in written if e is not None)
        if buffer.is_single:
            return ()
        printer = ExprPrinter(self.program.scop.parameters, {})
        return tuple(printer.convert(expression(self.build, e)) for e in buffer.extents)

    def declarations(self, body: tuple[c.Stmt, ...]) -> list[c.Stmt]:
        """Arrays that the region itself declared and that are used where no mark declares them: at the top."""
        inside = _in_scope(body)
        used = {n.array for n in inside if isinstance(n, c.ArrayRef)}
        found: list[c.Decl] = []
        for array in self.program.scop.arrays.values():
            if array.storage is Storage.REGION and array.printed_name in used:
                if None in array.extents_c:
                    raise InternalError(f"{array.printed_name} has no length that could be declared")
                extents = tuple(e for e in array.extents_c if e is not None)
                bounded = all(isinstance(extent, c.Literal) for extent in extents)
                empty = not bounded and self.may_be_empty(e for e in array.extents if e is not None)
                found.append(
                    c.Decl(array.element.text, array.printed_name, extents, heap=not bounded, may_be_empty=empty)
                )
        return [*found, *mentioned((d.name for d in found), inside)]

    # --- loops and branches --------------------------------------------------------------------------------------

    def traced(self, node: isl.AstNode, scope: Scope) -> c.Stmt:
        """A loop, with the places of the user's loops that it runs."""
        before = len(self.ran)
        loop = self.loop(node, scope)
        member = scope.members.get(str(node.for_get_iterator().get_id().get_name()))
        if member is None or not isinstance(loop, c.For):
            return loop
        return replace(loop, runs=self.origins.of(member, set(self.ran[before:])))

    def loop(self, node: isl.AstNode, scope: Scope) -> c.Stmt:
        before = len(self.ran)
        iterator = str(node.for_get_iterator().get_id().get_name())
        member = scope.members.get(iterator)
        wish = "c" if member is None else member.name + ("t" if member.role is Role.TILE else "")
        name = self.namer.fresh(wish, scope.names)
        inner = replace(scope, iterators=scope.iterators | {iterator: c.Name(name)}, names=scope.names | {name})
        outer_exprs, inner_exprs = self.printer(scope), self.printer(inner)
        start = outer_exprs.convert(node.for_get_init())
        if node.for_is_degenerate():
            body = self.statements(node.for_get_body(), inner)
            if any(isinstance(n, c.Name) and n.name == name for s in body for n in c.walk(s)):
                return c.Block((c.Decl("const long", name, (), start), *body))
            return c.Block((c.Note("value", name, value=start), *body))
        step = int(node.for_get_inc().get_val().to_python())
        advance: c.Expr = c.Postfix("++", c.Name(name))
        if step != 1:
            advance = c.Assign("+=", c.Name(name), c.Literal(str(step)))
        condition = self.condition(node.for_get_cond(), inner_exprs)
        block = block_of(self.body(node.for_get_body(), inner))
        if isinstance(start, c.Literal) and isinstance(condition, c.Binary) and isinstance(condition.right, c.Literal):
            block = with_ranges_apart(block, name)
        in_order = member is not None and not member.coincident
        selects = not in_order or any(one.vector for one in scope.members.values())
        block, together = collapsed(block, name) if member is not None and member.parallel else (block, 1)
        if together == 1 and self.has_plain_body(member, block):
            block = with_named_choices(
                block, name, self.spelled, lambda wish, used: self.namer.fresh(wish, inner.names | used)
            )
        block = without_jam(with_branches(block, self.program, selects), name)
        pragmas = self.pragmas(member, condition, block, together)
        if member is not None and member.vector and not member.parallel and _is_short(start, condition, step):
            pragmas = ()
        counts = self.origins.counts(member, (self.program.statements[name] for name in set(self.ran[before:])))
        worth = self.worth(member) if pragmas and member is not None and member.parallel else None
        counter = c.Decl("long", name, (), start)
        if member is not None and member.role in (Role.REGISTER, Role.UNROLLED):
            if member.lanes:
                return c.For(counter, condition, advance, block, lanes=member.lanes, counts=counts)
            return c.For(counter, condition, advance, block, (UNROLLED,), counts=counts)
        if member is not None and member.owned and member.lookups is None:
            if not pragmas or step == 1:
                return c.For(counter, condition, advance, block, counts=counts)
            ((_, array),) = member.owned
            owned = self.program.scop.arrays[array].printed_name
            return c.For(counter, condition, advance, block, owned=owned, owned_if=self.worth(member))
        nontemporal, large = self.past_caches(member)
        width = 0 if member is None or member.lookups is None else member.lookups.width

        def around(body: c.Stmt) -> c.For:
            return c.For(
                counter,
                condition,
                advance,
                body,
                pragmas,
                worth=worth,
                lookups=width,
                nontemporal=nontemporal,
                large=large,
                counts=counts,
                until="" if member is None or not member.until else self.program.buffers[member.until].name,
            )

        rows = by_rows(block, name, around) if pragmas and member is not None and member.vector and not width else None
        return around(block) if rows is None else rows

    def has_plain_body(self, member: Member | None, block: c.Stmt) -> bool:
        """Whether declarations may stand in the body of a loop: no later step has another form for it."""
        if self.program.options.gpu or member is None or member.lanes or member.owned or member.lookups:
            return False
        loops = [node for node in c.walk(block) if isinstance(node, c.For)]
        if member.past_caches or (member.vector and loops):
            return False
        return not any(one.lanes or one.lookups or one.owned or one.nontemporal for one in loops)

    def past_caches(self, member: Member | None) -> tuple[tuple[str, ...], c.Expr | None]:
        """The arrays that a loop stores past the caches, and where only a run knows that it should, the condition."""
        if member is None or member.past_caches is None:
            return (), None
        arrays = tuple(self.program.scop.arrays[name].printed_name for name in member.past_caches.arrays)
        worth = member.past_caches.worth
        return arrays, None if worth is None else self.more(worth)

    def condition(self, cond: isl.AstExpr, exprs: ExprPrinter) -> c.Expr:
        """`i <= N - 1` as people write it: `i < N`."""
        if kind_of(cond) == "op" and operation_of(cond) == "le":
            left = cond.op_get_arg(0)
            if kind_of(left) == "id":
                return c.Binary("<", exprs.convert(left), exprs.exclusive(cond.op_get_arg(1)))
        return exprs.convert(cond)

    def pragmas(self, member: Member | None, condition: c.Expr, body: c.Stmt, together: int) -> tuple[str, ...]:
        """together: how many loops, from this one on, share the threads"""
        if member is None:
            return ()
        if member.unroll > 1 and not member.vector and not any(isinstance(n, c.For) for n in c.walk(body)):
            return () if _has_choice(condition) else (f"{UNROLL_ON_CPU} {member.unroll}",)
        if self.program.options.target != "openmp":
            return ()
        if not (isinstance(condition, c.Binary) and condition.op in ("<", "<=")):
            return ()  # not the canonical form that OpenMP asks for
        counter = _names(condition.left)
        if member.parallel:
            collapse = f" collapse({together})" if together > 1 else ""
            others = member.reductions or member.atomics or member.owned or collapse
            both = member.vector and not others and not any(_keeps_scalar(n, False, counter) for n in c.walk(body))
            clauses = collapse + _sharing(member) + self.copied(member, body) + self.reductions(member)
            return (PARALLEL + (" simd" if both else "") + clauses,)
        # A vector loop may hold no short loop but one that is unrolled first: with a window unrolled inside, gcc alone
        # is faster than with the pragma (59 against 82 ms in the demo). Calls that it cannot turn into vector code
        # would make clang complain.
        if member.vector and not any(_keeps_scalar(n, member.spans, counter) for n in c.walk(body)):
            return ("omp simd" + self.reductions(member),)
        return ()

    def worth(self, member: Member) -> c.Expr | None:
        """`1.0 * n * m > 12000`: a number with a fraction, since the product may be too large for an int."""
        return None if member.worth is None else self.more(member.worth)

    def more(self, worth: Worth) -> c.Expr:
        """`1.0 * n * m > 12000`, with `n > 32 && ` before it where that asks for more than one tile."""
        factors = [self.size(extent) for extent in worth.extents]
        if len(factors) > 1 or self.never_above(factors[0], worth.least):
            factors.insert(0, c.Literal("1.0"))
        amount = reduce(lambda left, right: c.Binary("*", left, right), factors)
        enough: c.Expr = c.Binary(">", amount, c.Literal(str(worth.least)))
        several, shared = self.above(worth.tiles), self.above(worth.fetched)
        either = [reduce(lambda one, other: c.Binary("||", one, other), several)] if several else []
        return c.conjunction([*either, *shared, enough])

    def above(self, limits: Sequence[tuple[isl.PwAff, int]]) -> list[c.Expr]:
        """`n > 32` for each extent and number, but for extents that never exceed theirs."""
        counts = [(self.size(extent), number) for extent, number in limits]
        return [c.Binary(">", count, c.Literal(str(n))) for count, n in counts if not self.never_above(count, n)]

    def size(self, extent: isl.PwAff) -> c.Expr:
        """An extent; where it has several forms, the least of them: from the greatest first value to the least last
        one."""
        printer = ExprPrinter(self.program.scop.parameters, {})
        forms: list[isl.PwAff] = []
        extent.foreach_piece(lambda _domain, form: forms.append(isl.PwAff.from_aff(form)))
        least = reduce(lambda one, other: one.min(other), forms)
        if len(forms) > 1 and extent.domain().is_subset(least.ge_set(extent)):
            found = (printer.convert(expression(self.build, form)) for form in forms)
            return reduce(lambda one, other: c.Call(MIN, (one, other)), found)
        return printer.convert(expression(self.build, extent))

    def never_above(self, size: c.Expr, least: int) -> bool:
        """Whether a size has a type whose numbers are no larger, of which compilers warn in a comparison."""
        types = [p.type for p in self.program.scop.parameters if p.expr == size]
        return any(0 < t.size_bytes < 4 and least >= 1 << (8 * t.size_bytes - t.signed) for t in types)

    def reductions(self, member: Member) -> str:
        names = ((op, section(self.program.scop.arrays[array])) for op, array in member.reductions)
        return "".join(f" reduction({op}: {name})" for op, name in names)

    def copied(self, member: Member, body: c.Stmt) -> str:
        """` firstprivate(a, n)`: pointers and sizes of which a thread has a copy. In the functions to which clang moves
        parallel loops, variables stand in memory that any pointer may lead to: it would load them again after each
        store of a byte, and whole numbers after each store of such. Not what the C compiler is told as a constant."""
        scop = self.program.scop
        arrays = {array.printed_name: array for array in scop.arrays.values() if array.rank}
        stored = [
            arrays[one.array].element for one in lvalues(body) if isinstance(one, c.ArrayRef) and one.array in arrays
        ]
        sizes = {element.size_bytes for element in stored if element.kind == "int"}
        if not sizes:
            return ""
        nodes = list(c.walk(body))
        used = {n.array for n in nodes if isinstance(n, c.ArrayRef)} & arrays.keys() if 1 in sizes else set()
        reduced = {scop.arrays[array].printed_name for _, array in member.reductions}  # one clause names them already
        names = sorted(name for name in used - reduced if arrays[name].is_pointer)
        told, read = {one.name for one in scop.always}, {n.name for n in nodes if isinstance(n, c.Name)}
        for one in scop.parameters:
            changed = one.name not in told and one.type.kind == "int" and (1 in sizes or one.type.size_bytes in sizes)
            if changed and isinstance(one.expr, c.Name) and one.expr.name.isidentifier() and one.expr.name in read:
                names.append(one.expr.name)  # not `*n`
        return f" firstprivate({', '.join(names)})" if names else ""

    def branch(self, node: isl.AstNode, scope: Scope) -> c.Stmt:
        condition = self.printer(scope).convert(node.if_get_cond())
        then = block_of(self.within([node.if_get_then_node()], scope))
        if not node.if_has_else_node():
            return c.If(condition, then)
        return c.If(condition, then, block_of(self.within([node.if_get_else_node()], scope)))

    def printer(self, scope: Scope) -> ExprPrinter:
        return ExprPrinter(self.program.scop.parameters, scope.iterators)

    # --- statement instances -------------------------------------------------------------------------------------

    def instance(self, node: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
        visit = self.visits[visit_at(node)]
        (schedule,) = maps(visit.schedule)
        statement = self.program.statements[str(schedule.get_tuple_name(isl.dim_type.in_))]
        self.ran.append(statement.name)
        printer = self.instances(self.program, statement, visit, schedule, self.printer(scope), scope)
        named = tuple(printer.named_constants(lambda wish: self.namer.fresh(wish, scope.names)))
        body = self.atomic(printer.inside_domain(printer.body()), scope)
        self.spelled |= printer.spelled
        items = body.body if isinstance(body, c.Block) and not _declares(body) else (body,)
        used = {name for item in items for name in _names(item)}
        named = tuple(declared for declared in named if declared.name in used)
        printed = (printer.note("at"), *items, printer.note("end"))
        return (c.Block((*named, *printed)),) if named else printed

    def atomic(self, body: c.Stmt, scope: Scope) -> c.Stmt:
        """The statement, with a pragma where it updates a cell that other iterations of a loop above update, too; in a
        branch or a loop of its own as well."""
        pairs = (pair for member in scope.members.values() for pair in member.atomics)
        shared = {self.program.scop.arrays[array].printed_name for _, array in pairs}

        def updated(node: c.Node) -> c.Node | None:
            cells = isinstance(node, c.ExprStmt) and any(c.mentions_array(node, array) for array in shared)
            return replace(node, pragmas=(ATOMIC,)) if isinstance(node, c.ExprStmt) and cells else None

        return c.rewrite(body, updated) if shared else body


def runs_of(nodes: list[isl.AstNode], iterations: Iterable[frozenset[int]]) -> list[list[isl.AstNode]]:
    """Nodes that stand one after the other, in as many parts as leave each iteration in one of them."""
    below = [frozenset(visits_below(node)) for node in nodes] if iterations else [frozenset[int]() for _ in nodes]
    ends = list(range(len(nodes)))
    for visits in iterations:
        mine = [k for k, one in enumerate(below) if one & visits]
        for k in range(min(mine, default=0), max(mine, default=0)):
            ends[k] = max(ends[k], max(mine))
    found: list[list[isl.AstNode]] = []
    end = -1
    for k, node in enumerate(nodes):
        if k > end:
            found.append([])
        found[-1].append(node)
        end = max(end, ends[k])
    return found


def _comes_apart(node: isl.AstNode, iterations: list[frozenset[int]]) -> bool:
    """Whether it is no block whose statements all belong together."""
    return kind_of(node) != "block" or len(runs_of(children(node), iterations)) > 1


def by_rows(body: c.Stmt, name: str, around: Callable[[c.Stmt], c.Stmt]) -> c.Stmt | None:
    """What `around` puts over a vector loop's body of unrolled loops, with those outside whose iterations only a run
    knows: compilers would keep them, and make no vectors of what is around. None where there is no such loop.

    math: the iterations of the vector loop `name` are independent (the check shows it, since the loop is marked): all
    dependences stay in one of them, and keep their order where the loop is split, and exchanged with one inside
    """
    changed = False

    def outside(node: c.Stmt) -> c.Stmt:
        nonlocal changed
        match node:
            case c.Block(body=items) if all(isinstance(item, c.If | c.For | c.Block) for item in items):
                return c.Block(tuple(outside(item) for item in items))
            case c.If(condition=condition, then=then, otherwise=otherwise) if name not in _names(condition):
                return replace(node, then=outside(then), otherwise=None if otherwise is None else outside(otherwise))
            case c.For(init=c.Decl(name=own, init=start), condition=end) if start is not None and end is not None:
                bounds = _names(start) | _names(end)
                if node.pragmas == (UNROLLED,) and bounds - {own} and name not in bounds:
                    changed = True
                    return replace(node, body=c.Block((around(node.body),)), pragmas=())
        return around(node)

    found = outside(body)
    return found if changed else None


def section(array: Array) -> str:
    """All of an array, as a clause of OpenMP names it: `s`, `h[:256]`."""
    extents = "".join(f"[:{constant_of(extent)}]" for extent in array.extents if extent is not None)
    return array.printed_name + extents


def collapsed(body: c.Stmt, counter: str) -> tuple[c.Stmt, int]:
    """The body of a parallel loop without pragmas of parallel loops inside, and how many loops are one: such that are
    all of the body of the one around, and whose bounds are the same in each of its iterations."""
    inner = body.body[0] if isinstance(body, c.Block) and len(body.body) == 1 else body
    streams = any(isinstance(node, c.For) and node.nontemporal for node in c.walk(body))  # a fence ends each iteration
    if isinstance(inner, c.For) and inner.pragmas and inner.pragmas[0].startswith(PARALLEL) and not streams:
        found = _COLLAPSE.search(inner.pragmas[0])
        together = _free_of(counter, inner, 1 if found is None else int(found[1]))
        if together:
            return replace(inner, pragmas=(), worth=None), 1 + together

    def plain(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and node.pragmas and node.pragmas[0].startswith(PARALLEL):
            return replace(node, pragmas=(), worth=None, body=c.rewrite(node.body, plain))
        return None

    return c.rewrite(body, plain), 1


def _free_of(counter: str, loop: c.For, count: int) -> int:
    """How many of so many loops directly inside of each other, from the outermost on, do not depend on a counter."""
    inner: c.Stmt = loop
    for depth in range(count):
        inner = inner.body[0] if isinstance(inner, c.Block) else inner
        if not isinstance(inner, c.For):
            raise AssertionError("loops that share threads are all of the body of each other")
        if any(counter in mentions(part) for part in (inner.init, inner.condition) if part is not None):
            return depth
        inner = inner.body
    return count


def _sharing(member: Member) -> str:
    """How threads share the iterations of a parallel loop: in equal parts, or as they come where some are longer."""
    if not member.uneven:
        return ""
    return " schedule(dynamic)" if member.role is Role.TILE else f" schedule(dynamic, {ITERATIONS_AT_ONCE})"


def _used(declared: tuple[c.Decl, ...], inside: list[c.Node]) -> tuple[c.Decl, ...]:
    """The declarations that the statements need: isl also prints a mark above a part of the tree without its users.

    inside: `_in_scope` of the statements
    """
    mentioned = {n.array for n in inside if isinstance(n, c.ArrayRef)}
    return tuple(d for d in declared if d.name in mentioned)


def mentioned(declared: Iterable[str], inside: list[c.Node]) -> Iterator[c.Stmt]:
    """`(void)t;` for what is written and not read: where the readers run in no iteration of this part of the loops.

    Neither is what is only added up: clang warns of that, too.
    """
    written = {id(n.target) for n in inside if isinstance(n, c.Assign)}
    references = [n for n in inside if isinstance(n, c.ArrayRef)]
    found = {n.array for n in references}
    read = {n.array for n in references if id(n) not in written}
    for name in dict.fromkeys(declared):
        if name in found and name not in read:
            yield c.ExprStmt(c.Cast("void", c.Name(name)))


def _opened(body: tuple[c.Stmt, ...], declared: tuple[c.Decl, ...]) -> tuple[c.Stmt, ...]:
    """What is in a block that is all of a block: buffers of two passes stand side by side."""
    if len(body) != 1 or not isinstance(body[0], c.Block):
        return body
    names = {item.name for item in declared}
    inner = {item.name for item in body[0].body if isinstance(item, c.Decl)}
    return body if names & inner else body[0].body


def _is_filled(buffers: tuple[Buffer, ...], inside: list[c.Node]) -> None:
    """isl may print a step apart from the loop that a buffer belongs to, and the buffer's mark with it: what is read
    there would be another copy, which nobody has filled. Raises InternalError."""
    names = {buffer.name for buffer in buffers if buffer.storage != "private"}
    mentioned = {n.array for n in inside if isinstance(n, c.ArrayRef)} & names
    changed = [n.target for n in inside if isinstance(n, c.Assign)]
    changed += [n.operand for n in inside if isinstance(n, c.Postfix | c.Unary) and n.op in ("++", "--", "&")]
    lost = mentioned - {n.array for target in changed for n in c.walk(target) if isinstance(n, c.ArrayRef)}
    if lost:
        raise InternalError(f"isl took a step out of the tile that keeps {', '.join(sorted(lost))} for it")


def _in_scope(body: tuple[c.Stmt, ...], hidden: frozenset[str] = frozenset()) -> list[c.Node]:
    """What stands in the statements, without references to what a block inside declares itself: an inner loop may have
    a copy of its own beside the outer one. In any order.

    hidden: what the blocks around declare
    """
    hidden |= {item.name for item in body if isinstance(item, c.Decl)}
    found: list[c.Node] = []
    waiting: list[c.Node] = [*body]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, c.ArrayRef) and node.array in hidden):
            found.append(node)
        if isinstance(node, c.Block):
            found += _in_scope(node.body, hidden)
        else:
            waiting += c.children(node)
    return found


def _is_short(start: c.Expr, condition: c.Expr, step: int) -> bool:
    """Whether a loop has at most four iterations, whatever the sizes: `i = 2; i < min(5, n)`. No vectors are made of
    it, which clang says where it was asked to."""
    if not (isinstance(condition, c.Binary) and condition.op in ("<", "<=")):
        return False
    one_more = condition.op == "<="
    extents = (linear(end).plus(linear(begin), -1) for end in _of(MIN, condition.right) for begin in _of(MAX, start))
    return any(not e.terms and e.constant + one_more <= SHORT * step for e in extents)


def _of(macro: str, value: c.Expr) -> tuple[c.Expr, ...]:
    """The values of which an expression is the least, or the greatest."""
    if isinstance(value, c.Call) and value.function == macro:
        return tuple(part for one in value.arguments for part in _of(macro, one))
    return (value,)


def _has_choice(condition: c.Expr) -> bool:
    """Whether the end of a loop is the lesser one of two values: gcc makes branches of such a condition, and then warns
    that it ignores what a pragma says of the loop."""
    return any(isinstance(n, c.Ternary) or (isinstance(n, c.Call) and n.function in MACROS) for n in c.walk(condition))


def _keeps_scalar(node: c.Node, spans: bool, counter: set[str]) -> bool:
    """Whether a loop with this inside is better left to the C compiler.

    spans: as of `Member`; counter: its variable, of which a short loop inside has other iterations for each lane
    """
    match node:
        case c.For(pragmas=pragmas, init=start, condition=end):
            bounds = [part for part in (start, end) if part is not None]
            return any(counter & _names(part) for part in bounds) if pragmas == (UNROLLED,) else not spans
        case c.While():
            return True
        case _:
            return calls_function(node)


def calls_function(node: c.Node) -> bool:
    """Whether this is a call that compilers have no vector instruction for."""
    return isinstance(node, c.Call) and node.function not in {*MACROS, *VECTOR_CALLS}


def _names(node: c.Node) -> set[str]:
    return {n.name for n in c.walk(node) if isinstance(n, c.Name)}


def _declares(block: c.Block) -> bool:
    return any(isinstance(item, c.Decl) for item in block.body)


def taken_names(program: Program) -> frozenset[str]:
    """Names that a new loop variable must not hide: all that the statements mention but their own loops, and those of
    the file and the function, which may be macros."""
    loops = {name for statement in program.scop.statements.values() for name in statement.loops}
    taken = set(program.scop.used_names) - loops - set(program.scop.spelled.values())
    taken |= {a.c_name for a in program.scop.arrays.values()} | set(program.scop.arrays)
    taken |= set(program.buffers)
    for parameter in program.scop.parameters:
        taken |= {n.name for n in c.walk(parameter.expr) if isinstance(n, c.Name)} | {parameter.name}
    for statement in program.statements.values():
        own = {*statement.loops, *(value.name for value in statement.values)}
        for node in c.walk(statement.body):
            if isinstance(node, c.Name) and node.name not in own:
                taken.add(node.name)
            elif isinstance(node, c.Call):
                taken.add(node.function)
            elif isinstance(node, c.Decl):
                taken.add(node.name)
    return frozenset(taken | {word for name in taken for word in c.identifiers(name)})
