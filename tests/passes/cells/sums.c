void f(int n, const float in[n], float sum[n / 3 + 1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        sum[i / 3] += in[i];
#pragma endscop
}
