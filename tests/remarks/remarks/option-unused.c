/* polyc compile --time-tile diamond */
void f(double a[restrict 256][256], double b[restrict 256][256], double c[restrict 256][256])
{
#pragma scop
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++)
            a[i][j] = b[j][i] + c[i][j];
#pragma endscop
}
