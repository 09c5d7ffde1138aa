/* a product of two float matrices, 4096 x 4096 */
#ifdef SMALL
#define N 40
#else
#define N 4096
#endif

void matmul(float A[N][N], float Bm[N][N], float out[N][N])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            out[i][j] = 0.0f;
            for (int k = 0; k < N; k++)
                out[i][j] += A[i][k] * Bm[k][j];
        }
#pragma endscop
}
