/* A region whose rows have a size with a cast of its own, `i * (int)(n + 20)`: the text asks whether C1 and C5 overlap
   with the same product in 64 bits, `(long)i * (int)(n + 20)`. */
static inline int flat(int y, int x, int w) { return y * w + x; }

void kernel(long n, int m, float *C1, double C5[1][1])
{
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < m; j++) {
            C5[0][0] = C1[flat(i, j, n + 20)];
        }
    }
}
