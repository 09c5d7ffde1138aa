/* Iterations that isl prints one by one in a tile each have a copy of `a`'s element, below the tile's own buffer. */
void f(short n, long m, int out[n + 7])
{
    unsigned a[m + 11], b[m + 11];
#pragma scop
    for (int i = 0; i < m + 11; i++)
        a[i] = 0u;
    for (int i = 0; i < m + 11; i++)
        b[i] = a[i];
    for (int i = 0; i < 8; i++)
        out[i] = (b[i + 3] + (-1) * (b[i] % 97) + b[i + 1]) % 1009;
#pragma endscop
}
