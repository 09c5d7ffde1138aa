/*
 * nussinov: the largest number of base pairs in a fold of an RNA sequence,
 * by dynamic programming over the substrings i..j.  The bases are 0..3, and
 * two of them pair when they add up to 3; neighbours never pair.
 */
#include "harness.h"

typedef char base;

#define N SIZE(60, 180, 500, 2500, 5500)

#define PAIR(b, c) ((b) + (c) == 3 ? 1 : 0)
#define MAX(s, t) ((s) >= (t) ? (s) : (t))

static void kernel_nussinov(int n, base seq[n], int table[n][n])
{
    int i, j, k;

#pragma scop
    for (i = n - 1; i >= 0; i--) {
        for (j = i + 1; j < n; j++) {
            if (j - 1 >= 0)
                table[i][j] = MAX(table[i][j], table[i][j - 1]);
            if (i + 1 < n)
                table[i][j] = MAX(table[i][j], table[i + 1][j]);

            if (j - 1 >= 0 && i + 1 < n) {
                if (i < j - 1)
                    table[i][j] = MAX(table[i][j], table[i + 1][j - 1] + PAIR(seq[i], seq[j]));
                else
                    table[i][j] = MAX(table[i][j], table[i + 1][j - 1]);
            }

            for (k = i + 1; k < j; k++)
                table[i][j] = MAX(table[i][j], table[i][k] + table[k + 1][j]);
        }
    }
#pragma endscop
}

int main(void)
{
    base *seq = bench_alloc(N, sizeof *seq);
    int (*table)[N] = bench_alloc(N, sizeof *table);

    bench_fill_char(seq, N, 1, 0, 3);
    bench_fill_int(table, N * N, 2, 0, 0);

    bench_start();
    kernel_nussinov(N, seq, table);
    bench_stop();

    bench_dump_int("table", table, N, N);
    bench_free(seq);
    bench_free(table);
    return 0;
}
