void f(float in[64][64], float mid[64][64], float out[64][64])
{
#pragma scop
    for (int by = 0; by < 8; by++)
        for (int bx = 0; bx < 8; bx++) {
            float tmp[8][8];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    tmp[i][j] = in[8 * by + i][8 * bx + j];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    mid[8 * by + i][8 * bx + j] = tmp[i][0] + tmp[i][j];
        }
    for (int i = 0; i < 63; i++)
        for (int j = 0; j < 63; j++)
            out[i][j] = mid[i][j] + mid[i][j + 1] + mid[i + 1][j];
#pragma endscop
}
