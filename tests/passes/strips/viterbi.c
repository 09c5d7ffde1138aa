/* The best way to each state, and where it came from: a value that stays or not, without a branch. */
void step(int n, const double before[n], const double cost[n][n], double after[n], int from[n])
{
#pragma scop
    for (int s = 0; s < n; s++) {
        double best = -1e30;
        int state = 0;
        for (int k = 0; k < n; k++) {
            double value = before[k] + cost[k][s];
            if (value > best) {
                best = value;
                state = k;
            }
        }
        after[s] = best;
        from[s] = state;
    }
#pragma endscop
}
