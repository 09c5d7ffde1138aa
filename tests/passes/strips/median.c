/* The middle one of nine neighbours: elements that are put in order, in rows along the image. */
void median(int n, unsigned char in[n + 2][n + 2], unsigned char out[n][n])
{
    unsigned char v[9], t;
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int k = 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    v[k++] = in[y + i][x + j];
            for (int i = 0; i < 5; i++)
                for (int j = i + 1; j < 9; j++)
                    if (v[j] < v[i]) {
                        t = v[i];
                        v[i] = v[j];
                        v[j] = t;
                    }
            out[y][x] = v[4];
        }
#pragma endscop
}
