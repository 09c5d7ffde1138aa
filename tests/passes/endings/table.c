/* Elements of a table of constant size are loaded in any case: no vector has a mask for one element. */
void table(int n, const int *last, const double *x, double *out)
{
    static const double layer[16] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1};
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < 16; k++) {
            if (k >= last[i])
                break;
            s = 0.75 * s + layer[k] * x[i];
        }
        out[i] = s;
    }
#pragma endscop
}
