/* A loop of which the first iterations have a loop of their own, since only these have an element of the table. */
static double seen[19];

void parts(int n, int m, const double *x, double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0.5;
        for (int w = 0; w < 2; w++) {
            for (int j = 0; j < m - 2; j++) {
                s = 0.5 * s - 0.25 * x[i];
                if (seen[j] > 1.5)
                    break;
            }
            if (s < 0.25)
                break;
        }
        out[i] = s;
    }
#pragma endscop
}
