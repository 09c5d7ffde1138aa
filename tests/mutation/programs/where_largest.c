/* The largest element of each column, and the row that it is in: both have a place for each column of a strip. */
void where_largest(int n, int m, double A[n][m], double most[m], int row[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        double best = -1e30;
        int at = -1;
        for (int i = 0; i < n; i++)
            if (A[i][j] > best) {
                best = A[i][j];
                at = i;
            }
        most[j] = best;
        row[j] = at;
    }
#pragma endscop
}
