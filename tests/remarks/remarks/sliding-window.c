/* polyc compile --tile-sizes 4,64 --strips 8 */
void blur(const float in[66][130], float out[64][128])
{
    float rows[66][128];
#pragma scop
    for (int i = 0; i < 66; i++)
        for (int j = 0; j < 128; j++)
            rows[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 128; j++)
            out[i][j] = rows[i][j] + rows[i + 1][j] + rows[i + 2][j];
#pragma endscop
}
