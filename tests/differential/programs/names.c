/* Names that polyc might want for itself, a global that a loop variable hides, and macros for everything. */
#include "driver.h"
#define FOR(v, lo, hi) for (int v = (lo); v < (hi); ++v)
#define AT(i, j) (s->data[(i)][(j)])
#define N 40

struct grid {
    int n;
    double data[N][N + 90];
};
static double it = 1.5, buf[N][N + 90], A_tile = 2.0;
static int i = 12345;

static void names(struct grid *s, double out[N][N + 90])
{
    int c0 = 3, polyc_0 = 4;
#pragma scop
    FOR (ii, 0, N)
        FOR (jt, 0, N + 90)
            buf[ii][jt] = AT(ii, jt) * it + A_tile;
    FOR (i, 1, N)
        FOR (j, 0, N + 80)
            out[i][j] = buf[i - 1][j] + buf[i][j + 7] + c0 + polyc_0;
#pragma endscop
}

int main(void)
{
    struct grid *s = malloc(sizeof *s);
    double *data = new_double(N * (N + 90)), *out = new_double(N * (N + 90));
    s->n = N;
    memcpy(s->data, data, sizeof s->data);
    names(s, (void *)out);
    dump_double("out", out, N * (N + 90));
    dump_double("buf", buf, N * (N + 90));
    printf("%d %g\n", i, it);
    free(s), free(data), free(out);
    return 0;
}
