/* Rows and a scalar that each iteration sets anew, and that are read afterwards; one that iterations hand on, and one
   of which the last iteration does not write all. */
void work_rows(int n, double a[n][n], double b[n][n], double w[n], double *restrict last, double c[n], double d[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            w[j] = a[i][j] * 0.5;
        *last = w[0] + w[i];
        for (int j = 0; j < n; j++)
            b[i][j] = w[n - 1 - j] * *last;
    }
    for (int i = 0; i < n; i++) {
        if (i == 0 || i == n - 1)
            c[0] = a[i][0];
        for (int j = 1; j < n; j++)
            c[j] = a[i][j] * 2.0;
        for (int j = 0; j < n; j++)
            a[i][j] = c[j] + c[0];
    }
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            d[j] = a[i][j] * 2.0;
        for (int j = i; j < n; j++)
            a[i][j] = d[j] + 1.0;
    }
#pragma endscop
}
