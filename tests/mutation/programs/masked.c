/* Columns that a mask leaves out: a strip with few of them goes column by column. */
void masked(int ny, int nx, const int mask[ny][nx], double t[ny][20][nx], const double k[ny][20][nx])
{
#pragma scop
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            if (mask[y][x] < 5) {
                double a[20], d[20];
                a[0] = 0;
                d[0] = t[y][0][x];
                for (int z = 1; z < 20; z++) {
                    double w = 0.125 * k[y][z][x], r = 1.0 + 2 * w - w * a[z - 1];
                    a[z] = w / r;
                    d[z] = (t[y][z][x] + w * d[z - 1]) / r;
                }
                for (int z = 18; z >= 0; z--) {
                    d[z] += a[z] * d[z + 1];
                    t[y][z][x] = d[z];
                }
            } else {
                double s = 0;
                for (int z = 0; z < 20; z++) {
                    s = 0.5 * s + t[y][z][x];
                    t[y][z][x] = s;
                }
            }
        }
#pragma endscop
}
