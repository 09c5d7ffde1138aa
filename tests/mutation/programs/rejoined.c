/* The largest and the smallest element of a row each, in the loop that was written. */
void rejoined(int n, int m, int A[n][m], int B[n][m], int at[n], int where[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int most = 0, x = -1, least = 0, y = -1;
        for (int j = 0; j < m; j++) {
            if (A[i][j] > most) {
                most = A[i][j];
                x = j;
            }
            if (B[i][j] <= least) {
                least = B[i][j];
                y = j;
            }
        }
        at[i] = x;
        where[i] = y;
    }
#pragma endscop
}
