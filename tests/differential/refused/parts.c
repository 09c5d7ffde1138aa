/* Members of what a local array holds are set one after the other, stored from a tile's buffer, and needed later. */
struct pair { double x, y; };
void f(int m, const struct pair a[40], double c[m + 2], double *after)
{
    struct pair b[38], d[m + 2];
#pragma scop
    for (int i = 0; i < 38; i++) {
        b[i].x = a[i + 2].x + a[i].x + 0.9 * a[i + 1].x;
        b[i].y = b[i].x * 0.3;
    }
    for (int i = 0; i < m + 2; i++) {
        d[i].x = b[i + 1].x + 0.07 * b[i].x + b[i + 3].x;
        d[i].y = d[i].x * 0.3;
    }
#pragma endscop
    for (int i = 0; i < 38; i++)
        *after = *after * 0.75 + b[i].x - b[i].y;
    for (int i = 0; i < m + 2; i++)
        c[i] = d[i].x;
}
