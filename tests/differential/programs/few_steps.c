/* Fewer steps than a tile has, so that one of its two halves computes nothing, and only copies. */
#include <stdio.h>
#include <stdlib.h>

void drift(int n, double c[n + 2][n + 4])
{
#pragma scop
    for (int t = 0; t < 4; t++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[j][k + 2] = 0.3 * c[j + 2][k] + 0.2 * c[j + 2][k + 3] + 0.4 * c[j + 2][k + 4];
#pragma endscop
}

int main(void)
{
    int sizes[] = {0, 1, 4, 5, 33, 70};
    for (int s = 0; s < 6; s++) {
        int n = sizes[s];
        double (*c)[n + 4] = malloc((n + 2) * sizeof *c), total = 0;
        for (int i = 0; i < n + 2; i++)
            for (int j = 0; j < n + 4; j++)
                c[i][j] = (i * 7 + j * 5) % 23 - 3.5;
        drift(n, c);
        for (int i = 0; i < n + 2; i++)
            for (int j = 0; j < n + 4; j++)
                total = total * 0.9 + c[i][j];
        printf("%d: %.17g\n", n, total);
        free(c);
    }
    return 0;
}
