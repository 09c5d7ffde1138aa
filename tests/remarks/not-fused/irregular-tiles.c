void f(int n, const float in[n], float A[2 * n], float out[n])
{
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        A[i] = in[i / 2];
    for (int i = 1; i < n - 1; i++)
        out[i] = A[i % 7] + A[i / 3] + A[i % 5 + i / 2];
#pragma endscop
}
