void f(int n, const int *pick, float in[n], float A[n], float out[n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2 * in[i];
    for (int i = 0; i < n; i++)
        out[i] = A[i] + A[pick[i]];
#pragma endscop
}
