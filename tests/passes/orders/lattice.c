/* In place, from the end: an iteration reads what the next one overwrites, so that C compilers make vectors of it. */
void price(int n, int steps, double up, double down, const double s[n], double out[n])
{
    double v[80];
#pragma scop
    for (int o = 0; o < n; o++) {
        for (int i = 0; i <= steps; i++)
            v[i] = s[o] * i;
        for (int t = steps - 1; t >= 0; t--)
            for (int i = 0; i <= t; i++)
                v[i] = up * v[i + 1] + down * v[i];
        out[o] = v[0];
    }
#pragma endscop
}
