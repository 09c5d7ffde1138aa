/* Variables of enums: unsigned where no constant is negative, as gcc and clang have them. */
#include <stdio.h>

#define N 70

enum shift { NONE, ONE, TWO };
typedef enum { BACK = -2, STAY, AHEAD } way;
struct plan { enum shift by; way to; };

static double a[N], b[N], c[N][N];

static void marks(int n, double *x, enum shift s, way w)
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (i - 3 < (int)s)
            x[i] += 1;
        else if (i - 9 < w)
            x[i] += 2;
        else
            x[i] += 4;
    for (int i = 0; i < n; i++)
        x[i] += i - 5 < w + 3;
#pragma endscop
}

static void wraps(int n, double *x, unsigned char *seen, enum shift s, struct plan p)
{
#pragma scop
    for (unsigned i = 0; i < (unsigned)n; i++) {
        if (i - 3 < s)
            x[i] += 8;
        if (i - 2 < p.by)
            x[i] += 16;
        seen[i] = s > 0;
    }
#pragma endscop
}

static void red_black(int n, enum shift colour)
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + (int)colour) % 2; j < n - 1; j += 2)
            c[i][j] = 0.25 * (c[i - 1][j] + c[i + 1][j] + c[i][j - 1] + c[i][j + 1]);
#pragma endscop
}

static void each(double x[3][N])
{
#pragma scop
    for (enum shift s = NONE; s <= TWO; s++)
        for (int i = 0; i < N; i++)
            x[s][i] += s + i;
#pragma endscop
}

int main(void)
{
    static double three[3][N];
    static unsigned char seen[N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] = (i * 7 + j * 3) % 11;
    for (int s = NONE; s <= TWO; s++) {
        struct plan p = {(enum shift)(2 - s), AHEAD};
        marks(N - s, a, (enum shift)s, (way)(s - 2));
        wraps(N - 2 * s, b, seen, (enum shift)s, p);
        red_black(N, (enum shift)(s % 2));
    }
    each(three);
    for (int i = 0; i < N; i++)
        printf("%g %g %g %g %d\n", a[i], b[i], c[i][N / 2], three[i % 3][i], seen[i]);
    return 0;
}
