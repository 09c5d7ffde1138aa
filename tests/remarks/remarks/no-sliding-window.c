/* polyc compile --tile-sizes 4,32 --strips 8 --max-recompute 1000 */
void skewed(const float in[1026][2400], float out[1024][1024])
{
    float a[1026][2400];
#pragma scop
    for (int i = 0; i < 1026; i++)
        for (int j = 0; j < 2400; j++)
            a[i][j] = 2.0f * in[i][j];
    for (int i = 0; i < 1024; i++)
        for (int j = 0; j < 1024; j++)
            out[i][j] = a[i][j + i] + a[i + 1][j + i + 1] + a[i + 1][j + i];
#pragma endscop
}
