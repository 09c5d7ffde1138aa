/* Sums into cells that depend on data, and some that must not be taken for such: the sum of the moment is read,
   and the last index of each value is kept. */
void histogram(int n, const unsigned char b[n * 64 + 1], int count[64], int now[n * 64 + 1],
               int latest[64])
{
    int h[64], s[64], t[64];
#pragma scop
    for (int k = 0; k < 64; k++) {
        h[k] = 0;
        s[k] = k;
        t[k] = -1;
    }
    for (int i = 0; i < n * 64; i++)
        h[b[i] & 63] += 3;
    for (int i = 0; i < n * 64; i++) {
        s[b[i] & 63] += i;
        now[i] = s[i % 64];
    }
    for (int i = 0; i < n * 64; i++)
        t[b[i] & 63] = i;
    for (int k = 0; k < 64; k++) {
        count[k] = h[k];
        latest[k] = t[k];
    }
#pragma endscop
}
