struct vector { int n; double *data; };
void scale(struct vector *v)
{
#pragma scop
    for (int i = 0; i < v->n; i++)
        v->data[i] *= 2;
#pragma endscop
}
