/* polyc compile --tile-sizes 32,128,32 */
void f(int n, const double a[n][n], const double b[n][n], const double c[n][n], double A[n][n], double out[n][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] = 0;
            for (int k = 0; k < n; k++)
                A[i][j] += a[i][k] * b[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int k = 0; k < n; k++)
                out[i][j] += A[i][k] * c[k][j];
        }
#pragma endscop
}
