/* What a fused reader leaves of a producer: its first two iterations, and its last one, which is in a tile of its own
   for large sizes only. */
void f(short n, const int *restrict a, int *restrict d, int *restrict e)
{
    int b[45], c[n + 3];
#pragma scop
    for (int i = 0; i < 45; i++)
        b[i] = a[i + 1] % 97 * 4;
    for (int i = 0; i < n + 3; i++)
        c[i] = b[i + 1] % 97 * 2;
    for (int i = 0; i < n; i++)
        d[i] = c[i + 2] * 2 % 97;
    for (int i = 0; i < n; i++)
        e[i] = (c[i + 3] + c[i]) % 97;
#pragma endscop
}
