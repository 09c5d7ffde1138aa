/* Arrays whose values are of no use afterwards: where a copy for each iteration is right, and where it is not. */
#include "driver.h"

/* `b` is computed in the tiles of `d`, and the last loop reads it too. */
static void later_reader(double a[22], double e[16], double f[16])
{
    double b[18], c[17], d[16];
#pragma scop
    for (int i = 0; i < 18; i++)
        b[i] = 0.3 * a[i + 1] + a[i + 4] + a[i];
    for (int i = 0; i < 17; i++)
        c[i] = b[i + 1] + 0.25 * b[i];
    for (int i = 0; i < 16; i++)
        d[i] = c[i] + 2.1 * c[i + 1];
    for (int i = 2; i < 16; i++)
        e[i] = d[i] * -0.6;
    for (int i = 2; i < 16; i++)
        f[i] = 0.3 * (b[i] + b[i]);
#pragma endscop
}

/* Only where n < 40 does `b` hold what is written to it; nothing else bounds n. */
static void as_far_as_it_reaches(int n, double c[39][43], int limit[39], double total[1])
{
    double b[41];
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < 3; w++) {
            b[i + 2] = c[i][w + i] - c[i][w + 3];
            if (w > limit[i])
                break;
        }
        total[0] += b[i + 2];
    }
#pragma endscop
}

/* With `--fuse max`, `t` and `u` have one copy for a whole iteration and others for each step of a loop in it. */
static void copies_in_copies(int n, double c[n + 4][n + 3], double d[n + 3], double e[n][n], double f[n], int at[n])
{
#pragma scop
    for (int i = 0; i < n + 4; i++)
        for (int j = 0; j < n + 3; j++)
            c[i][j] = 0.3 * i + j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double t = c[i + 4][-j + n + 1];
            d[i + 3] += c[i / 2 + i % 2 + 1][i + 1] + t;
            e[i][j] = c[i + 3][j + 3];
        }
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n; j++) {
            double u = j + c[i + 2][j + 1] + c[0][j] * d[i];
            f[at[j]] = e[i][i + 1] + u;
        }
#pragma endscop
}

int main(void)
{
    double *a = new_double(22), *e = new_double(16), *f = new_double(16), *total = new_double(1);
    double(*c)[43] = (double(*)[43])new_double(39 * 43);
    int limit[39];
    later_reader(a, e, f);
    dump_double("e", e, 16);
    dump_double("f", f, 16);
    for (int i = 0; i < 39; i++)
        limit[i] = i % 4 - 1;
    FOR_SIZES(n, 0, 1, 2, 38, 39) {
        as_far_as_it_reaches(n, c, limit, total);
        dump_double("total", total, 1);
    }
    FOR_SIZES(n, 0, 1, 2, 3, 9) {
        double(*table)[n + 3] = (double(*)[n + 3])new_double((n + 4) * (n + 3));
        double *d = new_double(n + 3), *square = new_double(n * n + 1), *last = new_double(n + 1);
        int at[n + 1];
        for (int i = 0; i < n; i++)
            at[i] = (i * 5 + 1) % n;
        copies_in_copies(n, table, d, (double(*)[n])square, last, at);
        dump_double("table", table[0], (n + 4) * (n + 3));
        dump_double("d", d, n + 3);
        dump_double("square", square, n * n);
        dump_double("last", last, n);
        free(table), free(d), free(square), free(last);
    }
    free(a), free(e), free(f), free(c), free(total);
    return 0;
}
