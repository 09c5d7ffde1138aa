/* Bilinear demosaicing, with a guard for each place of the pattern; hot pixels are cut before, the image is blurred after. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void f(int n, int m, const unsigned short raw[n][m], short cut[n][m], short red[n][m], short green[n][m],
       short blue[n][m], short out[3][n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 2; x < m - 2; x++)
            cut[y][x] = MAX(MIN(raw[y][x], MAX(raw[y][x - 2], raw[y][x + 2])), MIN(raw[y][x - 2], raw[y][x + 2]));
    for (int y = 1; y < n - 1; y++)
        for (int x = 3; x < m - 3; x++) {
            if (y % 2 == 0 && x % 2 == 0) {
                red[y][x] = (cut[y][x - 1] + cut[y][x + 1]) / 2;
                green[y][x] = cut[y][x];
                blue[y][x] = (cut[y - 1][x] + cut[y + 1][x]) / 2;
            } else if (y % 2 == 0 && x % 2 == 1) {
                red[y][x] = cut[y][x];
                green[y][x] = (cut[y - 1][x] + cut[y + 1][x] + cut[y][x - 1] + cut[y][x + 1]) / 4;
                blue[y][x] = (cut[y - 1][x - 1] + cut[y - 1][x + 1] + cut[y + 1][x - 1] + cut[y + 1][x + 1]) / 4;
            } else if (y % 2 == 1 && x % 2 == 0) {
                red[y][x] = (cut[y - 1][x - 1] + cut[y - 1][x + 1] + cut[y + 1][x - 1] + cut[y + 1][x + 1]) / 4;
                green[y][x] = (cut[y - 1][x] + cut[y + 1][x] + cut[y][x - 1] + cut[y][x + 1]) / 4;
                blue[y][x] = cut[y][x];
            } else {
                red[y][x] = (cut[y - 1][x] + cut[y + 1][x]) / 2;
                green[y][x] = cut[y][x];
                blue[y][x] = (cut[y][x - 1] + cut[y][x + 1]) / 2;
            }
        }
    for (int y = 2; y < n - 2; y++)
        for (int x = 4; x < m - 4; x++) {
            out[0][y][x] = (4 * red[y][x] + red[y - 1][x] + red[y + 1][x] + red[y][x - 1] + red[y][x + 1]) / 8;
            out[1][y][x] = (4 * green[y][x] + green[y - 1][x] + green[y + 1][x] + green[y][x - 1] + green[y][x + 1]) / 8;
            out[2][y][x] = (4 * blue[y][x] + blue[y - 1][x] + blue[y + 1][x] + blue[y][x - 1] + blue[y][x + 1]) / 8;
        }
#pragma endscop
}
