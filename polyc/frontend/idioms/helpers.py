"""Functions that only compute a value of their arguments, put in the place of their calls.

`static inline int idx(int y, int x, int w) { return y * w + x; }` makes `a[idx(i, j - 1, w)]` the subscript
`i * w + (j - 1)`, which the model can follow. What is printed is the expression, as if the function were a macro.

rewrite:  f(a, b)  ->  (R)e[x := (X)a, y := (Y)b]     for R f(X x, Y y) { return e; }
requires: the arguments have no side effects; e reads nothing but the parameters and constants, elements behind
          pointers and members of structs among the parameters, and variables of the file; a struct is given by a place
          in memory: its name, `v[i]`, `*p`, `p->tab`
ensures:  the same operations on the same values: casts stand where C converts, unless they change nothing. An argument
          that e does not evaluate in a call is not evaluated
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from pycparser import c_ast

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import base_key, lvalues
from polyc.analysis.expressions.promoted import EXTREMA
from polyc.analysis.expressions.ranges import decided
from polyc.analysis.expressions.straight import ABSOLUTE
from polyc.errors import Span, UserError
from polyc.frontend.c.ctype import INT, Shape, Types, basic, common, member_of, promote
from polyc.frontend.c.effects import NOTHING, Effect, is_readable
from polyc.frontend.c.expressions import Expressions
from polyc.frontend.c.functions import PURE, has_no_effect, real_type
from polyc.frontend.c.parse import LONGEST_HELPER, parse_function
from polyc.frontend.c.references import inner_rank, links, resolve, split_chain
from polyc.frontend.c.symbols import Scope, Symbol, scope_before
from polyc.frontend.text.asserts import ASSERTED
from polyc.frontend.text.chunks import Chunks
from polyc.frontend.text.places import Places
from polyc.model import ctree as c
from polyc.model.scop import CType, Function, Storage
from polyc.records import dataclass, field, replace

LARGEST = 64
"""Nodes of an expression that is put in the place of a call."""
SMALL = 16
"""Nodes of an argument that may be evaluated several times."""
_INSTRUCTIONS = ABSOLUTE | EXTREMA.keys()
"""Functions that take no longer than an operation."""
_EFFECTS = (c.Assign, c.Postfix)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
_PLAIN = {
    1: ("signed char", "unsigned char"),
    2: ("short", "unsigned short"),
    4: ("int", "unsigned int"),
    8: ("long", "unsigned long"),
}
_FLOATS = {2: "_Float16", 4: "float", 8: "double"}


class Unclear(Exception):
    """A function is no expression."""


@dataclass(frozen=True, slots=True)
class Helper:
    """A function as an expression."""

    parameters: tuple[tuple[str, Shape], ...]
    """Names in `value`, and types; no name for what the function does not use."""
    value: c.Expr
    """Of the parameters, converted to the function's type."""
    constants: dict[str, int]
    """Constants of the file that it mentions."""
    uses: dict[str, int]
    """How often each parameter is read."""
    shared: frozenset[str] = frozenset()
    """Variables of the file that it reads."""


@dataclass(slots=True)
class Helpers:
    """The functions of a file."""

    chunks: Chunks
    places: Places
    effects: Callable[[str], Effect]
    known: dict[str, Helper | None] = field(default_factory=dict)

    def of(self, name: str) -> Helper | None:
        """The function as an expression; None for one that is none."""
        if name not in self.known:
            self.known[name] = None  # while it is looked into: it calls itself
            self.known[name] = self.found(name)
        return self.known[name]

    def found(self, name: str) -> Helper | None:
        body = self.chunks.body_of(name)
        if body is None:
            return None
        item, text = self.chunks.items[body], self.chunks.code_of(body)
        if len(text) > LONGEST_HELPER or not is_readable(text):
            return None
        try:
            parsed = parse_function(self.chunks, body, [(item.start, item.end)], self.places)
            types = Types()
            types.add_all(parsed.tree)
            scope = scope_before(types, parsed.tree, parsed.function, [])
            reader = _Reader(Expressions(parsed, self.places, scope, expanded=self.expanded), scope, parsed.function)
            return reader.helper()
        except (UserError, Unclear, RecursionError):
            return None

    def expanded(self, call: c.Call, scope: Scope, anywhere: bool) -> c.Expr:
        """The expression that a call stands for, or the call.

        anywhere: also where larger arguments would be evaluated several times: what is printed is made of the
                  expression's value, not of its text
        """
        helper = self.of(call.function)
        if helper is None or len(helper.parameters) != len(call.arguments):
            return call
        if not all(self.is_pure(argument) for argument in call.arguments):
            return call
        if any(constant(name, scope) != value for name, value in helper.constants.items()):
            return call
        if any(isinstance(n, c.Call) and scope.find(n.function) is not None for n in c.walk(helper.value)):
            return call
        given: dict[str, c.Expr] = {}
        for name in helper.shared:
            if not is_global(name, scope):
                return call
            given[name] = c.Name(scope.blocks[0][name].key)
        for (name, shape), argument in zip(helper.parameters, call.arguments, strict=True):
            place = shape.dims or shape.element.kind == "struct"
            if place and (is_same_array(argument, shape, scope) or is_address(argument, shape, scope)):
                given[name] = argument
                continue
            if place and not is_struct(argument, shape, scope):
                return call
            passed = argument if place else converted(argument, shape.element, type_of(argument, scope))
            followed = anywhere or self.effects(call.function).anything  # else nobody knows what the call does
            if helper.uses.get(name, 0) > 1 and not followed and not is_small(passed):
                return call
            given[name] = passed
        found = without_decided(substituted(helper.value, given, call.span), scope)
        if repeats_calls(found):
            return call
        return found if size(found) <= LARGEST * (4 if anywhere else 1) else call

    def of_numbers(self, hidden: set[str]) -> dict[str, Function]:
        """The functions that were looked at, as far as they compute something of their arguments alone.

        hidden: names that stand for something else where they are called
        """
        found: dict[str, Function] = {}
        for name, helper in self.known.items():
            if helper is None or helper.shared or helper.constants or name in hidden:
                continue
            types = {key: canonical(shape.element) for key, shape in helper.parameters if not shape.dims}
            if len(types) == len(helper.parameters) and all(types.values()) and types.keys() == helper.uses.keys():
                own = ((key, replace(shape.element, text=types[key] or "")) for key, shape in helper.parameters)
                found[name] = Function(tuple(own), helper.value)
        return found

    def is_pure(self, expr: c.Expr) -> bool:
        """Whether it changes nothing, so that it does not matter how often it is evaluated."""
        for node in c.walk(expr):
            if isinstance(node, _EFFECTS) or (isinstance(node, c.Unary) and node.op in ("++", "--")):
                return False
            if isinstance(node, c.Call) and self.effects(node.function) != NOTHING:
                return False
        return True


# --- the function


@dataclass(slots=True)
class _Reader:
    """Runs the body of a function with its parameters as they are: declarations, assignments, branches, returns."""

    expressions: Expressions
    scope: Scope
    function: c_ast.FuncDef
    result: CType = INT
    steps: int = 0

    def helper(self) -> Helper:
        declared = self.function.decl.type
        shape = self.scope.types.shape(declared)
        if shape.dims or not is_arithmetic(shape.element, self.scope.types):
            raise Unclear
        self.result = shape.element
        parameters: list[tuple[str, Shape]] = []
        for item in declared.args.params if declared.args is not None else ():
            if isinstance(item, c_ast.Typename) and self.scope.types.shape(item.type).element.text == "void":
                continue
            symbol = self.scope.find(item.name) if isinstance(item, c_ast.Decl) and item.name else None
            if symbol is None or symbol.volatile:
                raise Unclear
            is_struct = symbol.shape.element.kind == "struct" and symbol.shape.node is not None
            if not symbol.rank and not is_struct and not is_arithmetic(symbol.shape.element, self.scope.types):
                raise Unclear
            parameters.append((symbol.key, symbol.shape))
        keys = {key for key, _ in parameters}
        pointers = {key: len(shape.dims) for key, shape in parameters if shape.dims}
        values: dict[str, c.Expr] = {key: c.Name(key) for key, shape in parameters if not shape.dims}
        value = self.run(list(self.function.body.block_items or []), values)
        if self.expressions.problems or size(value) > LARGEST:
            raise Unclear
        constants: dict[str, int] = {}
        shared: set[str] = set()
        for node in c.walk(value):
            self.check(node, keys, constants, shared)
        pointers |= {key: len(self.scope.symbols[key].shape.dims) for key in shared}
        pointers |= {key: 0 for key, shape in parameters if shape.element.kind == "struct" and not shape.dims}
        uses = Counter(node.name for node in c.walk(value) if isinstance(node, c.Name) and node.name in keys | shared)
        elements = Counter(key for node in c.walk(value) if (key := element_of(node, pointers, self.scope)) is not None)
        if any(elements[key] != uses[key] for key in pointers):
            raise Unclear  # a pointer or a whole struct is used as a value
        return Helper(tuple(parameters), value, constants, dict(uses), frozenset(shared))

    def check(self, node: c.Node, keys: set[str], constants: dict[str, int], shared: set[str]) -> None:
        """What may stand in the expression: it means the same at the place of the call. Raises Unclear."""
        match node:
            case c.Name(name=name) if name not in keys:
                symbol = self.scope.symbols.get(name)
                value = self.scope.types.constants.get(name) if symbol is None else fixed(symbol, self.scope.types)
                if symbol is not None and (symbol.c_name != name or symbol.volatile):
                    raise Unclear
                if value is not None:
                    constants[name] = value
                elif is_global(name, self.scope):
                    shared.add(name)
                else:
                    raise Unclear
            case c.Call(function=name) if name not in PURE and name != ASSERTED:
                raise Unclear
            case c.SizeOf() | c.InitList() | c.Assign() | c.Postfix():
                raise Unclear
            case c.Unary(op="++" | "--" | "&" | "*"):
                raise Unclear
            case c.Cast(type=text) if named_type(text, self.scope.types) is None:
                raise Unclear

    def run(self, items: Sequence[c_ast.Node], values: dict[str, c.Expr]) -> c.Expr:
        """The value that is returned. Raises Unclear."""
        self.steps += 1
        if not items or self.steps > LARGEST:  # each branch runs what follows it by itself
            raise Unclear
        first, rest = items[0], items[1:]
        match first:
            case c_ast.Return() if first.expr is not None:
                value = self.value(first.expr, values)
                return converted(value, self.result, self.type(value))
            case c_ast.Compound():
                return self.run([*(first.block_items or []), *rest], values)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name == ASSERTED:
                asserted = self.value(first.args.exprs[0], values)
                return c.Call(ASSERTED, (asserted, self.run(rest, values)))
            case c_ast.If() if self.assigns_only(first):
                return self.run(rest, self.after(first, values))
            case c_ast.If():
                test = self.value(first.cond, values)
                then = self.run([*branch(first.iftrue), *rest], values)
                return c.Ternary(test, then, self.run([*branch(first.iffalse), *rest], values))
        return self.run(rest, self.after(first, values))

    def assigns_only(self, node: c_ast.Node) -> bool:
        """Whether a statement does nothing but assign, so that what follows need not be looked at twice."""
        match node:
            case c_ast.Compound():
                return all(self.assigns_only(item) for item in node.block_items or [])
            case c_ast.If():
                return all(self.assigns_only(item) for item in (*branch(node.iftrue), *branch(node.iffalse)))
        return isinstance(node, c_ast.Assignment | c_ast.UnaryOp)

    def after(self, node: c_ast.Node, values: dict[str, c.Expr]) -> dict[str, c.Expr]:
        """The variables' values after a statement. Raises Unclear."""
        match node:
            case c_ast.Decl():
                return self.declared(node, values)
            case c_ast.DeclList():
                for one in node.decls:
                    values = self.declared(one, values)
                return values
            case c_ast.Assignment(lvalue=c_ast.ID()):
                target = self.local(node.lvalue)
                value = self.value(node.rvalue, values)
                if node.op != "=":
                    if target not in values:
                        raise Unclear
                    value = c.Binary(node.op[:-1], values[target], value)
                return {**values, target: self.stored(target, value)}
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=c_ast.ID()):
                target = self.local(node.expr)
                if target not in values:
                    raise Unclear
                one = c.Binary("+" if "+" in node.op else "-", values[target], c.Literal("1"))
                return {**values, target: self.stored(target, one)}
            case c_ast.Compound():
                for item in node.block_items or []:
                    values = self.after(item, values)
                return values
            case c_ast.If():
                test = self.value(node.cond, values)
                then, other = dict(values), dict(values)
                for item in branch(node.iftrue):
                    then = self.after(item, then)
                for item in branch(node.iffalse):
                    other = self.after(item, other)
                merged: dict[str, c.Expr] = {}
                for key in then.keys() & other.keys():
                    same = then[key] == other[key]
                    merged[key] = then[key] if same else self.stored(key, c.Ternary(test, then[key], other[key]))
                return merged
        raise Unclear

    def declared(self, node: c_ast.Decl, values: dict[str, c.Expr]) -> dict[str, c.Expr]:
        """A local variable. Names are not followed through blocks: one that stands for two things is not followed."""
        shape = self.scope.types.shape(node.type)
        known = self.scope.find(node.name) is not None or node.name in self.scope.types.constants
        if not node.name or known or node.storage:
            raise Unclear
        if shape.dims or "volatile" in shape.qualifiers or not is_arithmetic(shape.element, self.scope.types):
            raise Unclear
        value = self.value(node.init, values) if node.init is not None else None
        symbol = self.scope.declare(node, Storage.REGION)
        return values if value is None else {**values, symbol.key: self.stored(symbol.key, value)}

    def local(self, node: c_ast.ID) -> str:
        symbol = self.scope.find(node.name)
        if symbol is None or symbol.rank or symbol.storage not in (Storage.ARGUMENT, Storage.REGION):
            raise Unclear
        return symbol.key

    def stored(self, key: str, value: c.Expr) -> c.Expr:
        element = self.scope.symbols[key].shape.element
        return converted(value, element, self.type(value))

    def type(self, expr: c.Expr) -> CType | None:
        return type_of(expr, self.scope)

    def value(self, node: c_ast.Node, values: dict[str, c.Expr]) -> c.Expr:
        """An expression, with the values of variables. Raises Unclear."""
        expr = self.expressions.expr(node)[0]
        if next(lvalues(expr), None) is not None:
            raise Unclear
        local = (Storage.ARGUMENT, Storage.REGION)
        for part in c.walk(expr):
            symbol = self.scope.symbols.get(part.name) if isinstance(part, c.Name) else None
            if symbol is not None and symbol.storage in local and not symbol.rank and symbol.key not in values:
                raise Unclear  # nobody gave it a value
        if sum(1 for _ in c.walk(expr)) > LARGEST:
            raise Unclear

        def settled(part: c.Node) -> c.Node | None:
            return values.get(part.name) if isinstance(part, c.Name) else None

        return c.rewrite(expr, settled)


def element_of(node: c.Node, pointers: dict[str, int], scope: Scope) -> str | None:
    """The array that a reference is a whole element of; of structs, a member of an element."""
    depth = member = 0
    if isinstance(node, c.Member):
        depth, member, node = int(node.arrow), 1, node.base
    while isinstance(node, c.Subscript):
        depth, node = depth + 1, node.base
    symbol = scope.symbols.get(node.name) if isinstance(node, c.Name) else None
    if symbol is None or pointers.get(symbol.key) != depth:
        return None
    return symbol.key if (symbol.shape.element.kind == "struct") == bool(member) else None


def branch(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a branch."""
    if isinstance(node, c_ast.Compound):
        return list(node.block_items or [])
    return [] if node is None else [node]


# --- the call


def substituted(value: c.Expr, given: dict[str, c.Expr], span: Span | None) -> c.Expr:
    """The expression with arguments in the place of parameters; errors and notes point to the call."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Name(name=name):
                return given.get(name)
            case c.Member(base=c.Name(name=name), field=field, arrow=True):
                argument = given.get(name)
                if isinstance(argument, c.Unary) and argument.op == "&":
                    return c.Member(argument.operand, field, False, span)
        return None

    return c.rewrite(c.placed(value, span), change)


def without_decided(expr: c.Expr, scope: Scope) -> c.Expr:
    """The expression with 0 or 1 for comparisons that the types of arguments decide, and of a whole number with
    itself: compilers warn of them."""

    def element(key: str) -> CType | None:
        symbol = scope.symbols.get(key)
        text = canonical(symbol.shape.element) if symbol is not None else None
        return basic(text, text) if text is not None else None

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Binary):
            return None
        if node.op in c.COMPARISONS and node.left == node.right and has_no_effect(node.left):
            type_ = type_of(node.left, scope)
            return c.of_equals(node.op) if type_ is not None and type_.kind == "int" else None
        holds = decided(node, element)
        return None if holds is None else c.Literal(str(int(holds)), node.span)

    return c.rewrite(expr, change)


def size(expr: c.Expr) -> int:
    """The nodes of an expression, without what is asserted: that is not printed."""
    asserted = [node for node in c.walk(expr) if isinstance(node, c.Call) and node.function == ASSERTED]
    return sum(1 for _ in c.walk(expr)) - sum(1 for node in asserted for _ in c.walk(node.arguments[0]))


def repeats_calls(expr: c.Expr) -> bool:
    """Whether an expression calls a function of the C library several times for one value, of which each takes time."""
    calls = (node for node in c.walk(expr) if isinstance(node, c.Call) and node.function in PURE - _INSTRUCTIONS)
    return any(count > 1 for count in Counter(map(c.unlabelled, calls)).values())


def is_small(expr: c.Expr) -> bool:
    """Whether evaluating an argument several times is as good as once: one element, or one and a number, or a short
    expression without."""
    nodes = list(c.walk(expr))
    if any(isinstance(node, c.Call | c.Comma | c.SizeOf) for node in nodes):
        return False
    if not any(isinstance(n, c.Subscript | c.Member) or (isinstance(n, c.Unary) and n.op == "*") for n in nodes):
        return len(nodes) <= SMALL
    if sum(isinstance(node, c.Binary) for node in nodes) > 1:
        return False
    while isinstance(expr, c.Cast | c.Unary | c.Binary):
        if not isinstance(expr, c.Binary):
            expr = expr.operand
        elif isinstance(expr.right, c.Literal):
            expr = expr.left
        else:
            break
    return links(expr) is not None


def is_address(argument: c.Expr, shape: Shape, scope: Scope) -> bool:
    """Whether an argument is the address of a struct variable, for a pointer to such structs."""
    inner = argument.operand if isinstance(argument, c.Unary) and argument.op == "&" else None
    single = shape.element.kind == "struct" and len(shape.dims) == 1
    return single and inner is not None and is_same_array(inner, replace(shape, dims=()), scope)


def is_struct(argument: c.Expr, shape: Shape, scope: Scope) -> bool:
    """Whether an argument is a struct in memory, `v[i]`, `*p` or `p->tab`, for a parameter of its type."""
    found = resolve(scope, argument)
    if shape.dims or found is None or found.symbol.volatile:
        return False
    at: Shape | None = found.symbol.shape
    for link in found.rest:
        at = member_of(scope.types, at.node, link.field) if at is not None and isinstance(link, c.Member) else None
        if at is None or at.dims or "volatile" in at.qualifiers:
            return False
    assert at is not None
    return at.element.text == shape.element.text and same_struct(at.node, shape.node)


def is_global(name: str, scope: Scope) -> bool:
    """Whether a name means a variable of the file, which nothing hides."""
    symbol = scope.blocks[0].get(name)
    return symbol is not None and scope.find(name) is symbol and not symbol.shape.is_function and not symbol.volatile


def same_struct(one: c_ast.Node | None, other: c_ast.Node | None) -> bool:
    """Whether two declarations of a struct say the same."""

    def text(node: c_ast.Node) -> tuple[object, ...]:
        own = tuple(str(getattr(node, name)) for name in node.attr_names)
        return type(node).__name__, own, tuple(text(child) for child in node)

    return one is not None and other is not None and (one is other or text(one) == text(other))


def is_same_array(argument: c.Expr, shape: Shape, scope: Scope, own: bool = False) -> bool:
    """Whether an argument is an array, or a row of one, whose elements are what the function takes them for.

    own: it is the function itself that does, `double (*q)[n] = p`, perhaps with one that lies in a struct
    """
    depth = 0
    while isinstance(argument, c.Subscript):
        depth, argument = depth + 1, argument.base
    whole = shape_of(argument, scope) if own or isinstance(argument, c.Name) else None
    if whole is None or len(whole.dims) - depth != len(shape.dims):
        return False
    one, other = whole.element, shape.element
    if one.kind == "struct":
        if one.text != other.text or not same_struct(whole.node, shape.node):
            return False
    elif one.kind not in ("int", "float") or not is_same(one, other) or is_enum(one.text, scope.types):
        return False
    inner = zip(whole.dims[depth + 1 :], shape.dims[1:], strict=True)
    if own:
        return all(scope.is_same_extent(a, b) for a, b in inner)
    return all(a.pointer == b.pointer and (a.pointer or (a.size is not None and a.size == b.size)) for a, b in inner)


def shape_of(array: c.Expr, scope: Scope) -> Shape | None:
    """The shape of a variable, or of a member that lies in one or in an element of it; None of others."""
    key, chain = base_key(array), links(array)
    symbol = scope.symbols.get(key) if key is not None else None
    if symbol is None or chain is None or symbol.volatile:
        return None
    if not chain:
        return symbol.shape
    subscripts, rest = split_chain(chain, symbol.rank)
    if subscripts is None or not isinstance(chain[-1], c.Member) or inner_rank(scope, symbol, rest) is None:
        return None
    found: Shape | None = symbol.shape
    for link in rest:
        if isinstance(link, c.Member) and found is not None:
            found = scope.types.field(found.node, link.field)
    return found


# --- types


def constant(name: str, scope: Scope) -> int | None:
    """The value of a constant of the file, where nothing hides it."""
    symbol = scope.find(name)
    if symbol is None:
        return scope.types.constants.get(name)
    return fixed(symbol, scope.types) if symbol is scope.blocks[0].get(name) else None


def fixed(symbol: Symbol, types: Types) -> int | None:
    """The value of a constant whole number of the file."""
    init = symbol.node.init if symbol.node is not None else None
    if symbol.storage is not Storage.GLOBAL or not symbol.constant or not symbol.is_integer or init is None:
        return None
    return types.constant(init) if is_same(symbol.shape.element, INT) else None


def named_type(text: str, types: Types) -> str | None:
    """C's own words for an arithmetic type."""
    node = types.typedefs.get(text)
    shape = types.shape(node) if node is not None else Shape(basic(text, text))
    return canonical(shape.element) if not shape.dims and is_arithmetic(shape.element, types) else None


def is_arithmetic(type_: CType, types: Types) -> bool:
    """Whether all is known of a type: of an enum it is not, some compilers take an unsigned one for it."""
    return canonical(type_) is not None and not is_enum(type_.text, types)


def is_enum(text: str, types: Types) -> bool:
    node = types.typedefs.get(text)
    while isinstance(node, c_ast.TypeDecl | c_ast.Typename):
        node = node.type
    if isinstance(node, c_ast.IdentifierType) and len(node.names) == 1 and node.names[0] != text:
        return is_enum(node.names[0], types)
    return isinstance(node, c_ast.Enum) or text.startswith("enum ")


def canonical(type_: CType) -> str | None:
    """C's own words for an arithmetic type; None for another one."""
    if type_.text == "_Bool":
        return "_Bool"
    if type_.kind == "int" and type_.size_bytes in _PLAIN:
        return _PLAIN[type_.size_bytes][not type_.signed]
    return _FLOATS.get(type_.size_bytes) if type_.kind == "float" else None


def is_same(one: CType, other: CType) -> bool:
    if "_Bool" in (one.text, other.text):
        return one.text == other.text
    return (one.kind, one.size_bytes, one.signed) == (other.kind, other.size_bytes, other.signed)


def converted(expr: c.Expr, target: CType, source: CType | None) -> c.Expr:
    """The value in a type. Half precision is rounded here, whatever it is computed in."""
    if source is not None and is_same(source, target) and not (target.kind == "float" and target.size_bytes < 4):
        return expr
    text = canonical(target)
    if text is None:
        raise Unclear
    return c.Cast(text, expr, expr.span)


def type_of(expr: c.Expr, scope: Scope) -> CType | None:
    """The type of an arithmetic expression; None where it is not known."""
    match expr:
        case c.Literal(text=text):
            return type_of_literal(text)
        case c.Name(name=name) if name not in scope.symbols:
            return INT if name in scope.types.constants else None
        case c.Name() | c.Subscript() | c.Member() | c.Unary(op="*"):
            return _element_type(expr, scope)
        case c.Unary(op="!"):
            return INT
        case c.Unary(op="-" | "+" | "~", operand=operand):
            one = type_of(operand, scope)
            return None if one is None else promote(one) if one.kind == "int" else one
        case c.Binary(op=op) if op in _COMPARISONS:
            return INT
        case c.Binary(op="<<" | ">>", left=left):
            one = type_of(left, scope)
            return promote(one) if one is not None and one.kind == "int" else None
        case c.Binary(left=left, right=right) | c.Ternary(then=left, otherwise=right):
            return _arithmetic(type_of(left, scope), type_of(right, scope))
        case c.Call(function=name, arguments=(_, value)) if name == ASSERTED:
            return type_of(value, scope)
        case c.Call(function=name):
            real = real_type(name)
            return basic(real, real) if real is not None else None
        case c.Cast(type=text):
            plain = named_type(text, scope.types)
            return basic(plain, plain) if plain is not None else None
    return None


def _element_type(expr: c.Expr, scope: Scope) -> CType | None:
    """The type of a variable, an element, or a member of one."""
    found = resolve(scope, expr)
    if found is None:
        return None
    shape: Shape | None = Shape(found.symbol.shape.element, (), found.symbol.shape.node)
    for link in found.rest:
        if shape is None or shape.dims or not isinstance(link, c.Member) or is_bit_field(shape.node, link.field):
            return None
        shape = scope.types.field(shape.node, link.field)
    if shape is None or shape.dims or not is_arithmetic(shape.element, scope.types):
        return None
    return shape.element


def is_bit_field(node: c_ast.Node | None, name: str) -> bool:
    """Whether a member is one, or may be: small ones are int, whatever their type."""
    items = [item for item in getattr(node, "decls", None) or () if isinstance(item, c_ast.Decl) and item.name == name]
    return not items or items[0].bitsize is not None


def _arithmetic(one: CType | None, other: CType | None) -> CType | None:
    if one is None or other is None or {one.kind, other.kind} - {"int", "float"}:
        return None
    if one.kind == other.kind == "int":
        return common(one, other)
    if one.kind != other.kind:
        return one if one.kind == "float" else other
    return one if one.size_bytes >= other.size_bytes else other


def type_of_literal(text: str) -> CType | None:
    if text.startswith(("'", '"')):
        return INT if text.startswith("'") else None
    if literal_value(text) is None:
        suffix = text[-1].lower()
        if text.lower().endswith(("f16", "f32", "f64", "f128", "f64x", "f32x")) or suffix == "l" or "x" in text.lower():
            return None
        return basic("float", "float") if suffix == "f" else basic("double", "double")
    value = literal_value(text)
    return INT if text.isdigit() and value is not None and value < 1 << 31 else None
