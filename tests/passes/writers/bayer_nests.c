/* Bilinear demosaicing, a nest in steps of two for each place of the pattern; hot pixels are cut before, the image is
 * blurred after. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void f(int n, int m, const unsigned short raw[2 * n][2 * m], short cut[2 * n][2 * m], short red[2 * n][2 * m],
       short green[2 * n][2 * m], short blue[2 * n][2 * m], short out[3][2 * n][2 * m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < 2 * n; y++)
        for (int x = 2; x < 2 * m - 2; x++)
            cut[y][x] = MAX(MIN(raw[y][x], MAX(raw[y][x - 2], raw[y][x + 2])), MIN(raw[y][x - 2], raw[y][x + 2]));
    for (int y = 2; y < 2 * n - 1; y += 2)
        for (int x = 4; x < 2 * m - 3; x += 2) {
            red[y][x] = (cut[y][x - 1] + cut[y][x + 1]) / 2;
            green[y][x] = cut[y][x];
            blue[y][x] = (cut[y - 1][x] + cut[y + 1][x]) / 2;
        }
    for (int y = 2; y < 2 * n - 1; y += 2)
        for (int x = 3; x < 2 * m - 3; x += 2) {
            red[y][x] = cut[y][x];
            green[y][x] = (cut[y - 1][x] + cut[y + 1][x] + cut[y][x - 1] + cut[y][x + 1]) / 4;
            blue[y][x] = (cut[y - 1][x - 1] + cut[y - 1][x + 1] + cut[y + 1][x - 1] + cut[y + 1][x + 1]) / 4;
        }
    for (int y = 1; y < 2 * n - 1; y += 2)
        for (int x = 4; x < 2 * m - 3; x += 2) {
            red[y][x] = (cut[y - 1][x - 1] + cut[y - 1][x + 1] + cut[y + 1][x - 1] + cut[y + 1][x + 1]) / 4;
            green[y][x] = (cut[y - 1][x] + cut[y + 1][x] + cut[y][x - 1] + cut[y][x + 1]) / 4;
            blue[y][x] = cut[y][x];
        }
    for (int y = 1; y < 2 * n - 1; y += 2)
        for (int x = 3; x < 2 * m - 3; x += 2) {
            red[y][x] = (cut[y - 1][x] + cut[y + 1][x]) / 2;
            green[y][x] = cut[y][x];
            blue[y][x] = (cut[y][x - 1] + cut[y][x + 1]) / 2;
        }
    for (int y = 2; y < 2 * n - 2; y++)
        for (int x = 4; x < 2 * m - 4; x++) {
            out[0][y][x] = (4 * red[y][x] + red[y - 1][x] + red[y + 1][x] + red[y][x - 1] + red[y][x + 1]) / 8;
            out[1][y][x] = (4 * green[y][x] + green[y - 1][x] + green[y + 1][x] + green[y][x - 1] + green[y][x + 1]) / 8;
            out[2][y][x] = (4 * blue[y][x] + blue[y - 1][x] + blue[y + 1][x] + blue[y][x - 1] + blue[y][x + 1]) / 8;
        }
#pragma endscop
}
