/* One operand of the sum is made for each panel: its values are never stored. */
void made_operand(int n, double A[n][n], double s[n], double B[n][40], double C[n][40])
{
    double T[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            T[i][k] = A[i][k] * s[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += T[i][k] * B[k][j];
#pragma endscop
}
