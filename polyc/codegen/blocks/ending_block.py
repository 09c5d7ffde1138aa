"""Loops in strips that flags end: together while most iterations of the strip are on, and then one by one.

    for (int k = 0; k < n; k++)
      for (int x = xt; x < xt + 32; x++)
        if (on_of[x - xt]) s(k, x);

is what the tree says, and what the check of the text reads. It is printed as

    int k_end = n;
    for (int k = 0; k < n; k++) {
      int on = 0;
      for (int x = xt; x < xt + 32; x++) on += on_of[x - xt];
      if (on < 16) { k_end = k; break; }
      for (int x = xt; x < xt + 32; x++)
        if (on_of[x - xt]) s(k, x);
    }
    for (int x = xt; x < xt + 32; x++)
      for (int k = k_end; k < n && on_of[x - xt]; k++) s(k, x);

or, where the loop does not change its flags, with the question before it. A strip of which few iterations are on costs
as much as all of it; one by one they cost what they cost as they were written. `read_endings.py` shows that both are
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from polyc.analysis.expressions.facts import lvalues
from polyc.analysis.expressions.straight import unconditional
from polyc.codegen.loops.loops import taken_names
from polyc.codegen.loops.naming import Namer
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.poly import constant_of
from polyc.records import dataclass, replace

STREAMED = 2
"""One of so many iterations of a strip has to be on, if they load from arrays: whole lines are loaded for all."""
IN_REGISTERS = 8
"""The same if they compute with variables alone: several vectors wait for their recurrences at once."""


def with_endings(body: tuple[c.Stmt, ...], program: Program) -> tuple[c.Stmt, ...]:
    """The statements with the loops that flags end in their printed form; one that has none is a plain loop."""
    if not any(isinstance(node, c.For) and node.until for item in body for node in c.walk(item)):
        return body
    used = {n.name for item in body for n in c.walk(item) if isinstance(n, c.Decl)}
    sizes = {b.name: constant_of(b.extents[-1]) or 0 for b in program.buffers.values() if b.storage == "spread"}
    types = {a.printed_name: a.element.text for a in program.scop.arrays.values() if a.rank}
    forms = _Forms(Namer(taken_names(program) | used), sizes, types)
    return tuple(forms.of_items(body))


@dataclass(frozen=True, slots=True)
class _Strip:
    """The loop over the iterations of a strip, and the flag of one of them."""

    head: c.For
    flag: c.ArrayRef


@dataclass(frozen=True, slots=True)
class _Forms:
    """The printed forms of loops."""

    namer: Namer
    sizes: Mapping[str, int]
    """Of buffers with a place for each iteration of a strip: how many it has."""
    types: Mapping[str, str]
    """Of the elements of arrays, by their names in C."""

    def of(self, node: c.N) -> c.N:
        """A statement, with the forms of the loops in it."""

        def change(part: c.Node) -> c.Node | None:
            if isinstance(part, c.Block):
                return replace(part, body=tuple(self.of_items(part.body)))
            if isinstance(part, c.For) and part.until:
                (one,) = self.of_items((part,))
                return one
            return None

        return c.rewrite(node, change)

    def of_items(self, items: tuple[c.Stmt, ...]) -> Iterator[c.Stmt]:
        """The statements of a block, with neighbours that ask for the same flags behind one question."""
        done = 0
        while done < len(items):
            first = items[done]
            if not isinstance(first, c.For) or not first.until:
                yield self.of(first)
                done += 1
                continue
            count = 1
            if not _changes(first, first.until):
                count = next((k for k, item in enumerate(items[done:]) if not _joins(item, first)), len(items) - done)
            loops = [item for item in items[done : done + count] if isinstance(item, c.For)]
            yield from self.form(loops, first.until)
            done += count

    def form(self, loops: list[c.For], flags: str) -> Iterator[c.Stmt]:
        """The printed form of neighbouring loops that ask for the same flags: of one, where it changes them."""
        plain = [replace(loop, until="") for loop in loops]
        inner = [replace(loop, body=self.of(loop.body)) for loop in plain]
        strips = [_strip_of(loop, flags) for loop in plain]
        strip = strips[0]
        threads = any(loop.pragmas for loop in plain)
        if (
            threads
            or strip is None
            or any(one != strip for one in strips)
            or any(_end_of(loop) is None for loop in plain)
        ):
            yield from inner
            return
        single = [_without_strip(loop.body, strip.head) for loop in plain]
        outer = {n.array for loop in plain for n in c.walk(loop.body) if isinstance(n, c.ArrayRef) and n.subscripts}
        least = max(1, self.sizes[flags] // (STREAMED if outer - self.sizes.keys() else IN_REGISTERS))
        count = self.namer.fresh(f"{c.as_word(flags.removesuffix('_of'))}_left")
        counting = (c.Decl("int", count, (), c.Literal("0")), _around(strip.head, _adds(count, strip.flag)))
        few = c.Binary("<", c.Name(count), c.Literal(str(least)))
        if any(one is None for one in single):
            none = c.If(c.Binary("==", c.Name(count), c.Literal("0")), c.Block((c.Jump("break"),)))
            yield from (replace(loop, body=c.Block((*counting, none, *c.items(loop.body)))) for loop in inner)
        elif _changes(plain[0], flags):
            together = c.Block(tuple(self.with_loads(c.items(inner[0].body), strip, False)))
            yield self.split(plain[0], replace(inner[0], body=together), strip, few, counting, single[0])
        else:
            loaded = (c.Block(tuple(self.with_loads(c.items(loop.body), strip, True))) for loop in inner)
            inner = [replace(loop, body=body) for loop, body in zip(inner, loaded, strict=True)]
            alone = tuple(
                replace(loop, body=_where_on(body, strip.flag))
                for loop, body in zip(plain, single, strict=True)
                if body is not None
            )
            rest = _around(strip.head, c.If(strip.flag, alone[0] if len(alone) == 1 else c.Block(alone)))
            yield c.Block((*counting, c.If(few, rest, c.Block(tuple(inner)))))

    def with_loads(self, items: tuple[c.Stmt, ...], strip: _Strip, stays: bool) -> Iterator[c.Stmt]:
        """The statements of a loop with the elements that all iterations of a strip load before its loops: one of them
        is on, and loads them in any case. No vector has a mask for one element.

        stays: whether the loop leaves the flags as they are; else only those before the first change are known
        """
        known = True
        for item in items:
            if known and isinstance(item, c.For) and _same_head(item, strip.head):
                found = {ref: self.namer.take(f"{ref.array}_here") for ref in self.loads(item, strip.flag)}
                for ref, name in found.items():
                    yield c.Decl(f"const {self.types[ref.array].removeprefix('const ')}", name, (), ref)
                yield c.rewrite(item, partial(_named, found)) if found else item
            elif stays and isinstance(item, c.For):
                yield replace(item, body=c.Block(tuple(self.with_loads(c.items(item.body), strip, True))))
            else:
                yield item
            known = stays or (known and not _changes(item, strip.flag.array))

    def loads(self, loop: c.For, flag: c.ArrayRef) -> list[c.ArrayRef]:
        """The elements that each iteration of a strip loads that is on, and that are the same for all of them: one of
        each array."""
        body = loop.body.body[0] if isinstance(loop.body, c.Block) and len(loop.body.body) == 1 else loop.body
        match body, loop.init:
            case c.If(condition=asked, then=then, otherwise=None), c.Decl(name=counter) if c.unlabelled(asked) == flag:
                pass
            case _:
                return []
        stored = {target.array for target in lvalues(then) if isinstance(target, c.ArrayRef)}
        own = {node.name for node in c.walk(then) if isinstance(node, c.Decl)} | {counter}
        found: dict[str, c.ArrayRef] = {}
        for ref in map(c.unlabelled, unconditional(then, inside=True)):
            parts = [node for subscript in ref.subscripts for node in c.walk(subscript)]
            still = bool(parts) and all(isinstance(node, c.Name | c.Literal | c.Binary) for node in parts)
            moved = own & {node.name for node in parts if isinstance(node, c.Name)}
            if still and not moved and ref.array in self.types.keys() - stored:
                found.setdefault(ref.array, ref)
        return list(found.values())

    def split(
        self, plain: c.For, inner: c.For, strip: _Strip, few: c.Expr, counting: tuple[c.Stmt, ...], body: c.Stmt | None
    ) -> c.Block:
        """The form of a loop that changes its flags."""
        init, condition, end = plain.init, plain.condition, _end_of(plain)
        assert isinstance(init, c.Decl)
        assert condition is not None
        assert body is not None
        assert end is not None
        stop = self.namer.take(f"{init.name}_end")
        leave = c.If(few, c.Block((c.ExprStmt(c.Assign("=", c.Name(stop), c.Name(init.name))), c.Jump("break"))))
        together = replace(inner, body=c.Block((*counting, leave, *c.items(inner.body))))
        on = c.Binary("&&", condition, strip.flag)
        first = _where_first(body, strip.flag)
        rest = replace(plain, init=replace(init, init=c.Name(stop)), condition=on, body=first)
        return c.Block((c.Decl(init.type, stop, (), end), together, _around(strip.head, rest)))


def _named(names: Mapping[c.ArrayRef, str], node: c.Node) -> c.Node | None:
    """The variable for an element."""
    name = names.get(c.unlabelled(node)) if isinstance(node, c.ArrayRef) else None
    return None if name is None else c.Name(name)


def _changes(node: c.Stmt, flags: str) -> bool:
    return any(isinstance(target, c.ArrayRef) and target.array == flags for target in lvalues(node))


def _joins(item: c.Stmt, first: c.For) -> bool:
    """Whether a loop stands behind the same question as one before it."""
    return isinstance(item, c.For) and item.until == first.until and not _changes(item, first.until)


def _end_of(loop: c.For) -> c.Expr | None:
    """Where a loop ends, if it counts to there."""
    match loop:
        case c.For(init=c.Decl(name=name), condition=c.Binary(op="<" | ">", left=c.Name(name=asked), right=end)) if (
            asked == name
        ):
            return end
    return None


def _where_first(body: c.Stmt, flag: c.Expr) -> c.Stmt:
    """A statement without its question for a flag that is on when it begins."""
    match body:
        case c.If(condition=asked, then=then, otherwise=None) if c.unlabelled(asked) == flag:
            return then
        case c.Block(body=(one,)):
            return _where_first(one, flag)
    return body


def _where_on(body: c.Stmt, flag: c.Expr) -> c.Stmt:
    """Statements without the questions for a flag that is on, and stays so."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.If(condition=asked, then=then, otherwise=None) if c.unlabelled(asked) == flag:
                return c.rewrite(then, change)
        return None

    return c.rewrite(body, change)


def _adds(count: str, flag: c.Expr) -> c.Stmt:
    return c.ExprStmt(c.Assign("+=", c.Name(count), flag))


def _around(head: c.For, body: c.Stmt) -> c.For:
    """A plain loop with the head of another one."""
    return c.For(head.init, head.condition, head.step, body)


def _strip_of(loop: c.For, flags: str) -> _Strip | None:
    """The loops inside of a loop that ask for the flags, if all of them run over the same strip."""
    heads = [inner for inner in _loops(loop.body) if _asks(inner, flags)]
    found = {ref for ref in c.walk(c.unlabelled(loop.body)) if isinstance(ref, c.ArrayRef) and ref.array == flags}
    if not heads or len(found) != 1 or any(not _same_head(head, heads[0]) for head in heads):
        return None
    (flag,) = found
    counter = loop.init.name if isinstance(loop.init, c.Decl) else ""
    parts = [part for part in (heads[0].init, heads[0].condition, flag) if part is not None]
    if any(n == c.Name(counter) for part in parts for n in c.walk(part)):
        return None
    return _Strip(_around(heads[0], c.Empty()), flag)


def _loops(node: c.Node) -> Iterator[c.For]:
    """The innermost loops."""
    inside = [loop for child in c.children(node) for loop in _loops(child)]
    if isinstance(node, c.For) and not inside:
        yield node
    yield from inside


def _asks(loop: c.For, flags: str) -> bool:
    return any(isinstance(n, c.ArrayRef) and n.array == flags for n in c.walk(loop.body))


def _same_head(one: c.For, other: c.For) -> bool:
    return (one.init, one.condition, one.step) == (other.init, other.condition, other.step)


def _without_strip(body: c.Stmt, head: c.For) -> c.Stmt | None:
    """What a loop runs for one iteration of the strip; None where something stands in no loop over the strip."""
    match body:
        case c.For() if _same_head(body, head):
            return body.body
        case c.For(init=c.Decl()):
            inside = _without_strip(body.body, head)
            if inside is None or not body.until:
                return None if inside is None else replace(body, body=inside, pragmas=())
            strip = _strip_of(body, body.until)
            if strip is None or body.condition is None:
                return None
            on = c.Binary("&&", body.condition, strip.flag)
            return replace(body, condition=on, body=_where_first(inside, strip.flag), until="", pragmas=())
        case c.If(then=then, otherwise=otherwise):  # of loops that are cut in parts
            one = _without_strip(then, head)
            other = None if otherwise is None else _without_strip(otherwise, head)
            lost = one is None or (other is None) != (otherwise is None)
            return None if lost or one is None else replace(body, then=one, otherwise=other)
        case c.Block(body=items):
            every = [_without_strip(item, head) for item in items]
            return (
                None if any(one is None for one in every) else c.Block(tuple(one for one in every if one is not None))
            )
    return None
