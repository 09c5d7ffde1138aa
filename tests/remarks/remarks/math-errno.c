#include <errno.h>
#include <math.h>

int failed(void)
{
    return errno == EDOM;
}

void f(int n, double a[restrict n], double b[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 1 / sqrt(b[i]);
#pragma endscop
}
