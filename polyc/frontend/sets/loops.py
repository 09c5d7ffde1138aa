"""For loops as sets of iterations."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.facts import Induction, assigned_scalars, has_jump, induction, mentions
from polyc.frontend.c.ctype import INT, common, is_narrow
from polyc.frontend.c.state import CTX, EVERYTHING, Env, Region, limits, number, variable
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.sets.affine import Affine, compared, outside
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.poly import project
from polyc.records import dataclass, replace

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """An affine loop."""

    head: Induction
    start: isl.PwAff
    domain: isl.Set
    """The outer domain and the values that the variable takes in the body."""


class NotAffine(Exception):
    """Why a loop is not affine: a note's code, and what to say."""

    def __init__(self, code: str, message: str, node: c.Expr | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.node = node


def analyse(region: Region, loop: c.For, env: Env) -> Loop:
    """The iterations of a for loop. Raises NotAffine."""
    if has_jump(loop.body):
        raise NotAffine("jump-in-loop", "break or continue in a loop")
    head = induction(loop)
    symbol = region.symbol(head.key) if head is not None else None
    if head is None or symbol is None or not symbol.is_integer or loop.condition is None:
        raise NotAffine("non-affine-loop", "the loop does not count with one integer variable in constant steps")
    changed = assigned_scalars(loop.body) | assigned_scalars(loop.condition) | region.hidden
    if head.key in env.variables or head.key in changed:
        raise NotAffine("non-affine-loop", f"'{symbol.c_name}' is changed inside the loop")
    affine = Affine(region)
    value = affine.value(head.start, env)
    start = affine.converted(value, symbol.shape.element, env) if value is not None else None
    if start is None:
        raise NotAffine("non-affine-loop", "the loop's first value is not affine", head.start)
    type_ = symbol.shape.element
    if not type_.signed or type_.size_bytes < 4:
        region.count(head.key, type_)
    here = first_domain(env, head, start)
    inside = replace(env, domain=here, dims=(*env.dims, head.key))
    domain = iterations(region, loop.condition, head, inside, start, env, symbol)
    inside = replace(inside, domain=domain)
    check_step(region, head, symbol, inside)
    return Loop(head, start, domain)


def overflowing(region: Region, node: c.For, loop: Loop, env: Env) -> isl.Set:
    """`[n] -> { [] : … }`: where an `int` overflows in the head of a loop that is reached, so that nothing is known of
    what the program does: in steps past the last value, or in a sum that the loop begins or ends with.

    requires: `env.domain` is where the loop is reached, and not more
    """
    key, step = loop.head.key, loop.head.step
    type_ = region.scope.symbols[key].shape.element
    affine, assumed = Affine(region), region.assumed
    assert node.condition is not None
    first = c.conjuncts(node.condition)[0]
    wrong = isl.Set.empty(EVERYTHING.get_space())
    # isl simplifies a set that is asked something in its place: the model keeps its own.
    around = replace(env, domain=copy_of(env.domain))
    op, bound = bound_of(first, key)
    last = affine.value(bound, around) if bound is not None else None
    ends = op == ("<" if step > 0 else ">") and abs(step) == 1 and last is not None and is_int(last[1])
    if is_int(type_) and not ends:
        after = outside(variable(key) + number(step), type_)
        wrong = outside(variable(key), type_).union(after).intersect(copy_of(loop.domain))
    waiting = [loop.head.start, first]
    while waiting:
        part = waiting.pop()
        match part:
            case c.Binary(op="<" | "<=" | ">" | ">=" | "!=", left=left, right=right):
                waiting += [left, right]
            case c.Binary(op="+" | "-" | "*", left=left, right=right) if key not in mentions(part):
                waiting += [left, right]
                value = affine.value(part, around)
                if value is not None and is_int(value[1]):
                    wrong = wrong.union(outside(*value).intersect(around.domain))
    region.assumed = assumed
    return project(wrong, (*env.variables, key))


def is_int(type_: CType) -> bool:
    """Whether a type has the values of an `int`, and overflows as it does."""
    return type_.signed and type_.size_bytes == INT.size_bytes


def copy_of(domain: isl.Set) -> isl.Set:
    """The same set that shares nothing with it."""
    return isl.Set.read_from_str(CTX, str(domain))


def first_domain(env: Env, head: Induction, start: isl.PwAff) -> isl.Set:
    """Where the loop's variable may be before its condition is asked: from `start` in steps."""
    value = variable(head.key)
    here = compared(value, ">=" if head.step > 0 else "<=", start)
    if abs(head.step) > 1:
        stride = isl.Val.int_from_si(CTX, abs(head.step))
        here = here.intersect((value - start).mod_val(stride).eq_set(number(0)))
    return env.domain.intersect(here)


def iterations(
    region: Region,
    condition: c.Expr,
    head: Induction,
    inside: Env,
    start: isl.PwAff,
    outer: Env,
    symbol: Symbol,
) -> isl.Set:
    """The values that the variable takes in the body.

    math: { i in first : no i' of first, not after i, fails the condition }; where the condition is a bound of the
    variable in the loop's direction this is first ∩ condition
    """
    affine = Affine(region)
    plain = True
    domain = inside.domain
    # That the variable stays in its type tells what a comparison with an unsigned bound compares; it bounds no loop,
    # as no C program overflows a signed variable.
    low, high = limits(symbol.shape.element)
    value = variable(head.key)
    of_type = value.ge_set(number(low)).intersect(value.le_set(number(high)))
    for part in c.conjuncts(condition):
        op, bound = bound_of(part, head.key)
        if op == "!=" and bound is not None:
            limit = affine.observed(bound, outer)
            if limit is None:
                raise NotAffine("non-affine-loop", "the loop's bound is not affine", part)
            domain = domain.intersect(unequal(region, head, start, limit, outer, symbol))
            continue
        holds = ahead(region, part, head, inside, start, outer)
        if holds is None:
            holds = affine.condition(part, replace(inside, domain=domain.intersect(of_type)))
        if holds is None:
            raise NotAffine("non-affine-loop", "the loop's condition is not affine", part)
        plain = plain and bound is not None and op in (("<", "<=") if head.step > 0 else (">", ">="))
        domain = domain.intersect(holds)
    if not plain:
        domain = prefix(inside.domain, domain, head)
        if unbounded(domain, head):
            raise NotAffine("non-affine-loop", "the loop's condition does not end it", condition)
    return domain


def ahead(region: Region, part: c.Expr, head: Induction, inside: Env, start: isl.PwAff, outer: Env) -> isl.Set | None:
    """Where `i + 2 < n` holds of a variable that counts up and is unsigned: the sum wraps after the loop has ended.

    math: i + d of all first values, and n + step, lie below 2^32: then i + d passes n before it reaches 2^32
    """
    if not isinstance(part, c.Binary) or part.op not in ("<", "<=", ">", ">=") or head.step < 0:
        return None
    op, left, right = part.op, part.left, part.right
    if op in (">", ">="):
        op, left, right = _FLIPPED[op], right, left
    match left:
        case c.Binary(op="+", left=c.Name(name=key), right=c.Literal() as more) if key == head.key:
            pass
        case c.Binary(op="+", left=c.Literal() as more, right=c.Name(name=key)) if key == head.key:
            pass
        case _:
            return None
    if key in mentions(right):
        return None
    affine = Affine(region)
    sum_, added, bound = affine.value(left, inside), affine.value(more, outer), affine.value(right, outer)
    if sum_ is None or added is None or bound is None or not is_narrow(sum_[1]):
        return None
    if common(sum_[1], bound[1]) != sum_[1]:
        return None
    end = affine.converted(bound, sum_[1], outer)
    if end is None:
        return None
    wrong = outside(start + added[0], sum_[1]).union(outside(end + number(head.step), sum_[1]))
    varies = {*mentions(head.start), *mentions(right)} & set(outer.variables)
    if not region.holds(wrong, outer if varies else Env()):
        return None
    return compared(sum_[0], op, end)


def bound_of(part: c.Expr, key: str) -> tuple[str, c.Expr | None]:
    """`i < e` and `e > i` as ("<", e) where e does not mention the variable."""
    if isinstance(part, c.Binary) and part.op in _FLIPPED:
        if isinstance(part.left, c.Name) and part.left.name == key and key not in mentions(part.right):
            return part.op, part.right
        if isinstance(part.right, c.Name) and part.right.name == key and key not in mentions(part.left):
            return _FLIPPED[part.op], part.left
    return "", None


def unequal(region: Region, head: Induction, start: isl.PwAff, limit: isl.PwAff, outer: Env, symbol: Symbol) -> isl.Set:
    """`i != limit`: the loop has to start on the right side of the limit, and to meet it in steps of more than one.

    Otherwise a signed variable would overflow, which no C program may do; one that wraps needs the assumption, and so
    do steps of more than one, as isl counts with what is assumed and not with what may not happen.
    """
    up = head.step > 0
    type_ = symbol.shape.element
    steps = abs(head.step)
    if not type_.signed or type_.size_bytes < 4 or steps > 1:
        missed = start.gt_set(limit) if up else start.lt_set(limit)
        if steps > 1:
            rest = (limit - start).mod_val(isl.Val.int_from_si(CTX, steps))
            missed = missed.union(rest.ne_set(number(0)))
        if not region.holds(missed, outer):
            raise NotAffine("wrap-around", f"'{symbol.c_name}' wraps around before it meets its bound")
    value = variable(head.key)
    return value.lt_set(limit) if up else value.gt_set(limit)


def prefix(first: isl.Set, holds: isl.Set, head: Induction) -> isl.Set:
    """The values up to the first one at which the condition fails."""
    fails = first.subtract(holds)
    if fails.is_empty():
        return first
    other = f"{head.key}'"
    position = fails.find_dim_by_name(isl.dim_type.param, head.key)
    if position < 0:
        return holds
    fails = fails.set_dim_name(isl.dim_type.param, position, other)
    later = variable(other).le_set(variable(head.key)) if head.step > 0 else variable(other).ge_set(variable(head.key))
    return first.subtract(project(fails.intersect(later), (other,))).coalesce()


def unbounded(domain: isl.Set, head: Induction) -> bool:
    position = domain.find_dim_by_name(isl.dim_type.param, head.key)
    if position < 0:
        return not domain.is_empty()
    moved = domain.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    bounded = moved.dim_has_upper_bound if head.step > 0 else moved.dim_has_lower_bound
    return not domain.is_empty() and not bounded(isl.dim_type.set, 0)


def check_step(region: Region, head: Induction, symbol: Symbol, inside: Env) -> None:
    """A variable that wraps may not do so when the loop steps past its last value."""
    type_ = symbol.shape.element
    if type_.signed and type_.size_bytes >= 4:
        return
    low, high = limits(type_)
    after = variable(head.key) + number(head.step)
    wrong = after.lt_set(number(low))
    if type_.size_bytes < 8:
        wrong = wrong.union(after.gt_set(number(high)))
    if not region.holds(wrong, inside):
        raise NotAffine("wrap-around", f"'{symbol.c_name}' wraps around in this loop")
