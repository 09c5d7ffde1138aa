"""Codes of remarks that say what was done, or what was found."""

from __future__ import annotations

from polyc.explain.codes.code import NOTHING, Code

DONE: dict[str, Code] = {
    "pretiling-fused": Code(
        "Nests were joined before tiling",
        "Nests were joined before tiling, at no cost: each iteration of one needs only the same iteration of the "
        "other (Definition 4.1); or neither needs the other, and both read the same cells, were written in one loop, "
        "or fill up the rows of one array between them. Loops over up to four planes of an image go innermost for "
        "that, and are written out.",
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
        "and its array are no more. Where data choose which values are read, only these are computed there; the "
        "producer stays for what else reads it.",
        "Nothing: this is an improvement. `--no-inline` keeps producers in nests of their own.",
        "language.md#inlining",
        gain=True,
    ),
    "relocated": Code(
        "A temporary lives where its value goes",
        "A scalar that sums up products lives in the element that its value is stored to, or in a part of a new "
        "array that each tile keeps: register tiles, blocked factorisations and tiles find the sum there.",
        NOTHING,
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
    "kept-rows": Code(
        "Tiles keep their rows of a new array",
        "All that touches such a new array runs in tiles that keep their parts of it: the sizes of a tile, where "
        "`all` is a row as a whole.",
        NOTHING,
        "cpu.md#temporaries",
        sizes=True,
    ),
    "contracted": Code(
        "An array became a variable",
        "An array is a variable of one iteration: no other iteration reads its values, and nobody needs them "
        "afterwards.",
        NOTHING,
    ),
    "prefetched": Code(
        "A loop on data asks for its data ahead",
        "For a CPU: a loop on data goes through an array row by row, and asks for the lines of rows some pages ahead: "
        "what a core fetches ahead by itself ends at a page.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "asked-ahead": Code(
        "A loop that scatters asks for its data ahead",
        "For a CPU: a loop that adds to cells which data decide on asks for the lines of what it reads in order, some "
        "hundred iterations ahead: among the misses of gathers and scatters, a core does not find out by itself which "
        "lines follow each other.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "storage-shared": Code(
        "Buffers share their place",
        "Buffers of a tile that follow each other lie in the same place: what they take together, and what they "
        "would take apart.",
        NOTHING,
    ),
    "scatter-fed": Code(
        "What a scatter adds up is made in its loop",
        "A nest runs strip by strip in the loops of a scatter that reads what it makes, in the same iterations.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "sliding-window": Code(
        "Tiles slide through strips",
        "Tiles of a strip keep what they share in circular buffers: how many tiles a strip has, and how many rows "
        "each buffer. What the model of the machine expects of it, `cpu-sizes` says.",
        "Nothing; another `--strips N` trades parallel strips for repeated work, `--strips none` turns them off.",
        "cpu.md#sliding-windows",
        sizes=True,
    ),
    "coalesced": Code(
        "Several loops share one index",
        "For a GPU: several loops of an elementwise nest share an index, since its rows are short and would not "
        "fill warps.",
        NOTHING,
        "gpu.md#short-rows",
    ),
    "rows-staged": Code(
        "Blocks fetch the rows along which threads walk",
        "For a GPU: each thread walks along a row of its own, in its order. Parts of the rows are fetched by all "
        "threads of a block, side by side in memory, into shared memory, and what was written goes back the same way. "
        "Where the iterations of a row do not depend on each other, and only what is computed before each row kept "
        "them with one thread, all threads of a block share the row.",
        "Nothing; with `--reassociate` the threads of a block share the sum of a row instead.",
        "gpu.md#rows",
        sizes=True,
    ),
    "tile-transposed": Code(
        "Tiles of an array go through shared memory",
        "For a GPU: a nest runs along the rows of one array and down the columns of another one, as a transposition "
        "does. Tiles of the other one go through shared memory, so that threads next to each other always read and "
        "write neighbours.",
        NOTHING,
        "gpu.md#transpositions",
        sizes=True,
    ),
    "blocked": Code(
        "A sequential loop runs in blocks",
        "A loop that carries dependences runs in blocks of so many steps: updates that no block needs itself wait "
        "for its end, where they are sums of products.",
        "Nothing; `--sizes blocks=N` asks for another number of steps.",
        "cpu.md#blocked-factorisations",
        gain=True,
        sizes=True,
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
        "A loop that carries nothing but a sum, product, minimum or maximum into a scalar runs in parallel: of whole "
        "numbers; also in vectors the largest or smallest of magnitudes (`fabs(x)`, `x * x`), and with "
        "`--reassociate` of all. For a GPU: into one cell, by all threads of a block, or of many.",
        "Nothing; without `--reassociate` the order of other floating-point operations is kept, and such a loop stays "
        "sequential.",
        "gpu.md#reductions",
    ),
    "scatter": Code(
        "A loop that scatters runs in parallel",
        "A loop that adds into cells which depend on data runs in parallel: each thread adds up a copy of a small "
        "array, or updates are atomic.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "scatter-owned": Code(
        "A loop that scatters runs in parallel, and keeps its order",
        "A loop that adds into cells which depend on data runs in parallel: each thread runs the iterations that "
        "update its own part of the cells, in their order. A run looks up which these are, in blocks of iterations, "
        "and stays with one thread where most blocks go to cells of most threads.",
        "Nothing: this is an improvement, and largest where neighbouring iterations go to neighbouring cells.",
        "cpu.md#data-dependent-loops",
    ),
    "time-tiled": Code(
        "Several steps run on a tile",
        "Several steps of an iterated stencil run on a tile before the next tile: the kind, the sizes, and what "
        "the machine's description promises.",
        "Nothing; `--time-tile KIND:SIZES` asks for others.",
        "architecture.md#time-tiles",
        sizes=True,
    ),
    "regrouped": Code(
        "Nests share the outer loops that they were written in",
        "Loops that were written inside of the same outer ones, and that the scheduler took apart, stand in these "
        "again: what the first one leaves is in the caches when the next one takes it.",
        NOTHING,
        "cpu.md#grids-with-several-values-at-a-point",
    ),
    "interchanged": Code(
        "A loop along a line of the cache stands inside",
        "The loops of a nest stand in another order: inside there is one whose steps stay in a line of the cache, as "
        "those from pixel to pixel of an image, or from point to point of a grid with several values each. The loop "
        "that was inside goes to another line in each step.",
        NOTHING,
        "cpu.md#grids-with-several-values-at-a-point",
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
        gain=True,
    ),
    "cells": Code(
        "A loop over cells stands around what adds to them",
        "Iterations that add to one cell of an array are dependent, and its subscript is rounded down from theirs "
        "(`grid[y / 8][z] += e`): a loop over the cells stands around them, and runs in parallel.",
        NOTHING,
    ),
    "register-tile": Code(
        "A sum of products has a register tile",
        "A sum of products keeps a small tile of its result in registers, and its operands in panels: on a CPU in "
        "vector registers, with panels for the caches, on a GPU in the registers of each thread, with panels in "
        "shared memory. With `--allow-tf32`, or with `--reassociate` for halves, it says whether tensor cores "
        "multiply, and why not.",
        "Nothing; `--sizes register-tiles=M,N,K` asks for other panels.",
        "cpu.md#sums-of-products",
        gain=True,
        sizes=True,
    ),
    "row-blocks": Code(
        "Nests run in blocks of rows",
        "Nests that read one array by rows and by columns run in blocks of its rows, so that it is read from "
        "memory once; or a triangular solve runs in blocks of rows, of which each first takes what all earlier "
        "blocks give, several rows at once.",
        "Nothing; `--sizes row-blocks=N` asks for other blocks.",
        "cpu.md#blocks-of-rows",
        gain=True,
        sizes=True,
    ),
    "packed": Code(
        "An array is copied into another layout",
        "Sums that wait for themselves read rows of an array, and loops around them read all of it again: it is "
        "copied once, before the region, so that what neighbouring sums read lies side by side, and the loop over "
        "these makes vectors. Where the loops around have few iterations, the region runs as it was written.",
        NOTHING,
        "cpu.md#rows-that-are-read-again",
        gain=True,
    ),
    "edges-apart": Code(
        "The edges of a loop have loops of their own",
        "A choice reads elements that may not be there, as beyond the first and the last row, if the data do not say "
        "so. All other iterations have loops in which both branches are computed, and one is taken, so that they run "
        "in vectors.",
        NOTHING,
        "cpu.md#choices",
        gain=True,
    ),
    "spread": Code(
        "Recurrences run beside each other",
        "Recurrences of neighbouring columns, or rows, run beside each other in strips: what is private "
        "to one of them has a place for each column of a strip, and the loop over these is the innermost one.",
        NOTHING,
        "cpu.md#filters",
        gain=True,
    ),
    "interleaved": Code(
        "Several rows of a recurrence run at once",
        "Recurrences along rows: several rows run at once, the loop over them innermost, each some columns behind the "
        "one before where rows wait for each other too; the message says how long an element waits for the one before "
        "it, and what it takes by itself.",
        NOTHING,
        "cpu.md#filters",
        gain=True,
    ),
    "rejoined": Code(
        "Statements run in one loop, as they were written",
        "Sums, searches for the largest element and other recurrences, or stores to elements of one array, that need "
        "nothing of each other, were written in one loop, and got nothing from a loop of their own: they share it "
        "again, so that a core waits for all of them at once, and lines of the cache are written once. Or a core does "
        "the rest of a loop while it waits for a sum in it; or nests touch the same rows, which stay in the caches.",
        NOTHING,
        "cpu.md#filters",
    ),
    "unrolled": Code(
        "Neighbouring iterations are written out",
        "For a CPU: neighbouring iterations are written out inside of the vector loop, since they share what they "
        "read, or read one column of a smaller image; or the iterations whose subscripts need no choice (`x == 0 ? "
        "0 : 2 * x - 1`), or in which all of a loop's statements run, have a loop of their own, or those that whole "
        "vectors of bytes leave over; the message says which.",
        NOTHING,
        "cpu.md#images",
    ),
    "inspected": Code(
        "The data are asked before the loops",
        "Whether subscripts that the data decide stay in their rows is asked before the loops, in one pass over what "
        "they are computed from. Where the answer is no, the loops run as they were written.",
        "Nothing, if they do. An array that is declared with several dimensions says it for nothing.",
        "language.md#subscripts-that-the-data-decide",
    ),
    "looked-up": Code(
        "Lookups are permutations of vectors",
        "For a CPU: lookups in short rows are permutations of vectors; the message says how many iterations take their "
        "elements of one row.",
        NOTHING,
        "cpu.md#lookups-and-scatters",
    ),
    "nontemporal": Code(
        "Results go to memory past the caches",
        "For a CPU: rows of an array that no cache holds are stored past the caches, so that memory does not read the "
        "lines first; the message says of which arrays, and from which size on.",
        NOTHING,
        "cpu.md#results-that-no-cache-holds",
    ),
    "jammed": Code(
        "Several sums run at once",
        "For a CPU: several of the sums that stream through an array run at once, each in its own register and in "
        "its own order; the message says how many.",
        NOTHING,
        gain=True,
        sizes=True,
    ),
    "known-sizes": Code(
        "The text has a version for the sizes that the file calls it with",
        "For a CPU: each call of the function in this file passes the same constants, or a variable has one value; in "
        "a version of the text, behind a condition on them, they are constants for the C compiler in parallel loops as "
        "well. For other sizes the region runs as it was written.",
        NOTHING,
        "cpu.md#sizes-that-the-file-knows",
    ),
}
