/* Structs of locals that are read the other way round, and dead. */
struct pair { double x, y; };
struct small { float x, y; };
void f(short n, int m, struct pair c1[n + 1][m + 2])
{
    struct small c2[m - 2][n - 1];
    struct small c3[n - 1][m - 2];
    (void)c2;
    (void)c3;
#pragma scop
    for (int i = 0; i < m - 2; i++)
        for (int j = 0; j < n - 1; j++) {
            c2[i][j].x = c1[i + 2][j].x + c1[i][j + 4].x + 1.7f * c1[i + 2][j + 1].x;
            c2[i][j].y = c2[i][j].x * 0.3 * 0.25;
        }
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m - 2; j++) {
            c3[i][j].x = c2[i][j].x * 0.9 * 0.25;
            c3[i][j].y = c3[i][j].x * 0.3 * 0.25;
        }
#pragma endscop
}
