#include <math.h>

void f(int n, double A[n], double C[n + 1])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = exp(A[i]);
    for (int i = 0; i < n; i++)
        C[i + 1] = C[i] * 0.5 + T[n - 1 - i];
#pragma endscop
}
