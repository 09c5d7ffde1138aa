/* Figure 7: quantisation in place through a scalar, then a convolution. */
#include "driver.h"

static void conv(int H, int W, float A[H][W], float B[3][3], float C[H][W])
{
    float tmp;
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++) {
            tmp = A[h][w] * 3.0f;
            tmp = tmp > 1.0f ? 1.0f : tmp;
            A[h][w] = tmp;
        }
    for (int h = 0; h < H - 2; h++)
        for (int w = 0; w < W - 2; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < 3; kh++)
                for (int kw = 0; kw < 3; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 34, 70) {
        int m = n + 70;
        float *A = new_float(n * m), *B = new_float(9), *C = new_float(n * m);
        conv(n, m, (void *)A, (void *)B, (void *)C);
        dump_float("A", A, n * m);
        dump_float("C", C, n * m);
        free(A), free(B), free(C);
    }
    return 0;
}
