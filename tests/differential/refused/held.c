/* A variable between two statements of a step: the one that reads it was in another time tile than the one that sets it. */
void held(int n, double a[n + 2][n + 2])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double t = a[j][j];
            a[i][j + 1] = t;
        }
#pragma endscop
}
