/* One operand of the sum is made for each panel; the result stays in the tile. */
void made_panel(int n, float A[n][n], float s[n], float B[n][40], float out[n][40])
{
    float T[n][n], C[n][40];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            T[i][k] = A[i][k] * s[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < n; k++)
                C[i][j] += T[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++)
            out[i][j] = C[i][j] > 0.5f ? C[i][j] : 0.0f;
#pragma endscop
}
