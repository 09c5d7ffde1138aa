void f(int n, const int *pick, const float *in, float A[n][4], float out[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i][pick[i]] = in[i];
    for (int i = 1; i < n - 1; i++)
        out[i] = A[i - 1][0] + A[i + 1][1];
#pragma endscop
}
