/* A sum of what it writes, in skewed tiles: the loops that isl makes of a right schedule leave out iterations. */
void f(short n, double b1[39], double b2[n + 12])
{
#pragma scop
    for (int i = 0; i < n + 1; i++) {
        b2[i + 1] = 0.3;
        for (int j = 0; j < 3; j++)
            for (int k = 0; k <= 2; k++)
                b2[i + 1] -= b1[i + j] * b2[j + 4];
        b2[i + 1] = b2[i + 1] * 0.3 + -0.6;
    }
#pragma endscop
}
