#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define N 300
#define FOR(i, n) for (int i = 0; i < (n); i++)
#define SQ(x) ((x) * (x))
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

typedef struct image { int w, h; float *data; float inline_data[N]; } image;
typedef double (*fn)(double);
static double table[N], other[N], M[N][N], T[N][N];
int gn = N;
double *gp;

static int sum_of(int count, ...)
{
    va_list ap;
    int total = 0;
    va_start(ap, count);
    for (int i = 0; i < count; i++)
        total += va_arg(ap, int);
    va_end(ap);
    return total;
}

/* in place: out may be in */
void smooth(int n, double *out, double *in)
{
    for (int i = 1; i < n - 1; i++)
        out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

void two(int n, double *a, double *b)
{
    for (int t = 0; t < 3; t++) {
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i - 1] + b[i + 1];
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] * 0.5 + a[i + 1] * 0.25;
    }
}

void global_bound(double *a)
{
    for (int i = 0; i < gn; i++)
        a[i] = a[i] * 2 + i;
}

void int_bound(int *a)
{
    for (int i = 0; i < gn; i++)
        a[i] = 40;
}

void scale(image *im, float by)
{
    for (int y = 0; y < im->h; y++)
        for (int x = 0; x < im->w; x++)
            im->data[y * im->w + x] *= by;
}

double apply(fn f, double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += f(a[i]);
    return s;
}

int with_goto(int n, double *a)
{
    int i = 0;
again:
    for (; i < n; i++) {
        if (a[i] < 0)
            goto fix;
        a[i] = sqrt(a[i]);
    }
    for (int k = 0; k < n; k++)
        a[k] += 1;
    return i;
fix:
    a[i] = -a[i];
    goto again;
}

int with_switch(int kind, int n, double *restrict a, const double *restrict b)
{
    int i;
    switch (kind) {
    case 0:
        for (i = 0; i < n; i++)
            a[i] = b[i];
        break;
    case 1: {
        for (i = 0; i < n; i++)
            a[i] = b[n - 1 - i];
        for (i = 0; i < n; i++)
            a[i] = a[i] * 3;
        break;
    }
    default:
        for (i = 0; i < n; i++) switch (i & 3) { case 0: a[i] = 1; break; default: a[i] = 2; }
    }
    return i;
}

void duff(char *to, const char *from, int count)
{
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 7:      *to++ = *from++;
    case 6:      *to++ = *from++;
    case 5:      *to++ = *from++;
    case 4:      *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
}

void macros(double *restrict a)
{
    FOR(i, N) a[i] = SQ(i);
    FOR(i, N)
        FOR(j, N)
            M[i][j] = MAX(a[i],
                          a[j]);
    FOR(i, N) FOR(j, N) T[i][j] = M[j][i]; FOR(i, N) a[i] += T[i][0];
}

void flattened(void)
{
    for (int k = 0; k < N * N; k++)
        M[0][k] = k;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            T[i][j] = M[i][j] + 1;
}

void directives(double *restrict a, int n)
{
    for (int i = 0; i < n; i++) {
#ifdef EXTRA
        a[i] = 1;
#else
        a[i] = 2;
#endif
    }
    for (int i = 0; i < n; i++)
        a[i] += i;
}

int asmy(double *a, int n)
{
    int x = 1;
    for (int i = 0; i < n; i++)
        a[i] = i;
    __asm__ volatile ("" : "+r"(x) : : "memory");
    for (int i = 0; i < n; i++) {
        __asm__ volatile ("" : : "r"(a) : "memory");
        a[i] = i + x;
    }
    return x;
}

long ternary_and_exprs(int n, int *a)
{
    long s = ({ long q = 3; q + n; });
    for (int i = 0; i < n; i++)
        a[i] = ({ int z = i * 2; z + 1; });
    int w = 4;
    for (int i = 0; i < n; i++)
        s += a[i] * w;
    return s;
}

int used_after(int n, double *restrict a)
{
    int i, last = -1;
    double t = 0;
    for (i = 0; i < n; i++) {
        t = a[i] * 2;
        a[i] = t;
        last = i;
    }
    printf("%d %d %g\n", i, last, t);
    int m = n / 2;
    double buf[N];
    for (i = 0; i < m; i++)
        buf[i] = a[i];
    m = m - 1;
    for (i = 0; i < m; i++)
        a[i] = buf[i + 1];
    return i;
}

static void k_and_r(n, a) int n; double *a;
{
    int i;
    for (i = 0; i < n; i++) a[i] = a[i] + 1;
}

int main(int argc, char **argv)
{
    double a[N], b[N];
    float px[N];
    int ia[N];
    image im = {10, 30, px, {0}};
    char text[N], copy[N];
    for (int i = 0; i < N; i++) { a[i] = i % 17; b[i] = i % 5; px[i] = i; ia[i] = i; table[i] = 0.5 * i; text[i] = 'a' + i % 26; }
    smooth(N, a, a); smooth(N - 1, a + 1, a); smooth(N, b, a);
    two(N, a, b); two(N - 10, a, a + 3);
    global_bound(a); int_bound(ia); gn = 20; int_bound(&gn); printf("gn %d\n", gn); gn = N;
    gp = table; global_bound(gp); global_bound(table);
    scale(&im, 1.5f);
    printf("%d %g\n", sum_of(3, 1, 2, 3), apply(sqrt, b, N));
    a[7] = -4; printf("%d\n", with_goto(N, a));
    for (int kind = 0; kind < 3; kind++) printf("%d\n", with_switch(kind, N, other, b));
    duff(copy, text, N);
    macros(b); flattened(); directives(other, N); asmy(table, N);
    printf("%ld\n", ternary_and_exprs(N, ia));
    printf("%d\n", used_after(N, b));
    k_and_r(N, b);
    double s = 0;
    for (int i = 0; i < N; i++)
        s += a[i] * (i + 1) + b[i] * 3 + px[i] + ia[i] + table[i] * 7 + other[i] * 11 + copy[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s += M[i][j] * (i - j) + T[i][j] * j;
    printf("%.17g\n", s);
    return 0;
}
