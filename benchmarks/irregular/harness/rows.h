/*
 * Sparse rows for the irregular codes: row i has its elements in places index[i] to index[i + 1] - 1, in the columns
 * col[], near the diagonal, the diagonal first. How many a row has, and which, is noise that is the same in each run.
 */
#ifndef POLYC_BENCH_ROWS_H
#define POLYC_BENCH_ROWS_H

#include "harness.h"

/* Fills index[0..rows] with FEWEST to MOST elements a row; how many all rows have. */
static int rows_index(int *index, int rows, int fewest, int most)
{
    int *lengths = bench_alloc((size_t)rows, sizeof(int));

    bench_fill_int(lengths, (size_t)rows, 101, fewest, most);
    index[0] = 0;
    for (int i = 0; i < rows; i++)
        index[i + 1] = index[i] + lengths[i];
    bench_free(lengths);
    return index[rows];
}

/* Fills col[0..index[rows] - 1]: the row itself, then columns at most REACH away. */
static void rows_columns(int *col, const int *index, int rows, int reach)
{
    bench_fill_int(col, (size_t)index[rows], 102, -reach, reach);
    for (int i = 0; i < rows; i++)
        for (int k = index[i]; k < index[i + 1]; k++) {
            int place = k == index[i] ? i : i + col[k];

            col[k] = place < 0 ? 0 : place >= rows ? rows - 1 : place;
        }
}

#endif
