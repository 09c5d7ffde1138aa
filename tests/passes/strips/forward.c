/* The forward algorithm: what is seen chooses a column, which is read whatever the data are. */
void step(int n, const double before[n], const double moves[n][n], const double shows[n][32], const int seen[1],
          double after[n])
{
#pragma scop
    for (int s = 0; s < n; s++) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += before[k] * moves[k][s];
        after[s] = sum * shows[s][seen[0]];
    }
#pragma endscop
}
