/* A loop that ends inside of another one that does. */
void nested(int n, const double *a, const double *b, double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double x = a[i], s = 0;
        for (int r = 0; r < 6; r++) {
            double d = x;
            for (int k = 0; k < 20; k++) {
                if (d * d < 0.01)
                    break;
                d = 0.5 * d;
                s = s + d * b[i];
            }
            x = x - 0.25 * s;
            if (x < 0.0)
                break;
        }
        out[i] = x + s;
    }
#pragma endscop
}
