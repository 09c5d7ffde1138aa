/* A row that each iteration fills anew, and that is made of the row that it overwrites: its last values are needed. */
void f(int n, int m, double C[n][24], double D[24][24], double row[24])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            row[j] = 0.5;
            for (int k = 0; k < m; k++)
                row[j] += C[i][k] * D[k][j];
        }
        for (int j = 0; j < m; j++)
            C[i][j] = row[j];
    }
#pragma endscop
}
