void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++) {
        double x = 0.0;
        while (x < 3.0)
            x += 1.0 + T[n - 1 - i] * T[n - 1 - i];
        C[i] = x;
    }
#pragma endscop
}
