/* With sizes that all arrays have, no tile of the second nest needs anything of the first one: nothing is fused. */
struct pair { double x, y; };
void f(long n, double *a, struct pair (*b)[5], double *c, double d[7][5])
{
    for (int i = 0; i < n + 1; i += 2) {
        for (int j = i; j < n; j++) {
            double s = a[i + 1];
            double t = 0.3;
            for (int k = 3; k < 3; k++) {
                s += (i - (a[i + 1])) * (a[4]);
                t += i * (a[i + 2]);
            }
            b[i][j].x = s * (1.7) + c[0];
            d[i + 1][j] = s + t;
        }
    }
    for (int i = 2; i <= n - 4; i++) {
        b[i + 1][i].x = b[i - 2][2 * i].x;
        for (int j = 0; j < n - 1; j += 3)
            for (int k = i; k < n; k++)
                a[i] = i * (d[i][j + 3] < k ? d[i][j + 3] : k) * 0.25;
        c[i] -= d[i - 2][i / 3];
    }
}
