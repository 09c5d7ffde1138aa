/* A nest whose values tiles of another one need at small sizes only, and a buffer that is large enough for large ones, so
   that the guard lets only these through: it was read where nothing is, and filled nowhere. */
void few_sizes(int n, int a[n], int out[23][7])
{
    int b[n + 12];
#pragma scop
    for (int i = n - 3; i >= 2; i -= 2)
        b[i] = a[i - 1];
    for (int i = 0; i <= 11; i++)
        out[2 * i][(i * i % 7 + 7) % 7] += i > (n - 1) / 2 ? b[i + 1] : 4;
#pragma endscop
}
