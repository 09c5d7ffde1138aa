/* What is left over of the sums of a triangle comes before the rows at once, and of those of a band before and after. */
void upper(int n, int m, double A[n][n], double x[n], double y[n], double z[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            y[i] += A[i][j] * x[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j >= i - m && j <= i + m)
                z[i] += A[i][j] * x[j];
#pragma endscop
}
