/* A copy of one member's row, which is not stored past the caches. */
struct pair { double x, y; };
void f(int n, int m, double c[m][4], struct pair b[m])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            c[i][j] = 0.3;
    for (int i = 0; i < n - 1; i++)
        b[i].y = 0.3 * (c[i][0] + c[i - 1][1]) * 0.25;
#pragma endscop
}
