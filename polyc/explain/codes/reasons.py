"""The reasons that some refusals carry, and those that the report gives where no pass had to decide anything."""

from __future__ import annotations

from polyc.explain.codes.code import BUDGET, NOTHING, Code

REASONS: dict[str, dict[str, Code]] = {
    "not-tiled": {
        "tiling-off": Code("Tiling is off", "`--tile-sizes none`.", "Leave the option out."),
        "asked": Code(
            "It was asked for",
            "A pragma, or polyc.toml, asks for no tiles (`tile(no)`).",
            "Take the pragma away, or what polyc.toml says of the nest.",
            "language.md#wishes-for-single-nests",
        ),
        "loops-around": Code(
            "The loops around it carry dependences",
            "The loops around it carry dependences, and it has no loop of its own that could be tiled.",
            "Look at the witness: without that dependence its loops could be tiled.",
            dependence=True,
        ),
        "no-loops": Code("It is no loop nest", "It stands in no loop.", "Nothing: there is nothing to tile."),
        "parallel-as-it-is": Code(
            "Its outer loop is parallel already",
            "Private copies make its outer loop parallel; its loops cannot be tiled.",
            "Nothing: threads share its iterations.",
            dependence=True,
        ),
        "no-reuse": Code(
            "No reuse",
            "Iterations share no data, or only with the next one, so that the data are in a cache anyway.",
            "Nothing: tiles would only add loops. `--tile-sizes N,N` tiles it all the same.",
        ),
        "no-gain": Code(
            "Tiles would save nothing",
            "By the model of the machine it takes as long with the best tiles as without; the message says how long.",
            "Nothing, if the model is right. `--machine host` asks it for this machine, `--param` for the sizes that "
            "you run, and `--tile-sizes N,N` tiles it all the same.",
        ),
    },
    "not-fused": {
        "fewer-parallel-loops": Code(
            "It has no parallel loop",
            "It has no parallel loop and its reader has one, which would be lost (m > n in Algorithm 2).",
            "Without the dependence that its loops carry it could run in the tiles: declare a temporary inside of the "
            "loop; `--reassociate` gives a sum another order.",
            dependence=True,
        ),
        "data-dependent": Code(
            "What it writes depends on data",
            "Which elements it writes depends on data, so that the tile's share is not known.",
            "Write to a subscript of the loop variables, and look data up on the right-hand side instead.",
        ),
        "private-array": Code(
            "Its iterations have an array of their own",
            "Each iteration of the producer fills an array that is declared in its loops.",
            "Nothing, unless its values matter later: then declare it outside, with a dimension for the loop.",
        ),
        "shared-producer": Code(
            "Another nest needs its values too",
            "Another nest needs the same values, and neither shares its tiles (neither (21) nor (22) holds).",
            "`--max-recompute PERCENT` lets one of the readers compute them again in its tiles.",
            dependence=True,
        ),
        "irregular-tiles": Code(
            "A tile's part is scattered",
            "The instances that a tile needs are scattered over so many pieces, or described with so many remainders, "
            "that checking them would take seconds.",
            "Read it by subscripts with fewer divisions and remainders. Where a loop has a stride, sizes that are "
            "multiples of it, promised with `--param`, make fewer pieces.",
        ),
        "scattered-copies": Code(
            "A tile's copies are scattered",
            "A tile would copy elements that the producer does not write, usually at borders, or that are live-out, "
            "in so many pieces that checking them would take seconds.",
            "Let the producer write all elements that its consumer reads, borders too, and leave dead arrays "
            "out of `--live-out`.",
        ),
        "tile-too-large": Code(
            "The tile's buffers are too large",
            "The tile's buffers would not fit on the stack (on a GPU: in shared memory).",
            "Smaller `--tile-sizes`.",
        ),
        "not-promotable": Code(
            "Its array cannot be kept in the tile",
            "Tiles overlap, and its array cannot be kept in the tile.",
            "Where the array is a temporary, say what is needed after the region with `--live-out`; declare it in "
            "the function or the region.",
        ),
        "input-overwritten": Code(
            "What it reads is overwritten",
            "An array that it reads is overwritten before the reader's tiles run.",
            "Let the later nest write another array, and swap the two.",
            dependence=True,
        ),
        "operand": Code(
            "It is a factor of a sum of products",
            "For a CPU: its array is a factor of a sum of products, which reads it from panels of its own, and "
            "computes it where these are filled if that is cheap.",
            "Nothing: panels serve the sum better than tiles would.",
            "cpu.md#sums-of-products",
        ),
        "parallel-loops": Code(
            "It has more parallel loops than the tiles",
            "For a GPU: the nest has sums in more parallel loops than the tiles of its reader are mapped by, so "
            "that each block would run what many blocks run in a kernel of its own.",
            "`--max-recompute PERCENT` fuses all the same.",
        ),
        "sequential-loop": Code(
            "Its threads would run a long loop one iteration after the other",
            "For a GPU: the reader is a sum of products, whose block has a thread for several cells. A nest with a "
            "long sequential loop (a sum or a maximum of each row) has more threads in a kernel of its own.",
            "`--reassociate` lets all threads of a block share such a loop.",
            "gpu.md#reductions",
        ),
        "registers": Code(
            "It is a sum of products with registers of its own",
            "By itself the nest keeps a small tile of its result in registers: vectors of a CPU, or those of each "
            "thread of a GPU. In the tiles of its reader it would load and store the result in each step on a CPU, and "
            "load both factors of each product on a GPU, which costs more than fusion saves.",
            "Nothing: `--max-recompute PERCENT` fuses all the same.",
            "cpu.md#sums-of-products",
        ),
        "table": Code(
            "It is a table that is looked up in vectors",
            "For a CPU: its reader looks elements of the array's short rows up by permutations of vectors; in the "
            "buffer of a tile each element would be a load.",
            NOTHING,
            "cpu.md#lookups-and-scatters",
        ),
        "asked": Code(
            "It was asked for",
            "A pragma, or polyc.toml, asks that it stays by itself (`fuse(no)`, `parallel(no)`, `tile(no)`, other tile "
            "sizes).",
            "Take the pragma away, or what polyc.toml says of the nest.",
            "language.md#wishes-for-single-nests",
        ),
        "order-of-writes": Code(
            "Another nest writes its array",
            "Another nest writes the same array in between.",
            "Give the two nests arrays of their own.",
            dependence=True,
        ),
        "recompute-limit": Code(
            "It would repeat more than is allowed",
            "More of its work would be repeated than `--max-recompute` allows.",
            "Raise `--max-recompute`, or take larger `--tile-sizes`.",
        ),
        "budget": Code(
            "Deciding took too long",
            "Deciding would take too many steps.",
            BUDGET,
        ),
        "other-groups": Code(
            "It pays more in another group",
            "It would pay in these tiles, but by the model of the machine all groups together take less time if it "
            "is in another one: in a long chain each further stage repeats more of all stages before it.",
            "`--max-recompute PERCENT` fuses all the same; `--machine host` decides with the figures of this machine.",
        ),
        "recompute-cost": Code(
            "It would cost more than it saves",
            "Repeating its work would cost more than the memory traffic that it saves. Two matrix products one "
            "after the other are such a case.",
            "`--max-recompute PERCENT` fuses all the same, `--strips N` repeats less; `--machine host` decides "
            "with the figures of this machine.",
        ),
    },
    "not-inlined": {
        "live-out": Code(
            "Its values are needed afterwards",
            "Its values are needed after the region, so that they have to be stored.",
            "Where they are not, say what is: `--live-out NAME,…`, or `#pragma polyc live-out(NAME)`.",
        ),
        "read-twice": Code(
            "Several statements read it",
            "Several statements read the same values: each would compute them again.",
            "Nothing: storing them once is cheaper.",
        ),
        "several-writers": Code(
            "Its reader sees other values too",
            "Some of the values that its reader sees come from another statement, or from before the region.",
            "Let one statement compute all of the array (`in ? value : 0` instead of a nest that sets zeros first).",
            dependence=True,
        ),
        "input-overwritten": Code(
            "What it reads is overwritten",
            "What it reads is overwritten before its values are read.",
            "Let the later statement write another array.",
            dependence=True,
        ),
        "data-dependent": Code(
            "Which value is read depends on data",
            "Which of its values is read depends on data, and nothing says that it computes all that may be chosen.",
            "Bound the subscript, `T[k < 6 ? k : 6]`, or declare the array with its size.",
        ),
        "size-unknown": Code(
            "A GPU would need all of an array",
            "For a GPU: what it reads is in an array without a declared size, and how much of it is used would not be "
            "known where data choose.",
            "Declare the array with its size.",
        ),
        "more-work": Code(
            "Computing only the chosen values takes longer",
            "Data choose which of its values are read, and computing these where they are read takes longer than "
            "computing and storing all.",
            "Nothing: it is a table.",
        ),
        "not-a-value": Code(
            "Its reads cannot be replaced by an expression",
            "It is read in a `while`, under a data-dependent condition, or in a subscript, where no expression can "
            "replace it.",
            "Read it into a local variable first.",
        ),
        "irregular": Code(
            "The value read depends on cases",
            "Which of its values is read is a function of several cases.",
            "Split the reader's loop where the cases change.",
        ),
        "fewer-parallel-loops": Code(
            "Its readers have fewer parallel loops",
            "Its loops can run in parallel, and those of its reader cannot.",
            "Nothing: it would run on one thread then.",
            dependence=True,
        ),
        "too-long": Code(
            "The statement would be too long",
            "The statement would have more than 200 operands and operators.",
            "Nothing; compilers do badly with longer ones.",
        ),
    },
    "not-relocated": {
        "other-type": Code(
            "The types differ",
            "The scalar and the element have different types: values would be rounded otherwise.",
            "Give both one type, if the precision suffices.",
        ),
        "data-dependent": Code(
            "It depends on data",
            "Whether the scalar or the array is written depends on data, or a statement does more than assign.",
            "Take the condition out of the sum (`s += c ? x : 0`).",
        ),
        "stored-together": Code(
            "Several values go to one element",
            "Several values are stored to one element, one after the other.",
            "Store the last one only.",
            dependence=True,
        ),
        "not-stored": Code(
            "Some values are not stored",
            "Some values are stored nowhere, and some element would get one that it must not have.",
            "Sum up and store for the same iterations.",
        ),
        "several-beginnings": Code(
            "It begins several times, or never",
            "Several statements set the scalar in one iteration, or none does.",
            "Set it once, before the sum, inside of the loop.",
        ),
        "read-later": Code(
            "It is read after it was stored",
            "The scalar is read again after it was stored.",
            "Read the element that it was stored to instead.",
            dependence=True,
        ),
        "place-in-use": Code(
            "Its element is in use",
            "The element is read or written between.",
            "Look at the witness; sum up into an element that nothing else touches.",
            dependence=True,
        ),
    },
}
"""The reasons that some remarks carry in `data["reason"]`, by the remark's code."""

OUTCOMES: dict[str, Code] = {
    "asked": Code(
        "It was asked for",
        "A pragma, or polyc.toml, asks for loops on one thread (`parallel(no)`).",
        "Take the pragma away, or what polyc.toml says of the nest.",
        "language.md#wishes-for-single-nests",
    ),
    "tiling-off": Code(
        "Tiling is off",
        "`--tile-sizes none`.",
        "Leave the option out.",
    ),
    "coalesced": Code(
        "Its loops share an index",
        "Several of its loops share an index instead, on a GPU: its rows are short, and its tiles would share nothing.",
        NOTHING,
        "gpu.md#short-rows",
    ),
    "reduction": Code(
        "Threads combine one result",
        "With `--reassociate`, on a GPU: all threads of a block combine what goes into one result.",
        NOTHING,
        "gpu.md#reductions",
    ),
    "straightened": Code(
        "Its order has no tiles",
        "Its order was chosen for loops along consecutive memory, and has no tiles.",
        "`--tile-sizes N,N` tiles the skewed loops instead.",
        "cpu.md#recurrences",
    ),
    "no-band": Code(
        "No two loops can be interchanged",
        "No two loops of the nest can be interchanged, so that there is nothing to tile.",
        "Nothing for a single loop. Otherwise look at the witness, which goes forward in one loop and backward in "
        "another.",
    ),
    "carried-dependence": Code(
        "Each loop carries a dependence",
        "Each loop carries a dependence: its iterations have to stay in their order.",
        "Look at the witness. A sum: `--reassociate` lets it run in another order. A temporary that all iterations "
        "share: declare it inside of the loop. A recurrence: it is your method.",
        dependence=True,
    ),
    "small-region": Code(
        "It is too small for threads",
        "Threads would take longer to start than they save.",
        "`--threads always` starts them all the same; `--machine host` measures what starting them takes here.",
        "cpu.md#loops-too-small-for-threads",
    ),
    "vector-only": Code(
        "Only the innermost loop is free",
        "Only the innermost loop carries no dependence; it runs in vectors.",
        "Look at the witness, which the outer loops carry. Threads would have to start again in each iteration of "
        "these.",
        dependence=True,
    ),
    "target-c": Code(
        "The target has no threads",
        "`--target c` prints no parallel loops. `polyc cc` prints none either with `-fno-openmp`, and for a file that "
        "speaks of OpenMP (a pragma, `_OPENMP`, `omp.h`) and is compiled without `-fopenmp`.",
        "`--target openmp`, the default, does. Compile such a file with `-fopenmp`.",
    ),
}
"""Reasons that the report gives for loops of which no pass had to decide anything."""
