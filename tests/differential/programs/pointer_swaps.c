/* Two fields in two buffers each, of which the pointers change places after every step, through one temporary. */
#include "driver.h"
#define AT(i, j) ((i) * n + (j))

static void react(int n, int steps, float *u, float *v, float *u2, float *v2, float rate)
{
    for (int t = 0; t < steps; t++) {
#pragma scop
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float lu = u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] + u[AT(i, j + 1)] - 4 * u[AT(i, j)];
                float uv = u[AT(i, j)] * v[AT(i, j)];
                u2[AT(i, j)] = u[AT(i, j)] + rate * lu - 0.125f * uv;
                v2[AT(i, j)] = v[AT(i, j)] + 0.125f * uv;
            }
#pragma endscop
        float *tmp = u;
        u = u2;
        u2 = tmp;
        tmp = v, v = v2, v2 = tmp;
    }
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 8, 40, 90) {
        float *u = new_float(n * n), *v = new_float(n * n), *u2 = new_float(n * n), *v2 = new_float(n * n);
        react(n, n % 7, u, v, u2, v2, 0.0625f);
        dump_float("u", u, n * n);
        dump_float("v", v, n * n);
        dump_float("u2", u2, n * n);
        dump_float("v2", v2, n * n);
        free(u), free(v), free(u2), free(v2);
    }
    return 0;
}
