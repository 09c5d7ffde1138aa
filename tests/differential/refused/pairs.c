/* Pairs of iterations that are written out, with half of one at either end. */
void f(int n, double c[n][n], unsigned b[n], short out[35])
{
#pragma scop
    for (int i = 3; i <= n - 6; i++) {
        unsigned t = (c[i / 2][i - 1] > 0.25) - b[i + 1] + (c[i / 2][i] > 0.25);
        out[i] = t + b[i + 2];
    }
#pragma endscop
}
