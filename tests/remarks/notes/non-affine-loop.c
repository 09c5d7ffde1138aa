void f(int n, const int *row, const double *v, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = row[i]; j < row[i + 1]; j++)
            a[i] += v[j];
#pragma endscop
}
