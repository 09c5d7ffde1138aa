#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
/* 20281128:1710: of isl's skewed loops the inner one has one iteration in each of the outer one, and no threads to share */
void f(short n, long m, int C1[m + 2][n + 1], int C5[n + 1][m + 5], int by_2)
{
    int B2[n + 3];
    for (int x0 = 0; x0 < (int)(n + 3); x0++)
        B2[x0] = (3 * x0) % 11;
    int B6[n + 1];
    (void)B2;  /* its reader may be dead */
    (void)B6;  /* its reader may be dead */
#pragma scop
    for (int i = 4; i <= 3; i += by_2) {
        B2[i + 2] = (C1[i - 1][i + 1] + i) % 1009;
    }
    for (int i = 0; i < MIN(n - 1, n - 2); i++) {
        int s3 = (B2[i + 2]) % 1009;
        int s4 = (3 + B2[MAX(i + 1, 1) + 2]) % 1009;
        for (int j = i; j < i + 4; j++) {
            for (int k = m - 1; k >= j; k--) {
                if (-0.6 >= 0.9) {
                    s3 -= (((B2[MIN(i, m - 1) + 2]) % 97) * 0) % 1009;
                }
                s4 = ((s4 < (B2[i] - (B2[i + 2])) * (B2[i + 5]) ? s4 : ((B2[i] - (B2[i + 2])) % 97) * ((B2[i + 5]) % 97))) % 1009;
            }
        }
        s4 = ((s3 % 97) * (-2)) % 1009;
        for (int j = MAX(i - 1, 0); j <= MIN(i + 3, n) + (-1); j++) {
            s3 += (B2[i + 5] - (C1[MIN(i, n - 1)][j])) % 1009;
            s4 = ((s4 > (C5[i][j + 1]) * (B2[i + 2]) ? s4 : ((C5[i][j + 1]) % 97) * ((B2[i + 2]) % 97))) % 1009;
        }
        B2[i + 4] = s3 % 1009;
        B2[i + 2] = (((s3 + s4) % 97) * (-1) + B2[i + 2]) % 1009;
    }
    for (int i = 0; i < n + 1; i++) {
        B6[i] = ((-2) * ((B2[i] + B2[i + 1] + 3 * ((B2[i]) % 97)) % 97)) % 1009;
    }
#pragma endscop
}
