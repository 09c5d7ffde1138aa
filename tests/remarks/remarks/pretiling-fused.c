void f(int n, const float in[n], float A[n], float out[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2 * in[i];
    for (int i = 0; i < n; i++)
        out[i] = A[i] + 1;
#pragma endscop
}
