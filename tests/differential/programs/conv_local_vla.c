/* The quantised input is a VLA of the function: it need not be written at all. */
#include "driver.h"

static void conv(int h, int w, float In[h][w], float B[3][3], float C[h][w])
{
    float A[h][w];
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            A[i][j] = In[i][j] * 0.5f + 1.0f;
    for (int i = 0; i < h - 2; i++)
        for (int j = 0; j < w - 2; j++) {
            C[i][j] = 0;
            for (int ki = 0; ki < 3; ki++)
                for (int kj = 0; kj < 3; kj++)
                    C[i][j] += A[i + ki][j + kj] * B[ki][kj];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 35, 100) {
        int m = 2 * n + 1;
        float *In = new_float(n * m), *B = new_float(9), *C = new_float(n * m);
        conv(n, m, (void *)In, (void *)B, (void *)C);
        dump_float("C", C, n * m);
        free(In), free(B), free(C);
    }
    return 0;
}
