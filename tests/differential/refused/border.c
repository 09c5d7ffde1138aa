/* Padding as an expression of the user's: 0 at the border, in a copy that a product fills its panels with. */
void f(float x[64][56][56], float w[64][64][3][3], float y[64][56][56])
{
    static float xp[64][58][58];
#pragma polyc live-out(y)
#pragma scop
    for (int c = 0; c < 64; c++)
        for (int i = 0; i < 58; i++)
            for (int j = 0; j < 58; j++)
                xp[c][i][j] = i >= 1 && i <= 56 && j >= 1 && j <= 56 ? x[c][i - 1][j - 1] : 0;
    for (int o = 0; o < 64; o++)
        for (int i = 0; i < 56; i++)
            for (int j = 0; j < 56; j++) {
                y[o][i][j] = 0;
                for (int c = 0; c < 64; c++)
                    for (int k = 0; k < 3; k++)
                        for (int l = 0; l < 3; l++)
                            y[o][i][j] += w[o][c][k][l] * xp[c][i + k][j + l];
            }
#pragma endscop
}
