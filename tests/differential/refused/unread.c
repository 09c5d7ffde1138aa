/* Values of a local variable that nobody reads: each of its assignments may have a declaration of its own. */
void f(int m, float *restrict b)
{
#pragma scop
    for (int i = 0; i <= m - 2; i += 2) {
        float t = b[i + 3] - i;
        for (int j = 0; j <= m - 2; j++)
            t = 0.07 + b[i];
        b[i + 2] += b[i + 1];
    }
#pragma endscop
}
