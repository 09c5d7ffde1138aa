/* Scalars that sum up products: some may live in the element that they are stored to, some must not. */
#include "driver.h"

#define M 40

/* LU with a scalar accumulator, and the two solves that follow. */
static void factorise(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    double w;
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < n; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    for (i = 0; i < n; i++) {
        w = b[i];
        for (j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (i = n - 1; i >= 0; i--) {
        w = y[i];
        for (j = i + 1; j < n; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
#pragma endscop
}

/* The scalar is needed after the region. */
static double read_after(int n, double A[n][n], double B[n][n], double C[n][n])
{
    double w = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = w;
        }
#pragma endscop
    return w;
}

/* The element is read between: by another statement, and by the store. */
static void read_between(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n])
{
    double w, v;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 1.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            D[i][j] = C[i][j];
            C[i][j] = w;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = 0.0;
            for (int k = 0; k < i; k++)
                v += A[i][k] * B[k][j];
            C[i][j] = 0.5 * C[i][j] + v;
        }
#pragma endscop
}

/* A sum that is rounded less, or more, than what it is stored to. */
static void other_types(int n, double A[n][n], double B[n][n], double C[n][n], float D[n][n])
{
    float w;
    double v;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0f;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = w;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = 0.0;
            for (int k = 0; k < n; k++)
                v += A[i][k] * B[k][j];
            D[i][j] = v;
        }
#pragma endscop
}

/* Two stores: the last one's element can have it. */
static void two_stores(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n])
{
    double w, v;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = w;
            D[j][i] = w * 2.0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = C[i][j];
            for (int k = 0; k < n; k++)
                v -= A[i][k] * D[k][j];
            C[i][j] = v;
            v = v * v;
            C[i][j] = v + 1.0;
        }
#pragma endscop
}

/* Stored under conditions, of the loops or of the data; begun twice, or once for all j. */
static void conditional(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n])
{
    double w, v, u, t;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            if (j < i)
                C[i][j] = w;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = 0.0;
            for (int k = 0; k < n; k++)
                v += A[i][k] * B[k][j];
            if (A[i][0] > 0.25)
                D[i][j] = v;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u = 1.0;
            if (j > i)
                u = D[i][j];
            for (int k = 0; k < n; k++)
                u += A[i][k] * B[k][j];
            D[i][j] = -u;
        }
    for (int i = 0; i < n; i++) {
        t = 0.0;
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++)
                t += A[i][k] * D[k][j];
            C[i][j] = t;
        }
    }
#pragma endscop
}

/* Other subscripts, a loop that runs down, a scalar declared inside, and a constant size. */
static void elsewhere(double A[M][M], double B[M][M], double C[M][2 * M + 1], float E[M][M], float F[M][M])
{
#pragma scop
    for (int i = M - 1; i >= 0; i--)
        for (int j = 0; j < M; j++) {
            double w = 0.0;
            for (int k = 0; k < M; k++)
                w += A[i][k] * B[k][j];
            w *= 0.5;
            C[M - 1 - i][2 * j + 1] = w * 3.0;
        }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            float v = E[j][i];
            for (int k = 0; k < M; k += 2)
                v -= F[i][k] * F[j][k] / 4.0f;
            E[j][i] = v;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 7, 50, 61) {
        double *A = new_double(n * n), *B = new_double(n * n), *C = new_double(n * n), *D = new_double(n * n);
        double *b = new_double(n), *x = new_double(n), *y = new_double(n);
        float *E = new_float(n * n);
        double last = read_after(n, (void *)A, (void *)B, (void *)C);
        dump_double("last", &last, 1);
        dump_double("C", C, n * n);
        read_between(n, (void *)A, (void *)B, (void *)C, (void *)D);
        dump_double("C", C, n * n);
        dump_double("D", D, n * n);
        other_types(n, (void *)A, (void *)B, (void *)C, (void *)E);
        dump_double("C", C, n * n);
        dump_float("E", E, n * n);
        two_stores(n, (void *)A, (void *)B, (void *)C, (void *)D);
        dump_double("C", C, n * n);
        dump_double("D", D, n * n);
        conditional(n, (void *)A, (void *)B, (void *)C, (void *)D);
        dump_double("C", C, n * n);
        dump_double("D", D, n * n);
        for (int i = 0; i < n; i++)
            A[i * n + i] += n + 1;
        factorise(n, (void *)A, b, x, y);
        dump_double("A", A, n * n);
        dump_double("x", x, n);
        dump_double("y", y, n);
        free(A), free(B), free(C), free(D), free(b), free(x), free(y), free(E);
    }
    double *A = new_double(M * M), *B = new_double(M * M), *C = new_double(M * (2 * M + 1));
    float *E = new_float(M * M), *F = new_float(M * M);
    elsewhere((void *)A, (void *)B, (void *)C, (void *)E, (void *)F);
    dump_double("C", C, M * (2 * M + 1));
    dump_float("E", E, M * M);
    free(A), free(B), free(C), free(E), free(F);
    return 0;
}
