"""Statement instances in kernels: arrays without rows of constant length, registers, and parts of reductions."""

from __future__ import annotations

from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.gpu.words import NotMappable
from polyc.codegen.loops.instances import InstancePrinter
from polyc.codegen.text.arith import in_64_bits, plus, product, times
from polyc.model import ctree as c
from polyc.model.program import Buffer
from polyc.model.scop import Array


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
