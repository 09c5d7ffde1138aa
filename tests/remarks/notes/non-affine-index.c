void f(int n, const unsigned char *b, int *h)
{
#pragma scop
    for (int i = 0; i < n; i++)
        h[b[i]]++;
#pragma endscop
}
