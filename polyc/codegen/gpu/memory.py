"""The region's arrays in the device's memory: how large they are, what is copied there and back, where a cell is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from polyc.codegen.gpu.device.words import NotMappable, element_type, is_by_value, value_type
from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.loops.instances import InstancePrinter
from polyc.codegen.text.arith import in_64_bits, plus, product, times
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Array, Parameter, Scop, Storage
from polyc.nests.samples import sample_parameters
from polyc.poly import maps, out_name
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array that kernels use."""

    key: str
    name: str
    type: str
    """Of its elements, a built-in one."""
    inner: tuple[c.Expr, ...]
    """Sizes of all dimensions but the first."""
    elements: c.Expr | None
    """How many elements; None for a scalar that goes to the kernels by value."""
    copied_in: bool
    copied_out: bool
    scratch: bool
    """Declared inside the region: it has no counterpart in the user's program."""
    written: bool
    flat: bool = False
    """The host's array has one dimension."""
    strides: tuple[c.Expr, ...] = ()
    """Of a flat array: those of all dimensions but the innermost, where they are no products of sizes."""
    last: str = ""
    """The variable with the last subscript in C of the outermost dimension, where the data choose it."""

    @property
    def by_value(self) -> bool:
        return self.elements is None

    @property
    def boxed(self) -> bool:
        """Whether all sizes but the first are numbers, so that a kernel can say `A[i][j]`."""
        return not self.flat and all(isinstance(e, c.Literal) for e in self.inner)


def device_arrays(program: Program) -> dict[str, DeviceArray]:
    """Every array of the region, by its key. Raises NotMappable."""
    scop = program.scop
    names = [a.printed_name for a in scop.arrays.values() if not a.root]
    for place in names:
        if not place.isidentifier():
            raise NotMappable(f"'{place}' is no variable: copy it to one before the region")
    parameters = {p.name for p in scop.parameters}
    touched = {access.array for s in scop.statements.values() for access in s.accesses}
    found: dict[str, DeviceArray] = {}
    for key, array in scop.arrays.items():
        if array.root:
            continue  # a part of another one
        parts = {key, *(part.name for part in scop.arrays.values() if part.root == key)}
        name = array.printed_name
        if names.count(name) > 1:
            raise NotMappable(f"two arrays are called {name}")
        if not array.rank and key not in touched:
            continue  # its values live in an array now, or in the expressions that read them
        if is_by_value(array, scop):
            found[key] = DeviceArray(key, name, value_type(array.element), (), None, True, False, False, False)
            continue
        if name in parameters:
            raise NotMappable(f"{name} is written, and a size")
        build = build_for(scop, scop.known)
        printer = ExprPrinter(scop.parameters, {})
        first, *inner = _sizes(program, array) if array.rank else [None]
        end = _last_found(scop, array) if array.rank and first is None else ""
        sizes = tuple(printer.convert(expression(build, e)) for e in inner if e is not None)
        strides = tuple(printer.convert(expression(build, e.project_domain_on_params())) for e in array.strides)
        product: c.Expr = c.Literal("1")
        if end:
            product = c.Binary("+", c.Name(end), c.Literal("1"))
        elif array.flat:
            last = array.in_c(tuple(printer.convert(expression(build, e)) for e in _last_cell(program, array)))
            product = c.Binary("+", linear(last[0], last[1:], sizes, strides), c.Literal("1"))
        elif first is not None:
            product = c.Cast("long", printer.convert(expression(build, first)))
        for size in () if array.flat else sizes:
            product = c.Binary("*", product, size)
        live_in = any(out_name(m) in parts for m in maps(program.dependences.live_in))
        written = any(a.array in parts and a.kind.value != "read" for s in scop.statements.values() for a in s.accesses)
        scratch = array.storage is Storage.REGION
        live_out = bool(parts & scop.live_out) and written
        found[key] = DeviceArray(
            key,
            name,
            element_type(array.element),
            sizes,
            product,
            # What is copied back has to be whole: cells that nobody writes keep their values.
            (live_in or live_out) and not scratch,
            live_out,
            scratch,
            written,
            array.flat,
            strides,
            end,
        )
    return found


def _last_found(scop: Scop, array: Array) -> str:
    """The variable in which the search before the region leaves the last subscript of an array. Raises NotMappable."""
    if scop.search is not None and array.c_name in scop.search.ends:
        return scop.search.ends[array.c_name][1]
    why = f", and {scop.reach}" if isinstance(scop.reach, str) and scop.reach else ""
    raise NotMappable(f"how much of {array.c_name} is used depends on data{why}")


def with_named_sizes(program: Program) -> Program:
    """The program with a name for each size that is an expression, as `n * m` and `p->n`: what runs the kernels is
    given its value."""
    scop = program.scop
    taken = {array.printed_name for array in scop.arrays.values()}

    def named(parameter: Parameter) -> Parameter:
        expr = parameter.expr
        if isinstance(expr, c.Name) and expr.name.isidentifier():
            return parameter
        if not parameter.name.isidentifier() or parameter.name in taken:
            raise NotMappable(
                f"one of its sizes, {parameter.name}, has no name: copy it to a variable before the region"
            )
        return replace(parameter, expr=c.Name(parameter.name))

    parameters = tuple(map(named, scop.parameters))
    return replace(program, scop=replace(scop, parameters=parameters)) if parameters != scop.parameters else program


def linear(first: c.Expr, rest: tuple[c.Expr, ...], sizes: tuple[c.Expr, ...], strides: tuple[c.Expr, ...]) -> c.Expr:
    """The place of a cell in a flat array, in 64 bits."""
    if strides:
        places: list[c.Expr] = [c.Cast("long", place) for place in (first, *rest[:-1])]
        terms = [c.Binary("*", place, stride) for place, stride in zip(places, strides, strict=True)]
        return reduce(lambda left, right: c.Binary("+", left, right), [*terms, rest[-1]])
    found: c.Expr = c.Cast("long", first)
    for size, place in zip(sizes, rest, strict=True):
        found = c.Binary("+", c.Binary("*", found, size), place)
    return found


def _last_cell(program: Program, array: Array) -> list[isl.PwAff]:
    """The last cell of a flat array that is used: its memory may end right after it. Where none is used, the one before
    the first."""
    cells: isl.Set | None = None
    for _, some in _touched(program, array):
        cells = some if cells is None else cells.union(some)
    assert cells is not None
    last = cells.coalesce().lexmax_pw_multi_aff()
    nowhere = isl.Set.universe(program.scop.context.get_space()).subtract(cells.params())
    found = []
    for position in range(array.rank):
        extent = array.extents[position]
        size = isl.PwAff.val_on_domain(nowhere, isl.Val.zero(cells.get_ctx()))
        if extent is not None:
            size = extent.project_domain_on_params().intersect_domain(nowhere)
        before = size.add_constant_val(isl.Val.int_from_si(cells.get_ctx(), -1 - array.begins[position]))
        found.append(last.get_pw_aff(position).union_add(before).coalesce().gist(program.scop.known))
    return found


def within_arrays(program: Program) -> Program:
    """The program at the sizes at which no pointer is used before the element that it points to.

    An array has nothing there; what a pointer points to may be the middle of one, and is not copied.
    Raises NotMappable where that is usual.
    """
    scop = program.scop
    bad = isl.Set.empty(scop.context.get_space())
    for statement in scop.statements.values():
        for access in statement.accesses:
            array = scop.arrays[access.array]
            if array.rank and array.extents[0] is None and access.exact:
                cells = access.relation.range().intersect_params(scop.known)
                before = cells.upper_bound_val(isl.dim_type.set, 0, isl.Val.int_from_si(cells.get_ctx(), -1))
                if not before.is_empty():
                    bad = bad.union(before.params())
                    if not before.params().intersect(sample_parameters(program)).is_empty():
                        raise NotMappable(f"{array.c_name} is used before its start")
    if bad.is_empty():
        return program
    return replace(program, scop=replace(scop, assumed=scop.assumed.subtract(bad).coalesce()))


def _touched(program: Program, array: Array) -> Iterator[tuple[bool, isl.Set]]:
    """The cells of each access to an array, or to a member of its elements, and whether it is exact."""
    for access in (access for s in program.scop.statements.values() for access in s.accesses):
        if array.name in (access.array, program.scop.arrays[access.array].root):
            cells = access.relation.intersect_params(program.scop.known).range().reset_tuple_id()
            yield (
                access.exact,
                cells.project_out(isl.dim_type.set, array.rank, cells.dim(isl.dim_type.set) - array.rank),
            )


def _sizes(program: Program, array: Array) -> list[isl.PwAff | None]:
    """One size for each dimension. Of the first one as much as is used: a parameter `A[n][m]` promises no more. None
    where the data say how much that is."""
    sizes: list[isl.PwAff] = []
    for d in range(1, array.rank):
        extent = array.extents[d]
        if extent is None:
            raise NotMappable(f"the rows of {array.c_name} have no affine length")
        sizes.append(extent.project_domain_on_params())
    declared = array.extents[0]
    if declared is not None and array.storage is not Storage.ARGUMENT:
        return [declared.project_domain_on_params(), *sizes]
    used: isl.PwAff | None = None
    for exact, cells in _touched(program, array):
        if not exact or not cells.dim_has_upper_bound(isl.dim_type.set, 0):
            return [None if declared is None else declared.project_domain_on_params(), *sizes]
        if cells.is_empty():
            continue
        most = cells.dim_max(0).add_constant_val(isl.Val.one(cells.get_ctx()))
        used = most if used is None else used.union_max(most)
    if used is None:
        zero = isl.Val.zero(program.scop.context.get_ctx())
        used = isl.PwAff.val_on_domain(program.scop.context, zero)
    nothing = isl.PwAff.val_on_domain(
        isl.Set.universe(program.scop.context.get_space()), isl.Val.zero(program.scop.context.get_ctx())
    )
    return [used.union_max(nothing).coalesce().gist(program.scop.known), *sizes]


def flat_instances(arrays: dict[str, DeviceArray], targets: dict[str, c.Expr]) -> type[InstancePrinter]:
    """What prints the instances of a region with these arrays; the cells of reductions are noted in `targets`."""

    class Flat(InstancePrinter):
        """Writes `A[i * m + j]` for an array whose rows have no constant length."""

        def _reference(self, node: c.ArrayRef) -> c.Expr:
            found = super()._reference(node)
            if node.array not in self.parts:
                return found
            targets[node.array] = found
            return c.ArrayRef(self.parts[node.array], (), node.ref)

        def cell(
            self, array: Array, buffer: Buffer | None, name: str, subscripts: tuple[c.Expr, ...], ref: str
        ) -> c.Expr:
            if buffer is None and array.root:
                return self.member(array, subscripts, ref)
            if buffer is not None and buffer.storage == "register":
                return c.ArrayRef(name, self.registers(buffer), ref)
            if buffer is not None and buffer.order:
                return c.ArrayRef(name, tuple(subscripts[d] for d in buffer.order), ref)
            device = arrays[array.name]
            if buffer is not None or device.by_value:
                return c.ArrayRef(name, subscripts, ref)
            if not subscripts and array.rank == 0:
                return c.ArrayRef(device.name, (c.Literal("0"),), ref)
            if array.flat and len(subscripts) == 1:  # in C's own words, where data decide them
                return c.ArrayRef(device.name, subscripts, ref)
            if len(subscripts) != array.rank:
                raise NotMappable(f"{array.c_name} is used as a whole")
            if device.boxed:
                return c.ArrayRef(device.name, subscripts, ref)
            names = {p.name for p in self.program.scop.parameters}
            subscripts = array.in_c(subscripts)
            if device.strides:
                places: c.Expr = c.Literal("0")
                for stride, subscript in zip(device.strides, subscripts, strict=False):
                    places = plus(places, product(in_64_bits(subscript, names), stride))
                return c.ArrayRef(device.name, (plus(places, subscripts[-1]),), ref)
            flat = in_64_bits(subscripts[0], names)
            for size, subscript in zip(device.inner, subscripts[1:], strict=True):
                flat = plus(product(flat, size), subscript)
            return c.ArrayRef(device.name, (flat,), ref)

        def member(self, array: Array, subscripts: tuple[c.Expr, ...], ref: str) -> c.Expr:
            """`p[i].v[k]` of an array that is a member of all elements of `p`."""
            root = self.program.scop.arrays[array.root]
            found = self.cell(root, None, root.printed_name, subscripts[: root.rank], ref)
            for name in array.path:
                found = c.Member(found, name)
            for index in subscripts[root.rank :] if root.members[array.path].extents else ():
                found = c.Subscript(found, index)
            return found

        def registers(self, buffer: Buffer) -> tuple[c.Expr, ...]:
            """Where in a thread's part of a register buffer the cell of this instance is: what its loops count."""
            found: list[c.Expr] = [c.Literal("0")] * len(buffer.registers)
            for iterator, member in self.members.items():
                if member.digit is None or iterator not in self.exprs.iterators:
                    continue  # or it has one iteration
                dimension, weight = member.digit
                found[dimension] = plus(found[dimension], times(weight, self.exprs.iterators[iterator]))
            return tuple(found)

    return Flat
