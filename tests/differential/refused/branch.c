/* A subscript that data decide is asked about where the conditional expression evaluates it. */
void f(int n, long m, int *a, int b[n - 6], int *c)
{
#pragma scop
    for (int y = 0; y < 1; y++)
        for (int x = 0; x < 1; x++)
            c[0 * 1 + 0] = (a[2 * 9 + b[0] + b[x]] + (x + y < m - 2 ? a[y * 9 + x] : a[(y + 2) * 9 + b[x]])) % 1009;
#pragma endscop
}
