/* A local value that may be written or not, in iterations that run backwards now: which of two writes comes last matters only
   where one read may see both. */
static inline float blendf(float a, float b) { return 0.25f * a + 0.5f * b; }
static double C1[13][7];
static float C5[14][13];
void kernel(short n, short m, short k, float C2[28][14], const int *I4)
{
    int i, j, kk, l;
    float v_float = 0;
    for (i = k; i >= 0; i--) {
        for (j = 1; j <= n - 2; j++) {
            v_float = 0.07;
            for (kk = 0; kk < n; kk++) {
                for (l = 3; l <= k - 4; l++) {
                    v_float -= (blendf(C2[i + 1][l + 4], C1[k - 1][2])) * (C1[l + 2][(j + 1) / 2]);
                }
            }
            for (kk = 0; kk < n; kk++) {
                if (C2[2 * i + 1][j % 2 + 1] < 1.7) {
                    v_float += ((C2[i + 1][(j < 1 ? 0 : j - 1) + 1]) * (C2[i][j + 1])) * (C2[I4[kk] + 1][j - 1]);
                }
            }
            v_float = v_float * (0.3) * 0.25;
            C5[i][j] = v_float;
            for (int z6 = 0; z6 < 2; z6++) {
                v_float = 0.07;
                for (kk = 0; kk < n; kk++) {
                    for (l = 3; l <= k - 4; l++) {
                        v_float -= (blendf(C2[i + 1][l + 4], C1[k - 1][2])) * (C1[l + 2][(j + 1) / 2]);
                    }
                }
                for (kk = 0; kk < n; kk++) {
                    if (C2[2 * i + 1][j % 2 + 1] < 1.7) {
                        v_float += ((C2[i + 1][(j < 1 ? 0 : j - 1) + 1]) * (C2[i][j + 1])) * (C2[I4[kk] + 1][j - 1]);
                    }
                }
                v_float = v_float * (0.3) * 0.25;
                C5[i][j] = v_float;
            }
        }
    }
}
