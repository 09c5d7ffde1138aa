/* Both writers of `b` run in the tiles of its reader, and what the tiles keep is stored once both have run. */
static double c[28];
void f(long n, int m, long k, float b[n - 6], double a[m + 4][k - 4])
{
#pragma scop
    for (int i = 0; i < m; i++) {
        if (2 * i < 4)
            b[i + 2] = a[i + 4][i + 2];
        else
            b[i + 2] = a[i][(i + 3 < k ? i + 3 : m - 1)] + i;
    }
    for (int i = 3; i < m - 3; i++)
        c[i + 2] = b[i] + b[i - 1];
#pragma endscop
}
