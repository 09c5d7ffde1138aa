/* Loops whose variables an int holds, and sums of them that it may not hold: neighbours in a flat array, diagonals, the
   other end of a row; and values of variables in statements, whose type decides what they are. */
void widths(int n, int m, int *restrict a, const int *restrict b, double c[n + m], unsigned char d[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = b[i * m + j] + (i - j) / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[i + j] += a[i * m + m - 1 - j] * 0.5;
    for (int i = 0; i < n; i++)
        d[n - 1 - i] = (unsigned char)(200 * i) / 3;
#pragma endscop
}
