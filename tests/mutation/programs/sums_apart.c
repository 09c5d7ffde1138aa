/* What rows hand on: a sum of what stays, one of what a later row overwrites, one that
   others read, and one that needs what the sum before has. */
void sums_apart(int n, double a[n][n], double b[n][n], double *restrict x, double w[n], double *restrict z)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        b[i][0] = s;
        *x += s * b[i][0];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            b[0][j] = a[i][j] * 2.0;
        for (int j = 0; j < n; j++)
            w[j] += b[0][j];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] = b[i][j] * 0.5;
        *z += a[i][0];
        a[i][0] = *z;
        for (int j = 0; j < n; j++)
            b[i][j] = a[i][0] + a[i][j];
    }
    for (int i = 0; i < n; i++) {
        double s = 0, r = 1;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        for (int j = 0; j < n; j++)
            if (a[i][j] > 0.5)
                r += w[j];
        b[i][i] = s;
        w[i] -= s + r;
    }
#pragma endscop
}
