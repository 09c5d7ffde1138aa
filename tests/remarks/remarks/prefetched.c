void blocks(int n, const int index[n + 1], const int *col, const double (*K)[3][3], const double u[n][3], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = index[i]; k < index[i + 1]; k++)
            sum += K[k][0][0] * u[col[k]][0] + K[k][1][1] * u[col[k]][1] + K[k][2][2] * u[col[k]][2];
        y[i] = sum;
    }
#pragma endscop
}
