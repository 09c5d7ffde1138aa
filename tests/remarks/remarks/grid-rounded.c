/* polyc compile --target cuda --grid 1000 */
void scale(int n, float in[n][5][7][n], float out[n][5][7][n])
{
#pragma scop
    for (int a = 0; a < n; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 7; c++)
                for (int d = 0; d < n; d++)
                    out[a][b][c][d] = 2 * in[a][b][c][d];
#pragma endscop
}
