/* A triangle stored without its other half: rows follow each other at distances that grow. */
void packed(int n, int m, double A[n * n + n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int j = 0; j <= i; j++)
            s += A[i * (i + 1) / 2 + j] * x[j];
        y[i] = s;
    }
#pragma endscop
}
