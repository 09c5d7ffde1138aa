/* Sparse matrix times vector in rows (CSR), twice, with a scaling between. */
#include "driver.h"

static void spmv(int n, int *row, int *col, double *val, double x[n], double y[n], double z[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            y[i] += val[k] * x[col[k]];
    }
    for (int i = 0; i < n; i++)
        y[i] *= 0.5;
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            s += val[k] * y[col[k]];
        z[i] = s;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 40, 300) {
        int *row = new_int(n + 1), *col = new_int(5 * n);
        double *val = new_double(5 * n), *x = new_double(n), *y = new_double(n), *z = new_double(n);
        row[0] = 0;
        for (int i = 0; i < n; i++)
            row[i + 1] = row[i] + (i * 7) % 6;
        for (int k = 0; k < 5 * n; k++)
            col[k] = (col[k] + 100) % n;
        spmv(n, row, col, val, x, y, z);
        dump_double("y", y, n);
        dump_double("z", z, n);
        free(row), free(col), free(val), free(x), free(y), free(z);
    }
    return 0;
}
