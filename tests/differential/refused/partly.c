/* An array of which iterations need one element for themselves, and read another one that is written before the loop: a
   copy for each of them would lack it, and none would let them overwrite each other's. */
void partly(int n, double out[n][100], const double in[n][100], double last[8][8])
{
    double t[3], row[16];
#pragma scop
    for (int i = 0; i < n; i++) {
        t[1] = in[i][0];
        for (int j = 0; j < 100; j++) {
            t[2] = in[i][j] * 2;
            out[i][j] = t[1] + t[2] * t[2];
        }
    }
    for (int i = 3; i != 5; i++)
        for (int j = 0; j <= i - 1; j++) {
            for (int k = i / 2; k < i + 12; k++)
                row[k] = in[i][k] * 0.25;
            for (int k = 0; k <= 1; k++)
                last[i][j + k] = row[k + 1];
        }
#pragma endscop
}
