void f(int n, int hop, const float *a, float *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2 * hop; k++)
            b[i] += a[i * hop + k];
#pragma endscop
}
