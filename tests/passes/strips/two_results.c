/* One result is stored elsewhere than the other, and both need both sums: the loops of the sums are one. */
void moments(int n, int m, double A[m][n], double mean[n], double spread[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0, squares = 0;
        for (int j = 0; j < m; j++)
            sum += A[j][i];
        for (int j = 0; j < m; j++)
            squares += A[j][i] * A[j][i];
        mean[i] = sum / m;
        spread[i] = squares / m - (sum / m) * (sum / m);
    }
#pragma endscop
}
