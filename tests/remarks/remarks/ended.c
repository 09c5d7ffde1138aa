void f(int n, const double *a, int *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double z = 0;
        int k;
        for (k = 0; k < 50; k++) {
            if (z > 4.0)
                break;
            z = z * z + a[i];
        }
        out[i] = k;
    }
#pragma endscop
}
