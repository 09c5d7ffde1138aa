/* Flat arrays with unsigned sizes of 32 bits: their subscripts may wrap, and in `turned` they do. */
#include "driver.h"

struct picture { unsigned w, h, stride; float *at; };

static void blur(const float *restrict in, float *restrict out, unsigned rows, unsigned cols)
{
#pragma scop
    for (unsigned r = 1; r + 1 < rows; r++)
        for (unsigned c = 1; c < cols - 1; c++)
            out[r * cols + c] = in[(r - 1) * cols + c] + in[r * cols + c - 1] + in[r * cols + c + 1];
#pragma endscop
}

static void channels(const struct picture *restrict a, const struct picture *restrict b)
{
#pragma scop
    for (unsigned y = 0; y < a->h; y++)
        for (unsigned x = 0; x < a->w; x++)
            for (unsigned c = 0; c < 3; c++)
                b->at[y * b->stride + x * 3 + c] = a->at[y * a->stride + x * 3 + c] / 2;
#pragma endscop
}

static void planes(const double *restrict a, double *restrict b, unsigned nx, unsigned ny, unsigned nz)
{
#pragma scop
    for (unsigned z = 1; z + 1 < nz; z++)
        for (unsigned y = 0; y < ny; y++)
            for (unsigned x = 1; x < nx; x++)
                b[(z * ny + y) * nx + x] = a[((z - 1) * ny + y) * nx + x] + a[((z + 1) * ny + y) * nx + x - 1];
    for (unsigned p = 0; p < nx * ny * nz; p++)
        b[p] *= 2;
#pragma endscop
}

static void product(unsigned n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma scop
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            double s = 0;
            for (unsigned k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
#pragma endscop
}

static void turned(unsigned rows, unsigned n, unsigned length, double *a)
{
#pragma scop
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 4; j < n; j++)
            a[i * length + j] = a[i * length + j - 1] + j; /* of a row of 2^32 - 1: a[j - i] */
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 5, 17, 60) {
        float *a = new_float((3 * n + 4) * (n + 3)), *b = new_float((3 * n + 4) * (n + 3));
        double *c = new_double(n * n * 4), *d = new_double(n * n * 4), *e = new_double(n * n);
        struct picture one = { n, n + 2, 3 * n + 4, a }, other = { n, n + 2, 3 * n, b };
        blur(a, b, n, n + 3);
        dump_float("b", b, n * (n + 3));
        channels(&one, &other);
        dump_float("b", b, n * (n + 2) * 3);
        planes(c, d, n, n, 4);
        dump_double("d", d, n * n * 4);
        product(n, c, d, e);
        dump_double("e", e, n * n);
        turned(3, n, 4294967295u, c);
        turned(3, n, n, d);
        dump_double("c", c, n * n);
        dump_double("d", d, n * n);
        free(a), free(b), free(c), free(d), free(e);
    }
    return 0;
}
