struct image { int size; };

void f(const struct image *p, double *a)
{
#pragma scop
    for (int i = 0; i < p->size; i++)
        a[i] = 2 * a[i];
#pragma endscop
}
