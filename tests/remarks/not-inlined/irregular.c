void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i < 5 && n > 9 ? 4 - i : i];
#pragma endscop
}
