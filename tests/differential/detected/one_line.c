/* Loops that share their lines with what stands around them. */
#include <stdio.h>

#define N 120
#define TWICE(x) ((x) + (x))

static double a[N][N], b[N][N]; static int count;

static void zero(int n, double *p) { for (int i = 0; i < n; i++) p[i] = 0; }
static double dot(int n, const double *p, const double *q) { double s = 0; for (int i = 0; i < n; i++) s += p[i] * q[i]; return s; }
static void fill(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a[i][j] = TWICE(i * j) % 7; }
static void between(int n, double *p) { for (int i = 0; i < n; i++) p[i] += 1; count++; /* more */ for (int i = 0; i < n; i++) p[i] *= 0.5; }

static void product(void)
{
    if (count > 0) { for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            b[i][j] = 0;
            for (int k = 0; k < N; k++)
                b[i][j] += a[i][k] * a[k][j];
        } count--; } else { printf("none\n"); } // one more
}

static double blur(int n, double p[n]) { double before = p[0];
    for (int i = 1; i < n - 1; i++) {
        double here = p[i];
        p[i] = (before + here + p[i + 1]) / 3;
        before = here; } return before; }

int main(void)
{
    fill(); between(N, a[3]);
    product(); printf("%f %f\n", dot(N, a[3], b[4]), b[7][9]); for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) b[i][j] -= a[j][i];
    printf("%f\n", blur(N, b[5]));
    zero(N, a[3]); product();
    printf("%f %f %f %d\n", dot(N, a[2], b[4]), b[7][9], a[3][3], count);
    return 0;
}
