/* Variables for subscripts: declared before the loops, corrected by an if, names of linearised subscripts. */
#include "driver.h"

static int ring(int n, const int a[n], int b[n], int c[n])
{
    int i, left, right;
#pragma scop
    for (i = 0; i < n; i++) {
        left = i - 1;
        if (left < 0)
            left += n;
        right = i + 1;
        if (right >= n)
            right = 0;
        b[i] = a[left] - 2 * a[i] + a[right];
    }
    for (i = 0; i < n; i++) {
        if (i == 0)
            left = 0;
        else
            left = i - 1;
        c[i] = b[left] + b[(i + 2) % n];
        left = n - 1 - i;
        c[i] += a[left];
    }
#pragma endscop
    return i;
}

static void rows(int h, int w, const float *restrict in, float *restrict mid, float *restrict out)
{
    int k, above;
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            k = y * w + x;
            mid[k] = 0.5f * in[k];
        }
    for (int y = 0; y < h; y++) {
        above = y - 1;
        if (above < 0)
            above = 0;
        for (int x = 0; x < w; x++) {
            int row = y * w, end = w - 1;
            int right = x < end ? x + 1 : end;
            out[row + x] = mid[row + right] - mid[above * w + x];
        }
    }
#pragma endscop
}

static void narrow(int n, unsigned char *k, const int *a, int *b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        unsigned char low = i;
        if (low > 200)
            low = 200;
        int next = i + 1;
        if (k[i] > 99)
            next = 0;
        b[i] = a[low] + next;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 8, 41, 260) {
        int *a = new_int(n), *b = new_int(n), *c = new_int(n);
        int last = ring(n, a, b, c);
        dump_int("last", &last, 1);
        dump_int("b", b, n);
        dump_int("c", c, n);
        unsigned char *k = new_byte(n);
        narrow(n, k, a, b);
        dump_int("narrow", b, n);
        float *in = new_float(n * (n + 2)), *mid = new_float(n * (n + 2)), *out = new_float(n * (n + 2));
        rows(n, n + 2, in, mid, out);
        dump_float("mid", mid, n * (n + 2));
        dump_float("out", out, n * (n + 2));
        free(a), free(b), free(c), free(k), free(in), free(mid), free(out);
    }
    return 0;
}
