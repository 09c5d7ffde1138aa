/* A table of bytes that the region itself makes, read at numbers between two bounds. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void f(int n, const short in[n][200], unsigned char *curve, unsigned char out[n][200])
{
#pragma scop
    for (int i = 0; i < 512; i++)
        curve[i] = (unsigned char)(i / 2 + 3);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 200; x++)
            out[y][x] = curve[MIN(MAX(in[y][x], 0), 499)];
#pragma endscop
}
