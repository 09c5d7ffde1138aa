"""Every code that a decision can carry: what it means, and what a user can do about it.

`docs/remarks.md` is made from this, `polyc explain FILE --why LINE` reads it, and SARIF carries it as rules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """What a code stands for."""

    title: str
    """A few words, as a heading."""
    meaning: str
    """Markdown, without links."""
    advice: str
    """What to do about it; Markdown, without links."""
    see: str = ""
    """A place in docs/ that says more: `cpu.md#temporaries`."""


NOTHING = "Nothing: this is an improvement."
REPORT = "Please report it, with the file that polyc names: your program is not at fault, and the output is right."
BUDGET = (
    "Raise `--budget` (isl operations that a step may take; 0 is no bound), promise sizes with `--param` or "
    "`--assume`, or split the region in two."
)

REMARKS: dict[str, Code] = {
    "pretiling-fused": Code(
        "Nests were joined before tiling",
        "Nests were joined before tiling, at no cost: each iteration of one needs only the same iteration of the "
        "other (Definition 4.1); or neither needs the other, and both read the same cells, were written in one loop, "
        "or fill up the rows of one array between them.",
        "Nothing: this is an improvement. `--fuse min` keeps nests apart.",
    ),
    "fused": Code(
        "A producer runs in the tiles of its reader",
        "A producer runs in the tiles of what reads it, with the share of its work that overlapping tiles repeat.",
        "Nothing, unless the repeated work is dear: `--max-recompute PERCENT` bounds it, larger `--tile-sizes` "
        "repeat less, `--strips N` lets tiles slide and repeat nearly none.",
    ),
    "inlined": Code(
        "A producer is computed where its values are read",
        "An elementwise producer is computed where its values are read: its expression stands there, and its nest "
        "and its array are no more.",
        "Nothing: this is an improvement. `--no-inline` keeps producers in nests of their own.",
        "language.md#inlining",
    ),
    "not-inlined": Code(
        "A producer keeps its nest",
        "An elementwise producer is not computed at its readers and keeps its nest; the reason says why.",
        "See the reason. Most often it still runs in the tiles of its reader.",
        "language.md#inlining",
    ),
    "relocated": Code(
        "A temporary lives where its value goes",
        "A scalar that sums up products lives in the element that its value is stored to, or in a part of a new "
        "array that each tile keeps: register tiles, blocked factorisations and tiles find the sum there.",
        NOTHING,
        "cpu.md#temporaries",
    ),
    "not-relocated": Code(
        "A temporary stays where it is",
        "A scalar that sums up products stays a scalar; the reason says why. Its sum gets no register tile.",
        "Sum up in the array's element itself (`C[i][j] += …`) where the reason allows it.",
        "cpu.md#temporaries",
    ),
    "expanded": Code(
        "An array has a part for each iteration",
        "An array that each iteration of outer loops fills anew, and sums up products in, has a part for each of "
        "them in a new array, so that none waits for another one. What is needed afterwards is copied back.",
        "Nothing, unless its values are not needed after the region: say so with `--live-out`, and nothing is "
        "copied back.",
        "cpu.md#temporaries",
    ),
    "not-expanded": Code(
        "An array stays one for all iterations",
        "An array that outer loops fill again and again stays one for all iterations: values go from one to "
        "another, or no tile could keep the parts that it fills; the message says what.",
        "Where values go on by accident (a first iteration that sets nothing), set the whole array in each "
        "iteration, or give it a dimension more.",
        "cpu.md#temporaries",
    ),
    "kept-rows": Code(
        "Tiles keep their rows of a new array",
        "All that touches such a new array runs in tiles that keep their parts of it: the sizes of a tile, where "
        "`all` is a row as a whole.",
        NOTHING,
        "cpu.md#temporaries",
    ),
    "contracted": Code(
        "An array became a variable",
        "An array is a variable of one iteration: no other iteration reads its values, and nobody needs them "
        "afterwards.",
        NOTHING,
    ),
    "storage-shared": Code(
        "Buffers share their place",
        "Buffers of a tile that follow each other lie in the same place: what they take together, and what they "
        "would take apart.",
        NOTHING,
    ),
    "sliding-window": Code(
        "Tiles slide through strips",
        "With `--strips`: tiles of a strip keep what they share in circular buffers: how many tiles a strip has, "
        "and how many rows each buffer.",
        "Nothing; another `--strips N` trades parallel strips for repeated work.",
        "cpu.md#sliding-windows",
    ),
    "no-sliding-window": Code(
        "Tiles cannot slide",
        "With `--strips`: tiles repeat work, and cannot slide: what a producer makes is not in a buffer of the "
        "tile, or moves in several of its dimensions, or along memory.",
        "Leave `--strips` out for this file, or choose `--tile-sizes` whose innermost one is the whole row.",
        "cpu.md#sliding-windows",
    ),
    "coalesced": Code(
        "Several loops share one index",
        "For a GPU: several loops of an elementwise nest share an index, since its rows are short and would not "
        "fill warps.",
        NOTHING,
        "gpu.md#short-rows",
    ),
    "blocked": Code(
        "A sequential loop runs in blocks",
        "A loop that carries dependences runs in blocks of so many steps: updates that no block needs itself wait "
        "for its end, where they are sums of products.",
        "Nothing; `--sizes blocks=N` asks for another number of steps.",
        "cpu.md#blocked-factorisations",
    ),
    "outputs-joined": Code(
        "Two nests share their tile loops",
        "Two nests that read the same tiles share their tile loops.",
        NOTHING,
    ),
    "cpu-sizes": Code(
        "The sizes of a tile on a CPU",
        "For a CPU: the sizes of a tile that were constructed for the machine, what binds it, the traffic between "
        "its levels, why it is not larger, and what came next.",
        "Name the machine that runs the code (`--machine host`), and promise sizes that are known (`--param`): "
        "both change the choice. `--tile-sizes` overrides it.",
        "cpu.md#tile-sizes",
    ),
    "gpu-sizes": Code(
        "The shape of a block on a GPU",
        "For a GPU: the tile of a block and its threads, what binds them, and of how many shapes they are the best "
        "for the machine.",
        "Name the GPU with `--machine`; `--tile-sizes`, `--block` and `--grid` override the choice.",
        "gpu.md#machines-and-sizes",
    ),
    "grid-rounded": Code(
        "A grid was rounded",
        "With `--grid`: several loops of a kernel share x, so that its blocks along x are rounded to a multiple of "
        "what the inner ones need.",
        "Ask for a multiple of that number, or leave `--grid` out.",
    ),
    "reduction": Code(
        "A loop is a reduction",
        "With `--reassociate`: a loop that carries nothing but a sum, product, minimum or maximum into a scalar "
        "runs in parallel or in vectors. For a GPU: into one cell, by all threads of a block, or of many.",
        "Nothing; without `--reassociate` the order of the operations is kept, and the loop stays sequential.",
        "gpu.md#reductions",
    ),
    "scatter": Code(
        "A loop that scatters runs in parallel",
        "A loop that adds into cells which depend on data runs in parallel: each thread adds up a copy of a small "
        "array, or updates are atomic.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "sequential-scatter": Code(
        "A loop that scatters stays sequential",
        "A loop that adds into cells which depend on data stays sequential; the message says why.",
        "`--reassociate` allows sums of floating-point numbers in another order; a constant size of the array lets "
        "each thread have a copy.",
        "cpu.md#data-dependent-loops",
    ),
    "not-fused": Code(
        "A producer stays where it is",
        "A nest that makes what another one reads does not run in the tiles of that one; the reason says why.",
        "See the reason.",
    ),
    "time-tiled": Code(
        "Several steps run on a tile",
        "Several steps of an iterated stencil run on a tile before the next tile: the kind, the sizes, and what "
        "the machine's description promises.",
        "Nothing; `--time-tile KIND:SIZES` asks for others.",
        "architecture.md#time-tiles",
    ),
    "not-time-tiled": Code(
        "A loop over steps runs step by step",
        "A loop over steps runs step by step: values travel too far or both ways in a step, a tile's copies would "
        "not fit a stack, or tiles would not pay.",
        "Where a step updates an array in place, let it write a second one (Jacobi instead of Gauss-Seidel) if "
        "your method allows it. `--time-tile skewed` or `overlapped` asks for a kind that the model found not to "
        "pay.",
        "architecture.md#time-tiles",
    ),
    "turned": Code(
        "A buffer is stored the other way round",
        "The buffers of a tile are stored with another dimension innermost, so that the tile's vector loops run "
        "along consecutive memory in them as well.",
        NOTHING,
    ),
    "straightened": Code(
        "A nest runs near the order that was written",
        "A nest whose loops the scheduler skewed runs as it was written, with loops cut in three where that makes "
        "parallel ones of them, or with two loops of a statement changed: its innermost loops go along consecutive "
        "memory then.",
        NOTHING,
        "cpu.md#recurrences",
    ),
    "not-straightened": Code(
        "A nest keeps skewed loops",
        "A nest keeps its skewed loops: in no order near the one that was written do its innermost loops run at "
        "once along consecutive memory.",
        "Where each element waits for a neighbour of its own row, a method without that dependence (Jacobi, "
        "red-black) is what makes vectors possible.",
        "cpu.md#recurrences",
    ),
    "not-tiled": Code(
        "A nest has no tiles",
        "A nest has no tiles: tiling is off, it is no loop nest, or no tile would meet its data again; the reason "
        "says which.",
        "See the reason.",
    ),
    "not-parallel": Code(
        "No loop of a nest is parallel",
        "Each loop of the nest's outer band carries a dependence: its iterations have to stay in their order.",
        "Look at the witness. A sum: `--reassociate` lets it run in another order. A temporary that all iterations "
        "share: declare it inside of the loop. A recurrence: it is your method, and another one may have parallel "
        "iterations.",
    ),
    "cells": Code(
        "A loop over cells stands around what adds to them",
        "Iterations that add to one cell of an array are dependent, and its subscript is rounded down from theirs "
        "(`grid[y / 8][z] += e`): a loop over the cells stands around them, and runs in parallel.",
        NOTHING,
    ),
    "pragma-not-honoured": Code(
        "A pragma asks for what a nest cannot have",
        "A nest has not what a pragma or polyc.toml asks for it, and why.",
        "Take the pragma away, or change the nest so that it can have what it asks for.",
        "language.md#wishes-for-single-nests",
    ),
    "sizes-unused": Code(
        "Sizes were given for nothing",
        "`--sizes` gave sizes for a kind of tiles that no nest of the region has.",
        "Leave the option out, or name a kind that the report shows: tiles, register-tiles, row-blocks, blocks, "
        "time-tiles.",
        "cli.md",
    ),
    "small-region": Code(
        "A loop is too small for threads",
        "A loop could be parallel, but threads would take longer to start than they save, at the sizes that are "
        "known: all of its iterations, or, inside of a sequential loop, those of one of that loop's (sizes that "
        "are not known are taken to be large, and asked for in an `if` clause).",
        "`--threads always` starts them all the same; `--machine host` measures what starting them takes here.",
        "cpu.md#loops-too-small-for-threads",
    ),
    "budget": Code(
        "A step was left out for its time",
        "A step of the compile took too many isl operations and was left out. Where not even the dependences or "
        "the check came to an end, the region stays as it was written.",
        BUDGET,
    ),
    "schedule-budget": Code(
        "The scheduler took too long",
        "The scheduler took too many steps; the original order stays.",
        BUDGET,
    ),
    "not-scheduled": Code(
        "The scheduler found no order",
        "The scheduler found no order that it can write as loops; the original order stays.",
        "Split the region in two where its nests do not need each other.",
    ),
    "text-not-checked": Code(
        "The printed text was not read again",
        "The optimised program was checked, but its printed text was not read again and compared: it has a form "
        "that cannot be, or it takes too many steps.",
        "`polyc verify` runs both programs and compares; `--budget` allows more steps.",
        "trust.md",
    ),
    "isl-failed": Code(
        "isl failed in a pass",
        "isl, the library of integer sets, gave up in this pass with an error of its own. The pass was left out.",
        REPORT,
    ),
    "not-mapped": Code(
        "A region stays on the CPU",
        "With `--target cuda` or `opencl`: the region stays on the CPU, as it was written, since no kernel can say "
        "what it does; the message says what that is.",
        "Take what the message names out of the region (a struct, a call, a loop over pointers), or compile the "
        "region for `--target openmp`.",
        "gpu.md",
    ),
    "register-tile": Code(
        "A sum of products has a register tile",
        "A sum of products keeps a small tile of its result in registers, and its operands in panels: on a CPU in "
        "vector registers, with panels for the caches, on a GPU in the registers of each thread, with panels in "
        "shared memory. With `--allow-tf32`, or with `--reassociate` for halves, it says whether tensor cores "
        "multiply, and why not.",
        "Nothing; `--sizes register-tiles=M,N,K` asks for other panels.",
        "cpu.md#sums-of-products",
    ),
    "no-register-tile": Code(
        "A sum of products has no register tile",
        "A sum of products is summed up point by point, since its result, its operands or its tile do not have the "
        "form that registers need; the message says what.",
        "Write the sum as `C[i][j] += A[i][k] * B[k][j]`, with loops of its own for setting `C`, and subscripts "
        "that are loop variables and constants.",
        "cpu.md#sums-of-products",
    ),
    "row-blocks": Code(
        "Nests run in blocks of rows",
        "Nests that read one array by rows and by columns run in blocks of its rows, so that it is read from "
        "memory once; or a triangular solve runs in blocks of rows, of which each first takes what all earlier "
        "blocks give, several rows at once.",
        "Nothing; `--sizes row-blocks=N` asks for other blocks.",
        "cpu.md#blocks-of-rows",
    ),
    "spread": Code(
        "Recurrences run beside each other",
        "Recurrences of neighbouring columns, or rows, run beside each other in strips: each private scalar of "
        "theirs is an array with a place for each column of a strip, and the loop over these is the innermost one.",
        NOTHING,
        "cpu.md#filters",
    ),
    "interleaved": Code(
        "Several rows of a recurrence run at once",
        "Recurrences along rows: several rows run at once, the loop over them innermost; the message says how long "
        "an element waits for the one before it, and what it takes by itself.",
        NOTHING,
        "cpu.md#filters",
    ),
    "unrolled": Code(
        "Neighbouring iterations are written out",
        "For a CPU: neighbouring iterations are written out inside of the vector loop, since they share what they "
        "read, or read one column of a smaller image; or the iterations whose subscripts need no choice (`x == 0 ? "
        "0 : 2 * x - 1`), or in which all of a loop's statements run, have a loop of their own; the message says "
        "which.",
        NOTHING,
        "cpu.md#images",
    ),
    "looked-up": Code(
        "Lookups are permutations of vectors",
        "For a CPU: lookups in short rows are permutations of vectors; the message says how many iterations take their "
        "elements of one row.",
        NOTHING,
        "cpu.md#lookups-and-scatters",
    ),
    "not-looked-up": Code(
        "Each lookup is a load",
        "A loop whose iterations are independent looks things up, and each of its lookups is a load; the message says "
        "why.",
        "Give the table a constant last dimension of a few elements, and keep what chooses among them in bounds that "
        "show (`min`, `max`).",
        "cpu.md#lookups-and-scatters",
    ),
    "jammed": Code(
        "Several sums run at once",
        "For a CPU: several of the sums that stream through an array run at once, each in its own register and in "
        "its own order; the message says how many.",
        NOTHING,
    ),
    "not-jammed": Code(
        "Sums run one by one",
        "Sums that stream through an array have registers of their own neither for rows nor for columns: their "
        "result or their iterations do not have the form that it needs; the message says what.",
        "Give the sum a rectangular nest of its own, with floating-point cells that no other statement touches in "
        "between.",
    ),
    "not-printed": Code(
        "A right program could not be printed",
        "The optimised program is right, and polyc cannot write it as C: the original order was printed. This is a "
        "bug of polyc.",
        REPORT,
    ),
    "verification-failed": Code(
        "The check refused a program",
        "The check refused the result, and an earlier, less optimised form was printed. This is a bug of polyc.",
        REPORT,
        "trust.md",
    ),
}

REASONS: dict[str, dict[str, Code]] = {
    "not-tiled": {
        "tiling-off": Code("Tiling is off", "`--tile-sizes none`.", "Leave the option out."),
        "asked": Code(
            "It was asked for",
            "A pragma, or polyc.toml, asks for no tiles (`tile(no)`).",
            "Take the pragma away.",
            "language.md#wishes-for-single-nests",
        ),
        "loops-around": Code(
            "The loops around it carry dependences",
            "The loops around it carry dependences, and it has no loop of its own that tiles could cut.",
            "Look at the witness: without that dependence its loops could be tiled.",
        ),
        "no-loops": Code("It is no loop nest", "It stands in no loop.", "Nothing: there is nothing to tile."),
        "parallel-as-it-is": Code(
            "Its outer loop is parallel already",
            "Private copies make its outer loop parallel, and that is all that there is: its loops cannot be tiled.",
            "Nothing: threads share its iterations.",
        ),
        "no-reuse": Code(
            "No tile would meet its data again",
            "What one iteration touches no other one touches, or only its neighbour, so that it is in a cache anyway.",
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
            "Look at the witness: without that dependence it could run in the tiles.",
        ),
        "data-dependent": Code(
            "What it writes depends on data",
            "Which elements it writes depends on data, so that the tile's share is not known.",
            "Write to a subscript of the loop variables, and look data up on the right-hand side instead.",
        ),
        "shared-producer": Code(
            "Another nest needs its values too",
            "Another nest needs the same values, and neither shares its tiles (neither (21) nor (22) holds).",
            "`--max-recompute PERCENT` lets both readers compute them.",
        ),
        "irregular-tiles": Code(
            "What a tile needs is scattered",
            "What a tile needs is scattered over so many pieces, or described with so many remainders, that "
            "checking it would take seconds.",
            "Sizes that are multiples of the strides, promised with `--param`, make fewer pieces.",
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
        ),
        "operand": Code(
            "It is a factor of a sum of products",
            "For a CPU: its array is a factor of a sum of products, which reads it from panels of its own, and "
            "computes it where these are filled if that is cheap.",
            "Nothing: panels serve the sum better than tiles would.",
            "cpu.md#sums-of-products",
        ),
        "asked": Code(
            "It was asked for",
            "A pragma, or polyc.toml, asks that it stays by itself (`fuse(no)`, `parallel(no)`, `tile(no)`, other tile "
            "sizes).",
            "Take the pragma away.",
            "language.md#wishes-for-single-nests",
        ),
        "order-of-writes": Code(
            "Another nest writes its array",
            "Another nest writes the same array in between.",
            "Give the two nests arrays of their own.",
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
        ),
        "input-overwritten": Code(
            "What it reads is overwritten",
            "What it reads is overwritten before its values are read.",
            "Let the later statement write another array.",
        ),
        "data-dependent": Code(
            "Which value is read depends on data",
            "Which of its values is read depends on data.",
            "Nothing: a table has to be stored.",
        ),
        "not-a-value": Code(
            "No expression can stand where it is read",
            "It is read in a `while`, under a condition on data, or in a subscript, where no expression can stand "
            "for it.",
            "Read it into a local variable first.",
        ),
        "irregular": Code(
            "Which value is read takes cases",
            "It takes several cases to say which of its values is read.",
            "Cut the reader's loop where the cases change.",
        ),
        "fewer-parallel-loops": Code(
            "Its readers have fewer parallel loops",
            "Its loops can run in parallel, and those of its reader cannot.",
            "Nothing: it would run on one thread then.",
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
            "Whether the scalar or the array is written depends on data, or a statement does more than to assign.",
            "Take the condition out of the sum (`s += c ? x : 0`).",
        ),
        "stored-together": Code(
            "Several values go to one element",
            "Several values are stored to one element, one after the other.",
            "Store the last one only.",
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
        ),
        "place-in-use": Code(
            "Its element is in use",
            "The element is read or written between.",
            "Look at the witness; sum up into an element that nothing else touches.",
        ),
    },
}
"""The reasons that some remarks carry in `data["reason"]`, by the remark's code."""

OUTCOMES: dict[str, Code] = {
    "asked": Code(
        "It was asked for",
        "`#pragma polyc parallel(no)` asks for loops on one thread.",
        "Take the pragma away.",
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
    ),
    "target-c": Code(
        "The target has no threads",
        "`--target c` prints no parallel loops.",
        "`--target openmp`, the default, does.",
    ),
}
"""Reasons that the report gives for loops of which no pass had to decide anything."""


def lookup(code: str, reason: str = "") -> Code | None:
    """The entry of a remark, with its reason where it carries one; None for an unknown code."""
    return REASONS.get(code, {}).get(reason) or REMARKS.get(code)


def refusal(what: str, reason: str) -> Code | None:
    """The entry of a reason why a nest is not `tiled`, `fused` or `parallel`; None for an unknown one."""
    return REASONS.get(f"not-{what}", {}).get(reason) or OUTCOMES.get(reason) or REMARKS.get(reason)
