/* A filter with many taps, its sum in a variable: each vector of results takes several taps at a time. */
void f(int n, const float x[n + 63], const float taps[64], float y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0.5f;
        for (int k = 0; k < 64; k++)
            s += x[i + k] * taps[k];
        y[i] = s;
    }
#pragma endscop
}
