"""Walks over trees: their order, and that no depth of a tree ends them."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from pycparser import c_ast, c_parser

from polyc.frontend.text.trees import walk as walk_c
from polyc.model import ctree as c
from polyc.model.tree import Leaf, Mark, Node, walk
from polyc.poly import empty_map, union_of

TEXT = """
struct s { int a, b; enum { X = 1, Y } e; };
struct s q[2] = { [0].a = 1, { 2, 3 } };
int f(int x, ...) {
  switch (x) { case 1: x++; default: return sizeof(int) ? x : (int)2.0; }
  do { x--; goto l; l: ; } while (x);
  for (int i = 0, j = 1; i < x; i++) x += ((struct s){i}).a * q[i].b;
  for (;;) break;
  return f(x, 1, 2);
}
"""


def below(node: c_ast.Node) -> Iterator[c_ast.Node]:
    yield node
    for child in node:
        yield from below(child)


def test_pycparsers_trees_are_walked_in_the_order_of_their_iterators() -> None:
    tree = c_parser.CParser().parse(TEXT)
    assert [id(node) for node in walk_c(tree)] == [id(node) for node in below(tree)]


def test_polycs_c_is_walked_parents_first() -> None:
    one = c.Binary("+", c.Name("a"), c.Call("f", (c.Name("b"), c.Literal("1"))))
    assert [type(node).__name__ for node in c.walk(one)] == ["Binary", "Name", "Call", "Name", "Literal"]


def test_a_deep_tree_of_a_schedule_is_walked() -> None:
    node: Node = Leaf()
    for _ in range(5000):
        node = Mark("allocate", node)
    assert sum(1 for _ in walk(node)) == 5001


def test_the_union_of_some_maps_has_all_of_them() -> None:
    pieces = [isl.Map(f"{{ S{k}[i] -> T[i + {k}] : 0 <= i < 5 }}") for k in range(7)]
    for count in range(len(pieces) + 1):
        found = union_of(pieces[:count], empty_map(pieces[0]))
        assert found.n_map() == count
        assert all(found.extract_map(piece.get_space()).is_equal(piece) for piece in pieces[:count])
