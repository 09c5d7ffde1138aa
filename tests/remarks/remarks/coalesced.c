/* polyc compile --target cuda */
void scale(int n, float in[n][7][9], float out[n][7][9])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 9; k++)
                out[i][j][k] = 2 * in[i][j][k];
#pragma endscop
}
