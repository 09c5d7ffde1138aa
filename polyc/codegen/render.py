"""The text of a region, and of the whole file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path

import islpy as isl

from polyc.analysis.expressions.promoted import EXTREMA, ROOTS, ROUNDED, VECTOR_EXTREMA
from polyc.codegen.blocks.block import DATA, INSIDE, MEMORY, block, indented
from polyc.codegen.blocks.copies import asked_of_copies, ends
from polyc.codegen.blocks.ending_block import with_endings
from polyc.codegen.blocks.exchanges import exchanged
from polyc.codegen.blocks.lookup_block import with_lookups
from polyc.codegen.blocks.owner_block import with_owners
from polyc.codegen.blocks.ranges import asked_first, compared, worth_it
from polyc.codegen.blocks.stream_block import STREAM, STREAMING, with_rows, without_braces
from polyc.codegen.blocks.threads import asked_of_threads
from polyc.codegen.blocks.tiles import asked_of_tiles
from polyc.codegen.blocks.vectors import VectorTypes, with_vectors
from polyc.codegen.loops.exprs import ExprPrinter, build_for, condition
from polyc.codegen.loops.first_values import with_first_values
from polyc.codegen.loops.generated import Generated
from polyc.codegen.loops.loops import print_loops
from polyc.codegen.loops.naming import IDENTIFIER
from polyc.codegen.loops.origins import origins_in
from polyc.codegen.text.counters import with_counters
from polyc.codegen.text.downward import with_downward
from polyc.codegen.text.flat_arrays import with_flat_arrays
from polyc.codegen.text.loaded import with_loaded
from polyc.codegen.text.macros import MACROS
from polyc.codegen.text.members import with_members
from polyc.codegen.text.printer import INDENT, Line, allocation, broken, conjunction, expression, lines_of
from polyc.codegen.text.steady import with_steady
from polyc.model import ctree as c
from polyc.model.certificate import NOT_SHOWN, SHOWN, Certificate
from polyc.model.printed import Body, Question, Rendered
from polyc.model.program import Compiled, Options, Origins, Program
from polyc.model.scop import PART, Region, Source
from polyc.records import dataclass, replace

_MARKS = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+scop[ \t]*\n(.*\n)?[ \t]*#[ \t]*pragma[ \t]+endscop[ \t]*\n?", re.DOTALL)
"""A region's lines, from its first pragma to its last one."""
_ASKED = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+polyc\b(?:\\\n|[^\n])*\n", re.MULTILINE)
_COLUMN = len("  if () {")
"""Of a region's condition, together with what stands behind it."""


def render_region(
    program: Program, region: Region, verified: bool, question: Question | None = None, made: Generated | None = None
) -> Rendered:
    """The C text of a program. Raises NotMappable where a GPU cannot run it.

    question: for a region whose model says something of the data; for CPUs
    made: isl's AST of it, where it is there already
    """
    if program.options.gpu:
        return _render_kernels(program, region, verified)
    printed = print_loops(program, made)
    types = VectorTypes()
    heap: list[c.Decl] = []

    def allocated(body: Body) -> Body:
        left, found = without_heap(body)
        heap.extend(found)
        return left

    ways: list[tuple[str, Callable[[Body], Body]]] = [
        ("lookups", lambda body: with_lookups(body, program, types)),
        ("owners", lambda body: with_owners(body, program)),
        ("nontemporal", lambda body: with_rows(body, program)),
        ("notes", lambda body: without_braces(c.without_notes(body))),
        ("steady", lambda body: with_steady(body, program.scop)),
        ("vectors", lambda body: with_vectors(body, program, types)),
        ("heap", allocated),
        ("members", lambda body: with_members(body, program.scop)),
        ("flat", lambda body: with_flat_arrays(body, program.scop)),
        ("counters", lambda body: with_counters(body, program.scop)),
        ("downward", with_downward),
        ("first values", with_first_values),
        ("endings", lambda body: with_endings(body, program)),
        ("loaded", lambda body: with_loaded(body, program.scop)),
    ]
    body, enough = asked_of_threads(program, printed.body)
    enough += asked_of_tiles(program)
    before = body
    steps: list[tuple[str, Body, Body]] = []
    for name, way in ways:
        after = way(body)
        steps.append((name, body, after))
        body = after
    whole = _region_text(program, region, verified, body, heap, types, question, enough)
    return Rendered(
        whole.text,
        printed.ast,
        before,
        guard_of(program),
        origins=(whole.origins,),
        steps=tuple(steps),
        needed=whole.needed,
        condition=whole.condition,
        question=whole.question,
        heap=tuple(heap),
        vectors=dict(types.found),
        unused=tuple(whole.unused),
        after=whole.after,
        certificate=promised(program, verified),
    )


def _render_kernels(program: Program, region: Region, verified: bool) -> Rendered:
    """The text of a program for a GPU."""
    from polyc.codegen.gpu.memory import within_arrays
    from polyc.codegen.gpu.render import render_kernels

    program = within_arrays(program)
    kernels = render_kernels(program, region, Path(region.scop.span.file).stem)
    types = VectorTypes()
    body, heap = without_heap(with_vectors(kernels.call, program, types))
    whole = _region_text(program, region, verified, with_flat_arrays(body, program.scop), heap, types)
    return Rendered(
        whole.text,
        kernels.ast,
        (),
        guard_of(program),
        device=kernels.device,
        origins=(whole.origins, *kernels.origins),
        needed=whole.needed,
        condition=whole.condition,
        question=whole.question,
        certificate=promised(program, verified),
    )


def promised(program: Program, verified: bool) -> Certificate:
    """What the text's first line says, where the checks that are made show what they can: kernels are not read."""
    if not verified:
        return Certificate()
    return Certificate(SHOWN, NOT_SHOWN if program.options.gpu else SHOWN)


def certified(rendered: Rendered, certificate: Certificate) -> Rendered:
    """The text with a first line that says what was shown of it."""
    first, rest = rendered.text.split("\n", 1)
    first = first.replace(f", {rendered.certificate.word} */", f", {certificate.word} */")
    return replace(rendered, text=f"{first}\n{rest}", certificate=certificate)


def question_of(program: Program, answer: str) -> tuple[Question, Rendered]:
    """What a program asks as text, and what its check reads. `program`: that of a region's inspection."""
    printed = print_loops(program)
    plain = c.without_notes(printed.body)
    text = with_flat_arrays(plain, program.scop)
    steps = (("notes", printed.body, plain), ("flat", plain, text))
    return Question(answer, text), Rendered("", printed.ast, printed.body, guard_of(program), steps=steps)


@dataclass(frozen=True, slots=True)
class _Whole:
    """What stands in the region's place."""

    text: str
    origins: Origins
    """Where its lines come from."""
    needed: c.Expr | None
    condition: c.Expr | None
    question: Question | None
    """As in `Rendered`."""
    unused: list[str]
    after: tuple[c.Stmt, ...]


def _region_text(
    program: Program,
    region: Region,
    verified: bool,
    body: tuple[c.Stmt, ...],
    heap: list[c.Decl],
    vectors: VectorTypes,
    question: Question | None = None,
    enough: Sequence[c.Expr] = (),
) -> _Whole:
    """The text that stands in the region's place, with final statements; `enough`: asked of what there is to do."""
    certificate = promised(program, verified)
    gpu, searched = program.options.gpu, program.scop.search is not None
    data, question = question, (asked_of_copies if gpu else asked_first)(program.scop, question)
    about = [DATA] if data is not None else []
    about += [MEMORY] if program.scop.sorts_memories or (searched and program.scop.apart) else []
    about += [INSIDE] if searched and gpu else []
    outside = [line.text for item in ends(program.scop) for line in lines_of(item, 0)] if gpu else []
    sizes = guard_of(program)
    given = [one.asked for one in program.scop.walked if one.asked is not None]
    asks, apart = [*([] if sizes is None else [sizes]), *given], compared(program.scop)
    pays = [*enough, *(worth_it(program, enough) if program.options.threads == "auto" else [])]
    # What there is to do is asked before pointers are compared, but for sizes that some of these have to lead to.
    needed = conjunction([*asks, *apart, *pays] if program.scop.reached else [*asks, *pays, *apart])
    before: list[Line] = []
    condition = needed
    if question is not None:
        before = [line for item in question.body for line in lines_of(item, 2)]
        condition = c.Name(question.answer)
    allocations = [allocation(one, condition) for one in heap]
    if heap:
        condition = conjunction(c.Name(one.name) for one in heap)
    asked = broken(needed or c.Literal("1"), _COLUMN)
    guard = "" if condition is None else broken(condition, _COLUMN)
    depth = 2 if guard else 1
    after = exchanged(program.scop)
    lines: list[Line] = [line for item in (*body, *after) for line in lines_of(item, depth)]
    code = "\n".join(line.text for line in lines)
    original = region.original.rstrip("\n")
    ahead = "\n".join([*(line.text for line in before), *([asked] if before else [])])
    everything = "\n".join([code, ahead, guard, *allocations, original if guard else ""])
    mentioned = set(IDENTIFIER.findall(everything))
    macros = [text for name, text in MACROS.items() if name in mentioned] + vectors.macros()
    macros += [STREAMING] if STREAM in mentioned else []
    # The user's `i` is hidden by ours: it is used only where the original text stays as the other branch.
    kept = set(IDENTIFIER.findall("\n".join([ahead, guard, *allocations, original if guard else ""])))
    whole = (*body, *after)
    used, read = _names_used(whole, False) | kept, _names_used(whole, True) | kept
    macros_of = (*EXTREMA.items(), *VECTOR_EXTREMA.items(), *ROOTS.items(), *ROUNDED.items())
    used |= {function for function, macro in macros_of if macro in used}
    only_read = program.scop.orphans_read
    unused = [name for name in program.scop.orphans if name not in (read if name in only_read else used)]
    unused += [name for name in program.scop.orphan_functions if name not in used]
    text = block(
        _summary(program, certificate),
        code,
        macros=macros,
        types=[*vectors.types(), *outside],
        question=None if question is None else (question.answer, asked, "\n".join(line.text for line in before)),
        about=" and ".join(about),
        allocations=allocations,
        guard=guard,
        original=original,
        heap=[one.name for one in heap],
        unused=unused,
        hidden=not guard and any(isinstance(item, c.Decl) and item.name in unused for item in body),
    )
    origins = origins_in(text, [before, lines])
    return _Whole(indented(text, region.indent), origins, needed, condition, question, unused, after)


def without_heap(items: tuple[c.Stmt, ...]) -> tuple[tuple[c.Stmt, ...], list[c.Decl]]:
    """The statements, and what they would allocate on the heap: before them, so that the original loops can run where
    there is no memory, and nothing has run yet."""
    found: list[c.Decl] = []

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block) or not any(_is_on_heap(item) for item in node.body):
            return None
        found.extend(item for item in node.body if isinstance(item, c.Decl) and item.heap)
        return c.Block(tuple(c.rewrite(item, change) for item in node.body if not _is_on_heap(item)))

    left: list[c.Stmt] = []
    for item in items:
        if isinstance(item, c.Decl) and item.heap:
            found.append(item)
            continue
        before = len(found)
        changed = c.rewrite(item, change)
        opened = len(found) > before and isinstance(changed, c.Block)
        left += changed.body if opened and isinstance(changed, c.Block) else (changed,)
    return tuple(left), found


def _is_on_heap(item: c.Stmt) -> bool:
    return isinstance(item, c.Decl) and item.heap


def render_as_written(region: Region) -> str:
    """The region's own loops, for one that the passes or the printer give up."""
    text = block(f"{region.scop.function}: left as it was written", region.original.rstrip("\n"))
    return indented(text, region.indent)


def render_as_it_stands(text: str, region: Region) -> str:
    """The same with the lines of the user's file, in which macros have their names, without polyc's pragmas; "" where
    these are no lines of their own."""
    inside = _MARKS.fullmatch(text[region.start : region.end])
    if inside is None or region.joined or region.bare:
        return ""
    heading, _, _ = render_as_written(region).partition("\n")
    return f"{heading}\n{_ASKED.sub('', inside[1])}"


def _names_used(body: tuple[c.Stmt, ...], read: bool) -> set[str]:
    """The user's names that the printed statements mention, without the variables that they declare themselves.

    `read`: otherwise than as what `=` assigns, or as a variable that is changed: for clang that is not used either.
    """
    nodes = [n for item in body for n in c.walk(item)]
    changes = [n for n in nodes if read and isinstance(n, c.Assign)]
    assigned = {id(_base(n.target)) for n in changes if n.op == "=" or not _has_subscripts(n.target)}
    used: set[str] = set()
    declared: set[str] = set()
    for node in nodes:
        match node:
            case _ if id(node) in assigned:
                pass
            case c.Decl(name=name, type=text):
                declared.add(name)
                used |= set(IDENTIFIER.findall(text))
            case c.Name(name=name) | c.ArrayRef(array=name) | c.Call(function=name):
                used |= {name, *c.identifiers(name)}
            case c.Cast(type=text) | c.SizeOf(text=text):
                used |= set(IDENTIFIER.findall(text))
            case _:
                pass
    return used - declared


def _has_subscripts(target: c.Expr) -> bool:
    return isinstance(base := _base(target), c.ArrayRef) and bool(base.subscripts)


def _base(target: c.Expr) -> c.Expr:
    """The array of `A[i].x`."""
    while isinstance(target, c.Member):
        target = target.base
    return target


def render_file(source: Source, compiled: list[Compiled]) -> str:
    """The whole file: every byte outside the regions as it was."""
    segments: list[str] = []
    position = 0
    marks = () if source.expansion is None else [(m.start(), m.end(), "") for m in PART.finditer(source.text)]
    places = [
        (region.start, region.end, on_lines(source.text, region, result.in_file))
        for region, result in zip(source.regions, compiled, strict=True)
    ]
    for start, end, text in sorted([*places, *marks, *((start, end, "") for start, end in source.marks)]):
        segments += [source.text[position:start], text]
        position = end
    segments.append(source.text[position:])
    return "".join(segments)


def on_lines(text: str, region: Region, printed: str) -> str:
    """What is printed for a region, on lines of its own: others may share those of its place in a file."""
    before = "\n" if region.joined else ""
    if printed != render_as_it_stands(text, region):
        before += these_numbers(region)
    if region.bare:
        printed = f"{region.indent}{{\n{printed.rstrip()}\n{region.indent}}}\n"
    if region.end == len(text) or text[region.end - 1] == "\n":
        return before + printed
    indent = region.indent.removesuffix(INDENT * 2) if text[region.end] == "}" else region.indent
    return before + printed.removesuffix("\n") + "\n" + indent


def these_numbers(region: Region) -> str:
    """Lines that end a build in which macros of a region have other numbers than in what is printed."""
    tests = [c.Binary("!=", c.Name(name), c.Literal(str(number))) for name, number in region.numbers]
    if not tests:
        return ""
    wrong = expression(reduce(lambda left, right: c.Binary("||", left, right), tests))
    these = ", ".join(f"{name} = {number}" for name, number in region.numbers)
    return f'#if {wrong}\n#error "polyc compiled this region for {these}"\n#endif\n'


def render_other_files(source: Source, compiled: list[Compiled], options: Options) -> dict[str, str]:
    """The files of kernels that belong to a GPU target's C file, by what their names end in."""
    if not options.gpu:
        return {}
    from polyc.codegen.gpu.render import render_device_files

    return render_device_files(source.path, [one.device for one in compiled if one.device], options.target)


def guard_of(program: Program) -> c.Expr | None:
    """The condition under which the model holds, None where it always does."""
    scop = program.scop
    known, asked = scop.context, list[isl.Set]()
    for needed in (*scop.reached, scop.guard):
        if not known.is_subset(needed):
            asked.append(needed.gist(known))
            known = known.intersect(needed)
    build = build_for(scop, scop.context)
    return conjunction(ExprPrinter(scop.parameters, {}).convert(condition(build, one)) for one in asked)


def _summary(program: Program, certificate: Certificate) -> str:
    groups = len(program.groups)
    fused = sum(bool(g.fused) for g in program.groups)
    count = len(program.scop.statements)
    words = [f"{count} statement{'s' if count != 1 else ''} in {groups} group{'s' if groups != 1 else ''}"]
    if fused:
        words.append(f"{fused} fused tile by tile")
    words.append(certificate.word)
    return f"{program.scop.function}: {', '.join(words)}"
