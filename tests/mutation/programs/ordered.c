/* Sums that keep their order, since nobody allowed another one. */
void ordered(int n, double a[n], double b[n][n], double s[n], double *sum)
{
    double t = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        t += a[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s[i] += b[i][j];
#pragma endscop
    *sum = t;
}
