/* Scatters in iterations that may run only once: one counts, one moves the places of others. */
void ran_twice(int n, int at[n * 90 + 1], const double w[n * 90 + 1], double u[64], double x[n * 90 + 1])
{
    double *net = u;
#pragma scop
    for (int i = 0; i < n * 90; i++) {
        double s = 2.0 * w[i];
        x[i] += s;
        net[at[i] & 63] += s;
    }
    for (int i = 0; i < n * 90; i++) {
        double s = 3.0 * w[i];
        net[at[i] & 63] -= s;
        at[i / 2] = (int)s;
    }
#pragma endscop
}
