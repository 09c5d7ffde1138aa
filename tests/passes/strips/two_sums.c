/* Two sums along each row: eight rows at once, since one addition waits for the one before it. */
void f(int n, float A[n][n], float out[n], float more[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0, q = 0;
        for (int j = 0; j < n; j++) {
            s += A[i][j];
            q += A[i][j] * A[i][j];
        }
        out[i] = s;
        more[i] = q - s * s;
    }
#pragma endscop
}
