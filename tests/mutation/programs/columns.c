/* Points that are compared again and again lie side by side in a strip; the row that a point changes may not. */
void columns(int n, int k, double A[n][5], double D[n][5], double B[n][k + 5], double C[k][5], double out[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double best = 100.0;
        for (int c = 0; c < k; c++) {
            double s = 0.0;
            B[i][c] = 0.5 * C[c][0];
            for (int j = 0; j < 5; j++)
                s += A[i][j] * C[c][j] + D[i][j] * B[i][j];
            if (s < best)
                best = s;
        }
        out[i] = best;
    }
#pragma endscop
}
