/* Two arrays of one name in blocks of their own, that both become a variable of one iteration. */
#include <stdio.h>
#include <stdlib.h>

static void f(int n, float *c)
{
#pragma scop
    float a[n];
    for (int i = 0; i < n; i++)
        a[i] = c[i];
    for (int i = 0; i < n; i++) {
        float b[n][n];
        b[i][i] = a[i] + 1;
        a[i] = b[i][i];
    }
    for (int i = 0; i < n; i++) {
        float b[n][n];
        b[i][i] = a[i] * 3;
        a[i] = b[i][i];
    }
    for (int i = 0; i < n; i++)
        c[i] = a[i];
#pragma endscop
}

int main(void)
{
    for (int n = 1; n < 40; n += 13) {
        float *c = malloc(n * sizeof *c);
        if (!c)
            return 1;
        for (int i = 0; i < n; i++)
            c[i] = 0.5f * i - 3;
        f(n, c);
        for (int i = 0; i < n; i++)
            printf("%g ", c[i]);
        printf("\n");
        free(c);
    }
    return 0;
}
