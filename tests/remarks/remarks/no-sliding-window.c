/* polyc compile --tile-sizes 4,32 --strips 8 --max-recompute 1000 */
void skewed(const float in[66][200], float out[64][128])
{
    float a[66][200];
#pragma scop
    for (int i = 0; i < 66; i++)
        for (int j = 0; j < 200; j++)
            a[i][j] = 2.0f * in[i][j];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 128; j++)
            out[i][j] = a[i][j + i] + a[i + 1][j + i + 1] + a[i + 1][j + i];
#pragma endscop
}
