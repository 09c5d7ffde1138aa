/* Loops from one pointer to another one, and blocks that pointers cut into arrays. */
#include "driver.h"

typedef struct {
    double x, y, speed[2];
} point;

static void scaled(int n, float *p, const float *w)
{
    float *end = p + n;
#pragma scop
    for (float *q = p; q < end; q++)
        *q = *q * 2.0f + *w++;
#pragma endscop
}

static void rows(int n, int m, double *a, const double *b)
{
    double *row, *end = a + n * m;
#pragma scop
    for (row = a; row < end; row += m)
        for (double *q = row + 1; q < row + m; ++q)
            *q = 0.5 * *q + b[q - row > 3 ? 1 : 0];
#pragma endscop
}

static void pairs(int n, double *a)
{
    double *last = a + n - 1, *first = a;
#pragma scop
    while (first < last) {
        *first = *first + 1.0;
        first += 2;
    }
#pragma endscop
}

static void backwards(int n, double *a)
{
#pragma scop
    for (double *q = a + n - 1; q >= a; q--)
        *q = 3.0 - *q;
#pragma endscop
}

static void moved(int n, point *p, double dt)
{
    const point *end = &p[n];
#pragma scop
    for (point *q = p; q < end; q++) {
        q->x += dt * q->speed[0];
        q->y += dt * q->speed[1];
    }
#pragma endscop
}

static void parts(int n, float *block)
{
    float *before = block + 2 * n, *first = before + n;
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        block[i] = block[i] * 0.5f + 1.0f;
    for (int i = 0; i < n; i++) {
        before[i] = first[i] - block[i];
        first[i] = block[n + i];
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 37, 70) {
        int m = n + 3;
        float *f = new_float(4 * n), *w = new_float(n);
        double *a = new_double(n * m), *b = new_double(2);
        scaled(n, f, w);
        dump_float("scaled", f, n);
        rows(n, m, a, b);
        dump_double("rows", a, n * m);
        pairs(n, a);
        backwards(n, a + 1);
        dump_double("pairs", a, n * m);
        moved(n / 2, (void *)a, 0.25);
        dump_double("moved", a, n * m);
        parts(n, f);
        dump_float("parts", f, 4 * n);
        free(f), free(w), free(a), free(b);
    }
    return 0;
}
