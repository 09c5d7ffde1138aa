/* polyc compile --budget 1 */
void f(int n, double *a)
{
#pragma scop
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
#pragma endscop
}
