/* Arrays of one dimension in C: which of them are apart is asked at run time, and so is how their rows lie. */
void pieces(int n, int m, const double *a, const double *b, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            out[i * m + j] = a[i * m + j - 1] * 2 + b[j * n + i];
}
