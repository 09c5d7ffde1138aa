/* Figure 7 with an input that nobody reads afterwards: still in place, so a value must not be made twice. */
#include "driver.h"

static void conv(int H, int W, float A[H][W], float C[H][W])
{
    float tmp = 0;
#pragma polyc live-out(C, tmp)
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++) {
            tmp = A[h][w];
            A[h][w] = tmp * tmp + 0.25f;
        }
    for (int h = 1; h < H - 1; h++)
        for (int w = 1; w < W - 1; w++)
            C[h][w] = A[h - 1][w] + A[h + 1][w] + A[h][w - 1] + A[h][w + 1];
#pragma endscop
    printf("tmp %.9g\n", tmp);
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 34, 70) {
        int m = n + 70;
        float *A = new_float(n * m), *C = new_float(n * m);
        conv(n, m, (void *)A, (void *)C);
        dump_float("C", C, n * m);
        free(A), free(C);
    }
    return 0;
}
