/* A local array that nests of other lengths read, where only a part of it is set. */
void f(int n, short m, double b4[n], double b5[31])
{
    double b2[64];
    double b3[m - 6];
    (void)b2;
    (void)b3;
#pragma scop
    for (int i = 0; i < 37; i++)
        b2[i] = 0.3;
    for (int i = 0; i < m - 6; i++)
        b3[i] = 0.3 * (-0.6 * b2[i + 3] + b2[i] + b2[i]) * 0.25;
    for (int i = 0; i < n; i++)
        b4[i] = b3[i + 1] * 0.9 * 0.25;
    for (int i = 0; i < n; i++)
        b5[i] = 0.3 * (0.3 * b3[i + 2] + 2.1 * b3[i] + 2.1 * b3[i + 3] + b3[i]) * 0.25;
#pragma endscop
}
