/* Two names for one quotient; rows of a local array that nobody sets, which the run at small sizes took for known. */
struct pair_float { float x, y; };
void kernel(int n, struct pair_float C1[n + 33][n + 9], struct pair_float C5[22][20], double *after)
{
    struct pair_float C2[n + 29][n + 5];
    struct pair_float C3[28][n + 4];
    struct pair_float C4[n + 2][n];
    int i, j;
    int n_part = n > 0 ? 1 + n % 3 : 1;
    int n_whole = n > 0 ? n * n_part + n_part - 1 : n;
#pragma scop
    for (int i = 0; i < (n_whole / n_part) + 29; i++) {
        for (int j = 0; j < (n_whole / n_part) + 5; j++) {
            C2[i][j].x = (0.3) * (C1[i][j + 1].x + C1[i + 2][j + 4].x + (-0.6) * (C1[i + 2][j + 1].x) + C1[i + 4][j + 3].x) * 0.25;
            C2[i][j].y = (C2[i][j].x) * (0.3) * 0.25;
        }
    }
    for (int i = 0; i < 28; i++) {
        for (int j = 0; j < (n_whole / n_part) + 4; j++) {
            C3[i][j].x = (0.3) * ((-1.3f) * (C2[i][j + 1].x) + (1.7f) * (C2[i + 2][j + 1].x) + C2[i][j + 1].x + C2[i + 3][j + 1].x) + C1[i + 2][j].x;
            C3[i][j].y = (C3[i][j].x) * (0.3) * 0.25;
        }
    }
    for (int i = 0; i < (n_whole / n_part) + 2; i++) {
        for (int j = 0; j < (n_whole / n_part); j++) {
            C4[i][j].x = (0.3) * (C3[i + 4][j + 4].x + C3[i + 3][j + 4].x + (1.7f) * (C3[i][j].x)) * 0.25;
            C4[i][j].y = (C4[i][j].x) * (0.3) * 0.25;
        }
    }
    for (i = 1; i < (n_whole / n_part); i++) {
        for (j = 1; j < (n_whole / n_part) - 2; j++) {
            C5[i][j].x = (0.3) * ((0.9) * (C4[i][j + 2].x) + C4[i + 2][j + 2].x + C4[i + 1][j - 1].x + (1.7f) * (C4[i - 1][j].x) + (0.9) * (C4[i - 1][j + 1].x)) * 0.25;
        }
    }
#pragma endscop
    for (int x0 = 0; x0 < 28; x0++)
        for (int x1 = 0; x1 < (int)(n + 4); x1++)
            *after = *after * 0.75 + C3[x0][x1].x - C3[x0][x1].y;
}
