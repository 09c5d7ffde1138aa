/* Statements of one nest in tiles of another: the hull of what is needed was taken for each of them by itself, and one asked
   for values that the hull of the other one left out. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static float B3[30];
void kernel(int n, int m, int k, double B1[m + 5], double B4[n], float B6[k - 3])
{
    double B2[m + 4];
    (void)B2;  /* its reader may be dead */
#pragma scop
    for (int i = 0; i < m + 4; i++) {
        B2[i] = (B1[i + 1]) * (-0.6) * 0.25;
    }
    for (int i = 0; i < n; i++) {
        B3[i] = (B2[i]) * (2.1f) * 0.25;
    }
    for (int i = 0; i < n; i++) {
        B4[i] = (B2[i]) * (2.1) * 0.25;
    }
    for (int i = 0; i <= m; i++) {
        float s5 = -0.6;
        for (int j = 0; j < m - 2; j++) {
            for (int kk = MAX(j - 1, 0); kk <= MIN(j + 3, m) + (-1); kk++) {
                s5 -= B2[i] + B4[i + 2];
            }
        }
        B6[i] = s5;
    }
#pragma endscop
}
