/* The smoothest of four windows around each element: 36 iterations in all, of few operations, are written out. */
void quadrants(int n, int m, float x[n][m], float y[n][m])
{
#pragma scop
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++) {
            float best = 1e30f, value = 0;
            for (int q = 0; q < 4; q++) {
                int di = q & 1 ? 0 : -2, dj = q & 2 ? 0 : -2;
                float s = 0, squares = 0;
                for (int u = 0; u < 3; u++)
                    for (int v = 0; v < 3; v++) {
                        float t = x[i + di + u][j + dj + v];
                        s += t;
                        squares += t * t;
                    }
                float mean = s / 9, variance = squares / 9 - mean * mean;
                if (variance < best) {
                    best = variance;
                    value = mean;
                }
            }
            y[i][j] = value;
        }
#pragma endscop
}
