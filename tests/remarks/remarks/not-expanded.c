/* polyc compile */
void normalise(int n, int m, double A[n][m], double B[m][m], double row[m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            if (i == 0)
                row[j] = 1.0;
            for (int k = 0; k < m; k++)
                row[j] += A[i][k] * B[k][j];
        }
        for (int j = 0; j < m; j++)
            A[i][j] = row[j];
    }
#pragma endscop
}
