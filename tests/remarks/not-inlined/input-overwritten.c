void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        A[i] = C[i];
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
