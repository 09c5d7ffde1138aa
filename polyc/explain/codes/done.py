"""Codes of remarks that say what was done, or what was found."""

from __future__ import annotations

from polyc.explain.codes.code import NOTHING, Code

DONE: dict[str, Code] = {
    "pretiling-fused": Code(
        "Nests were fused before tiling",
        "Nests were fused before tiling, at no cost: each iteration of one needs only the same iteration of the "
        "other (Definition 4.1); or they are independent, and both read the same cells, were written in one loop, "
        "or fill the rows of one array between them. Loops over up to four planes of an image go innermost for "
        "that, and are unrolled.",
        "Nothing: this is an improvement. `--fuse min` keeps nests apart.",
    ),
    "fused": Code(
        "A producer runs in the tiles of its reader",
        "A producer runs in the tiles of its readers, with the share of its work that overlapping tiles repeat.",
        "Nothing, unless the repeated work is expensive: `--max-recompute PERCENT` bounds it, larger `--tile-sizes` "
        "repeat less, `--strips N` lets tiles slide and repeat nearly none.",
    ),
    "inlined": Code(
        "A producer is computed where its values are read",
        "The expression of an elementwise producer replaces the reads of its values; its nest and its array are "
        "removed. Where data choose which values are read, only these are computed; the producer stays for its other "
        "readers.",
        "Nothing: this is an improvement. `--no-inline` keeps producers in nests of their own.",
        "language.md#inlining",
        gain=True,
    ),
    "relocated": Code(
        "A temporary was replaced by an array element",
        "A scalar that sums up products is replaced by the element that its value is stored to, or expanded into a new "
        "array of which each tile keeps its part, so that register tiles, blocked factorisations and tiles apply.",
        NOTHING,
        "cpu.md#temporaries",
    ),
    "expanded": Code(
        "An array was expanded",
        "An array that each iteration of outer loops fills anew, and sums up products in, has a part for each "
        "iteration in a new array, which removes the dependences between them. Live-out values are copied back.",
        "Nothing, unless its values are dead after the region: say so with `--live-out`, and nothing is copied back.",
        "cpu.md#temporaries",
    ),
    "kept-rows": Code(
        "Tiles keep their rows of a new array",
        "All statements that access an expanded array run in tiles that keep their parts of it: the sizes of a "
        "tile, where `all` is a whole row.",
        NOTHING,
        "cpu.md#temporaries",
        sizes=True,
    ),
    "contracted": Code(
        "An array was contracted to a variable",
        "An array is a variable of one iteration: no other iteration reads its values, and they are not live-out.",
        NOTHING,
    ),
    "prefetched": Code(
        "A data-dependent loop prefetches",
        "For a CPU: a data-dependent loop reads an array row by row, and prefetches the lines of rows some pages "
        "ahead, since hardware prefetch ends at a page.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "asked-ahead": Code(
        "A scatter prefetches",
        "For a CPU: a loop that adds to data-dependent cells prefetches the arrays that it reads in order, some "
        "hundred iterations ahead: between the misses of gathers and scatters, hardware prefetch finds no stream.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "storage-shared": Code(
        "Buffers share storage",
        "Buffers of a tile with disjoint live ranges share storage: the bytes that they take together, and those "
        "that they would take apart.",
        NOTHING,
    ),
    "scatter-fed": Code(
        "A producer runs in the loop of a scatter",
        "A nest runs strip by strip in the loops of a scatter that reads its values in the same iterations.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "sliding-window": Code(
        "Tiles slide through strips",
        "Tiles of a strip keep shared values in circular buffers: how many tiles a strip has, and how many rows "
        "each buffer. `cpu-sizes` has the prediction of the model of the machine.",
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
        "Blocks stage rows in shared memory",
        "For a GPU: each thread processes a row of its own, in order. All threads of a block load parts of the rows, "
        "coalesced, into shared memory, and results are stored in the same way. If the iterations of a row are "
        "independent, and only a computation before each row kept them with one thread, all threads of a block share "
        "the row.",
        "Nothing; with `--reassociate` the threads of a block share the sum of a row instead.",
        "gpu.md#rows",
        sizes=True,
    ),
    "tile-transposed": Code(
        "Tiles of an array go through shared memory",
        "For a GPU: a nest runs along the rows of one array and down the columns of another one, as a transposition "
        "does. Tiles of the other one go through shared memory, so that all accesses to memory are coalesced.",
        NOTHING,
        "gpu.md#transpositions",
        sizes=True,
    ),
    "blocked": Code(
        "A sequential loop runs in blocks",
        "A loop that carries dependences runs in blocks of so many steps: updates that the block does not need itself "
        "are delayed to its end, where they are sums of products.",
        "Nothing; `--sizes blocks=N` sets another number of steps.",
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
        "For a CPU: the sizes of a tile that were constructed for the machine, its bottleneck, the traffic between "
        "cache levels, why it is not larger, and the second best.",
        "Name the machine that runs the code (`--machine host`), and promise sizes that are known (`--param`): "
        "both change the choice. `--tile-sizes` overrides it.",
        "cpu.md#tile-sizes",
    ),
    "gpu-sizes": Code(
        "The shape of a block on a GPU",
        "For a GPU: the tile of a block and its threads, their bottleneck, and of how many shapes they are the best "
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
        "A loop that adds to data-dependent cells runs in parallel: each thread has a private copy of a small "
        "array, or updates are atomic.",
        NOTHING,
        "cpu.md#data-dependent-loops",
    ),
    "scatter-owned": Code(
        "A loop that scatters runs in parallel, and keeps its order",
        "A loop that adds to data-dependent cells runs in parallel: each thread runs the iterations that "
        "update its own part of the cells, in their order (owner computes). An inspector finds these, in blocks of "
        "iterations; one thread runs the loop if most blocks update cells of most threads.",
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
        "Loops that were written inside of the same outer ones, and that the scheduler distributed, share these "
        "again: the values of one are in the caches when the next one reads them.",
        NOTHING,
        "cpu.md#grids-with-several-values-at-a-point",
    ),
    "interchanged": Code(
        "Loops were interchanged for cache lines",
        "The loops of a nest were interchanged: the inner one now has steps within a cache line, such as "
        "those from pixel to pixel of an image, or from point to point of a grid with several values each. The loop "
        "that was innermost goes to another line in each step.",
        NOTHING,
        "cpu.md#grids-with-several-values-at-a-point",
    ),
    "turned": Code(
        "A buffer is stored transposed",
        "The buffers of a tile are stored with another dimension innermost, so that the tile's vector loops run "
        "along consecutive memory in them as well.",
        NOTHING,
    ),
    "straightened": Code(
        "A nest runs near the order that was written",
        "A nest whose loops the scheduler skewed runs in its original order, with loops split in three where that "
        "makes them parallel, or with two loops of a statement interchanged: its innermost loops run along consecutive "
        "memory then.",
        NOTHING,
        "cpu.md#recurrences",
        gain=True,
    ),
    "cells": Code(
        "A parallel loop over cells was added",
        "Iterations that add to one cell of an array are dependent, and its subscript is rounded down from theirs "
        "(`grid[y / 8][z] += e`): a loop over the cells was put around them, and runs in parallel.",
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
        "memory once; or a triangular solve runs in blocks of rows, of which each first adds the contribution of all "
        "earlier blocks, several rows jammed.",
        "Nothing; `--sizes row-blocks=N` sets other blocks.",
        "cpu.md#blocks-of-rows",
        gain=True,
        sizes=True,
    ),
    "packed": Code(
        "An array is copied into another layout",
        "Sums that are bound by latency read rows of an array, and loops around them read all of it again: it is "
        "copied once, before the region, so that adjacent sums read adjacent elements, and the loop over "
        "these is vectorised. If the loops around have few iterations, the region runs as it was written.",
        NOTHING,
        "cpu.md#rows-that-are-read-again",
        gain=True,
    ),
    "edges-apart": Code(
        "The edges of a loop have loops of their own",
        "One side of a selection reads elements that may not exist, such as those beyond the first and the last row. "
        "All other iterations have loops in which both sides are evaluated, and one is selected, so that they run "
        "in vectors.",
        NOTHING,
        "cpu.md#choices",
        gain=True,
    ),
    "spread": Code(
        "Private values were expanded over a strip",
        "Recurrences of adjacent columns, or rows, run in strips: private values are expanded over the columns of a "
        "strip, and the loop over these is the innermost one.",
        NOTHING,
        "cpu.md#filters",
        gain=True,
    ),
    "ended": Code(
        "A strip ends when most of its iterations have",
        "A loop that data end, or a branch on data around loops: each iteration of a strip has a flag, and all of them "
        "run together while most flags are set; the rest runs one iteration after the other.",
        NOTHING,
        "cpu.md#loops-that-data-end",
        gain=True,
    ),
    "interleaved": Code(
        "Several rows of a recurrence are interleaved",
        "Recurrences along rows: several rows are interleaved, the loop over them innermost, each some columns behind "
        "the one before if rows depend on each other too; the message has the latency from one element to the next, "
        "and the time of an element by itself.",
        NOTHING,
        "cpu.md#filters",
        gain=True,
    ),
    "rejoined": Code(
        "Statements share a loop again, as written",
        "Independent sums, searches for the largest element and other recurrences, or stores to elements of one array, "
        "that were written in one loop and gained nothing from loops of their own share it again, so that their "
        "latencies overlap, and cache lines are written once. Or the rest of a loop fits into the latency of a sum in "
        "it; or nests access the same rows, which stay in the caches.",
        NOTHING,
        "cpu.md#filters",
    ),
    "unrolled": Code(
        "Loops were unrolled and jammed, or split",
        "For a CPU: adjacent iterations are unrolled and jammed into the vector loop, since they share reads, "
        "or read one column of a smaller image; or a loop is split, so that iterations whose subscripts need no choice "
        "(`x == 0 ? 0 : 2 * x - 1`), in which all of a loop's statements run, or that are the remainder of vectors of "
        "bytes, have a loop of their own; the message says which.",
        NOTHING,
        "cpu.md#images",
    ),
    "inspected": Code(
        "An inspector runs before the loops",
        "An inspector tests before the loops, in one pass over the data, that data-dependent subscripts stay in their "
        "rows. If one does not, the loops run as they were written.",
        "Nothing, if they do. An array that is declared with several dimensions needs no inspector.",
        "language.md#subscripts-that-the-data-decide",
    ),
    "looked-up": Code(
        "Lookups are permutations of vectors",
        "For a CPU: lookups in short rows are permutations of vectors; the message says how many iterations share "
        "one row.",
        NOTHING,
        "cpu.md#lookups-and-scatters",
    ),
    "nontemporal": Code(
        "Results have streaming stores",
        "For a CPU: rows of an array that no cache holds are stored with streaming (non-temporal) stores, which do not "
        "read the lines first; the message names the arrays, and the size from which on.",
        NOTHING,
        "cpu.md#results-that-no-cache-holds",
    ),
    "jammed": Code(
        "Several sums are jammed",
        "For a CPU: several of the sums that stream through an array are unrolled and jammed, each in its own register "
        "and in its own order; the message says how many.",
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
