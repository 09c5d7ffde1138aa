"""Loops in strips that flags end, read again: the printed block runs what the plain loop runs, or leaves out nothing.

math: let the plain loop be `for k { B }`, in which all statements stand in loops `for x` over one strip, and F(x) be
      the flag of an iteration of it, which no other k has another one for. By `verify/order/ended.py`
        (a) where F(x) is zero before an iteration k, no instance of this or a later iteration has an effect for x,
        (b) no value goes from one x to another within the loop, so that it may run x by x.
      A block is the loop, whatever decides between its parts, if
        (1) its first part is the loop, which may stop before any iteration k and then leaves k in a variable, in which
            there is the end of the loop else; or it is all of the loop,
        (2) its other part runs, for each x of the strip, B without the loops over x, from that k on as long as F(x)
            is on; or from the start, where F(x) is on and the loop does not change it,
        (3) or it stops where the sum of all flags, each of which is 0 or 1, is 0.
      In the first part some x has F(x) on. An element that each such x loads in any case, the same for all, may be
      loaded before the loop over x, if nothing in that loop stores to its array.
"""

from __future__ import annotations

from collections.abc import Mapping

from polyc.analysis.expressions.facts import lvalues, mentions
from polyc.analysis.expressions.straight import unconditional
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.records import dataclass, replace
from polyc.reread.blocks.taken import Other

Body = tuple[c.Stmt, ...]
Types = Mapping[str, str]


def ending_faults(program: Program, before: Body, after: Body) -> list[Fault]:
    """Blocks that run something else than their loops; and what differs beside them."""
    types = {a.printed_name: a.element.text for a in program.scop.arrays.values() if a.rank}
    try:
        _items(before, after, types)
    except Other as reason:
        return [Fault("text", f"what is printed for a loop that flags end is not the loop: {reason}", "")]
    return []


def _items(before: Body, after: Body, types: Types) -> None:
    done = 0
    for other in after:
        one = before[done] if done < len(before) else c.Empty()
        joined = _joined(before[done:], other)
        if isinstance(one, c.For) and one.until:
            if not joined:
                raise Other("it asks for the flags of other loops")
            _Ended(tuple(replace(loop, until="") for loop in joined), one.until, types).is_printed_as(other)
            done += len(joined)
        else:
            _same(one, other, types)
            done += 1
    if done != len(before):
        raise Other("it has other statements")


def _joined(before: Body, other: c.Stmt) -> list[c.For]:
    """The loops that stand behind the question of a block, all with the same flags."""
    count = 1
    match other:
        case c.Block(body=(c.Decl(), c.For(), c.If(otherwise=c.Block(body=loops)))):
            count = len(loops)
    found = [loop for loop in before[:count] if isinstance(loop, c.For) and loop.until]
    return found if len(found) == count and len({loop.until for loop in found}) == 1 else []


def _same(one: c.Node, other: c.Node, types: Types) -> None:
    """Raises Other."""
    if isinstance(one, c.Block) and isinstance(other, c.Block):
        _items(one.body, other.body, types)
    elif isinstance(one, c.For) and one.until:
        _items((one,), (other,), types)  # type: ignore[arg-type]
    elif isinstance(one, c.For) and isinstance(other, c.For):
        _equal(replace(one, body=c.Empty()), replace(other, body=c.Empty()))
        _same(one.body, other.body, types)
    elif isinstance(one, c.If) and isinstance(other, c.If):
        _equal(one.condition, other.condition)
        _same(one.then, other.then, types)
        _same(one.otherwise or c.Empty(), other.otherwise or c.Empty(), types)
    else:
        _equal(one, other)


def _equal(one: c.Node, other: c.Node) -> None:
    if c.unlabelled(one) != c.unlabelled(other):
        raise Other("it has another statement")


@dataclass(frozen=True, slots=True)
class _Ended:
    """Neighbouring loops of the tree's text, and the buffer of their flags."""

    loops: tuple[c.For, ...]
    flags: str
    types: Types
    """Of the elements of arrays, by their names in C."""

    def is_printed_as(self, other: c.Stmt) -> None:
        """Raises Other."""
        match other:
            case c.For(body=c.Block(body=(c.Decl(), c.For(), c.If(then=c.Block(body=(c.Jump(),))), *_))):
                self.stops(other)
            case c.For():
                _same(self.loops[0], other, self.types)
            case c.Block(body=(c.Decl() as count, c.For() as counting, c.If() as choice)):
                self.is_chosen(count, counting, choice)
            case c.Block(body=(c.Decl() as stop, c.For() as together, c.For() as rest)):
                self.is_split(stop, together, rest)
            case _:
                raise Other("it has another form")

    def stops(self, other: c.For) -> None:
        """(3)."""
        count, counting, leave, *items = c.items(other.body)
        name, _ = self.counted(count, counting)
        if leave != c.If(c.Binary("==", c.Name(name), c.Literal("0")), c.Block((c.Jump("break"),))):
            raise Other("it ends by another question")
        self.are_loops((replace(other, body=c.Block(tuple(items))),), name)

    def is_chosen(self, count: c.Decl, counting: c.For, choice: c.If) -> None:
        """(1) and (2), where the loops do not change their flags."""
        (name, counting), flag = self.counted(count, counting), self.flag()
        _asks(choice.condition, name)
        if any(isinstance(t, c.ArrayRef) and t.array == self.flags for loop in self.loops for t in lvalues(loop)):
            raise Other("its flags change")
        match choice.then, choice.otherwise:
            case c.For(body=c.If(condition=asked, then=alone, otherwise=None)), c.Block(body=whole):
                self.are_loops(tuple(self.without_loads(loop, counting, True) for loop in whole), name)
                self.is_strip(choice.then, counting, asked)
                rest = c.items(alone) if len(self.loops) > 1 else (alone,)
                if len(rest) != len(self.loops):
                    raise Other("one iteration of the strip after the other runs other loops")
                for one, other in zip(self.loops, rest, strict=True):
                    if not isinstance(other, c.For):
                        raise Other("one iteration of the strip after the other runs no loop")
                    _equal(_head(other), _head(one))
                    _one_by_one(one.body, other.body, counting, flag, True)
            case _:
                raise Other("it chooses between other loops")

    def is_split(self, stop: c.Decl, together: c.For, strip: c.For) -> None:
        """(1) and (2)."""
        (loop,) = self.loops
        count, counting, leave, *items = c.items(together.body)
        (name, strips), flag = self.counted(count, counting), self.flag()
        if not isinstance(leave, c.If) or leave.otherwise is not None or not isinstance(loop.init, c.Decl):
            raise Other("it does not end")
        _asks(leave.condition, name)
        k = c.Name(loop.init.name)
        left = c.Block((c.ExprStmt(c.Assign("=", c.Name(stop.name), k)), c.Jump("break")))
        match loop.condition, strip.body:
            case (
                c.Binary(op="<" | ">", left=counter, right=end),
                c.For(condition=c.Binary(op="&&", left=still, right=asked)) as rest,
            ) if counter == k and still == loop.condition and leave.then == left and stop.type == loop.init.type:
                _equal(stop.init or c.Empty(), end)
                if not all(isinstance(n, c.Name | c.Literal | c.Binary | c.Unary | c.Call) for n in c.walk(end)):
                    raise Other("the end of its loop may change")
                alike = self.without_loads(replace(together, body=c.Block(tuple(items))), strips, False)
                self.are_loops((alike,), name, stop.name)
                self.is_strip(strip, strips, asked)
                first = replace(loop, init=replace(loop.init, init=c.Name(stop.name)), condition=rest.condition)
                _equal(_head(rest), _head(first))
                _one_by_one(loop.body, rest.body, strips, flag, False)
            case _:
                raise Other("it leaves another iteration to the rest")

    def without_loads(self, loop: c.Stmt, strip: c.For, stays: bool) -> c.Stmt:
        """A loop with elements in the places of variables that were loaded before its loops over a strip. Raises Other.

        stays: whether the flags are as they were counted in all of the loop
        """
        if not isinstance(loop, c.For) or _runs(loop, strip):
            return loop
        found: list[c.Stmt] = []
        loaded: dict[str, c.Expr] = {}
        on = True
        for item in c.items(loop.body):
            match item:
                case c.Decl(type=type_, name=name, extents=(), init=c.ArrayRef() as ref) if ref.array in self.types:
                    if type_ != f"const {self.types[ref.array].removeprefix('const ')}" or not on:
                        raise Other("a variable has another type than the element, or nobody is known to load that")
                    loaded[name] = ref
                    continue
                case c.For() if loaded and _runs(item, strip):
                    item = self.loading(item, loaded)
                case c.For() if stays:
                    item = self.without_loads(item, strip, True)
            if loaded and not (isinstance(item, c.For) and _runs(item, strip)):
                raise Other("elements are loaded before something else than a loop over the strip")
            loaded = {}
            found.append(item)
            on = stays or not any(isinstance(t, c.ArrayRef) and t.array == self.flags for t in lvalues(item))
        if loaded:
            raise Other("elements are loaded for nothing")
        return replace(loop, body=c.Block(tuple(found)))

    def loading(self, loop: c.For, loaded: Mapping[str, c.Expr]) -> c.For:
        """A loop over the strip with elements in the places of variables. Raises Other."""
        body = c.rewrite(loop.body, lambda n: loaded.get(n.name) if isinstance(n, c.Name) else None)
        match body:
            case c.If(condition=asked, then=then, otherwise=None) if c.unlabelled(asked) == self.flag():
                pass
            case c.Block(body=(c.If(condition=asked, then=then, otherwise=None),)) if (
                c.unlabelled(asked) == self.flag()
            ):
                pass
            case _:
                raise Other("who is on is not all that loads an element")
        sure = {c.unlabelled(ref) for ref in unconditional(then, inside=True)}
        own = {n.name for n in c.walk(then) if isinstance(n, c.Decl)} | _own(loop)
        stored = {t.array for t in lvalues(then) if isinstance(t, c.ArrayRef)}
        for ref in loaded.values():
            assert isinstance(ref, c.ArrayRef)
            if (
                ref not in sure
                or own & mentions(ref)
                or ref.array in stored
                or any(isinstance(n, c.ArrayRef) for subscript in ref.subscripts for n in c.walk(subscript))
            ):
                raise Other(f"{ref.array} is not loaded in any case, or changes")
        return replace(loop, body=body)

    def counted(self, count: c.Stmt, counting: c.Stmt) -> tuple[str, c.For]:
        """The new variable with the sum of all flags of the strip, and the loop that adds them up."""
        match count, counting:
            case (
                c.Decl(type="int", name=name, extents=(), init=c.Literal(text="0")),
                c.For(body=c.ExprStmt(expr=c.Assign(op="+=", target=c.Name(name=added), value=value))),
            ) if name == added and value == self.flag():
                parts = [part for part in (counting.init, counting.condition, value) if part is not None]
                asked = {one for part in parts for one in mentions(part)} - _own(counting)
                nodes = [n for loop in self.loops for n in c.walk(loop)]
                strips = [n for n in nodes if isinstance(n, c.For) and _runs(n, counting)]
                if strips and not asked & {n.name for n in nodes if isinstance(n, c.Decl)}:
                    return name, counting
        raise Other("it does not count its flags")

    def flag(self) -> c.ArrayRef:
        """The one reference to the flags."""
        nodes = (n for loop in self.loops for n in c.walk(c.unlabelled(loop)))
        found = {n for n in nodes if isinstance(n, c.ArrayRef) and n.array == self.flags}
        if len(found) != 1:
            raise Other("its flags are at several places")
        return found.pop()

    def is_strip(self, strip: c.Stmt, counting: c.For, flag: c.Expr) -> None:
        if not isinstance(strip, c.For) or not _runs(strip, counting) or flag != self.flag() or strip.pragmas:
            raise Other("it goes through another strip")

    def are_loops(self, others: Body, *new: str) -> None:
        """The loops themselves, which know none of the new variables."""
        nodes = [n for loop in self.loops for n in c.walk(loop)]
        known = {n.name for n in nodes if isinstance(n, c.Decl | c.Name)} | {
            n.array for n in nodes if isinstance(n, c.ArrayRef)
        }
        if set(new) & known or len(others) != len(self.loops):
            raise Other("it has another loop, or a new variable has the name of another one")
        for one, other in zip(self.loops, others, strict=True):
            if not isinstance(other, c.For):
                raise Other("it has another loop")
            _equal(_head(other), _head(one))
            _items(c.items(one.body), c.items(other.body), self.types)


def _head(loop: c.For) -> c.For:
    return replace(loop, body=c.Empty(), until="")


def _asks(condition: c.Expr, count: str) -> None:
    """A question about the number of flags that are on, to which none is too few: it has no effect. Raises Other."""
    match condition:
        case c.Binary(op="<", left=c.Name(name=name), right=c.Literal(text=text)) if name == count:
            if text.isdigit() and int(text) > 0:
                return
    raise Other("it asks something else than how many flags are on")


def _one_by_one(plain: c.Stmt, other: c.Stmt, strip: c.For, flag: c.Expr, stays: bool) -> None:
    """What stands in a loop, without the loops over the strip: nothing stands beside these. Raises Other.

    stays: whether the flag is on all the time; else it is at the start of the loop's body
    """
    match plain, other:
        case c.For(body=body), _ if _runs(plain, strip):
            _where_on(c.unlabelled(body), c.unlabelled(other), flag, stays)
        case c.For(condition=condition), c.For() if plain.until and condition is not None:
            inner = _Ended((plain,), plain.until, {}).flag()
            _equal(replace(_head(plain), condition=c.Binary("&&", condition, inner), pragmas=()), _head(other))
            _one_by_one(plain.body, other.body, strip, inner, False)
        case c.For(), c.For():
            _equal(replace(_head(plain), pragmas=()), _head(other))
            _one_by_one(plain.body, other.body, strip, flag, stays)
        case c.If(), c.If() if (plain.otherwise is None) == (other.otherwise is None):
            _equal(plain.condition, other.condition)
            _one_by_one(plain.then, other.then, strip, flag, stays)
            if plain.otherwise is not None and other.otherwise is not None:
                _one_by_one(plain.otherwise, other.otherwise, strip, flag, stays)
        case c.Block(body=before), c.Block(body=after) if len(before) == len(after):
            for one, two in zip(before, after, strict=True):
                _one_by_one(one, two, strip, flag, stays)
        case c.Block(body=(one,)), _:
            _one_by_one(one, other, strip, flag, stays)
        case _:
            raise Other("one iteration of the strip after the other runs something else")


def _where_on(plain: c.Stmt, other: c.Stmt, flag: c.Expr, stays: bool) -> None:
    """The same statements where a flag is on. Raises Other."""
    if plain == other:
        return
    match plain, other:
        case c.If(condition=asked, then=then, otherwise=None), _ if asked == flag:
            _where_on(then, other, flag, stays)
        case c.Block(body=(one,)), _ if not isinstance(other, c.Block):
            _where_on(one, other, flag, stays)
        case c.Block(body=before), c.Block(body=after) if stays and len(before) == len(after):
            for one, two in zip(before, after, strict=True):
                _where_on(one, two, flag, stays)
        case c.Block(body=(one,)), c.Block():
            _where_on(one, other, flag, stays)
        case _:
            raise Other("one iteration of the strip after the other runs something else")


def _runs(one: c.For, other: c.For) -> bool:
    """Whether two loops have the same iterations."""
    return (one.init, one.condition, one.step) == (other.init, other.condition, other.step)


def _own(loop: c.For) -> set[str]:
    return {loop.init.name} if isinstance(loop.init, c.Decl) else set()
