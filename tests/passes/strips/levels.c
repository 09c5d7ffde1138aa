/* An implicit solver in each column of a grid: arrays over the levels, of a length that is a size, go into strips of
   neighbouring columns, whatever the levels' own conditions are. */
void f(int rows, int cols, int levels, double mixed[levels][rows][cols], double k[levels + 1][rows][cols],
       double thick[levels])
{
    double a[levels], b[levels], e[levels + 1], g[levels + 1];
#pragma scop
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++) {
            for (int l = 0; l < levels; l++) {
                double up = l > 0 ? k[l][j][i] / thick[l] : 0.0;
                double down = 0.5 * k[l + 1][j][i];
                a[l] = up;
                b[l] = 1.0 + up + down;
            }
            e[0] = 0.0;
            g[0] = 0.0;
            for (int l = 0; l < levels; l++) {
                double d = 1.0 / (b[l] - a[l] * e[l]);
                e[l + 1] = a[l] * d;
                g[l + 1] = (mixed[l][j][i] + a[l] * g[l]) * d;
            }
            mixed[levels - 1][j][i] = g[levels];
            for (int l = levels - 2; l >= 0; l--)
                mixed[l][j][i] = g[l + 1] + e[l + 1] * mixed[l + 1][j][i];
        }
#pragma endscop
}
