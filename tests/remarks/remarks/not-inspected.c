void f(int rows, int cols, int n, const int *key, float *h)
{
#pragma scop
    for (int y = 1; y < rows; y++)
        for (int x = 0; x < cols; x++)
            h[y * n + key[y * cols + x]] += h[(y - 1) * n + x];
#pragma endscop
}
