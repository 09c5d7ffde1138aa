/* The last row first, and in each row the columns from the right, which come from earlier rows. */
void f(int n, double U[n][n], double x[n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        for (int j = n - 1; j > i; j--)
            x[i] -= U[i][j] * x[j];
        x[i] = x[i] / U[i][i];
    }
#pragma endscop
}
