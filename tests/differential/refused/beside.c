/* An array that nobody needs afterwards may lie where the elements of one that is needed would begin, had it any. */
void f(int H, int W, float A[H][W], float B[3][3], float C[H - 2][W - 2])
{
#pragma polyc live-out(C)
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            A[h][w] = A[h][w] * 16 + 1;
    for (int h = 0; h <= H - 3; h++)
        for (int w = 0; w <= W - 3; w++) {
            C[h][w] = 0;
            for (int u = 0; u < 3; u++)
                for (int v = 0; v < 3; v++)
                    C[h][w] += A[h + u][w + v] * B[u][v];
        }
}
