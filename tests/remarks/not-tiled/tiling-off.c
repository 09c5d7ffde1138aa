/* polyc compile --tile-sizes none */
void f(int n, double (*a)[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = 2 * a[i][j];
#pragma endscop
}
