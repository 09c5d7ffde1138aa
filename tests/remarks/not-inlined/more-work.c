#include <math.h>

void f(int n, float A[64], int p[n], float C[n])
{
    float T[64];
#pragma scop
    for (int i = 0; i < 64; i++)
        T[i] = expf(A[i]);
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 63];
#pragma endscop
}
