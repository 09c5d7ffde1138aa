/* A value that stays where the other branch runs. */
void ways(int n, double a[n], double b[n], double c[n])
{
#pragma scop
    double kept = 1;
    for (int i = 0; i < n; i++) {
        if (a[i] > b[i])
            kept = a[i];
        else
            c[i] = 2;
        b[i] = kept * 3;
    }
#pragma endscop
}
