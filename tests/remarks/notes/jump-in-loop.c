void f(int n, int m, double (*a)[m], double *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (a[i][j] > 0)
                break;
            b[i] += a[i][j];
        }
#pragma endscop
}
