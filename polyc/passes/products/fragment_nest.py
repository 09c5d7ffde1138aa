"""One contraction in its tile, on the way to tensor cores."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import islpy as isl

from polyc.cost.gpu_sizes import PAD_BYTES
from polyc.model.fragments import SUMS, Fragment
from polyc.model.program import Buffer
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tasks import TaskMapping, repeat, spatial
from polyc.model.tree import LEAF, Band, Mark, Member, Node, Role
from polyc.nests.contractions import extent_of
from polyc.passes.products.fragment_loads import chain_weights, fragment_operands
from polyc.passes.products.panels import mention_one_index
from polyc.passes.products.register_nest import NoRegisterTile, RegisterNest

BANKS = 32


class NoFragments(NoRegisterTile):
    """Why tensor cores do not sum up a contraction; each thread may do it by itself."""


class FragmentNest(RegisterNest):
    """The same tile and the same panels, but a warp sums up fragments.

    rewrite:  for k: c[i][j] += a[i][k] * b[k][j] for the thread's (i, j)
              -> for k in steps of a fragment: c += products of fragments, by the 32 threads of a warp together
    tree:     band(k) - R - y -> band(k: steps) - mark(mma) - R - band(k inside of the fragment) - y
    math:     the sums are dealt out by spatial(w, w') * repeat(f, f') * repeat(2, 1) * spatial(8, 4) * repeat(1, 2):
              warps, the fragments of a warp, and in a fragment the layout of `mma` (`model/fragments.py`). Products are
              counted through all summing loops, k = sum of weight * loop, so that a fragment may have those of several
              iterations. What is added outside of the domain is zero times zero.
    ensures:  the order of the products of one sum, but for those of one fragment, which have none
    """

    on = ", by tensor cores"

    @property
    def fragment(self) -> Fragment:
        assert self.size.fragment is not None
        return self.size.fragment

    def mapping(self) -> TaskMapping:
        own = (self.size.thread_m // 2, self.size.thread_n // 2)
        return spatial(*self.size.warps) * repeat(*own) * SUMS

    def node(self) -> Node:
        weights = chain_weights(self.program, self.contraction)
        operands = fragment_operands(self.program, self.band, self.contraction)
        if weights is None or operands is None:
            raise NoFragments("it is no sum of products any more")
        self.weights: tuple[int, ...] = weights
        self.factors: tuple[Access, Access] = operands
        return super().node()

    # --- the sum -----------------------------------------------------------------------------------------------------

    def depth(self) -> int:
        return self.size.block_k // self.weights[0]

    def shallowest(self) -> int:
        return self.depth()

    def first_whole(self) -> int:
        return 1

    def same_tile(self, more: int) -> isl.Map:
        """With the loops of the sum: whole fragments of them."""
        if not more:
            return super().same_tile(0)
        outer = len(self.band.members)
        one, two = [[f"{v}{outer + k}" for k in range(more)] for v in "pq"]
        number = [" + ".join(f"{w} {v}" for w, v in zip(self.weights, vs, strict=True)) for vs in (one, two)]
        inner = [
            f"0 <= {v} < {extent_of(self.program, m, self.contraction.statement)}"
            for v, m in zip(two[1:], self.contraction.chain[1:], strict=True)
        ]
        same = " and ".join([" = ".join(f"floor(({n})/{self.fragment.depth})" for n in number), *inner])
        p, q = [[f"{v}{k}" for k in range(outer + more)] for v in "pq"]
        whole = isl.Map.read_from_str(self.typical.get_ctx(), f"{{ [{', '.join(p)}] -> [{', '.join(q)}] : {same} }}")
        tile = super().same_tile(0)
        grown = tile.add_dims(isl.dim_type.in_, more).add_dims(isl.dim_type.out, more)
        return whole.intersect(grown.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out))

    def products(self, whole: isl.Set, depth: int) -> Node:
        name = self.contraction.statement
        panels = [b for b in self.program.buffers.values() if b.order]
        if not all(any((name, a.ref) in b.accesses for b in panels) for a in self.factors):
            made = [b for b in self.program.buffers.values() if not b.order and b.storage == "tile"]
            there = any((name, a.ref) in b.accesses for b in made for a in self.factors)
            raise NoFragments(
                "an operand is made in its tile" if there else "its operands have no room in shared memory"
            )
        chain = isl.PwMultiAff.from_map(self.values(name, self.contraction.chain))
        number = chain.get_pw_aff(0).scale_val(self.number(self.weights[0]))
        for k, weight in enumerate(self.weights[1:], 1):
            number = number.add(chain.get_pw_aff(k).scale_val(self.number(weight)))
        number = number.intersect_domain(whole)
        size = self.number(self.fragment.depth)
        steps = number.scale_down_val(size).floor().scale_val(size)
        last = self.contraction.chain[-1].name
        step = Member(isl.UnionPwAff.from_pw_aff(steps), False, last, Role.POINT)
        inside = Member(isl.UnionPwAff.from_pw_aff(number.mod_val(size)), False, last, Role.REGISTER)
        point = self.values(name, self.band.members)
        below = self.registers(whole, point, LEAF)
        assert isinstance(below, Band)
        together = replace(below, members=(*below.members, inside), permutable=False)
        refs = (name, *(a.ref for a in self.factors))
        return self.threads(
            whole, point, Band((step,), False, Mark("mma", together, self.fragment.name, refs, self.fragment.sizes))
        )

    def number(self, value: int) -> isl.Val:
        return isl.Val.int_from_si(self.typical.get_ctx(), value)

    def layout(
        self, statement: Statement, access: Access, extents: tuple[int, ...], element: int
    ) -> tuple[tuple[int, ...], int]:
        """The array's own order, so that rows are copied as they are, with so much behind them that the lanes of a warp
        read different banks: those with one k and eight rows, and four k next to each other."""
        rank = len(extents)
        order = tuple(range(rank))
        cell = isl.PwMultiAff.from_map(self.everywhere(access.relation))
        members = [self.band.members[k] for k in self.pair]
        along = [
            [
                d
                for d in order
                if any(mention_one_index(cell.get_pw_aff(d), self.values(statement.name, (m,))) for m in own)
            ]
            for own in (members, self.contraction.chain[-1:])
        ]
        if not all(along):
            return order, PAD_BYTES // element
        row, inside = (dims[-1] for dims in along)

        def conflicts(pad: int) -> int:
            """How many lanes want one bank, at most."""
            strides = [*(prod(extents[d + 1 : -1]) * (extents[-1] + pad) for d in order[:-1]), 1]
            along = strides[inside] * self.fragment.packed
            words = {(strides[row] * g + along * t) * element // 4 for g in range(8) for t in range(4)}
            banks = [word % BANKS for word in words]
            return max(banks.count(bank) for bank in banks)

        return order, min(range(0, BANKS * 4 // element, PAD_BYTES // element), key=conflicts)

    # --- what lies outside of the domain -----------------------------------------------------------------------------

    def pad(self, name: str, whole: isl.Set, accumulator: Buffer) -> None:
        if name != self.contraction.statement:
            super().pad(name, whole, accumulator)
            return
        self.widening = self.widening.with_part(self.domain(name), whole)
        domain = self.domain(name)
        more = whole.subtract(domain).intersect_params(self.program.scop.known)
        if more.is_empty():
            return
        statement = self.program.statements[name]
        if self.harmless(statement, more, accumulator):
            kind = "free"
        else:
            kind = "neutral"
            (written,) = [a for a in statement.accesses if a.kind is not AccessKind.READ]
            cells = self.everywhere(written.relation)
            added = more.intersect(domain.apply(cells).apply(cells.reverse()))
            for access in self.factors:
                self.check_zero(access, added.apply(self.everywhere(access.relation)))
        self.program = replace(self.program, padded=self.program.padded | {name: kind})

    def check_zero(self, access: Access, cells: isl.Set) -> None:
        """Raises NoFragments where not all of the cells of an operand are zero in its panel."""
        name = self.contraction.statement
        for buffer in self.program.buffers.values():
            if (name, access.ref) not in buffer.accesses or not buffer.order:
                continue
            for other, ref in buffer.accesses:
                if other == name:
                    continue
                filling = self.program.statements[other]
                for a in filling.accesses:
                    there = filling.domain.apply(a.relation)
                    if a.ref == ref and not there.is_disjoint(cells):
                        raise NoFragments("what lies beside its operands is not zero")
            return
        raise NoFragments("its operands have no room in shared memory")
