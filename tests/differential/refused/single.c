/* A variable of one iteration of loops that other statements run on in: isl printed its first value before the loops, and
   each part had a declaration of its own. */
void scale(int n, int a[40], float c[20][40])
{
#pragma scop
    for (int i = 0; i < 1; i++) {
        float s = 1.7f;
        for (int j = 0; j < 20; j++)
            s = a[j] > s ? a[j] : s;
        for (int j = 0; j < 40; j += 2)
            a[j] = a[j] * (s > 0.25);
    }
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 40; j++) {
            c[i][j] = 0.3;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 4; l++)
                    c[i][j] += a[j] * a[k + l];
            c[i][j] = c[i][j] * 0.3 - 0.6;
        }
#pragma endscop
}
