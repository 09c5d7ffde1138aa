/* A filter over each of several signals: three values wait for each other, through two others. */
void biquads(int n, int c, float in[c][n], float out[c][n], float b0, float b1, float b2, float a1, float a2)
{
#pragma scop
    for (int k = 0; k < c; k++) {
        float z1 = 0, z2 = 0;
        for (int i = 0; i < n; i++) {
            float x = in[k][i], y = b0 * x + z1;
            z1 = b1 * x - a1 * y + z2;
            z2 = b2 * x - a2 * y;
            out[k][i] = y;
        }
    }
#pragma endscop
}
