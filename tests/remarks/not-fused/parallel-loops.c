/* polyc compile --target cuda */
void longest(int n, float x[n][3], float far[n][n], float most[n])
{
#pragma polyc live-out(most)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            far[i][j] = 0.0f;
            for (int k = 0; k < j; k++)
                far[i][j] = far[i][j] * 0.5f + x[k][0] * x[i][1];
        }
    for (int i = 0; i < n; i++) {
        most[i] = far[i][0];
        for (int j = 1; j < n; j++)
            most[i] = far[i][j] > most[i] ? far[i][j] : most[i];
    }
#pragma endscop
}
