/* polyc compile --tile-sizes 4,64 --strips 8 */
void blur(const float in[1026][1026], float out[1024][1024])
{
    float rows[1026][1024];
#pragma scop
    for (int i = 0; i < 1026; i++)
        for (int j = 0; j < 1024; j++)
            rows[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2];
    for (int i = 0; i < 1024; i++)
        for (int j = 0; j < 1024; j++)
            out[i][j] = rows[i][j] + rows[i + 1][j] + rows[i + 2][j];
#pragma endscop
}
