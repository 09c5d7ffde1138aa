/* What is read beyond `own` is read at sizes that cannot be: no text asks where that memory lies. */
#include <stdio.h>

static void f(int m, double *p, double *q, double *r)
{
    double own[1];
    for (int i = 3; i < m - 5; i++) {
        for (int j = 0; j <= 11; j++)
            own[j] = p[i];
        for (int j = 0; j <= 5; j++)
            q[i + j] = own[j];
    }
    for (int i = 1; i < m; i++)
        for (int j = 0; j < 8; j++)
            r[8 * i + j] = p[i] + 1;
}

int main(void)
{
    static double p[60], q[40], r[80];
    for (int i = 0; i < 40; i++)
        p[i] = i % 7;
    f(8, p, q, r);
    f(5, p, p + 8, p + 2);
    for (int i = 0; i < 40; i++)
        printf("%g %g %g\n", p[i], q[i], r[i]);
    return 0;
}
