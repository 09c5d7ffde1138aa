/* Figure 1(a) of the paper: quantise, convolve, ReLU; all arrays are live-out. */
#include "driver.h"
#define Quant(x) ((float)(int)((x) * 16.0f) / 16.0f)
#define ReLU(x) ((x) > 0.0f ? (x) : 0.0f)

static void conv(int H, int W, int KH, int KW, float A[H][W], float B[KH][KW], float C[H][W])
{
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            A[h][w] = Quant(A[h][w]);
    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++)
            C[h][w] = ReLU(C[h][w]);
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 6, 37, 150)
        FOR_SIZES(k, 1, 3, 8) {
            int m = n + 5;
            float *A = new_float(n * m), *B = new_float(k * k), *C = new_float(n * m);
            conv(n, m, k, k, (void *)A, (void *)B, (void *)C);
            dump_float("A", A, n * m);
            dump_float("C", C, n * m);
            free(A), free(B), free(C);
        }
    return 0;
}
