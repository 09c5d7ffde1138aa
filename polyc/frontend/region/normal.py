"""A region's C in the form that is modelled: what programmers write, one idiom after the other, in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from polyc.analysis.expressions.facts import reads
from polyc.frontend.c.convert import Converter
from polyc.frontend.c.ctype import Types
from polyc.frontend.c.effects import Effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.frontend.idioms.exchange import Exchanges, with_choices_apart
from polyc.frontend.idioms.fixed import with_fixed_places
from polyc.frontend.idioms.flips import with_flips
from polyc.frontend.idioms.indices import with_indices
from polyc.frontend.idioms.named import with_known_steps
from polyc.frontend.idioms.rows import Rows
from polyc.frontend.idioms.structs import with_first_values, with_members_apart
from polyc.frontend.idioms.transfers import moved, with_transfers
from polyc.frontend.idioms.turns import with_rolled_loops, with_turns
from polyc.frontend.idioms.webs import with_webs
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.walks.walks import Followed, followed_values, with_values
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """A region's body, and what was found on the way to it."""

    body: c.Block
    moved: frozenset[str]
    """The names that calls of `memset` and the like mention, which the model reads as loops."""
    read: frozenset[str]
    """The names that the user's text reads, in statements that nobody needs too."""
    steps: dict[str, int]
    """Names of steps of loops, and the numbers in their places."""
    followed: Followed
    split: tuple[Symbol, ...]
    """The variables that have others in the places of their webs."""
    exchanges: Exchanges
    rows: Rows


def normal(
    written: c.Block,
    scope: Scope,
    at: Surroundings,
    converter: Converter,
    types: Types,
    effects: Callable[[str], Effect],
) -> Normal:
    """The form of a region as it was written, with the bodies of functions in the places of their calls."""
    mentioned, read = moved(written), frozenset(reads(written))
    body = with_rolled_loops(with_transfers(written, scope, at.own_functions), scope)
    called = [effects(item.function) for item in c.walk(body) if isinstance(item, c.Call)]
    if not any(effect.anything and effect.returns for effect in called):
        body = with_fixed_places(body, scope, not at.unasked)
    body = with_choices_apart(with_members_apart(body, scope), scope)
    before = partial(at.constant_before, types)
    stays = staying(body, at)  # by the text as it was written: below, names stand for others
    body, flips = with_flips(body, scope, at.is_own, before)
    body, steps = with_known_steps(body, scope, before)
    body = with_first_values(with_turns(body, scope, at.is_own), scope)
    follow = partial(
        with_values,
        scope=scope,
        is_own=at.is_own,
        stays=stays,
        effects=effects,
        before=before,
        parts=at.parts_of(body, converter),
    )
    named = {key: value for key, value in steps.items() if not scope.symbols[key].constant}
    followed = followed_values(body, scope, follow, stays).beside(flips | named)
    followed = replace(followed, body=with_turns(followed.body, scope, at.is_own))  # of pointers along rows
    body, split = with_webs(followed.body, scope, at.is_read_behind)
    exchanges = Exchanges(scope, with_indices(body, scope))
    rows = Rows(scope, exchanges.body, at.is_own)
    return Normal(rows.body, mentioned, read, steps, followed, split, exchanges, rows)


def staying(body: c.Block, at: Surroundings) -> Callable[[Symbol], bool]:
    """Says whether somebody else sees a variable, or needs its declaration."""
    within = {
        item.operand.name
        for item in c.walk(body)
        if isinstance(item, c.Unary) and item.op == "&" and isinstance(item.operand, c.Name)
    }
    outermost = {item.name for item in body.body if isinstance(item, c.Decl)}
    taken, behind = at.taken, at.used_behind

    def stays(symbol: Symbol) -> bool:
        if symbol.storage is Storage.REGION:  # the name may be another variable's elsewhere
            return symbol.key in within or (symbol.key in outermost and symbol.c_name in behind)
        return symbol.c_name in taken

    return stays
