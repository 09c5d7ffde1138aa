void f(int n, int m, int A[n][m], short B[n][m], int high[n], int low[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int most = 0, at = -1, least = 0, where = -1;
        for (int j = 0; j < m; j++) {
            if (A[i][j] > most) { most = A[i][j]; at = j; }
            if (B[i][j] < least) { least = B[i][j]; where = j; }
        }
        high[i] = at;
        low[i] = where;
    }
#pragma endscop
}
