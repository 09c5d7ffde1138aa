void f(int n, float in[n], float A[n])
{
#pragma polyc live-out(in)
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2 * in[i];
    for (int i = 1; i < n - 1; i++)
        in[i] = A[i - 1] + A[i + 1];
#pragma endscop
}
