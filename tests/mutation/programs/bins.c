/* A histogram for each row, column by column: rows are independent where no bin leaves its own. */
void bins(int rows, int cols, int n, const int *key, const float *w, float *h)
{
#pragma scop
    for (int x = 0; x < cols; x++)
        for (int y = 0; y < rows; y++)
            h[y * n + key[y * cols + x]] += w[y * cols + x];
#pragma endscop
}
