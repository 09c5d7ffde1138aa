/* A row of C6 is computed in 64 bits, `(i - 1L + 2) * (n + 3)`, which was `((int)(i - 1) + 2) * (n + 3)` before i was an
   int: the cast changes nothing, as an int holds i - 1. */
static inline int clamped(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
double fmax(double, double);
static inline int wrapped(int i, int n)
{
    int r = i % n;
    if (r < 0)
        r += n;
    return r;
}
void kernel(int n, short m, double B1[n + 4], double *C6, int I7[m - 4], double C8[1][n])
{
    double C5[m + 2][16];
    for (int x0 = 0; x0 < (int)(m + 2); x0++)
        for (int x1 = 0; x1 < 16; x1++)
            C5[x0][x1] = (3 * x0 + 7 * x1) % 11 * 0.7;
    (void)C5;  /* its reader may be dead */
#pragma polyc live-out(C6)
#pragma scop
    for (int i = 0; i < n; i++) {
        B1[i] = (0.3) * (B1[i] + B1[i] + B1[i]) * 0.25;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 2; j != 3; j++) {
            long jx2 = wrapped(j + 1, 3);
            int jx3 = j < 1 ? j + 1 : 2;
            const int jx4 = j > 0 ? j - 1 : 0;
            C5[i + 2][j + 2] = B1[i] + B1[i];
        }
    }
    for (int i = 1; i < m; i++) {
        for (int j = 0; j < (n + 3) / 2; j++) {
            C6[(i + 2) * (n + 3) + I7[j] + 1] += fmax(C5[i][j], B1[clamped(i, n)]);
        }
    }
    for (int i = 0; i < 3 / 2; i++) {
        for (int j = 0; j < n; j++) {
            C8[i][j] = (0.3) * ((2.1) * (C6[(i + 1) * (n + 3) + j + 3]) + (0.9) * (C6[i * (n + 3) + j]) + (2.1) * (C6[i * (n + 3) + j + 1])) * 0.25;
        }
    }
#pragma endscop
}
