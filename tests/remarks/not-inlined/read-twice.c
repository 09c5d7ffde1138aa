void f(int n, double A[n], double C[n], double D[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
    for (int i = 0; i < n; i++)
        D[i] = T[i] * 2.0;
#pragma endscop
}
