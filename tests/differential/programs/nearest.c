/* Points beside points, of which each is a short row: the nearest one, distances, directions, and rows of tables. */
#include <math.h>

#include "driver.h"

#define DIM 7

/* Which centre is nearest to a point, and how far it is. */
static void assign(int n, int k, float points[n][DIM], float centres[k][DIM], int nearest[n], float distance[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float best = 1e30f;
        int which = -1;
        for (int c = 0; c < k; c++) {
            float d = 0;
            for (int j = 0; j < DIM; j++) {
                float t = points[i][j] - centres[c][j];
                d += t * t;
            }
            if (d < best) {
                best = d;
                which = c;
            }
        }
        nearest[i] = which;
        distance[i] = best;
    }
#pragma endscop
}

/* A kernel matrix of points with themselves: the same array by two references. */
static void kernel(int n, double points[n][DIM], double matrix[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int d = 0; d < DIM; d++)
                s += fabs(points[i][d] - points[j][d]);
            matrix[i][j] = 1 / (1 + s);
        }
#pragma endscop
}

/* Rows from the last to the first, every second of them; long rows are read in a loop that is not unrolled. */
static void rows(int n, int k, double A[2 * n][40], double v[k][40], double most[n], double least[n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        double high = -1e30, low = 1e30;
        for (int c = 0; c < k; c++) {
            double s = 0;
            for (int j = 0; j < 40; j++)
                s += A[2 * i + 1][j] * v[c][j];
            high = s > high ? s : high;
            low = s < low ? s : low;
        }
        most[i] = high;
        least[i] = low;
    }
    for (int i = n - 1; i >= 0; i--) {
        double high = -1e30;
        for (int c = 0; c < k; c++) {
            double s = 0;
            for (int j = 0; j < 40; j++)
                s += A[i][j] * v[c][39 - j];
            if (s > high)
                high = s;
        }
        most[i] += high;
    }
#pragma endscop
}

/* A row of which data decide how much is read, and one that its loop writes: neither may be copied before. */
static void guarded(int n, int k, int wanted[n], float A[n][DIM], float B[n][DIM], float w[k][DIM], float out[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float best = 0;
        for (int c = 0; c < k; c++) {
            float s = 0;
            for (int j = 0; j < DIM; j++) {
                B[i][j] = 0.5f * B[i][j] + w[c][j];
                s += B[i][j];
                if (wanted[i] > 2)
                    s += A[i][j] * w[c][j];
            }
            if (s > best)
                best = s;
        }
        out[i] = best;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 64, 77) {
        for (int k = 0; k < 12; k += 5) {
            float *points = new_float(n * DIM), *centres = new_float((k + 1) * DIM), *distance = new_float(n);
            int *nearest = new_int(n);
            assign(n, k, (void *)points, (void *)centres, nearest, distance);
            dump_float("distance", distance, n);
            for (int i = 0; i < n; i++)
                printf("%d ", nearest[i]);
            double *own = new_double(n * DIM), *matrix = new_double(n * n);
            kernel(n, (void *)own, (void *)matrix);
            dump_double("matrix", matrix, n * n);
            double *A = new_double(2 * n * 40), *v = new_double((k + 1) * 40), *most = new_double(n);
            double *least = new_double(n);
            rows(n, k, (void *)A, (void *)v, most, least);
            dump_double("most", most, n);
            dump_double("least", least, n);
            float *B = new_float(n * DIM);
            guarded(n, k, nearest, (void *)points, (void *)B, (void *)centres, distance);
            dump_float("guarded", distance, n);
            dump_float("B", B, n * DIM);
            free(points), free(centres), free(distance), free(nearest), free(own), free(matrix);
            free(A), free(v), free(most), free(least), free(B);
        }
    }
    return 0;
}
