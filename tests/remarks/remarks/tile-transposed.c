/* polyc compile --target cuda */
void transpose(int n, int m, const float A[n][m], float B[m][n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[j][i] = A[i][j];
#pragma endscop
}
