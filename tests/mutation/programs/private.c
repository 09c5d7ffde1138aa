/* Scalars and a small array that each iteration has for itself, and one scalar that goes on. */
void private_(int n, int m, double a[n][m], double b[n][m], double out[n][m], double *last)
{
    double x, carry = 0.5;
    double row[4];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double acc = 0.0;
            for (int k = 0; k < 4; k++)
                row[k] = a[i][j] * k;
            for (int k = 0; k < 4; k++)
                acc += row[k] * row[3 - k];
            out[i][j] = acc;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            x = b[i][j] * 0.5;
            b[i][j] = x * x;
        }
    for (int i = 0; i < n; i++)
        carry = carry * 0.5 + b[i][0];
#pragma endscop
    *last = carry;
}
