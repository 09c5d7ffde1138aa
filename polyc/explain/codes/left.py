"""Codes of remarks that say what was not done."""

from __future__ import annotations

from polyc.explain.codes.code import BUDGET, REPORT, Code

LEFT: dict[str, Code] = {
    "not-inlined": Code(
        "A producer keeps its nest",
        "An elementwise producer is not computed at its readers and keeps its nest; the reason says why.",
        "See the reason. Most often it still runs in the tiles of its reader.",
        "language.md#inlining",
    ),
    "not-relocated": Code(
        "A temporary stays where it is",
        "A scalar that sums up products stays a scalar; the reason says why. Its sum gets no register tile.",
        "Sum up in the array's element itself (`C[i][j] += …`) where the reason allows it.",
        "cpu.md#temporaries",
    ),
    "not-expanded": Code(
        "An array was not expanded",
        "An array that each iteration of outer loops fills anew is not expanded: values go from one iteration to "
        "another, or no tile could keep its parts; the message says what.",
        "Where values go on by accident (a first iteration that sets nothing), set the whole array in each "
        "iteration, or give it a dimension more.",
        "cpu.md#temporaries",
        dependence=True,
    ),
    "no-sliding-window": Code(
        "Tiles cannot slide",
        "With `--strips N`: tiles repeat work, and cannot slide: a producer's values are not in a buffer of the "
        "tile, or move in several of its dimensions, or along memory. Or polyc had chosen strips, and withdrew them: "
        "tiles could not slide after all, or checking them exceeded the budget.",
        "Leave `--strips N` out for this file, or choose `--tile-sizes` whose innermost one is the whole row. For a "
        "check that takes too long: a larger `--budget`.",
        "cpu.md#sliding-windows",
    ),
    "sequential-scatter": Code(
        "A loop that scatters stays sequential",
        "A loop that adds to data-dependent cells stays sequential; the message says why.",
        "`--reassociate` allows sums of floating-point numbers in another order. An array that is declared with a "
        "constant size, and is no parameter (of these C forgets the first size), lets each thread have a copy.",
        "cpu.md#data-dependent-loops",
        dependence=True,
    ),
    "not-fused": Code(
        "A producer stays where it is",
        "A producer does not run in the tiles of its reader; the reason says why.",
        "See the reason.",
    ),
    "not-time-tiled": Code(
        "A loop over steps runs step by step",
        "A loop over steps runs step by step: values travel too far or both ways in a step, a tile's copies would "
        "not fit a stack, or tiles would not pay.",
        "Where a step updates an array in place, let it write a second one (Jacobi instead of Gauss-Seidel) if "
        "your method allows it. `--time-tile skewed` or `overlapped` asks for a kind that the model found not to "
        "pay.",
        "architecture.md#time-tiles",
        dependence=True,
    ),
    "not-straightened": Code(
        "A nest keeps skewed loops",
        "A nest keeps its skewed loops: in no order near the one that was written are its innermost loops parallel "
        "along consecutive memory.",
        "Where each element waits for a neighbour of its own row, a method without that dependence (Jacobi, "
        "red-black) is what makes vectors possible.",
        "cpu.md#recurrences",
        dependence=True,
    ),
    "not-tiled": Code(
        "A nest has no tiles",
        "A nest has no tiles: tiling is off, it is no loop nest, or there is no reuse; the reason says which.",
        "See the reason.",
    ),
    "not-parallel": Code(
        "No loop of a nest is parallel",
        "Each loop of the nest's outer band carries a dependence: its iterations have to stay in their order.",
        "Look at the witness. A sum: `--reassociate` lets it run in another order. A maximum: of absolute values, from "
        "a constant on, it runs in any order. A temporary that all iterations share: declare it inside of the loop. A "
        "recurrence: it is your method, and another one may have parallel iterations.",
        dependence=True,
    ),
    "pragma-not-honoured": Code(
        "A pragma could not be honoured",
        "A nest cannot have what a pragma or polyc.toml asks for; the message says why.",
        "Take the pragma away, or what polyc.toml says of the nest; or change the nest so that it can have what "
        "it asks for.",
        "language.md#wishes-for-single-nests",
    ),
    "option-unused": Code(
        "An option had no effect",
        "An option asks for tiles that no nest of the region can have; the message says why.",
        "Leave the option out, or look at the reason: `--why LINE` shows the dependence that stands in the way.",
        "cli.md",
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
    "math-errno": Code(
        "A function sets errno",
        "A loop could run in vectors but for a square root, which sets errno if its argument is negative: a "
        "function of the file names errno, so that C compilers call the square root for each element.",
        "Give the C compiler `-fno-math-errno` if errno is not read after a square root.",
        "not-faster.md#functions-of-mathh-and-errno",
    ),
    "budget": Code(
        "A step was left out for its time",
        "A step of the compile took too many isl operations and was left out. Where not even the dependences or "
        "the check came to an end, the region stays as it was written.",
        BUDGET,
    ),
    "schedule-budget": Code(
        "The scheduler took too long",
        "The scheduler took too many steps; the original order stays, with its parallel loops.",
        BUDGET,
    ),
    "not-scheduled": Code(
        "The scheduler found no order",
        "The scheduler found no order that it can write as loops; the original order stays, with its parallel loops.",
        "Split the region in two where its nests do not need each other.",
    ),
    "text-not-checked": Code(
        "The printed text was not shown to be right",
        "The optimised program was shown to be right, but its printed text was not shown to be that program: it has a "
        "form that cannot be compared, or that takes too many steps.",
        "`polyc verify` runs both programs and compares; `--budget` allows more steps.",
        "trust.md",
    ),
    "isl-failed": Code(
        "isl failed in a pass",
        "isl, the library of integer sets, gave up in this pass with an error of its own, and the pass was left out. "
        "In `dependences`: or it found other ones than the region has when it is run at a small size; the region stays "
        "as it was.",
        REPORT,
    ),
    "pass-failed": Code(
        "A pass failed",
        "A pass ended in an error, or what it made is not well-formed. It was left out, and all others ran. The "
        "message says what is wrong, and where.",
        REPORT,
    ),
    "not-mapped": Code(
        "A region stays on the CPU",
        "With `--target cuda` or `opencl`: the region stays on the CPU, as it was written, since a kernel cannot have "
        "what the message names.",
        "Take what the message names out of the region (a struct, a call, a loop over pointers), or compile the "
        "region for `--target openmp`.",
        "gpu.md",
    ),
    "no-register-tile": Code(
        "A sum of products has no register tile",
        "A sum of products is summed up point by point, since its result, its operands or its tile do not have the "
        "form that registers need; the message says what.",
        "Write the sum as `C[i][j] += A[i][k] * B[k][j]`, with loops of its own for setting `C`, and subscripts "
        "that are loop variables and constants.",
        "cpu.md#sums-of-products",
    ),
    "not-inspected": Code(
        "No inspector runs before the loops",
        "An inspector could test before the loops that data-dependent subscripts stay in their rows, and does not; the "
        "message says why.",
        "Declare the array with several dimensions: then C guarantees it.",
        "language.md#subscripts-that-the-data-decide",
    ),
    "not-looked-up": Code(
        "Each lookup is a load",
        "A loop whose iterations are independent looks things up, and each of its lookups is a load; the message says "
        "why.",
        "Give the table a constant last dimension of a few elements, and bound the index visibly (`min`, `max`).",
        "cpu.md#lookups-and-scatters",
    ),
    "not-nontemporal": Code(
        "A result has plain stores",
        "No cache holds an array that a loop writes, and its rows have plain stores, which read each line first; the "
        "message says why.",
        "Write each element once, along rows of the array, in a nest that does not read it.",
        "cpu.md#results-that-no-cache-holds",
    ),
    "not-jammed": Code(
        "Sums are not jammed",
        "Sums that stream through an array are jammed neither over rows nor over columns: their "
        "result or their iterations do not have the required form; the message says what.",
        "Give the sum a rectangular nest of its own, with floating-point cells that no other statement touches in "
        "between.",
    ),
    "not-printed": Code(
        "A right program could not be printed",
        "The optimised program is right, and polyc cannot write it as C: the pass at fault, which the message names, "
        "was left out, or the order as written was kept. This is a bug of polyc.",
        REPORT,
    ),
    "verification-failed": Code(
        "The check refused a program",
        "A check refused the result. The pass at fault, which the message names, was left out, or the order as "
        "written was kept. This is a bug of polyc.",
        REPORT,
        "trust.md",
    ),
}
