/* Sums of whole numbers, exact in any order: into one cell, for each row, with a number that is not whole, and some
   that only look like sums. */
void sums(int n, int a[n][n], double h[n], int s[n], int total[4], int w[n])
{
    int seen = 0, last = 0, most = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        total[0] += a[i][0];
    for (int i = 0; i < n; i++) {
        s[i] = 1;
        for (int j = 0; j < n; j++)
            s[i] += a[i][j];
        s[i] = 2 * s[i];
    }
    for (int i = 0; i < n; i++)
        total[1] += (h[i] - 2) * 0.3;
    for (int i = 0; i < n; i++)
        total[2] = 3 * total[2] + a[i][1 % n];
    for (int i = 0; i < n; i++) {
        seen += a[i][0];
        w[i] = seen;
    }
    for (int i = 1; i < n; i++)
        s[i] += s[i - 1];
    for (int i = 0; i < n; i++) {
        last = 3 * last + a[i][0];
        total[3] += last;
    }
    for (int i = 0; i < n; i++)
        if (a[i][0] > most)
            most = a[i][0];
#pragma endscop
    total[3] += seen + most;
}
