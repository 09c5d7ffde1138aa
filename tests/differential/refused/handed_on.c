/* The loop over j begins with a value of `kept` from before it: a copy is for the iterations behind the first one. */
void f(int n, double a[n], double b[n], double c[n][n], double *last)
{
    double s, behind = 1.0, kept;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0.5 * a[i];
        b[i] = s * s;
        for (int j = 0; j < n; j++) {
            s = 0.25 * c[i][j];
            c[i][j] = s + 1.0;
        }
        for (int j = 0; j < i; j++) {
            behind = b[j] * c[i][j];
            c[i][j] = behind * behind;
        }
        kept = behind + b[i];
        a[i] = kept * kept;
        for (int j = 0; j < n; j++) {
            if (j > 0)
                kept = c[i][j];
            c[i][j] = kept * 2.0;
        }
    }
#pragma endscop
    *last = behind;
}
