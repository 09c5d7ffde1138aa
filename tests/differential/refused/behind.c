/* A tile of `a` would be filled from behind its end, where only the data that hold no value there say not to read. */
void f(int n, short m, double a[m + 4], double b[3])
{
#pragma scop
    for (int i = 0; i < m + 4; i++)
        a[i] = 0.9;
    for (int i = 0; i < n; i++)
        if (0.3 < 1.7)
            b[i] = a[i] + a[i + 1];
#pragma endscop
}
