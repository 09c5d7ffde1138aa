/* Dynamic programming over two strings. */
#include "driver.h"

static int distance(int n, int m, const unsigned char *s, const unsigned char *t, int d[n + 1][m + 1])
{
#pragma scop
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int change = d[i - 1][j - 1] + (s[i - 1] % 4 != t[j - 1] % 4);
            int drop = d[i - 1][j] + 1;
            int add = d[i][j - 1] + 1;
            int best = change < drop ? change : drop;
            d[i][j] = best < add ? best : add;
        }
#pragma endscop
    return d[n][m];
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 3;
        unsigned char *s = new_byte(n), *t = new_byte(m);
        int *d = new_int((n + 1) * (m + 1));
        printf("%d\n", distance(n, m, s, t, (void *)d));
        dump_int("d", d, (n + 1) * (m + 1));
        free(s), free(t), free(d);
    }
    return 0;
}
