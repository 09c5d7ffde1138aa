/*
 * Heat conduction in a plate with insulated edges: explicit steps on a grid with a frame of ghost cells, which take the
 * temperature of the cells beside them before each step.
 */
#include "clock.h"

#ifdef SMALL
#define N 30
#define STEPS 6
#else
#define N 1000
#define STEPS 50
#endif

static double T[N + 2][N + 2], Tnew[N + 2][N + 2];

static void heat(double r)
{
    int t, i, j;

#pragma scop
    for (t = 0; t < STEPS; t++) {
        for (i = 1; i <= N; i++) {
            T[i][0] = T[i][1];
            T[i][N + 1] = T[i][N];
        }
        for (j = 0; j <= N + 1; j++) {
            T[0][j] = T[1][j];
            T[N + 1][j] = T[N][j];
        }
        for (i = 1; i <= N; i++)
            for (j = 1; j <= N; j++)
                Tnew[i][j] = T[i][j] + r * (T[i - 1][j] + T[i + 1][j] + T[i][j - 1] + T[i][j + 1] - 4.0 * T[i][j]);
        for (i = 1; i <= N; i++)
            for (j = 1; j <= N; j++)
                T[i][j] = Tnew[i][j];
    }
#pragma endscop
}

int main(void)
{
    double sum = 0.0;

    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++) {
            T[i][j] = 20.0 + (i > N / 4 && i < N / 2 ? 60.0 * noise() : 0.0);
            Tnew[i][j] = 0.0;
        }
    clock_start();
    heat(0.2);
    clock_stop();
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            sum += T[i][j] * (i + 2 * j);
    printf("%.17g\n", sum);
    return 0;
}
