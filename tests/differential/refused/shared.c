/* An array of which two nests read parts. */
static double c7[8][5];
void f(void)
{
    double c6[10][8];
    static double c8[9][6];
    int i, j, k;
    (void)c6;
#pragma scop
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 8; j++)
            c6[i][j] = 0.3;
    for (int i = 0; i < 8; i++)
        for (j = 2; j < 5; j++) {
            c7[i][j] = 0.3;
            for (int iw = 0; iw < 3; iw++)
                for (int jw = 0; jw < 3; jw++)
                    c7[i][j] += c6[i + iw][j + jw];
        }
    for (i = 0; i <= 7; i += 3)
        for (j = 0; j != 5; j++) {
            for (k = 0; k != 2; k++)
                c8[i + 1][j + 1] += c6[0][j + 3];
            c8[i + 1][j + 1] = c8[i + 1][j + 1] * 0.3 + -0.6;
        }
#pragma endscop
}
