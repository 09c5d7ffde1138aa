/* The best ways through a grid from its first row on: each cell begins with a bound. */
void started(int n, int best[n + 1][n + 1], const int cost[n + 1])
{
#pragma scop
    for (int i = 1; i <= n; i++)
        for (int k = 1; k <= n; k++) {
            best[i][k] = 1000000;
            if (best[i - 1][k] + cost[k] < best[i][k])
                best[i][k] = best[i - 1][k] + cost[k];
            if (best[i][k - 1] + 3 < best[i][k])
                best[i][k] = best[i][k - 1] + 3;
        }
#pragma endscop
}
