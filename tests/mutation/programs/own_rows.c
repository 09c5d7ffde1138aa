/* Each iteration has a row of its own, along which values go: a row for each column of a strip. */
void own_rows(int n, double A[40][n], double B[n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        double row[40], s = 0;
        row[0] = A[0][j];
        for (int i = 1; i < 40; i++)
            row[i] = 0.5 * row[i - 1] + A[i][j];
        for (int i = 38; i >= 0; i--) {
            row[i] -= 0.25 * row[i + 1];
            s = 0.5 * s + row[i];
        }
        B[j] = s + row[3];
    }
#pragma endscop
}
