"""Why a fault that the check accepts changes no result: the first entry whose words are in its name."""

from __future__ import annotations

from tests.mutation.runner import Fault

REASONS = [
    ("parallel: ", "the loop that is marked carries no dependence"),
    ("tiles not dealt out", "one block runs all tiles: the grid has no more"),
    ("tile loop not dealt out", "one row of blocks runs all tiles: the grid has no more"),
    ("axes swapped", "each iteration still belongs to one block and one thread"),
    ("axes turned", "each iteration still belongs to one block and one thread"),
    ("square of", "the loops take steps of the block that the kernel is started with"),
    ("one thread", "a row of one thread runs all points of its block"),
    ("once instead of threads", "one thread runs what all of them would"),
    ("below an ordinary loop", "the host starts a kernel for each iteration of a loop that carries nothing"),
    ("nothing parallel", "one thread runs all"),
    ("no loop moves", "other loops go to the threads, each to one"),
    ("barrier dropped", "the two steps touch nothing together"),
    ("a step late", "the two steps touch nothing together"),
    ("kernels made one", "no block reads what another one writes"),
    ("codegen: every loop parallel", "OpenMP runs nested parallel loops with one thread, unless it is told otherwise"),
    ("codegen: buffers static", "threads met by luck at other times: a race that no run has to show"),
    ("codegen: reduction clause", "threads met by luck at other times: a race that no run has to show"),
    ("codegen: division", "no negative number is divided"),
    ("codegen: braces", "what loses its braces here is a single statement"),
    (
        "codegen: buffers not used",
        "tiles write the same values to the array as the tiles beside them: a race, but an equal one",
    ),
    ("codegen: steps of one", "tiles overlap, and repeat what is the same each time"),
    ("corners of larger tiles", "tiles begin elsewhere, and each still makes all that it reads"),
    ("not declared", "the tiles do not overlap, and the values go to the array itself"),
    ("no buffers planned", "the tiles do not overlap, and the values go to the array itself"),
    ("the last tile owns", "every tile that has the cell has the same value of it"),
    ("below the tiles a loop is lost", "the loop is one that order does not matter for, and isl makes a loop of it"),
    ("backwards", "no dependence goes from one iteration of these loops to another"),
    ("interchanged", "the loops carry no dependence that the other order would turn round"),
    ("even iterations", "no dependence goes from one iteration of this loop to another"),
    ("late", "what the statement gives is still read later, and what it takes is still there"),
    ("steps reversed", "the steps have no dependence between them"),
    ("steps swapped", "the steps have no dependence between them"),
    ("again at the end", "the producer runs for the tile a second time, on the same inputs, when its values were read"),
    ("inner loop lost", "the loop that is gone has one iteration, or order does not matter and isl makes a loop of it"),
    ("coincident", "later passes choose other loops, and every loop that is marked in the end is parallel"),
    ("permutable", "later passes choose other loops, and no dependence is turned round"),
    ("loses a row", "nobody needs the values of these instances"),
    ("dropped", "what is dropped forbids nothing here, or its instances are needed by nobody"),
    ("grown", "the tile repeats instances on the same inputs that nobody reads, and its buffer has room for them"),
    ("tile corner", "tiles begin elsewhere, and each still makes all that it reads"),
    ("tiles of another size", "tiles begin elsewhere, and each still makes all that it reads"),
    ("depends", "the steps have no dependence between them"),
    ("corner", "the box is larger than its cells by as much"),
    ("extent +1", "the buffer has more room than it needs"),
    ("guard", "no size outside of the guard gives another result"),
    ("assumed", "sizes outside of the guard run as written"),
    ("join", "the nests that are joined have no dependence that forbids it"),
    ("reduc", "the loop carries nothing else"),
    ("", "the pass would have declined for another reason, or decides for less speed only"),
]


def reason_for(fault: Fault) -> str:
    return next(reason for words, reason in REASONS if words in fault.name)
