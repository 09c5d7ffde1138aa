/* A row that a choice tells, in statements that are kept whole: a constant of the loop around them, with and without sign. */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void rows_chosen(int n, double B[n + 3], int C[n + 3][40], double D[n + 3][40])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (B[i + 2] >= 0.5) {
            for (int k = 0; k < 8; k++)
                C[i][k] = (C[MAX(i + 1, 1)][(k + 1) / 3] + k) % 1009;
        }
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < 20; j++)
            if (B[i] < 0.75)
                D[i][j] = D[MIN(i + 2, n - 1)][(j * i % 7 + 7) % 7] + j;
#pragma endscop
}
