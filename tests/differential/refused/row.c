/* A region inside of a loop that is not part of it: what it writes is one row, wherever that is. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void kernel(int n, const float *b, float (*c)[n + 1], double d[8][7], double *e)
{
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < n; j++) {
            c[i][j + 1] = 0.3;
            for (long k = j; k < MIN(j + n, 40); k++) {
                c[i][j + 1] += b[i + 3] * b[2 * k];
            }
        }
    }
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n - 1; j++)
            e[i * 7 + j] = d[i][j] + 0.9;
}
