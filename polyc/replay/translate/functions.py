"""Functions of C as functions of Python."""

from __future__ import annotations

from pycparser import c_ast

from polyc.frontend.c.ctype import Types
from polyc.frontend.text.trees import walk
from polyc.records import dataclass, replace
from polyc.replay.machine.memory import FAR
from polyc.replay.machine.reading import Read
from polyc.replay.translate.arithmetic import Arithmetic
from polyc.replay.translate.module import Known, Module
from polyc.replay.translate.statements import Statements
from polyc.replay.translate.values import Variable, closed, kind_of

ARGUMENTS = "polyc_args"


def translated(
    read: Read,
    types: Types,
    names: tuple[str, ...],
    mode: str,
    aliased: frozenset[str],
    kinds: dict[str, bool],
    checked: tuple[str, ...] = (),
    pure: frozenset[str] = frozenset(),
    of_file: frozenset[str] = frozenset(),
    members: dict[str, dict[str, str]] | None = None,
) -> Module:
    """Translate functions whose data are arguments. Raises NotUnderstood.

    aliased: arrays that may begin inside of others; kinds: the arrays of whole numbers in which only small ones stand
    checked: texts of which each subscript is compared with its extent
    pure: functions that the user promises to be; of_file: arrays that functions may know without being given them
    members: structs of which the texts are given members only
    """
    bodies = {name: f for name, f in read.functions.items() if name not in names}
    declared = [item for item in read.tree.ext if isinstance(item, c_ast.Decl) and item.name]
    prototypes = {d.name: d for d in declared if isinstance(d.type, c_ast.FuncDecl)}
    others = {d.name: d for d in declared if d.name not in prototypes}
    known = Known(
        types, Arithmetic(mode), read.vectors, bodies, prototypes, others, read.pragmas, pure, members=members or {}
    )
    module = Module(known)
    for name in names:
        function = _Function(
            known,
            checked=name in checked,
            module=module,
            name=name,
            first_line=read.first_lines[name],
            aliased=aliased,
            few=kinds,
            of_file=of_file,
        )
        function.region(read.functions[name])
    for name in known.wanted:  # which grows
        _Function(known, module=module, name=name).users(bodies[name])
    module.compile()
    return module


def place_key(name: str) -> str:
    """What a text's result calls the place that a pointer has in the end."""
    return f"{name} at"


@dataclass(slots=True, eq=False, kw_only=True)
class _Function(Statements):
    """A whole function."""

    of_file: frozenset[str] = frozenset()

    def find(self, name: str) -> Variable | None:
        found = Statements.find(self, name)
        return found if found is not None or self.first_line else self.known.shared.get(name)

    def region(self, function: c_ast.FuncDef) -> None:
        """A text: its arrays and variables are in a dictionary, and what its variables are in the end is returned."""
        self.module.lines.append(f"def {self.name}(S):")
        scalars: list[Variable] = []
        names: list[str] = []
        self.unknown(function)
        for item in function.body.block_items or []:
            if isinstance(item, c_ast.Decl) and self.is_argument(item):
                variable = self.argument(item)
                if not variable.is_array:
                    scalars.append(variable)
                    names.append(item.name)
            else:
                self.statement(item)
        pairs = [f"{name!r}: {v.code}" for name, v in zip(names, scalars, strict=True)]
        places = [(name, v) for name in sorted(self.aliased) if (v := self.find(name)) is not None]
        pairs += [f"{place_key(name)!r}: ({v.code}.name, {v.offset})" for name, v in places]
        self.emit(f"return {{{', '.join(pairs)}}}")

    def unknown(self, function: c_ast.FuncDef) -> None:
        """Names that nobody declares: the model has no use for them, so that what runs should have none either."""
        inside = list(walk(function.body))
        declared = {item.name for item in function.body.block_items or [] if isinstance(item, c_ast.Decl)}
        declared |= {*self.known.types.constants}
        declared |= {name for name, node in self.known.globals.items() if self.is_constant(node)}
        called = {n.name.name for n in inside if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)}
        ranks: dict[str, int] = {}
        for node in inside:
            rank, base = 0, node
            while isinstance(base, c_ast.ArrayRef):
                rank, base = rank + 1, base.name
            if isinstance(base, c_ast.ID) and base.name not in declared | called | {ARGUMENTS}:
                ranks[base.name] = max(ranks.get(base.name, 0), rank)
        for name, rank in ranks.items():
            known = self.known.globals.get(name)
            written = known.type if known is not None else c_ast.IdentifierType(["long" if rank else "int"])
            shape = self.known.types.shape(written)
            variable = self.variable(name, shape)
            variable.is_array = rank > 0
            variable.extents = (str(FAR),) * rank if known is None else self.extents(written, variable.code)
            kind = self.known.kind(kind_of(shape, self.known.types, rank == 0))
            self.emit(f"{variable.code} = unknown({name!r}, {kind}, {rank > 0})")

    def is_constant(self, node: c_ast.Decl) -> bool:
        shape = self.known.types.shape(node.type)
        return not shape.dims and node.init is not None and "const" in shape.qualifiers

    def is_argument(self, node: c_ast.Decl) -> bool:
        return node.init is not None and any(isinstance(n, c_ast.ID) and n.name == ARGUMENTS for n in walk(node.init))

    def argument(self, node: c_ast.Decl) -> Variable:
        shape = self.known.types.shape(node.type)
        variable = self.variable(node.name, shape)
        self.emit(f"{variable.code} = S[{node.name!r}]")
        if shape.dims:
            variable.is_array = True
            variable.extents = self.extents(node.type, variable.code)
            if len(variable.extents) > 1:
                self.emit(f"{variable.code}.rows = ({', '.join(variable.extents[1:])},)")
            if not shape.dims[0].pointer and shape.dims[0].extent is not None:
                self.emit(f"{variable.code}.size = {'*'.join(closed(extent) for extent in variable.extents)}")
            if node.name in self.aliased:
                variable.offset = f"{variable.code}_o"
                self.emit(f"{variable.offset} = S[{node.name + ' from'!r}]")
            if node.name in self.of_file:
                code = f"file_{node.name}"
                self.emit(f"global {code}, {code}_o; {code}, {code}_o = {variable.code}, {variable.offset}")
                self.known.shared[node.name] = replace(variable, code=code, offset=f"{code}_o")
        else:
            variable.large = shape.element.kind != "int" or node.name in self.few
        return variable

    def users(self, function: c_ast.FuncDef) -> None:
        """A function of the user's; pointers are cells and a place."""
        arguments: list[str] = []
        shapes: list[tuple[c_ast.Decl, Variable]] = []
        declared = function.decl.type.args
        for item in declared.params if declared is not None else ():
            if not isinstance(item, c_ast.Decl) or not item.name:
                continue
            shape = self.known.types.shape(item.type)
            variable = self.variable(item.name, shape)
            arguments.append(variable.code)
            if shape.dims:
                variable.is_array, variable.offset = True, f"{variable.code}_o"
                arguments.append(variable.offset)
            shapes.append((item, variable))
        self.module.lines.append(f"def f_{self.name}({', '.join(arguments)}):")
        for item, variable in shapes:
            if variable.is_array:
                variable.extents = self.extents(item.type, variable.code)
        self.result = self.known.types.shape(function.decl.type).element
        self.statement(function.body)
        self.emit("return 0")
