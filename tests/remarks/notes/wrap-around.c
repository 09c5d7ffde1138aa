void f(double *a)
{
#pragma scop
    for (unsigned i = 9; i != 5; i++)
        a[i] = 0;
#pragma endscop
}
