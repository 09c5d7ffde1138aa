/* Local arrays that are written in parts: member by member, or where the data say so. */
#include "driver.h"

struct pair {
    double x, y;
};

/* Each part that is read was written: nothing of the array has to come from before. */
static void members(int n, const double *restrict a, double *restrict out)
{
    struct pair p[n + 31];
#pragma scop
    for (int i = 0; i < n + 31; i++) {
        p[i].x = a[i] * 0.25;
        p[i].y = p[i].x * 0.75;
    }
    for (int i = 0; i < 38; i++)
        out[i] = p[i + 1].x + 0.9 * p[i].x + p[i + 1].y;
#pragma endscop
}

/* What is written twice, member by member, in nests of their own. */
static void in_turn(int n, const double *restrict a, double *restrict out)
{
    struct pair p[n + 2];
    (void)p;
#pragma scop
    for (int i = 0; i < n + 2; i++)
        p[i].x = a[i];
    for (int i = 0; i < n + 2; i++)
        p[i].y = p[i].x * 2.0;
    for (int i = 0; i < n; i++)
        out[i] = p[i].x + p[i + 1].y + p[i + 2].x;
#pragma endscop
}

/* Only some elements are written, and the others are not read. */
static void some(int n, const double *restrict a, double *restrict out)
{
    double kept[n + 1];
#pragma scop
    for (int i = 0; i <= n; i++)
        if (a[i] > 0.0)
            kept[i] = a[i] * 3.0;
    for (int i = 0; i < n; i++)
        out[i] = (a[i] > 0.0 ? kept[i] : 0.0) + (a[i + 1] > 0.0 ? kept[i + 1] : 1.0);
#pragma endscop
}

/* Nobody mentions the array before the region, but what one turn leaves in it is read in the next one. */
static void turns(int n, const double *restrict a, double *restrict out)
{
    struct pair p[n + 1];
    for (int t = 0; t < 3; t++) {
#pragma scop
        for (int i = 0; i <= n; i++) {
            p[i].x = a[i] + t;
            if (t == 0)
                p[i].y = a[i];
        }
        for (int i = 0; i < n; i++)
            out[i] = p[i].x + p[i + 1].y;
#pragma endscop
    }
}

int main(void)
{
    FOR_SIZES(n, 8, 9, 33) {
        double *a = new_double(n + 40), *out = new_double(n + 40);
        members(n, a, out);
        dump_double("members", out, 38);
        in_turn(n, a, out);
        dump_double("in_turn", out, n);
        for (int i = 0; i < n + 1; i += 3)
            a[i] = -a[i];
        some(n, a, out);
        dump_double("some", out, n);
        turns(n, a, out);
        dump_double("turns", out, n);
        free(a), free(out);
    }
    return 0;
}
