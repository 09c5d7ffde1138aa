/* polyc compile --time-tile skewed:8,16 */
void f(int t, int n, double *a)
{
#pragma scop
    for (int s = 0; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.5 * (a[i - 1] + a[i + 1]);
#pragma endscop
}
