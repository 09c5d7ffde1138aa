/* An accumulator that nobody needs afterwards, and that each row begins anew: no reduction over the rows. */
void f(int n, int m, const int *restrict b, int *restrict c)
{
    int t;
#pragma scop
    for (int i = 1; i < m; i++) {
        t = (1 - i) % 1009;
        for (int j = 0; j < n; j++)
            t += (b[i + 3] + j) % 1009;
        c[2 * i + 1] = b[i + 1] % 1009;
    }
#pragma endscop
}
