/* Buffers whose pointers change places in the loop over time, inside of the region: two, two pairs, and three. */
#include "driver.h"
#define AT(i, j) ((i) * n + (j))
#define SWAP(type, x, y)                                                                             \
    do {                                                                                             \
        type *swap_ = x;                                                                             \
        x = y;                                                                                       \
        y = swap_;                                                                                   \
    } while (0)

static float *heat(int n, int steps, float *a, float *b)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[AT(i, j)] = 0.25f * (a[AT(i - 1, j)] + a[AT(i + 1, j)] + a[AT(i, j - 1)] + a[AT(i, j + 1)]);
        float *tmp = a;
        a = b;
        b = tmp;
    }
#pragma endscop
    return a;
}

static void react(int n, int steps, double *u, double *v, double *u2, double *v2, double *result)
{
    double *t;
#pragma scop
    for (int s = steps; s > 0; s -= 2) {
        for (int i = 1; i < n - 1; i++) {
            double uv = u[i] * v[i];
            int k = i + 1;
            u2[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[k]) - 0.125 * uv;
            v2[i] = v[i] + 0.125 * uv;
        }
        t = u, u = u2, u2 = t;
        t = v, v = v2, v2 = t;
    }
#pragma endscop
    for (int i = 0; i < n; i++)
        result[i] = u[i] - 2 * v[i];
}

static void wave(int n, int from, int to, double (*before)[n], double (*now)[n], double (*next)[n], double *result)
{
#pragma scop
    for (int s = from; s <= to; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                double sum = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1];
                next[i][j] = 2 * now[i][j] - before[i][j] + 0.125 * (sum - 4 * now[i][j]);
            }
        double (*t)[n] = before;
        before = now;
        now = next;
        next = t;
    }
#pragma endscop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            result[AT(i, j)] = now[i][j] - before[i][j];
}

static double *source, *target;

static void global(int n, int steps, double rate)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n; i++)
            target[i] = source[i] + rate * source[i - 1];
        SWAP(double, source, target);
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 4, 9, 40, 90) {
        for (int steps = 0; steps < 6; steps += 1 + (n > 9)) {
            float *a = new_float(n * n), *b = new_float(n * n);
            dump_float("heat", heat(n, steps, a, b), n * n);
            dump_float("a", a, n * n);
            double *u = new_double(n), *v = new_double(n), *u2 = new_double(n), *v2 = new_double(n);
            double *result = new_double(n * n);
            react(n, steps, u, v, u2, v2, result);
            dump_double("react", result, n);
            dump_double("u2", u2, n);
            double *x = new_double(n * n), *y = new_double(n * n), *z = new_double(n * n);
            wave(n, n % 3, n % 3 + steps - 1, (void *)x, (void *)y, (void *)z, result);
            dump_double("wave", result, n * n);
            dump_double("z", z, n * n);
            source = u, target = v;
            global(n, steps, 0.5);
            dump_double("source", source, n);
            dump_double("target", target, n);
            free(a), free(b), free(u), free(v), free(u2), free(v2), free(result), free(x), free(y), free(z);
        }
    }
    return 0;
}
