/* layer normalisation of each row, 16384 x 1024 */
#include <math.h>
#ifdef SMALL
#define M 20
#define N 70
#else
#define M 16384
#define N 1024
#endif

void layernorm(float x[M][N], float scale[N], float shift[N], float out[M][N])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < M; i++) {
        float sum = 0.0f;
        for (int j = 0; j < N; j++)
            sum += x[i][j];
        float mean = sum / N;
        float squares = 0.0f;
        for (int j = 0; j < N; j++)
            squares += (x[i][j] - mean) * (x[i][j] - mean);
        float factor = 1.0f / sqrtf(squares / N + 1e-5f);
        for (int j = 0; j < N; j++)
            out[i][j] = (x[i][j] - mean) * factor * scale[j] + shift[j];
    }
#pragma endscop
}
