/* 20281128:190: all that uses `c` runs in one iteration of the fused loops, and isl prints a part of it before them */
void f(double a[44], double b[51][17][13])
{
    static double c[1][2];
#pragma scop
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k <= 11; k++)
                if (b[i][j][k + 1] > 0.3 || k % 3 == 0)
                    b[i + k][j + 1][k + 1] -= 0.3 * a[i + 4];
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            c[i][j] = 0.3;
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k <= 7; k++)
                c[i][j] += b[i][j + k][k];
#pragma endscop
}
