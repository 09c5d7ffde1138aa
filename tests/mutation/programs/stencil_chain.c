/* Three stencils; `mid` is needed afterwards, so that each of its cells is stored by the tile that owns it. */
void stencil_chain(int n, double in[n], double mid[n], double out[n])
{
    double low[n];
#pragma scop
    for (int i = 1; i < n - 1; i++)
        low[i] = in[i - 1] + in[i] + in[i + 1];
    for (int i = 2; i < n - 2; i++)
        mid[i] = low[i - 1] - 0.5 * low[i] + low[i + 1];
    for (int i = 3; i < n - 3; i++)
        out[i] = mid[i - 1] * mid[i] + mid[i + 1];
#pragma endscop
}
