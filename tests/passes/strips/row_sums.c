/* Nothing lies along the loop of the results: several rows at once, none of which waits for its last addition. */
void row_sums(int n, int m, float A[n][m], float mean[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            sum += A[i][j];
        mean[i] = sum / m;
    }
#pragma endscop
}
