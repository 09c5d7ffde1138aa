/* A stencil that wraps around, and a counter that data decide on in the same nest. */
#include "driver.h"
#define N 520

static void life(unsigned char cell[N][N], unsigned char next[N][N], unsigned char age[N][N], int steps, int alive[])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                int up = (y + N - 1) % N, dn = (y + 1) % N, lf = (x + N - 1) % N, rt = (x + 1) % N;
                int s = cell[up][lf] + cell[up][x] + cell[up][rt] + cell[y][lf] + cell[y][rt] + cell[dn][lf]
                        + cell[dn][x] + cell[dn][rt];
                next[y][x] = s == 3 || (s == 2 && cell[y][x]);
            }
        int n = 0;
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                if (next[y][x] && cell[y][x])
                    age[y][x] = age[y][x] < 255 ? age[y][x] + 1 : 255;
                else
                    age[y][x] = 0;
                cell[y][x] = next[y][x];
                n += cell[y][x];
            }
        alive[t] = n;
    }
#pragma endscop
}

int main(void)
{
    unsigned char *cell = new_byte(N * N), *next = new_byte(N * N), *age = new_byte(N * N);
    int alive[3];
    for (int k = 0; k < N * N; k++)
        cell[k] = cell[k] < 90;
    life((void *)cell, (void *)next, (void *)age, 3, alive);
    dump_byte("cell", cell, N * N);
    dump_byte("age", age, N * N);
    dump_int("alive", alive, 3);
    free(cell), free(next), free(age);
    return 0;
}
