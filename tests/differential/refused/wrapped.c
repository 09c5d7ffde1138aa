/* With more than 12 iterations the region reads before the array: its unsigned subscript wraps, and so do addresses. */
void f(int n, int m, double a[1], const double (*b)[1])
{
#pragma scop
    for (unsigned long i = 0; i < m; i++)
        a[0] = b[-i + 11][0];
#pragma endscop
}
