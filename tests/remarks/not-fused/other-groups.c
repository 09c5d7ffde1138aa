/* polyc compile --machine zen4 */
#define N 4000
#define SUM(a) (a[y - 2][x] + a[y - 1][x] + a[y][x] + a[y + 1][x] + a[y + 2][x])
#define ROWS(k) for (int y = 2 * k; y < N - 2 * k; y++)
#define ALL for (int x = 0; x < N; x++)

void f(const float in[N][N], float out[N][N])
{
    static float a1[N][N], a2[N][N], a3[N][N], a4[N][N], a5[N][N], a6[N][N], a7[N][N], a8[N][N], a9[N][N], a10[N][N], a11[N][N];

#pragma polyc live-out(out)
#pragma scop
    ROWS(1) ALL a1[y][x] = SUM(in);
    ROWS(2) ALL a2[y][x] = SUM(a1);
    ROWS(3) ALL a3[y][x] = SUM(a2);
    ROWS(4) ALL a4[y][x] = SUM(a3);
    ROWS(5) ALL a5[y][x] = SUM(a4);
    ROWS(6) ALL a6[y][x] = SUM(a5);
    ROWS(7) ALL a7[y][x] = SUM(a6);
    ROWS(8) ALL a8[y][x] = SUM(a7);
    ROWS(9) ALL a9[y][x] = SUM(a8);
    ROWS(10) ALL a10[y][x] = SUM(a9);
    ROWS(11) ALL a11[y][x] = SUM(a10);
    ROWS(12) ALL out[y][x] = SUM(a11);
#pragma endscop
}
