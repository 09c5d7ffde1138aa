/* Of `m` nothing is known, of `n` something: isl leaves `m` out of a remainder in the condition around the text. */
void f(int n, long m, double *a)
{
#pragma scop
    for (int i = 0; i < m; i += 3)
        for (int j = 0; j < i + m; j++)
            a[i * (n + 2) + j] = 0.3;
#pragma endscop
}
