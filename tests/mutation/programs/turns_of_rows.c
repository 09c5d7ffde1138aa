/* Cells that are counted and copied back in the loop that was written; what is counted is stored between the two. */
void turns_of_rows(int n, int m, int steps, int a[n][m], int b[n][m], int old[n][m], int live[steps])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[i][j] = a[i == 0 ? n - 1 : i - 1][j] + a[i][j] > 100;
        int sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                if (b[i][j] != a[i][j])
                    old[i][j] = 0;
                else
                    old[i][j] = old[i][j] < 255 ? old[i][j] + 1 : 255;
                sum += b[i][j];
                a[i][j] = b[i][j];
            }
        live[t] = sum;
    }
#pragma endscop
}
