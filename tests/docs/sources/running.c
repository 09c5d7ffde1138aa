void running(int n, double total[n], double a[n])
{
#pragma scop
    total[0] = a[0];
    for (int i = 1; i < n; i++)
        total[i] = total[i - 1] + a[i];
#pragma endscop
}
