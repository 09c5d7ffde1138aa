/* Structs of the region's own, written member by member: what is not yet written of them is read by nobody. */
#include "driver.h"

struct point {
    double x, y;
    int kind;
};

static void scalar(int n, const double *a, double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        struct point p;
        p.x = 2 * a[i];
        p.y = p.x - a[i];
        p.kind = i % 3;
        out[i] = p.x * p.y + p.kind;
    }
#pragma endscop
}

static void two_nests(int n, const double *a, double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        struct point p[2];
        p[0].x = a[i];
        p[1].y = a[i] + i;
        out[i] = p[0].x + p[1].y;
    }
    for (int i = 0; i < n; i++) {
        struct point p;
        p.y = out[i];
        p.x = p.y * a[i];
        out[i] = p.x + p.y;
    }
#pragma endscop
}

int main(void)
{
    double *a = new_double(50), *out = new_double(50);
    FOR_SIZES(n, 0, 1, 7, 50) {
        scalar(n, a, out);
        dump_double("scalar", out, 50);
        two_nests(n, a, out);
        dump_double("two nests", out, 50);
    }
    free(a), free(out);
    return 0;
}
