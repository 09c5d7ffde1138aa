/* Two buffers that an index chooses, which is 0 and 1 in turn. */
#include "driver.h"

static double T[2][40][50];
static long rows[2][70];

static void diffuse(int steps)
{
#pragma scop
    int cur = 0;
    for (int s = 0; s < steps; s++) {
        int nxt = 1 - cur;
        for (int j = 1; j < 39; j++)
            for (int i = 1; i < 49; i++)
                T[nxt][j][i] = T[cur][j][i] + 0.25 * (T[cur][j][i + 1] - T[cur][j - 1][i]);
        cur = nxt;
    }
#pragma endscop
}

static void paths(int n, int m)
{
    int now = 1;
#pragma scop
    for (int i = 0; i < n; i++) {
        rows[now ^ 1][0] = rows[now][0] + i;
        for (int j = 1; j < m; j++)
            rows[now ^ 1][j] = rows[now][j] + rows[now][j - 1] % 1000;
        now ^= 1;
    }
#pragma endscop
}

static int kept(int n, int m)
{
    int at = 0;
#pragma scop
    for (int i = 3; i < n; i++) {
        for (int j = 0; j < m; j++)
            rows[!at][j] = rows[at][j] * 3 % 1009 + j;
        at = !at;
    }
#pragma endscop
    return at;
}

int main(void)
{
    for (int j = 0; j < 40; j++)
        for (int i = 0; i < 50; i++)
            T[0][j][i] = T[1][j][i] = (j * 7 + i * 3) % 11;
    for (int j = 0; j < 70; j++)
        rows[0][j] = rows[1][j] = j % 13;
    FOR_SIZES(n, 0, 1, 2, 7, 12) {
        diffuse(n);
        dump_double("T", T, 2 * 40 * 50);
        paths(n, 70);
        dump_long("rows", rows, 2 * 70);
        printf("%d\n", kept(n, 60));
        dump_long("rows", rows, 2 * 70);
    }
    return 0;
}
