/* Each iteration has a row of its own, whose elements wait for each other: a strip has a row of them for each element. */
void distances(int n, const char (*a)[24], const char (*b)[24], int out[n])
{
#pragma scop
    for (int p = 0; p < n; p++) {
        int row[25];
        for (int j = 0; j <= 24; j++)
            row[j] = j;
        for (int i = 1; i <= 24; i++) {
            int before = row[0];
            row[0] = i;
            for (int j = 1; j <= 24; j++) {
                int best = before + (a[p][i - 1] != b[p][j - 1]);
                if (row[j] + 1 < best)
                    best = row[j] + 1;
                if (row[j - 1] + 1 < best)
                    best = row[j - 1] + 1;
                before = row[j];
                row[j] = best;
            }
        }
        out[p] = row[24];
    }
#pragma endscop
}
