void kept(int n, float a[n], float b[n], float c[n])
{
    float t[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = 2.0f * a[i];
    for (int i = 0; i < n; i++)
        b[i] = t[n - 1 - i];
    for (int i = 0; i < n; i++)
        c[i] = t[i] + 1.0f;
#pragma endscop
}
