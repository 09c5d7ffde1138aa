struct pixel {
    float r, g;
    int k;
};
struct size {
    int n;
};

void histogram(int n, int *bin, int count[256])
{
#pragma scop
    for (int i = 0; i < n; i++)
        count[bin[i]] += 1;
#pragma endscop
}

void sparse(int n, const int *row, const int *col, const double *a, const double *x, double *y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = row[i]; j < row[i + 1]; j++)
            y[i] += a[j] * x[col[j]];
    }
#pragma endscop
}

void structs(int n, struct pixel *p, struct pixel *q)
{
#pragma scop
    for (int i = 1; i < n - 1; i++) {
        p[i].r = q[i].g * 2 + q[i - 1].r;
        p[i].k = i;
    }
#pragma endscop
}

void rows(int n, double **A, double **B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = B[j][i] + 1;
#pragma endscop
}

double scalars(int n, double *x)
{
    double s = 0;
    int i;
#pragma scop
    for (i = 0; i < n; i++) {
        s += x[i - 1] * x[i];
        if (x[i] > 1.0)
            x[i] = 0;
    }
#pragma endscop
    return s + i;
}

void members(struct size *p, double *x)
{
#pragma scop
    for (int i = 0; i < p->n; i++)
        x[i] = i;
#pragma endscop
}
