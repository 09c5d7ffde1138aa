/* Figure 7: the quantisation in place, through a scalar, so that its nest has two statements. */
void conv(int H, int W, float A[H][W], float B[3][3], float C[H][W])
{
    float tmp;
#pragma polyc live-out(C)
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++) {
            tmp = 0.5f * A[h][w];
            A[h][w] = tmp;
        }
    for (int h = 0; h <= H - 3; h++)
        for (int w = 0; w <= W - 3; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < 3; kh++)
                for (int kw = 0; kw < 3; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
#pragma endscop
}
