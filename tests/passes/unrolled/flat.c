/* A 3 x 3 window of a picture of any size, in flat arrays: the last rows of a tile are less than four. */
void flat(int n, int m, const void *image, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i * m + j] = in[i * (m + 2) + j] + in[i * (m + 2) + j + 1] + in[i * (m + 2) + j + 2]
                             + in[(i + 1) * (m + 2) + j] + in[(i + 1) * (m + 2) + j + 1] + in[(i + 1) * (m + 2) + j + 2]
                             + in[(i + 2) * (m + 2) + j] + in[(i + 2) * (m + 2) + j + 1] + in[(i + 2) * (m + 2) + j + 2];
#pragma endscop
}
