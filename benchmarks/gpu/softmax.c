/* softmax of each row, 16384 x 4096 */
#include <math.h>
#ifdef SMALL
#define M 20
#define N 70
#else
#define M 16384
#define N 4096
#endif

void softmax(float x[M][N], float out[M][N])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < M; i++) {
        float most = x[i][0];
        for (int j = 1; j < N; j++)
            most = x[i][j] > most ? x[i][j] : most;
        float sum = 0.0f;
        for (int j = 0; j < N; j++) {
            out[i][j] = expf(x[i][j] - most);
            sum += out[i][j];
        }
        for (int j = 0; j < N; j++)
            out[i][j] /= sum;
    }
#pragma endscop
}
