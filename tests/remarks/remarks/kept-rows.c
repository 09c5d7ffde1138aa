/* polyc compile */
void transform(int n, int m, double A[n][40], double B[40][40], double row[40])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            row[j] = 0.0;
            for (int k = 0; k < m; k++)
                row[j] += A[i][k] * B[k][j];
        }
        for (int j = 0; j < m; j++)
            A[i][j] = row[j];
    }
#pragma endscop
}
