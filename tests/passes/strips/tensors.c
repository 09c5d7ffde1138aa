/* Five sums over one window: 25 iterations, but too many operations to be written out in a vector loop. */
void tensors(int n, int m, float p[n][m], float q[n][m], float t[n][m], float u[n][m], float v[n][m])
{
#pragma scop
    for (int y = 2; y < n - 2; y++)
        for (int x = 2; x < m - 2; x++) {
            float xx = 0, xy = 0, yy = 0, xt = 0, yt = 0;
            for (int j = -2; j <= 2; j++)
                for (int i = -2; i <= 2; i++) {
                    float a = p[y + j][x + i], b = q[y + j][x + i], c = t[y + j][x + i];
                    xx += a * a;
                    xy += a * b;
                    yy += b * b;
                    xt += a * c;
                    yt += b * c;
                }
            float d = xx * yy - xy * xy + 1;
            u[y][x] = (xy * yt - yy * xt) / d;
            v[y][x] = (xy * xt - xx * yt) / d;
        }
#pragma endscop
}
