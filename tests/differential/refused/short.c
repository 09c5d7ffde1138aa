/* The second loop reads more of `a` than the first one sets: a copy for an iteration would be read only. */
struct pair { short x, y; };
static struct pair b[5];
void f(unsigned char n, int m)
{
    struct pair a[m + 4];
#pragma scop
    for (unsigned i = 0; i < m + 4; i++) {
        a[i].x = -2;
        a[i].y = ((a[i].x) % 97) * (-2);
    }
    for (unsigned i = 0; i < 5; i++)
        b[i].x = a[i].x;
#pragma endscop
}
