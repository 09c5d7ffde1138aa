/* polyc compile --detect */
void log_row(int row);

void scale(int n, int m, double a[n][m])
{
    for (int i = 0; i < n; i++) {
        log_row(i);
        for (int j = 0; j < m; j++)
            a[i][j] *= 2;
    }
}
