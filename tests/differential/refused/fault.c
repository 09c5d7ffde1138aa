/* The flow between the writes of `a`: isl makes a fault of memory of it. */
static double b[77][42];
void f(short n, int m, double a[m + 41][n + 13])
{
#pragma scop
    for (int i = 0; i < m + 4; i += 2)
        for (int j = 0; j < m + 2; j++)
            a[j + i][i] = b[j + 2][i] + b[j][i + 2];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j += 2)
            a[j + i][(i + 1) / 2] = a[j + 1][i] + a[-j + m + 4][i + 1];
#pragma endscop
}
