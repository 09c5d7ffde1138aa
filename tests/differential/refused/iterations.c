/* A value of one iteration whose reader never runs before its writer in the loop that both share: isl prints the reader
   behind the loop, where the variable of an iteration was another one. */
static inline int blendi(int a, int b) { return (int)(((unsigned)a * 5u + (unsigned)b) % 1009u); }
static double mixed(double a, double b)
{
    return 0.5 * a - 0.25 * b;
}
#pragma polyc pure(mixed)
void kernel(unsigned char D1[3][6][3], float C3[4][3], short C5[7][3], int C7[2][10])
{
    static short B4[4];
    double B6[4];
    for (int x0 = 0; x0 < 4; x0++)
        B6[x0] = (3 * x0) % 11 * 0.7;
    int i, j, k;
    (void)B6;  /* its reader may be dead */
#pragma scop
    for (int i = 1; i < 4; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < i; k++) {
                B4[i] = D1[i / 2 + i % 2][j + 3][k];
            }
        }
        B4[i] -= blendi(C5[i + 3][i - 1], (C3[i][i - 1] > 0.25));
        for (j = 0; j <= i - 1; j++) {
            for (k = i + 1; k < 1; k++) {
                B6[i + 1] += mixed(i, -0.6) + B4[i] + j;
            }
        }
    }
    for (i = 1; i < 2; i++) {
        for (j = 0; j < 10; j++) {
            C7[i][j] = ((-2) * ((2 * (((B6[i + 1] > 0.25)) % 97) + (B6[i - 1] > 0.25) + (B6[i - 1] > 0.25) + (B6[i] > 0.25) + (-2) * (((B6[i + 2] > 0.25)) % 97)) % 97)) % 1009;
        }
    }
#pragma endscop
}
