"""Faults of loops that flags end: other flags, other iterations for what is left, statements that nothing guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polyc.codegen.blocks.ending_block as printing
import polyc.codegen.render as render
import polyc.frontend.model as model
import polyc.passes.loops.endings as endings
from polyc.frontend.idioms.predicates import Predicates
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Ending
from polyc.model.tree import Node
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def split(change: Callable[[c.Block], c.Block]) -> Install:
    """Another form of loops that change their flags."""
    return patched(printing._Forms, "split", lambda o: lambda *given: change(o(*given)))


def rest_from(stop: Callable[[c.Expr], c.Expr]) -> Callable[[c.Block], c.Block]:
    """What is left of the iterations of a strip begins elsewhere."""

    def change(block: c.Block) -> c.Block:
        first, together, strip = block.body
        assert isinstance(strip, c.For)
        rest = strip.body
        assert isinstance(rest, c.For)
        assert isinstance(rest.init, c.Decl)
        assert rest.init.init is not None
        begun = replace(rest, init=replace(rest.init, init=stop(rest.init.init)))
        return replace(block, body=(first, together, replace(strip, body=begun)))

    return change


def without_rest(block: c.Block) -> c.Block:
    return replace(block, body=block.body[:2])


def ends_at_once(block: c.Block) -> c.Block:
    """Each iteration of what is left ends where the others do."""
    first, together, strip = block.body
    assert isinstance(first, c.Decl)
    return replace(block, body=(replace(first, init=c.Literal("0")), together, strip))


def none_is_enough(original: Callable[..., object]) -> Callable[..., object]:
    """A strip of which no iteration is on runs together, too, and may load what nobody loads."""

    def no_fewer(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="<", left=c.Name(name=name), right=c.Literal()) if name.endswith("_left"):
                return replace(node, right=c.Literal("0"))
        return None

    return lambda body, program: tuple(c.rewrite(item, no_fewer) for item in original(body, program))  # type: ignore[attr-defined]


def of_all(original: Callable[..., object]) -> Callable[..., object]:
    """A flag ends loops with statements that do not ask for it."""

    def marked(program: Program, node: Node, ending: Ending, key: str) -> object:
        return original(program, node, replace(ending, statements=frozenset(program.statements)), key)

    return marked


def outer_guards(original: Callable[..., object]) -> Callable[..., object]:
    """A statement between two loops of a branch has no guard."""

    def guarded(self: Predicates, run: list[c.Stmt], guard: c.Expr | None, ends: str) -> object:
        return original(self, run, guard if ends else None, ends)

    return guarded


def stays_on(node: c.Node) -> c.Node | None:
    match node:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=c.Literal(text="0"))) if name == "on":
            return c.Block(())
    return None


add("endings", "nothing is left", "", split(without_rest))
add("endings", "what is left begins later", "", split(rest_from(lambda k: c.Binary("+", k, c.Literal("1")))))
add("endings", "what is left begins again", "", split(rest_from(lambda _: c.Literal("0"))))
add("endings", "no end of the loop", "", split(ends_at_once))
add("endings", "together where none is on", "", patched(render, "with_endings", none_is_enough))
add("endings", "loops with other statements", "", patched(endings, "_marked", of_all))
add(
    "endings",
    "flags of other loops",
    "",
    patched(printing, "_joins", lambda _: lambda item, _first: isinstance(item, c.For)),
)
add("predicates", "nothing guards what a branch does", "", patched(Predicates, "guarded", outer_guards))
add(
    "predicates",
    "the flag stays on",
    "",
    patched(model, "with_predicates", lambda o: lambda *given: c.rewrite(o(*given), stays_on)),
)
