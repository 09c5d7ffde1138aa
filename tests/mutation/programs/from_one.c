/* As f2c writes it: rows that begin at 1, and a factor of a product of matrices in a variable. */
void from_one(int n, int m, int k, int lda, double alpha, const double *a, const double *b, double beta, double *c)
{
    double temp;
    for (int j = 1; j <= n; j++) {
        if (beta == 0.0)
            for (int i = 1; i <= m; i++)
                c[i + j * lda] = 0.0;
        for (int l = 1; l <= k; l++) {
            temp = alpha * b[l + j * lda] + 0.5;
            for (int i = 1; i <= m; i++)
                c[i + j * lda] += temp * a[i + l * lda];
        }
    }
}
