void convolve(int H, int W, float A[H][W], const float B[3][3], float C[H][W])
{
#pragma scop
    for (int h = 0; h < H - 2; h++)
        for (int w = 0; w < W - 2; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < 3; kh++)
                for (int kw = 0; kw < 3; kw++)
                    C[h][w] += A[h + kh][w + kw] * B[kh][kw];
        }
#pragma endscop
}
