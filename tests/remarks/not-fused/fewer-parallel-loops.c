void f(int n, const float in[n], float A[n], float out[n])
{
#pragma scop
    A[0] = in[0];
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + in[i];
    for (int i = 1; i < n - 1; i++)
        out[i] = A[i - 1] + A[i + 1];
#pragma endscop
}
