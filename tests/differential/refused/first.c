/* An index temporary that is a constant, in a loop that carries a dependence. */
void f(int n, double c[1][1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 1; j++) {
            long first = 0;
            c[0][0] = c[0][first];
        }
#pragma endscop
}
