/* polyc compile --max-recompute 10 --tile-sizes 8 */
void f(int n, const float in[n], float A[n], float out[n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2 * in[i];
    for (int i = 1; i < n - 1; i++)
        out[i] = A[i - 1] + A[i + 1];
#pragma endscop
}
