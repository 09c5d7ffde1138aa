/* Flat arrays whose rows have constant lengths: borders of zeros that nobody stores, and groups that others go through
   as one; and a condition with a name. */
void padded_rows(int n, double *a, const double *b, double *s)
{
#pragma scop
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 40; x++)
                for (int k = 0; k < 3; k++) {
                    int yy = y + k - 1, xx = x + k - 1;
                    const int inside = yy >= 0 && yy < 8 && xx >= 0 && xx < 40;
                    if (inside)
                        a[(c * 8 + y) * 40 + x] += b[(c * 8 + yy) * 40 + xx] * n;
                }
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 40; x++)
            s[y] += a[y * 40 + x];
#pragma endscop
}
