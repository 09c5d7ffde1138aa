/* isl's schedule runs all that uses `s` in the last iteration of a loop, and prints what reads it behind that loop. */
static int b[1];
void f(int m, const int (*c)[m + 4], double d[1][1], double *a, const short *e)
{
#pragma scop
    for (int i = 0; i < (m + 3) / 2; i++)
        for (int j = 0; j <= 3; j++)
            for (int k = 0; k != 2; k++)
                a[i] += c[i + 1][j] * d[j + 1][k + 1];
    for (int i = (m + 3) / 2 - 1; i > -1; i--) {
        float s = e[i];
        for (int j = 0; j < 40; j++)
            s -= i - 0.07;
        b[i] = (((s > 0.25) % 97) * (-1) + i) % 1009;
        a[i + 2] -= s * 1.7 + i;
    }
#pragma endscop
}
