/* Each column ends its sum at a row of its own: on the diagonal, tiles of registers have rows in their vectors. */
void sums_end(int n, int d, const double p[d][d], const double c[n][d], double t[n][d])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++) {
            t[i][a] = 0;
            for (int b = 0; b < a; b++)
                t[i][a] += p[a][b] * c[i][b];
        }
#pragma endscop
}
