void f(int n, double A[n], double T[n], double C[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
