/* Loops on data and loops inside of them: which element of a cell they add to is theirs, which cell is not. */
void inside(int n, int m, const int b[n], const float in[n][m], float h[n / 8 + 1][4])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int k = b[i] & 3;
            while (k < 4) {
                for (int d = 0; d < 4; d++)
                    h[i / 8][d] += in[i][j];
                k++;
            }
        }
#pragma endscop
}
