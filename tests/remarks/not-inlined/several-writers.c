void f(int n, double A[n], double C[n])
{
    double T[n + 2];
#pragma scop
    T[0] = 0.0;
    for (int i = 0; i < n; i++)
        T[i + 1] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i];
#pragma endscop
}
