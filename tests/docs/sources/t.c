void f(int n, double A[n], const double B[n]) {
#pragma scop
    for (int i = 0; i < n; i++) A[i] = B[i] + b;
#pragma endscop
}
