/* polyc compile --target cuda */
void product(int n, int m, const float A[n][m], const float x[m], float y[n]) {
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++)
            s += A[i][j] * x[j];
        y[i] = s;
    }
#pragma endscop
}
