/* 20281128:3667: what tiles need of the first loop over k reads what an instance that no tile needs has written */
#include <math.h>
void f(int n, int at[n], double b[28], double (*d)[n + 2][40])
{
#pragma polyc live-out(d)
#pragma scop
    for (int i = 3; i < n - 3; i += 4)
        for (int j = 0; j <= n - 1; j++) {
            for (int k = 0; k < 2; k++)
                b[k] = fabs(b[at[i]]);
            for (int k = 1; k <= n - 2; k++)
                d[i + 2][j + 1][k + 1] = b[k] * 0.25;
        }
#pragma endscop
}
