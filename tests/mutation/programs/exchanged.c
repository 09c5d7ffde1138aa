/* Elements that are put in order. */
void exchanged(int n, double a[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double v[5];
        for (int j = 0; j < 5; j++)
            v[j] = a[i] * (j * j % 5 - 2);
        for (int j = 0; j < 4; j++)
            for (int l = j + 1; l < 5; l++)
                if (v[l] > v[j]) {
                    double kept = v[j];
                    v[j] = v[l];
                    v[l] = kept;
                }
        a[i] = v[1] + 3 * v[2] + 9 * v[4];
    }
#pragma endscop
}
