/* Pixels: members of structs in arrays, whole structs copied, a struct with an array inside. */
#include "driver.h"

struct pixel {
    float r, g, b;
};
typedef struct {
    int count;
    int bins[3];
} cell;

static void grey(int n, int m, struct pixel in[n][m], struct pixel out[n][m], cell cells[n])
{
    float level[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            level[i][j] = 0.3f * in[i][j].r + 0.6f * in[i][j].g + 0.1f * in[i][j].b;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            out[i][j] = in[i][j];
            if (j > 0)
                out[i][j].g = level[i][j] - level[i][j - 1];
        }
    for (int i = 0; i < n; i++) {
        cells[i].count = m;
        for (int k = 0; k < 3; k++)
            cells[i].bins[k] = cells[i].count * k + i;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 35, 70) {
        int m = n + 64;
        float *in = new_float(3 * n * m), *out = new_float(3 * n * m);
        int *cells = new_int(4 * n);
        grey(n, m, (void *)in, (void *)out, (void *)cells);
        dump_float("out", out, 3 * n * m);
        dump_int("cells", cells, 4 * n);
        free(in), free(out), free(cells);
    }
    return 0;
}
