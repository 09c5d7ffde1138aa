/* polyc compile --tile-sizes 16 */
void f(int n, const float in[n], float A[n], float X[n], float Y[n])
{
#pragma polyc live-out(X, Y)
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2 * in[i];
    for (int i = 1; i < n - 1; i++)
        X[i] = A[i - 1] + A[i + 1];
    for (int i = 2; i < n - 2; i++)
        Y[i] = A[i - 2] * A[i + 2];
#pragma endscop
}
