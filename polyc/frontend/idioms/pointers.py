"""What a function's pointers point to where a region starts: buffers are swapped, and parts of them get names.

The function is run with pointers only, in all ways that its branches and loops can go. A state says for each pointer
whose value from before the function it has, or which expression made it. Two names of the region with one value are one
array; after `t = a; a = b; b = t;` they still are two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.frontend.text.trees import walk
from polyc.records import dataclass, field, replace

MOST_STATES = 400
"""Ways in which pointers may stand to each other, beyond which they are not followed."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a pointer points to."""

    value: str | c_ast.Node
    """The name whose value from before the function it is, or the expression that made it."""
    base: str | c_ast.Node | None = None
    """The value that an offset was added to, or in which an address was taken, of the name `via`."""
    via: str = ""
    given: c_ast.Node | None = None
    """What the pointer was assigned last."""


State = frozenset[tuple[str, Target]]
States = frozenset[State]
_NOWHERE: States = frozenset()


class TooMany(Exception):
    """There are too many states to be followed."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one array."""

    name: str
    other: str
    given: c_ast.Node
    """What `name` was assigned."""


def aliases(function: c_ast.FuncDef, names: Iterable[str], is_start: Callable[[c_ast.Pragma], bool]) -> list[Alias]:
    """The pairs of names of a region that stand for one array where it starts. Raises TooMany."""
    wanted = list(names)
    run = _Run(relevant(function, set(wanted)), is_start)
    if run.names:
        run.function(function)
    found: dict[tuple[str, str], Alias] = {}
    for state in run.at_start:
        targets = {name: Target(name) for name in wanted} | dict(state)
        for name in wanted:
            for other in wanted:
                one, two = targets[name], targets[other]
                # `p = m; q = m + n;` are parts of one block, where the region does not use `m` itself.
                same = one.value == two.value and place_of(one.given) > place_of(two.given)
                same = same or (one.base == two.value and one.via in wanted)
                if name != other and same and one.given is not None:
                    pair = min(name, other), max(name, other)
                    first = found.get(pair)
                    if first is None or place_of(one.given) < place_of(first.given):
                        found[pair] = Alias(name, other, one.given)
    return [found[pair] for pair in sorted(found)]


def parts_given(
    function: c_ast.FuncDef, names: Iterable[str], compared: set[str], is_start: Callable[[c_ast.Pragma], bool]
) -> dict[str, c_ast.Node]:
    """What the function has given some names of a region: the one expression on all ways to the region, `p + n` of
    `end = p + n`, which gives the same value there again. Of those that lead into the array of another name, or of two
    that the region compares.

    ensures:  all that it mentions has the value that it had then
    """
    wanted = list(names)
    run = _Run(relevant(function, set(wanted)), is_start)
    try:
        if run.names:
            run.function(function)
    except TooMany:
        return {}
    states = [{one: Target(one) for one in wanted} | dict(state) for state in run.at_start]
    found: dict[str, tuple[c_ast.Node, str]] = {}
    for name in wanted:
        nodes = {id(state[name].given): state[name].given for state in states}
        (node,) = nodes.values() if len(nodes) == 1 else (None,)
        made = sources(node) if node is not None else []
        if node is None or len(made) != 1 or made[0][0] in ("", name):
            continue
        (via, plain) = made[0]
        still = all(
            state.get(via, Target(via)).value == (state[name].value if plain else state[name].base) for state in states
        )
        if still and _is_settled(function, name, node, via, is_start):
            found[name] = node, via
    ends = [via for name, (_, via) in found.items() if name in compared]
    return {
        name: node for name, (node, via) in found.items() if via in wanted or (name in compared and ends.count(via) > 1)
    }


def _is_settled(
    function: c_ast.FuncDef, name: str, given: c_ast.Node, pointer: str, is_start: Callable[[c_ast.Pragma], bool]
) -> bool:
    """Whether a name has the value of an expression where the region starts, and all that this mentions, too: variables
    of the function that nothing changes on the way. To which array the pointer leads is seen elsewhere."""
    kinds = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.ArrayRef, c_ast.Cast, c_ast.Typename)
    types = (c_ast.TypeDecl, c_ast.IdentifierType, c_ast.PtrDecl)
    parts = [part for part in walk(given) if not isinstance(part, types)]
    loads = [part for part in parts if isinstance(part, c_ast.UnaryOp) and part.op not in "&+-"]
    rows = [part for part in parts if isinstance(part, c_ast.ArrayRef)]
    plain = isinstance(given, c_ast.UnaryOp) and given.op == "&" and rows == [given.expr]
    if not all(isinstance(part, kinds) for part in parts) or loads or (rows and not plain):
        return False
    names = {name, *(part.name for part in parts if isinstance(part, c_ast.ID))}
    every = list(_executed(function.body))
    order = {id(node): place for place, (node, _) in enumerate(every)}
    around = {id(node): loops for node, loops in every}
    starts = [node for node, _ in every if isinstance(node, c_ast.Pragma) and is_start(node)]
    if not starts or any(isinstance(node, (c_ast.Goto, c_ast.Label)) for node, _ in every):
        return False
    start = starts[0]  # the others are where it ends
    for node, loops in every:
        match node:
            case c_ast.Assignment(lvalue=c_ast.ID(name=changed)) | c_ast.UnaryOp(expr=c_ast.ID(name=changed)):
                if changed not in names or (isinstance(node, c_ast.Assignment) and node.rvalue is given):
                    continue
                if isinstance(node, c_ast.UnaryOp) and node.op not in ("++", "--", "p++", "p--"):
                    if node.op == "&":
                        return False
                    continue
                # A loop with two of the three leads from the change to the region and not to the expression.
                both = loops & around[id(given)] - around[id(start)] | loops & around[id(start)] - around[id(given)]
                if both or order[id(given)] < order[id(node)] < order[id(start)]:
                    return False
    declared = [node.name for node in walk(function) if isinstance(node, c_ast.Decl)]
    return pointer in names and order[id(given)] < order[id(start)] and all(declared.count(n) == 1 for n in names)


def _executed(node: c_ast.Node, loops: frozenset[int] = frozenset()) -> Iterator[tuple[c_ast.Node, frozenset[int]]]:
    """The nodes below one in the order in which they run, with the loops that repeat them, by identity."""
    yield node, loops
    inside = loops | {id(node)}
    match node:
        case c_ast.For():
            parts = [(node.init, loops), (node.cond, inside), (node.stmt, inside), (node.next, inside)]
        case c_ast.While():
            parts = [(node.cond, inside), (node.stmt, inside)]
        case c_ast.DoWhile():
            parts = [(node.stmt, inside), (node.cond, inside)]
        case _:
            parts = [(child, loops) for child in node]
    for child, around in parts:
        if child is not None:
            yield from _executed(child, around)


def place_of(node: c_ast.Node | None) -> tuple[int, int]:
    """Where something stands: of two that are assigned one value, the later one is to be told of."""
    coord = node.coord if node is not None else None  # `{ .n = 1 }` has none
    return (coord.line, coord.column or 0) if coord is not None else (0, 0)


def relevant(function: c_ast.FuncDef, names: set[str]) -> set[str]:
    """The names that those of the region get their values from, if any of them is assigned anything."""
    given: dict[str, set[str]] = {}
    for node in walk(function.body):
        for name, value in assigned(node):
            given.setdefault(name, set()).update(source for source, _ in sources(value))
    if not names & set(given):
        return set()
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += given.get(name, ())
    return found


def assigned(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """The plain variable that a node gives a value, and the value."""
    match node:
        case c_ast.Decl(name=name, init=init) if name and init is not None:
            yield name, init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            yield name, value


def sources(node: c_ast.Node) -> list[tuple[str, bool]]:
    """What a pointer may be made from, `A` for `A + n`, `&A[1]`, `(double *)A`, and whether it is all of that."""
    match node:
        case c_ast.ID(name=name):
            return [(name, True)]
        case c_ast.Cast(expr=inner):
            return sources(inner)
        case c_ast.UnaryOp(op="&", expr=c_ast.StructRef() as inner):  # of a member: it lies in what the struct lies in
            while isinstance(inner, (c_ast.StructRef, c_ast.ArrayRef)):
                inner = inner.name
            return [(name, False) for name, _ in sources(inner)]
        case c_ast.UnaryOp(op="&" | "*", expr=inner) | c_ast.ArrayRef(name=inner):
            return [(name, False) for name, _ in sources(inner)]
        case c_ast.BinaryOp(op="+" | "-", left=inner):
            return [(name, False) for name, _ in sources(inner)]
        case c_ast.StructRef():
            return [(CGenerator().visit(node), True)]
        case c_ast.TernaryOp(iftrue=one, iffalse=other):
            return sources(one) + sources(other)
        case c_ast.Assignment(op="=", rvalue=value):
            return sources(value)
        case c_ast.ExprList(exprs=exprs):
            return sources(exprs[-1])
    return [("", False)]


@dataclass(slots=True, eq=False)
class _Run:
    """Runs a function's statements on sets of states."""

    names: set[str]
    is_start: Callable[[c_ast.Pragma], bool]
    at_start: set[State] = field(default_factory=set)
    labels: dict[str, States] = field(default_factory=dict)
    """The states in which something jumps to a label."""
    leaving: list[tuple[set[State], set[State]]] = field(default_factory=list)
    """Of each loop or switch around: the states at its `break`, and at its `continue`."""

    def function(self, function: c_ast.FuncDef) -> None:
        """Run it until no jump back brings anything new."""
        first = frozenset({frozenset((name, Target(name)) for name in self.names)})
        before: dict[str, States] | None = None
        while before != self.labels:
            before = dict(self.labels)
            self.run(function.body, first)

    def run(self, node: c_ast.Node | None, states: States) -> States:
        """The states after a statement or an expression."""
        if len(states) > MOST_STATES:
            raise TooMany
        match node:
            case None:
                return states
            case c_ast.Pragma():
                if self.is_start(node):
                    self.at_start |= states
                return states
            case c_ast.Label(name=name, stmt=inner):
                return self.run(inner, states | self.labels.get(name, _NOWHERE))
            case c_ast.Goto(name=name):
                self.labels[name] = self.labels.get(name, _NOWHERE) | states
                return _NOWHERE
            case c_ast.Return():
                self.run(node.expr, states)
                return _NOWHERE
            case c_ast.Break() | c_ast.Continue():
                if self.leaving:
                    self.leaving[-1][isinstance(node, c_ast.Continue)].update(states)
                return _NOWHERE
            case c_ast.If() | c_ast.TernaryOp():
                states = self.run(node.cond, states)
                return self.run(node.iftrue, states) | self.run(node.iffalse, states)
            case c_ast.For():
                return self.loop(node.cond, node.stmt, node.next, self.run(node.init, states))
            case c_ast.While():
                return self.loop(node.cond, node.stmt, None, states)
            case c_ast.DoWhile():
                return self.loop(node.cond, node.stmt, None, states, first=True)
            case c_ast.Switch():
                return self.switch(node, states)
            case c_ast.BinaryOp(op="&&" | "||"):
                states = self.run(node.left, states)
                return states | self.run(node.right, states)
        for child in node:
            states = self.run(child, states)
        for name, value in assigned(node):
            if name in self.names:
                states = frozenset(new for state in states for new in changed(state, name, value))
        return states

    def loop(
        self, test: c_ast.Node | None, body: c_ast.Node, step: c_ast.Node | None, states: States, first: bool = False
    ) -> States:
        """Any number of iterations; at least one with `first`."""
        self.leaving.append((set(), set()))
        out, again = self.leaving[-1]
        entered: States = _NOWHERE
        waiting = states if first else self.run(test, states)
        ended = _NOWHERE if first else waiting
        while waiting - entered:
            entered |= waiting
            waiting = self.run(body, waiting) | frozenset(again)
            waiting = self.run(test, self.run(step, waiting))
            ended |= waiting
        self.leaving.pop()
        return ended | frozenset(out)

    def switch(self, node: c_ast.Switch, states: States) -> States:
        """Every label may be the first, and every `break` the last."""
        states = self.run(node.cond, states)
        self.leaving.append((set(), self.leaving[-1][1] if self.leaving else set()))
        here = _NOWHERE
        for item in node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]:
            here = self.run(item, here | states)
        out, _ = self.leaving.pop()
        return states | here | frozenset(out)


def changed(state: State, name: str, value: c_ast.Node) -> Iterator[State]:
    """The states after `name = value`."""
    targets = dict(state)
    for source, plain in sources(value):
        old = targets.get(source, Target(source) if source else Target(value))
        new = replace(old, given=value) if plain else Target(value, old.value, source, value)
        yield frozenset((targets | {name: new}).items())
