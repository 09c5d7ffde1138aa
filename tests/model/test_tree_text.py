"""The text of schedule trees."""

from __future__ import annotations

import islpy as isl

from polyc.model.tree import LEAF, Band, Domain, Extension, Mark, Member, Role, Sequence, sequence_of
from polyc.model.tree_text import render_tree

PARAMS = "[n, m] -> "
DOMAIN = isl.UnionSet(
    PARAMS + "{ T[i, j] : 0 <= i < n and 0 <= j < m; S[i] : 0 <= i <= n; U[i, j] : 0 <= i < n and 0 <= j < m }"
)


def member(text: str, name: str, **options: object) -> Member:
    return Member(isl.UnionPwAff(PARAMS + text), name=name, **options)  # type: ignore[arg-type]


def only(text: str) -> isl.UnionSet:
    return isl.UnionSet(PARAMS + text).intersect(DOMAIN)


def test_every_kind_of_node() -> None:
    fused, outputs = only("{ S[i] }"), only("{ T[i, j]; U[i, j] }")
    point = Band(
        (member("{ T[i, j] -> [(i)]; U[i, j] -> [(i)] }", "i", role=Role.POINT, coincident=True),),
        True,
        sequence_of([(only("{ T[i, j] }"), LEAF), (only("{ U[i, j] : j > 2 }"), LEAF)]),
    )
    producer = Band((member("{ S[i] -> [(i)] }", "i", vector=True, coincident=True),), False, LEAF)
    added = isl.UnionMap(PARAMS + "{ [t, u] -> S[i] : 32t <= i <= 32t + 33 }").intersect_range(DOMAIN)
    below = Extension(added, Mark("allocate", sequence_of([(fused, producer), (outputs, point)]), names=("b0",)))
    tile = Band(
        (
            member("{ T[i, j] -> [(floor(i/32))]; U[i, j] -> [(floor(i/32))] }", "i", role=Role.TILE, size=32,
                   parallel=True, coincident=True),
            member("{ T[i, j] -> [(i + j)]; U[i, j] -> [(0)] }", "j"),
        ),
        True,
        below,
    )  # fmt: skip
    tree = Domain(DOMAIN, Mark("group", Sequence(sequence_of([(fused, LEAF), (outputs, tile)]).children), "S\ninto T"))
    assert render_tree(tree) == (
        """\
domain [m, n] -> { S[i] : 0 <= i <= n;
                   T[i, j] : 0 <= i < n and 0 <= j < m;
                   U[i, j] : 0 <= i < n and 0 <= j < m }
  mark "group" S; into T
    sequence
      filter { S[i] }
      filter { T[i, j]; U[i, j] }
        band[c-] permutable tile(32, -) parallel(0) {
            T[i, j] -> [floor(i/32), i + j];
            U[i, j] -> [floor(i/32), 0] }
          extension { [i_t, j_o] -> S[i] : 32i_t <= i <= 33 + 32i_t }
            mark "allocate" b0
              sequence
                filter { S[i] }
                  band[c] vector(0) { S[i] -> [i] }
                filter { T[i, j]; U[i, j] }
                  band[c] permutable point { T[i, j] -> [i]; U[i, j] -> [i] }
                    sequence
                      filter { T[i, j] }
                      filter { U[i, j] : j >= 3 }
"""
    )


def test_piecewise_schedules_and_names_that_clash() -> None:
    domain = isl.UnionSet("[n] -> { S0[t, i] : 0 <= t < n and 0 <= i < n }")
    pieces = isl.UnionPwAff("[n] -> { S0[t, i] -> [(i)] : i > 3; S0[t, i] -> [(i - 1)] : i <= 3 }")
    band = Band((Member(pieces, name="i"),), False, LEAF)
    assert render_tree(Domain(domain, band)).splitlines()[1] == (
        "  band[-] { S0[t, i] -> [(-1 + i : i <= 3; i : i >= 4)] }"
    )
