/* Integer sums into scalars, exact in any order. */
void reduction(int n, long a[n], long *sum, long *largest)
{
    long s = 0, x = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += a[i];
    for (int i = 0; i < n; i++)
        x = 3 * x + a[i];
    for (int i = 0; i < n; i++)
        a[i] = a[i] + s;
#pragma endscop
    *sum = s, *largest = x;
}
