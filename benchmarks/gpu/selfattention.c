/* scaled dot products, softmax and weighted sums, 64 heads of 1024 x 64 */
#include <math.h>
#ifdef SMALL
#define H 2
#define T 40
#define D 16
#else
#define H 64
#define T 1024
#define D 64
#endif

void selfattention(float q[H][T][D], float k[H][T][D], float v[H][T][D], float out[H][T][D])
{
    static float s[H][T][T];
#pragma polyc live-out(out)
#pragma scop
    for (int h = 0; h < H; h++)
        for (int i = 0; i < T; i++) {
            for (int j = 0; j < T; j++) {
                float score = 0.0f;
                for (int d = 0; d < D; d++)
                    score += q[h][i][d] * k[h][j][d];
                s[h][i][j] = score * 0.125f;
            }
            float most = s[h][i][0];
            for (int j = 1; j < T; j++)
                most = s[h][i][j] > most ? s[h][i][j] : most;
            float sum = 0.0f;
            for (int j = 0; j < T; j++) {
                s[h][i][j] = expf(s[h][i][j] - most);
                sum += s[h][i][j];
            }
            for (int d = 0; d < D; d++) {
                float value = 0.0f;
                for (int j = 0; j < T; j++)
                    value += s[h][i][j] * v[h][j][d];
                out[h][i][d] = value / sum;
            }
        }
#pragma endscop
}
