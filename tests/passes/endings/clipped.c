/* The mean of the frames that are not far from it, for each pixel, until it has too few. */
#include <math.h>
void clipped(int n, int w, const float frame[n][w], float *out)
{
#pragma scop
    for (int x = 0; x < w; x++) {
        float low = -1e30f, high = 1e30f, mean = 0, width = 0;
        for (int r = 0; r < 3; r++) {
            float sum = 0, square = 0;
            int count = 0;
            for (int f = 0; f < n; f++) {
                float v = frame[f][x];
                if (v < low || v > high)
                    continue;
                sum += v;
                square += v * v;
                count++;
            }
            if (count < 2)
                break;
            mean = sum / count;
            width = sqrtf(fmaxf(square / count - mean * mean, 0.0f));
            low = mean - 2.0f * width;
            high = mean + 2.0f * width;
        }
        out[x] = mean + width;
    }
#pragma endscop
}
