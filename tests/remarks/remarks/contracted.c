void chain(int n, float a[n], float c[n])
{
    float b[n];
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = 2.0f * a[i] + 1.0f;
    for (int i = 0; i < n; i++)
        c[i] = b[i] > 0.0f ? b[i] : 0.0f;
#pragma endscop
}
