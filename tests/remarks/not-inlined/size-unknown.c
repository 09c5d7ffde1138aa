/* polyc compile --target cuda */
void f(int n, float A[n], float (*B)[n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] * k - B[k][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i];
#pragma endscop
}
