/* A parallel loop that writes an array which nobody reads afterwards, behind nests that hand each other values in it: it
   had no copy of its own. */
static int source[3][20];
void unshared(int b[41])
{
    int a[2];
    (void)a;
#pragma scop
    for (int i = 0; i < 2; i++)
        a[i] = -2;
    for (int i = 0; i < 19; i++)
        a[1] = (a[0] + 1) % 1009;
    for (int i = 0; i < 40; i++)
        a[0] = (source[i % 3][(i - 2) / 2 + 1] - b[i + 1]) % 1009;
#pragma endscop
}
