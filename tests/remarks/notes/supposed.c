void thin(int n, int m, int stride, const double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            int x = i * stride + j;
            if (x < m)
                b[i] += a[x];
        }
#pragma endscop
}
