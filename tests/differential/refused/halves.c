/* Sizes that the condition lets through are even: half of them is the same with and without a remainder. */
void f(int n, double c[8][n + 3], const int *index, double (*d)[n], const double *e)
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j <= (n + 3) / 2 - 1; j++)
            d[i][j] = c[7 - i][2 * j + 2] + e[i] * index[j];
}
