/* Sparse blocks by rows: a loop on data goes through an array whose rows are longer than a line. */
void blocks(int n, int index[n + 1], double K[4 * n + 4][3][3], double u[n][3], double y[n][3])
{
    double sum[n][3];

#pragma polyc live-out(y)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            sum[i][d] = 0.0;
    for (int i = 0; i < n; i++) {
        int k = i + (index[i] & 1);
        while (k < 2 * i + (index[i + 1] & 1)) {
            for (int d = 0; d < 3; d++)
                sum[i][d] += K[k][d][0] * u[i][0] + K[k][d][1] * u[i][1] + K[k][d][2] * u[i][2];
            k++;
        }
    }
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            y[i][d] = sum[i][d] / 2.0;
#pragma endscop
}
