void f(int n, double A[64], int p[n], double C[n])
{
    double T[64];
#pragma scop
    for (int i = 0; i < 64; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 63];
#pragma endscop
}
