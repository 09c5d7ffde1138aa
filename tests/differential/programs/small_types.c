/* Sizes of a byte or two, which are below every threshold, and a sum that nobody reads: compilers warn of both. */
#include <stdio.h>

static double lost[400];

void scale(unsigned char m, short n, double b[], const double a[])
{
#pragma scop
    for (int i = 0; i < m; i++)
        b[i] = a[i] * 0.25;
    for (int i = m; i < n; i++)
        b[i] = a[i] * 0.75;
#pragma endscop
}

void forget(double in[402], double out[400], const double w[3])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 400; i++)
        out[i] = 2 * in[i];
    for (int i = 0; i < 398; i++) {
        lost[i] = 0.3;
        for (int k = 0; k < 3; k++)
            lost[i] += out[i + k] * w[k];
    }
#pragma endscop
}

int main(void)
{
    static double a[402], b[402], w[3] = {0.5, 1, 2};
    for (int i = 0; i < 402; i++)
        a[i] = i % 17 + 0.5;
    for (int m = 0; m < 256; m += 51) {
        scale((unsigned char)m, 390, b, a);
        forget(b, a, w);
        double total = 0;
        for (int i = 0; i < 400; i++)
            total = total * 0.75 + a[i];
        printf("%d: %.17g %.17g\n", m, total, b[m]);
    }
    return 0;
}
