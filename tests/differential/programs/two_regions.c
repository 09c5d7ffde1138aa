/* Two regions in a function with plain code between them, and one in another function. */
#include "driver.h"

static int calls;

static void both(int n, double *a, double *b)
{
    double total = 0;
    int i;
#pragma scop
    for (i = 0; i < n; i++)
        b[i] = a[i] * 2.0;
    for (i = 0; i < n - 1; i++)
        total += b[i] * b[i + 1];
#pragma endscop
    printf("total %.17g\n", total);
    if (total > 0)
        calls++;
  #pragma scop
    for (i = 0; i < n; i++)
        a[i] = b[i] + total;
  #pragma endscop
}

static void other(int n, double *a)
{
    #pragma scop
    for (int i = 1; i < n; i++)
        a[i] = a[i] + a[i - 1];
    #pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 300) {
        double *a = new_double(n), *b = new_double(n);
        both(n, a, b);
        other(n, a);
        dump_double("a", a, n);
        dump_double("b", b, n);
        free(a), free(b);
    }
    printf("%d\n", calls);
    return 0;
}
