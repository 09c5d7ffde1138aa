/* Rows of 9 elements, a value of one iteration on the way, and a sum for each of 7 cells. */
void short_rows(int n, float A[n][7][9], float b[9], float B[n][7][9], float s[n][7])
{
    float t[n][7][9];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 9; k++)
                t[i][j][k] = 2 * A[i][j][k] + b[k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 9; k++)
                B[i][j][k] = t[i][j][k] * t[i][j][k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++) {
            s[i][j] = 0;
            for (int k = 0; k < 9; k++)
                s[i][j] = 0.5f * s[i][j] + A[i][j][k];
        }
#pragma endscop
}
