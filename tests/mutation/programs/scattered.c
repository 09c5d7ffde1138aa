/* Flows along edges, added up at both ends, and what is left of each. */
void scattered(int n, const int at[n * 90 + 1], const double w[n * 90 + 1], double u[64], double out[64])
{
    double *net = u;
#pragma scop
    for (int i = 0; i < n * 90; i++) {
        net[at[i] & 63] += w[i];
        net[i & 63] -= w[i];
    }
    for (int i = 0; i < 64; i++)
        out[i] = w[0] * i;
#pragma endscop
}
