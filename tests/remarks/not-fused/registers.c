void layer(float in[32][58][58], float w[64][32][3][3], float bias[64], float conv[64][56][56], float pool[64][28][28])
{
#pragma scop
    for (int o = 0; o < 64; o++)
        for (int y = 0; y < 56; y++)
            for (int x = 0; x < 56; x++) {
                float sum = bias[o];
                for (int c = 0; c < 32; c++)
                    for (int u = 0; u < 3; u++)
                        for (int v = 0; v < 3; v++)
                            sum += in[c][y + u][x + v] * w[o][c][u][v];
                conv[o][y][x] = sum;
            }
    for (int o = 0; o < 64; o++)
        for (int y = 0; y < 28; y++)
            for (int x = 0; x < 28; x++)
                pool[o][y][x] = conv[o][2 * y][2 * x] + conv[o][2 * y][2 * x + 1] + conv[o][2 * y + 1][2 * x];
#pragma endscop
}
