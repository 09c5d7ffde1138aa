#pragma polyc pure(g)
void f(int n, double a[n][n])
{
#pragma polyc parallel(no)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] *= 2;
#pragma endscop
}
