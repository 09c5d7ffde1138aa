struct vector { int n; double *data; };
void scale(struct vector *v)
{
#pragma scop
    for (int i = 0; i < v->n; i++)
        v[i].data[0] *= 2;
#pragma endscop
}
