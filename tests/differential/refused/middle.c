/* The middle of the tiles: one piece of the condition has no points there, and isl takes 0 for its least value. */
struct pair { double x, y; };
static struct pair a[92][44], b[89][87];
void f(int m)
{
    for (int i = 0; i < m; i++) {
        for (int j = 2; j < m + 2; j += 3) {
            if (2 * i < m) {
                a[-j + m + 1][-i + m].x = b[2 * j][i + 1].x;
            } else {
                b[2 * j][2 * i + 2].x = a[-j + m + 5][i + 1].x + a[2 * j + 3][i].x;
            }
        }
    }
}
