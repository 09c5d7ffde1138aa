void product(int n, const int *row, const int *col, const double *x, double *y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            y[i] += x[col[k]];
    }
#pragma endscop
}
