/* Functions with loops and several returns, called in conditions, declarations and sums; counts of whole numbers. */
#include <stdio.h>
#include <string.h>

#define N 90

typedef struct { double x[4]; int hits; } track;

static double points[N * 8], centres[12 * 8], best[N];
static int nearest[N], marks[N];
static track tracks[N];

static double distance2(const double *a, const double *b, int m)
{
    double s = 0;
    for (int k = 0; k < m; k++) {
        double d = a[k] - b[k];
        s += d * d;
    }
    return s;
}

static int scaled(track *t, double by)
{
    double d = t->x[0] * t->x[1] - by;
    if (d == 0)
        return -1;
    if (d > 20) {
        t->hits++;
        return 1;
    } else if (d < -20)
        return 2;
    t->x[2] /= d;
    return 0;
}

static void turned(track *t, const double m[4][4])
{
    double y[4];
    memset(y, 0, sizeof y);
    if (t->hits > 3)
        return;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            y[i] += m[i][k] * t->x[k];
    memcpy(t->x, y, sizeof y);
}

static int inside(const double *p, int m)
{
    for (int k = 0; k < m; k++)
        if (p[k] > 6)
            return 0;
    return 1;
}

static void assign(int n, int k, int m, const double *p, const double *c, double *restrict d, int *restrict of)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double least = 1e300;
        int which = 0;
        for (int j = 0; j < k; j++) {
            double here = distance2(p + i * m, c + j * m, m);
            if (here < least) {
                least = here;
                which = j;
            }
        }
        d[i] = least;
        of[i] = which;
    }
#pragma endscop
}

static int step(int n, track *restrict t, const double m[4][4], long *restrict sum)
{
    int failed = 0, large = 0;
    long total = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        if (scaled(&t[i], 3) < 0)
            failed++;
        turned(&t[i], m);
    }
    for (int i = 0; i < n; i++)
        large += t[i].x[3] > 1 ? 2 : t[i].x[2] < 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            if (t[i].x[j] > j)
                total += i - j;
#pragma endscop
    *sum = total;
    return 1000 * failed + large;
}

static int all_inside(int n, int m, const double *p, int *restrict mark)
{
    int many = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        mark[i] = inside(p + i * m, m);
        many += mark[i];
    }
#pragma endscop
    return many;
}

int main(void)
{
    const double m[4][4] = {{1, 0, 0.5, 0}, {0, 1, 0, 0.25}, {0, 0.5, 1, 0}, {0.125, 0, 0, 1}};
    for (int i = 0; i < N * 8; i++)
        points[i] = i * 37 % 19 / 2.5;
    for (int i = 0; i < 12 * 8; i++)
        centres[i] = i * 23 % 17 / 2.0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 4; k++)
            tracks[i].x[k] = (i + 1) * (k + 2) % 7;
    assign(N, 12, 8, points, centres, best, nearest);
    for (int s = 0; s < 4; s++) {
        long sum;
        int count = step(N - s, tracks, m, &sum);
        printf("%d %ld\n", count, sum);
    }
    printf("%d\n", all_inside(N, 8, points, marks));
    for (int i = 0; i < N; i += 7)
        printf("%.9g %d %d %.9g %.9g %d\n", best[i], nearest[i], marks[i], tracks[i].x[0], tracks[i].x[2], tracks[i].hits);
    return 0;
}
