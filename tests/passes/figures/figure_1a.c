/* Figure 1(a): quantise, convolve, ReLU. The quantised image is a local that nobody reads afterwards. */
#define KH 3
#define KW 3
void conv(int H, int W, float Ain[H][W], float B[KH][KW], float C[H][W])
{
    float A[H][W];
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            A[h][w] = 0.5f * Ain[h][w];
    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++)
            C[h][w] = C[h][w] > 0 ? C[h][w] : 0;
#pragma endscop
}
