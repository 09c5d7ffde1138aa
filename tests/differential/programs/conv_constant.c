/* Figure 1(a) with constant extents, an input that stays, and a quantised copy that only the region uses. */
#include "driver.h"
#define H 40
#define W 140
#define K 3

static float In[H][W], B[K][K], C[H - K + 1][W - K + 1];

static void conv(void)
{
    float A[H][W];
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            A[h][w] = (float)(int)(In[h][w] * 16.0f) / 16.0f;
    for (int h = 0; h <= H - K; h++)
        for (int w = 0; w <= W - K; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < K; kh++)
                for (int kw = 0; kw < K; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
    for (int h = 0; h <= H - K; h++)
        for (int w = 0; w <= W - K; w++)
            C[h][w] = C[h][w] > 0.0f ? C[h][w] : 0.0f;
#pragma endscop
}

int main(void)
{
    float *in = new_float(H * W), *b = new_float(K * K);
    memcpy(In, in, sizeof In);
    memcpy(B, b, sizeof B);
    conv();
    dump_float("C", C, sizeof C / sizeof(float));
    free(in), free(b);
    return 0;
}
