/* A triangular solve, whose rows take what earlier blocks of rows give. */
void solve(int n, double L[n][n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / (L[i][i] + 8.0);
    }
#pragma endscop
}
