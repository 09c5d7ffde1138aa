#include <stdio.h>
/* Pooling with an accumulator of two inner loops that both carry it: isl's scheduler gives up, the rows are parallel. */
#define C 3
#define H 18
#define W 26
float x[C][H][W], y[C][H / 2][W / 2];
int main(void)
{
    for (int k = 0; k < C; k++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W; j++)
                x[k][i][j] = (k * 31 + i * 17 + j * 7) % 101;
#pragma scop
    for (int k = 0; k < C; k++)
        for (int i = 0; i < H / 2; i++)
            for (int j = 0; j < W / 2; j++) {
                float m = x[k][2 * i][2 * j];
                for (int u = 0; u < 2; u++)
                    for (int v = 0; v < 2; v++)
                        if (x[k][2 * i + u][2 * j + v] > m)
                            m = x[k][2 * i + u][2 * j + v];
                y[k][i][j] = m;
            }
#pragma endscop
    for (int k = 0; k < C; k++)
        for (int i = 0; i < H / 2; i++) {
            double sum = 0;
            for (int j = 0; j < W / 2; j++)
                sum = sum * 0.999 + y[k][i][j];
            printf("%.10f\n", sum);
        }
    return 0;
}
